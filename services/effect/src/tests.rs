use std::collections::BTreeSet;

use serde_json::json;

use super::table::When;
use super::*;

/// OpenClaw's own schema, as `openclaw-keys/record.mjs` wrote it down.
const RECORDED: &str = include_str!("../openclaw-keys/keys.txt");

fn recorded() -> BTreeSet<&'static str> {
    let lines = RECORDED.lines();
    lines.filter(|line| !line.starts_with('#')).collect()
}

fn path(text: &str) -> KeyPath {
    text.split('.').collect()
}

/// As it is written today; what the schema knows as a list, too.
fn described(schema: &Schema, key: &str) -> Option<String> {
    // 0 is an index and a name.
    let node = schema.at(&path(&key.replace('*', "0")))?;
    let description = node.get("description").and_then(Value::as_str);
    Some(description.unwrap_or_default().to_owned())
}

/// Whether a part of the path is only kept.
fn is_kept_in(schema: &Schema, key: &str) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    (1..=parts.len()).any(|end| {
        described(schema, &parts[..end].join(".")).is_some_and(|text| text.starts_with(KEPT))
    })
}

#[test]
fn effect_every_key_of_openclaw_has_an_entry() {
    let keys = recorded();
    assert!(keys.len() > 6000, "{}", keys.len());
    let is_above = |key: &str| {
        let below = format!("{key}.");
        let mut after = keys.range(below.as_str()..);
        after.next().is_some_and(|next| next.starts_with(&below))
    };
    let missing: Vec<_> = keys
        .iter()
        .filter(|key| !is_above(key) && of(&path(key)).is_none())
        .filter(|key| described(Schema::shipped(), key).is_none())
        .collect();
    assert!(missing.is_empty(), "no entry: {missing:#?}");
}

#[test]
fn effect_every_entry_names_a_key_of_openclaw_once() {
    let keys = recorded();
    let mut seen = BTreeSet::new();
    for (path, _) in table::entries() {
        assert!(seen.insert(path.clone()), "twice: {}", path.join("."));
    }
    for (path, _) in table::present() {
        let key = path.join(".");
        assert!(keys.contains(key.as_str()), "OpenClaw has no {key}");
    }
    for (path, _) in table::earlier() {
        let key = path.join(".");
        assert!(!keys.contains(key.as_str()), "OpenClaw has {key} still");
    }
}

#[test]
fn types_and_the_table_agree_on_what_acts() {
    let schema = Schema::shipped();
    let keys = recorded();
    let mut wrong = Vec::new();
    for key in keys.iter().copied() {
        let below = format!("{key}.");
        let next = keys.range(below.as_str()..).next();
        if next.is_some_and(|next| next.starts_with(&below)) {
            continue;
        }
        // What the table does not know is in the types.
        let acts = matches!(
            of(&path(key)),
            None | Some(Effect::Acts | Effect::ActsWithout(..))
        );
        match described(schema, key) {
            None => wrong.push(format!("{key} is refused as unknown")),
            Some(_) if acts && is_kept_in(schema, key) => {
                wrong.push(format!("{key} is in no type"))
            }
            Some(_) if !acts && !is_kept_in(schema, key) => {
                wrong.push(format!("{key} is in the types, and not said to act"));
            }
            Some(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// All sections of the schema, `*` for any name, 0 for any place in a list; none
/// is in itself.
fn sections() -> Vec<(KeyPath, BTreeSet<String>, bool)> {
    let whole: Value = serde_json::from_str(openclaw_config::schema::TEXT).unwrap();
    let mut found = Vec::new();
    walk_schema(
        &whole,
        &whole,
        &KeyPath::default(),
        &mut Vec::new(),
        &mut found,
    );
    found
}

fn walk_schema<'a>(
    whole: &'a Value,
    node: &'a Value,
    path: &KeyPath,
    above: &mut Vec<&'a str>,
    found: &mut Vec<(KeyPath, BTreeSet<String>, bool)>,
) {
    if let Some(reference) = node["$ref"].as_str() {
        if !above.contains(&reference) {
            above.push(reference);
            let target = whole.pointer(reference.trim_start_matches('#')).unwrap();
            walk_schema(whole, target, path, above, found);
            above.pop();
        }
        return;
    }
    for word in ["anyOf", "oneOf"] {
        for either in node[word].as_array().into_iter().flatten() {
            walk_schema(whole, either, path, above, found);
        }
    }
    if let Some(items) = node.get("items") {
        walk_schema(whole, items, &path.child("0"), above, found);
    }
    let extra = node.get("additionalProperties");
    if let Some(below) = extra.filter(|it| it.is_object()) {
        walk_schema(whole, below, &path.child("any"), above, found);
    }
    let Some(properties) = node["properties"].as_object() else {
        return;
    };
    let keys = properties.keys().cloned().collect();
    found.push((path.clone(), keys, extra == Some(&Value::Bool(false))));
    for (key, below) in properties {
        walk_schema(whole, below, &path.child(key), above, found);
    }
}

/// `value` below `path`; a part that is a number is a place in a list.
fn document_of(path: &KeyPath, value: Value) -> Value {
    path.parts()
        .iter()
        .rev()
        .fold(value, |value, part| match part.as_str() {
            "0" => json!([value]),
            part => json!({part: value}),
        })
}

/// A key that nobody knows is refused, or listed as without effect.
fn is_told(document: &Value) -> bool {
    !Schema::shipped().check(document).is_empty()
        || !restrictions(document).is_empty()
        || !unused(document).is_empty()
}

#[test]
fn effect_no_section_takes_a_key_that_nobody_knows_silently() {
    let mut silent = BTreeSet::new();
    let mut checked = 0;
    let recorded = recorded();
    let above = recorded.iter().flat_map(|key| {
        let parts: Vec<&str> = key.split('.').collect();
        (1..parts.len())
            .map(move |end| parts[..end].to_vec())
            .collect::<Vec<_>>()
    });
    let above: BTreeSet<Vec<&str>> = above.collect();
    let schema = Schema::shipped();
    let of_openclaw = above.iter().map(|parts| {
        parts
            .iter()
            .fold(KeyPath::default(), |path, part| match *part {
                "*" if schema.is_list(&path) => path.child("0"),
                "*" => path.child("any"),
                part => path.child(part),
            })
    });
    let own = sections().into_iter().filter(|it| it.2).map(|it| it.0);
    for section in of_openclaw.chain(own) {
        checked += 1;
        let document = document_of(&section.child("zzUnknown"), json!(3));
        if !is_told(&document) {
            silent.insert(section.to_string());
        }
    }
    assert!(checked > 1000, "{checked}");
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn key_that_is_only_kept_is_told_wherever_it_is_allowed() {
    let mut silent = BTreeSet::new();
    for (section, keys, _) in sections() {
        for key in keys {
            let path = section.child(&key);
            let of_table: Vec<_> = path.parts().iter().map(String::as_str).collect();
            let of_table: KeyPath = match of_table.as_slice() {
                ["agents", "list", _, below @ ..] => ["agents", "entries", "any"]
                    .iter()
                    .chain(below)
                    .copied()
                    .collect(),
                parts => parts.iter().copied().collect(),
            };
            // Another name acts by the one that it is put under.
            let is_alias = matches!(of(&of_table), Some(Effect::Alias(_)));
            if is_kept(&path) && !is_alias && !is_told(&document_of(&path, json!("zz"))) {
                silent.insert(path.to_string());
            }
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn value_without_effect_is_listed_and_others_are_not() {
    for (section, provider, is_listed) in [
        ("search", "local", true),
        ("search", "openai", false),
        ("search", "static", false),
    ] {
        let unused = unused(&json!({"memory": {section: {"provider": provider}}}));
        let said: Vec<String> = unused.iter().map(ToString::to_string).collect();
        assert_eq!(!said.is_empty(), is_listed, "{provider}: {said:?}");
    }
    let unused = unused(&json!({"agents": {"defaults": {"memorySearch": {
        "provider": "local", "local": {"modelPath": "/m.gguf"},
    }}}}));
    let [unused] = unused.as_slice() else {
        panic!("{unused:?}");
    };
    assert!(unused.reason.contains("ollama"), "{unused}");
    assert_eq!(unused.keys.len(), 2, "{unused}");
}

#[test]
fn keys_without_effect_are_listed_by_reason() {
    let unused = unused(&json!({
        "channels": {
            "telegram": {"token": "${TOKEN}", "allowFrom": ["1"]},
            "discord": {"token": "x"}, "pigeon": {"loft": 1},
        },
        "logging": {"level": "info", "file": "/x"},
        "agents": {"list": [{"id": "a", "agentDir": "/x"}], "entries": {"b": {"description": "x"}}},
        "models": {"providers": {"p": {"models": [{"id": "m", "mediaInput": {}}]}}},
        "sandbox": {"level": "strict"},
    }));
    let lines: Vec<String> = unused.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "without effect (not supported yet): agents.entries.b.description, \
             models.providers.p.models.0.mediaInput",
            "without effect (not supported yet: of the channels that OpenClaw has, Telegram is \
             connected): channels.discord.token, channels.pigeon.loft",
            "without effect (replaced by OPENCLAW_STATE_DIR: an agent's folder is agents/ID below \
             it): agents.list.0.agentDir",
            "without effect (replaced by channels.telegram.tokenFile, which `openclawctl channels \
             add telegram` writes, and botToken): channels.telegram.token",
            "without effect (not needed here: journald keeps the log (journalctl --user -u \
             'openclaw-*')): logging.file",
        ]
    );
}

#[test]
fn values_that_nothing_acts_on_are_listed() {
    let unused = unused(&json!({
        "bindings": [{"agentId": "a", "match": {"channel": "telegram"}},
            {"agentId": "a", "match": {"channel": "whatsapp"}}],
        "messages": {"queue": {"byChannel": {"discord": "steer", "telegram": "steer"}}},
        "session": {"resetByChannel": {"slack": {"mode": "idle"}}},
        "hooks": {"mappings": [{"id": "a"}, {"transform": {"module": "gmail.js"}}]},
    }));
    let keys: Vec<_> = unused.iter().flat_map(|it| &it.keys).collect();
    assert_eq!(
        keys,
        [
            "hooks.mappings.1.transform",
            "messages.queue.byChannel.discord",
            "session.resetByChannel.slack",
            "bindings.1",
        ]
    );
}

#[test]
fn restriction_that_would_not_hold_is_an_error() {
    let problems = |document: Value| -> Vec<String> {
        let problems = restrictions(&document);
        problems.iter().map(ToString::to_string).collect()
    };
    for (document, key) in [
        (
            json!({"gateway": {"tls": {"enabled": true}}}),
            "gateway.tls.enabled",
        ),
        (
            json!({"tools": {"byProvider": {"openai": {"deny": ["exec"]}}}}),
            "tools.byProvider",
        ),
        (
            json!({"agents": {"list": [{"id": "a", "tools": {"exec": {"host": "node"}}}]}}),
            "agents.list.0.tools.exec.host",
        ),
        (
            json!({"agents": {"defaults": {"sandbox": {"workspaceAccess": "none"}}}}),
            "agents.defaults.sandbox.workspaceAccess",
        ),
        (
            json!({"tools": {"exec": {"grantExpiryDays": 3}}}),
            "tools.exec.grantExpiryDays",
        ),
        (
            json!({"tools": {"exec": {"applyPatch": {"enabled": false}}}}),
            "tools.exec.applyPatch.enabled",
        ),
        (
            json!({"agents": {"entries": {"a": {"tools": {"exec": {"applyPatch": {
                "enabled": true, "workspaceOnly": true,
            }}}}}}}),
            "agents.entries.a.tools.exec.applyPatch.workspaceOnly",
        ),
        (
            json!({"commands": {"allowFrom": {"telegram": [5]}}}),
            "commands.allowFrom",
        ),
        (
            json!({"channels": {"defaults": {"groupPolicy": "disabled"}}}),
            "channels.defaults.groupPolicy",
        ),
        (
            json!({"channels": {"defaults": {"implicitMentions": {"replyToBot": false}}}}),
            "channels.defaults.implicitMentions.replyToBot",
        ),
        (
            json!({"channels": {"telegram": {"contextVisibility": "allowlist"}}}),
            "channels.telegram.contextVisibility",
        ),
        (
            json!({"channels": {"telegram": {"accounts": {"a": {"execApprovals": {
                "agentFilter": ["main"],
            }}}}}}),
            "channels.telegram.accounts.a.execApprovals.agentFilter",
        ),
        (
            json!({"channels": {"telegram": {"direct": {"5": {"enabled": false}}}}}),
            "channels.telegram.direct.5.enabled",
        ),
        (
            json!({"bindings": [{"agentId": "main", "session": {"dmScope": "per-peer"}}]}),
            "bindings.0.session.dmScope",
        ),
        (
            json!({"memory": {"search": {"experimental": {"sessionMemory": false}}}}),
            "memory.search.experimental.sessionMemory",
        ),
        (
            json!({"session": {"rememberAcrossConversations": false}}),
            "session.rememberAcrossConversations",
        ),
        (
            json!({"mcp": {"servers": {"s": {"codex": {"agents": ["main"]}}}}}),
            "mcp.servers.s.codex.agents",
        ),
        (
            json!({"gateway": {"nodes": {"pairing": {"autoApproveLocal": false}}}}),
            "gateway.nodes.pairing.autoApproveLocal",
        ),
    ] {
        let found = problems(document);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with(&format!("{key}: is a restriction")),
            "{found:?}"
        );
    }
    for harmless in [
        json!({"gateway": {"tls": {"enabled": false, "certPath": "/x"}}}),
        json!({"tools": {"byProvider": {}, "exec": {"host": "gateway", "grantExpiryDays": 0}}}),
        json!({"agents": {"defaults": {"sandbox": {"workspaceAccess": "rw"}}}}),
        json!({"channels": {
            "defaults": {"groupPolicy": "open", "contextVisibility": "all"},
            "telegram": {"direct": {"5": {"enabled": true}}},
        }}),
        json!({"bindings": [{"agentId": "main", "session": {"dmScope": "main"}}]}),
        json!({"tools": {"exec": {"applyPatch": {"enabled": true, "workspaceOnly": false}}}}),
        json!({"memory": {"search": {"experimental": {"sessionMemory": true}}}}),
    ] {
        assert_eq!(problems(harmless), [""; 0]);
    }
}

#[test]
fn values_that_restrict_are_told_from_those_that_say_nothing() {
    let nothing = [
        json!(null),
        json!(false),
        json!(0),
        json!(0.0),
        json!(""),
        json!([]),
        json!({}),
    ];
    let something = [
        json!(true),
        json!(1),
        json!(-0.5),
        json!("x"),
        json!([null]),
        json!({"a": null}),
    ];
    for value in &nothing {
        assert!(!When::Set.holds(value), "{value}");
        assert_eq!(When::False.holds(value), *value == false, "{value}");
    }
    for value in &something {
        assert!(When::Set.holds(value), "{value}");
        assert!(!When::False.holds(value), "{value}");
    }
    let not = When::Not(&["a", "b"]);
    for (value, restricts) in [
        (json!("a"), false),
        (json!("b"), false),
        (json!("c"), true),
        (json!(""), true),
        (json!(["c"]), false),
        (json!(null), false),
    ] {
        assert_eq!(not.holds(&value), restricts, "{value}");
    }
}

#[test]
fn list_of_agents_is_read_as_entries_and_no_other_list_is() {
    for (path, part, read) in [
        ("agents", "list", "entries"),
        ("agents", "defaults", "defaults"),
        ("tools", "list", "list"),
        ("agents.list", "list", "list"),
    ] {
        assert_eq!(read_as(&self::path(path), part), read, "{path}.{part}");
    }
    assert_eq!(read_as(&KeyPath::default(), "list"), "list");
}

#[test]
fn reasons_are_in_the_order_of_their_ranks() {
    let restricts = Effect::Restricts {
        when: When::Set,
        instead: "do it",
    };
    for (effect, rank, reason) in [
        (Effect::Acts, 0, None),
        (Effect::Alias("a.b"), 0, None),
        (restricts, 1, Some("not supported yet")),
        (Effect::NotSupported(""), 2, Some("not supported yet")),
        (Effect::NotSupported("x"), 2, Some("not supported yet: x")),
        (Effect::ActsWithout("a", "x"), 2, None),
        (Effect::Replaced("y"), 3, Some("replaced by y")),
        (Effect::NotNeeded("z"), 4, Some("not needed here: z")),
    ] {
        assert_eq!(effect.rank(), rank, "{effect:?}");
        assert_eq!(effect.reason().as_deref(), reason, "{effect:?}");
    }
    let idle = Effect::ActsWithout("a", "x");
    let reason = |value: &str| idle.reason_with(&json!(value));
    assert_eq!(reason("a").as_deref(), Some("not supported yet: x"));
    assert_eq!(reason("b"), None);
}

/// What OpenClaw has for all channels is not said to be about another one.
#[test]
fn keys_of_all_channels_are_not_said_to_be_of_others() {
    let unused = unused(&json!({
        "messages": {"ackReaction": "x", "inbound": {"debounceMs": 1}, "groupChat": {"historyLimit": 5}},
        "agents": {"defaults": {"typingMode": "never", "mediaMaxMb": 5}},
        "channels": {"defaults": {"botLoopProtection": {"enabled": true}}},
        "commands": {"native": false},
        "accessGroups": {"a": {"type": "x"}},
    }));
    let reasons: Vec<_> = unused
        .iter()
        .map(|it| (it.reason.as_str(), it.keys.len()))
        .collect();
    assert_eq!(
        reasons,
        [
            ("not supported yet", 4),
            ("replaced by channels.telegram.ackReaction", 1),
            ("replaced by channels.telegram.commands.native", 1),
            ("replaced by channels.telegram.historyLimit", 1),
            ("replaced by channels.telegram.mediaMaxMb", 1),
        ]
    );
}
