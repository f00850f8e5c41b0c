use serde_json::json;

use super::*;
use crate::unused;

fn said(document: Value) -> String {
    let all = unused(&document).into_iter();
    all.map(|it| it.to_string()).collect::<Vec<_>>().join("\n")
}

fn telegram(fields: Value) -> Value {
    json!({"channels": {"telegram": fields}})
}

fn faulty(document: &Value) -> String {
    let all = faults(document).into_iter();
    all.map(|it| it.to_string()).collect::<Vec<_>>().join("\n")
}

#[test]
fn person_is_named_by_a_numeric_id() {
    let fine = json!([5, "6", "-7", "*", "tg:8", "Telegram: 9", "${ME}"]);
    for name in [
        "@ada",
        "bob",
        "",
        "tg:@ada",
        "slack:5",
        "tg:tg:5",
        "5a",
        "telegram:",
    ] {
        let wrong = json!([5, name]);
        for (fields, key) in [
            (json!({"allowFrom": wrong}), "allowFrom.1"),
            (json!({"groupAllowFrom": wrong}), "groupAllowFrom.1"),
            (
                json!({"execApprovals": {"approvers": wrong}}),
                "execApprovals.approvers.1",
            ),
            (
                json!({"accounts": {"work": {"allowFrom": wrong}}}),
                "accounts.work.allowFrom.1",
            ),
            (
                json!({"groups": {"*": {"allowFrom": wrong}}}),
                "groups.*.allowFrom.1",
            ),
            (
                json!({"groups": {"-5": {"topics": {"7": {"allowFrom": wrong}}}}}),
                "topics.7.allowFrom.1",
            ),
        ] {
            let said = said(telegram(fields.clone()));
            let has_both = said.contains(key) && said.contains("numeric ids");
            assert!(has_both, "{fields}: {said}");
            assert!(!said.contains("From.0"), "{fields}: {said}");
        }
    }
    let all =
        json!({"allowFrom": fine, "groupAllowFrom": fine, "groups": {"-5": {"allowFrom": fine}}});
    assert_eq!(said(telegram(all)), "");
    let owners = json!({"commands": {"ownerAllowFrom": ["telegram:5", "ada"]}});
    assert!(said(owners).contains("commands.ownerAllowFrom.1"));
}

#[test]
fn webhook_leads_where_telegram_calls() {
    for (url, root, is_called) in [
        ("https://example.org/hook", None, true),
        ("HTTPS://example.org:8443", None, true),
        ("https://example.org:9000/", None, false),
        (
            "https://example.org:9000/",
            Some("http://127.0.0.1:8081"),
            true,
        ),
        ("http://x", None, false),
        ("http://x", Some("http://127.0.0.1:8081"), false),
        ("http://127.0.0.1:8787/hook", None, true),
        ("http://localhost:8787", None, true),
        ("http://10.0.0.5:8787/hook", None, false),
        (
            "http://10.0.0.5:8787/hook",
            Some("http://10.0.0.6:8081"),
            true,
        ),
        ("example.org", None, false),
        ("ftp://example.org", None, false),
        ("https://", None, false),
        ("https://a b/", None, false),
        ("https://example.org:0/", None, false),
        ("${HOOK}", None, true),
    ] {
        let said = said(telegram(json!({"webhookUrl": url, "apiRoot": root})));
        assert_eq!(said.is_empty(), is_called, "{url} {root:?}: {said}");
        assert_eq!(said.contains("channels.telegram.webhookUrl"), !is_called);
    }
}

#[test]
fn webhook_has_a_path_a_port_and_a_secret_that_can_be_called() {
    for (fields, key) in [
        (json!({"webhookPath": "nopath"}), "webhookPath"),
        (json!({"webhookPath": ""}), "webhookPath"),
        (json!({"webhookPath": "/a b"}), "webhookPath"),
        (json!({"webhookPath": "/a?b"}), "webhookPath"),
        (json!({"webhookPort": 0}), "webhookPort"),
        (json!({"webhookHost": "not a host"}), "webhookHost"),
        (json!({"webhookHost": "300.1.1.1"}), "webhookHost"),
        (json!({"webhookHost": ""}), "webhookHost"),
        (json!({"webhookSecret": "a b"}), "webhookSecret"),
        (json!({"webhookSecret": "a".repeat(257)}), "webhookSecret"),
        (json!({"webhookSecret": ""}), "webhookSecret"),
    ] {
        let said = said(telegram(fields.clone()));
        assert!(said.contains(key), "{fields}: {said}");
    }
    let fine = json!({"webhookPath": "/hook", "webhookPort": 8443, "webhookSecret": "A-b_9",
        "webhookHost": "::"});
    assert_eq!(said(telegram(fine)), "");
}

#[test]
fn reaction_is_one_of_telegrams() {
    let said = |emoji: &str| super::tests::said(telegram(json!({"ackReaction": emoji})));
    for emoji in ["", "👀", "❤", "❤\u{fe0f}", "❤\u{fe0f}\u{200d}🔥", "${ACK}"] {
        assert_eq!(said(emoji), "", "{emoji}");
    }
    for emoji in ["hello", "✅", "👀👀"] {
        let said = said(emoji);
        assert!(
            said.contains("ackReaction") && said.contains("reactions"),
            "{said}"
        );
    }
}

#[test]
fn command_of_ones_own_has_a_name_that_telegram_takes() {
    let commands = json!([
        {"command": "Bad Name!", "description": "a"},
        {"command": "/status", "description": "b"},
        {"command": "Save-All", "description": "c"},
        {"command": "save_all", "description": "d"},
        {"command": "quiet", "description": " "},
        {"command": "a".repeat(33), "description": "e"},
    ]);
    let document = telegram(json!({"customCommands": commands}));
    let said = said(document);
    for key in [
        "0.command",
        "1.command",
        "3.command",
        "4.description",
        "5.command",
    ] {
        assert!(
            said.contains(&format!("customCommands.{key}")),
            "{key}: {said}"
        );
    }
    assert!(!said.contains("customCommands.2"), "{said}");
    // Without the gateway's own in the menu their names are free.
    let free = json!({"commands": {"native": false},
        "customCommands": [{"command": "status", "description": "b"}]});
    assert_eq!(super::tests::said(telegram(free)), "");
}

#[test]
fn keep_acting_leaves_what_acts() {
    let mut account = json!({
        "webhookUrl": "http://x", "webhookPath": "nopath", "webhookPort": 0, "linkPreview": false,
        "customCommands": [{"command": "Bad Name!", "description": "a"},
            {"command": "/Save-All", "description": "c"}],
    });
    let fields = account.as_object_mut().unwrap();
    super::telegram::keep_acting(fields);
    let expected = json!({
        "webhookPath": "/nopath", "linkPreview": false,
        "customCommands": [{"command": "save_all", "description": "c"}],
    });
    assert_eq!(account, expected);
}

#[test]
fn proxy_that_is_not_spoken_is_a_fault() {
    for proxy in [
        "socks5://127.0.0.1:1080",
        "127.0.0.1:3128",
        "http://",
        "ftp://a",
    ] {
        for document in [
            telegram(json!({"proxy": proxy})),
            telegram(json!({"accounts": {"work": {"proxy": proxy}}})),
        ] {
            let said = faulty(&document);
            assert!(said.contains("proxy: must be"), "{proxy}: {said}");
        }
    }
    assert!(faulty(&telegram(json!({"apiRoot": "localhost:8081"}))).contains("apiRoot"));
    let fine = telegram(json!({"proxy": "http://u:p@[::1]:3128", "apiRoot": "http://127.0.0.1:1"}));
    assert_eq!(faulty(&fine), "");
    assert_eq!(faulty(&telegram(json!({"proxy": "${PROXY}"}))), "");
}

#[test]
fn hours_that_are_none_are_a_fault_of_the_heartbeat() {
    for (hours, key) in [
        (json!({"start": "10pm"}), "start"),
        (json!({"start": "25:00"}), "start"),
        (json!({"start": "24:00"}), "start"),
        (json!({"start": "+8:00"}), "start"),
        (json!({"start": ""}), "start"),
        (json!({"end": "8am"}), "end"),
        (json!({"end": "8:00"}), "end"),
        (json!({"end": "24:01"}), "end"),
        (json!({"end": "22:60"}), "end"),
        (json!({"timezone": "Mars/X"}), "timezone"),
    ] {
        let beat = json!({"heartbeat": {"activeHours": hours}});
        for (agents, section) in [
            (json!({"defaults": beat}), "agents.defaults"),
            (json!({"list": [{"id": "a"}, beat]}), "agents.list.1"),
            (json!({"entries": {"a": beat}}), "agents.entries.a"),
        ] {
            let said = faulty(&json!({"agents": agents}));
            let expected = format!("{section}.heartbeat.activeHours.{key}: is ");
            assert!(said.starts_with(&expected), "{hours}: {said}");
        }
    }
    let fine = json!({"start": "22:00", "end": "24:00", "timezone": "Europe/Berlin"});
    let fine = json!({"agents": {"defaults": {"heartbeat": {"activeHours": fine}}}});
    assert_eq!(faulty(&fine), "");
}

#[test]
fn group_that_is_shut_by_a_name_is_refused_where_all_others_are_open() {
    let refused = |groups: Value| restrictions(&telegram(json!({"groups": groups}))).len();
    assert_eq!(refused(json!({"*": {}, "@news": {"enabled": false}})), 1);
    assert_eq!(refused(json!({"*": {}, "news": {"allowFrom": [5]}})), 1);
    assert_eq!(refused(json!({"*": {}, "-5": {"enabled": false}})), 0);
    let listed = json!({"@news": {"enabled": false}});
    assert_eq!(refused(listed.clone()), 0);
    assert!(said(telegram(json!({"groups": listed}))).contains("groups.@news"));
}

#[test]
fn instructions_beside_those_that_replace_them_are_idle() {
    let both = json!({"systemPrompt": "Be brief.", "systemPromptOverride": "You are a fox."});
    let document = json!({"agents": {"list": [both, {"systemPrompt": "Be kind."}]}});
    let all = said(document);
    assert!(all.contains("agents.list.0.systemPrompt"), "{all}");
    assert!(all.contains("systemPromptOverride, which is all"), "{all}");
    assert!(!all.contains("agents.list.1"), "{all}");
    let over_all = json!({"agents": {"defaults": {"systemPromptOverride": "You are a fox."},
        "list": [{"systemPrompt": "Be kind."},
                 {"systemPrompt": "Be kind.", "systemPromptOverride": ""}]}});
    let all = said(over_all);
    assert!(all.contains("agents.list.0.systemPrompt"), "{all}");
    assert!(!all.contains("agents.list.1"), "{all}");
}

#[test]
fn agent_in_both_lists_is_told() {
    let document = json!({"agents": {"entries": {"work": {"model": "p/m"}, "home": {}},
        "list": [{"id": "main"}, {"id": "work"}]}});
    let all = said(document);
    assert!(
        all.contains("replaced by agents.list.1, the same agent): agents.entries.work"),
        "{all}"
    );
    assert!(!all.contains("home"), "{all}");
}

#[test]
fn agent_is_listed_once() {
    let listed = |ids: [&str; 3]| {
        let list = ids.map(|id| json!({ "id": id }));
        let problems = crate::restrictions(&json!({"agents": {"list": list}}));
        let all = problems.iter().map(ToString::to_string);
        all.collect::<Vec<_>>()
    };
    assert_eq!(listed(["a", "b", "c"]), [] as [&str; 0]);
    let again = listed(["work", "main", "work"]);
    let words = "agents.list.2.id is \"work\", as agents.list.0.id is: put both entries into one";
    assert_eq!(again.len(), 1);
    assert!(again[0].replace(": is", " is").contains(words), "{again:?}");
}

#[test]
fn group_in_which_nobody_may_talk_is_told() {
    let unanswered = |fields: Value| said(telegram(fields)).contains("nobody is answered there");
    let groups = json!({"-5": {}});
    assert!(unanswered(json!({"groups": groups})));
    assert!(unanswered(json!({"groups": groups, "groupAllowFrom": []})));
    assert!(unanswered(
        json!({"accounts": {"work": {"groups": groups}, "home": {"allowFrom": [5]}}})
    ));
    for fields in [
        json!({"groups": groups, "allowFrom": [5]}),
        json!({"groups": groups, "groupAllowFrom": [5]}),
        json!({"groups": groups, "groupPolicy": "open"}),
        json!({"groups": groups, "groupPolicy": "disabled"}),
        json!({"groups": {"-5": {"allowFrom": [5]}}}),
        json!({"groups": {"-5": {"enabled": false}}}),
        json!({"groups": {"-5": {}, "*": {"allowFrom": [5]}}, "allowFrom": [5]}),
        json!({"groups": {"-5": {"topics": {"7": {"allowFrom": [5]}}}}}),
        json!({"groups": groups, "accounts": {"work": {"allowFrom": [5]}}}),
        json!({}),
    ] {
        assert!(!unanswered(fields.clone()), "{fields}");
    }
}

#[test]
fn policy_that_is_open_to_nobody_is_told_where_it_is_said() {
    let at = |fields: Value| {
        let said = said(telegram(fields));
        let is_told = said.contains("strangers are left without a word");
        is_told.then(|| {
            said.rsplit(": ")
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        })
    };
    let open = json!({"dmPolicy": "open", "allowFrom": [7]});
    assert_eq!(at(open).as_deref(), Some("channels.telegram.dmPolicy"));
    assert!(at(json!({"dmPolicy": "open"})).is_some());
    let work =
        json!({"allowFrom": ["*"], "accounts": {"work": {"dmPolicy": "open", "allowFrom": [7]}}});
    let own = "channels.telegram.accounts.work.dmPolicy";
    assert_eq!(at(work).as_deref(), Some(own));
    for fine in [
        json!({"dmPolicy": "open", "allowFrom": [7, "*"]}),
        json!({"dmPolicy": "open", "allowFrom": ["${ALL}"]}),
        json!({"dmPolicy": "allowlist", "allowFrom": [7]}),
        json!({"dmPolicy": "open", "accounts": {"work": {"allowFrom": ["*"]}}}),
        json!({"allowFrom": ["*"], "accounts": {"work": {"dmPolicy": "open"}}}),
    ] {
        assert_eq!(at(fine.clone()), None, "{fine}");
    }
}

#[test]
fn token_and_capability_that_are_none_are_told_and_no_token_is_shown() {
    for wrong in ["nonsense", "123", "x:abc", "1:", "1:a b"] {
        let said = said(telegram(json!({"botToken": wrong})));
        assert!(said.contains("channels.telegram.botToken"), "{said}");
        assert!(
            !said.contains("nonsense") && !said.contains("a b)"),
            "{said}"
        );
    }
    for fine in ["123456789:AAE-x_y", " 1:a ", "${TOKEN}", ""] {
        assert_eq!(said(telegram(json!({"botToken": fine}))), "", "{fine}");
    }
    let listed = |list: Value| said(telegram(json!({"capabilities": list})));
    let wrong = listed(json!(["inlineButtons", "inlineButton"]));
    assert!(
        wrong.contains("channels.telegram.capabilities.1"),
        "{wrong}"
    );
    assert!(wrong.contains("did you mean \"inlineButtons\"?"), "{wrong}");
    assert_eq!(listed(json!(["inlineButtons"])), "");
    assert_eq!(
        said(telegram(json!({"capabilities": {"inlineButtons": "all"}}))),
        ""
    );
}
