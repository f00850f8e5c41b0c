//! Names and values that are taken, and most likely are not what was meant: each does
//! nothing, or something else than it looks like.

use std::collections::BTreeMap;

use openclaw_config::key::KeyPath;
use openclaw_config::nearest;
use openclaw_config::problem::Problem;
use serde_json::Value;

use super::{REFERENCE, telegram};
use crate::table::OTHER_CHANNELS;

/// Channels that messages come by here, beside those that clients name themselves.
const CHANNELS: [&str; 8] = [
    "telegram",
    "webchat",
    "cli",
    "api",
    "api-once",
    "cron",
    "heartbeat",
    "hook",
];
/// Beside the channels.
const SETTINGS_OF_ALL: [&str; 2] = ["defaults", "modelByChannel"];
/// Maps by channel.
const BY_CHANNEL: [&str; 3] = [
    "messages.queue.byChannel",
    "messages.queue.debounceMsByChannel",
    "session.resetByChannel",
];
/// Channels of OpenClaw's pages that plugins bring.
const OF_PLUGINS: [&str; 4] = ["qqbot", "wechat", "wecom", "yuanbao"];
/// Kinds of conversations that `session.resetByType` tells apart.
const KINDS: [&str; 4] = ["direct", "dm", "group", "thread"];
/// Stands for all accounts.
const ANY: &str = "*";

/// Everything of the document that is in doubt.
pub(super) fn doubts(document: &Value) -> Vec<Problem> {
    let mut found = default_agent(document);
    found.extend(by_channel(document));
    found.extend(unknown_channels(document));
    found.extend(kinds(document));
    found.extend(bindings(document));
    found.extend(rules(document));
    found.extend(links(document));
    found.extend(providers(document));
    found.extend(models(document));
    found.extend(commands(document));
    found
}

fn items<'a>(document: &'a Value, at: &str) -> impl Iterator<Item = (String, &'a Value)> {
    let list = document.pointer(at).and_then(Value::as_array);
    let all = list.into_iter().flatten().enumerate();
    all.map(|(at, item)| (at.to_string(), item))
}

fn fields<'a>(document: &'a Value, at: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let map = document.pointer(at).and_then(Value::as_object);
    map.into_iter().flatten()
}

fn path(dotted: &str) -> KeyPath {
    dotted.split('.').collect()
}

/// `name` with what is wrong with it, and what may be meant.
fn unknown<'a>(name: &str, problem: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let meant = nearest::question(name, known);
    let meant = meant.map_or_else(String::new, |question| format!("; {question}"));
    format!("{name:?} {problem}{meant}")
}

/// Several agents, of which the file does not say clearly which one answers messages that
/// name none.
fn default_agent(document: &Value) -> Vec<Problem> {
    let agents: Vec<_> = items(document, "/agents/list").collect();
    let is_marked = |agent: &Value| agent.get("default") == Some(&Value::Bool(true));
    let marked: Vec<_> = agents.iter().filter(|(_, it)| is_marked(it)).collect();
    let (which, first) = match marked.as_slice() {
        [] if agents.len() > 1 => ("none of several agents", agents.first()),
        [first, _, ..] => ("more than one agent", Some(*first)),
        _ => return Vec::new(),
    };
    let id = first.and_then(|(_, agent)| agent.get("id")?.as_str());
    let id = id.unwrap_or_default();
    let text = format!(
        "marks {which} with \"default\": true: messages that name no agent go to {id:?}, the \
         first; mark the one that is meant"
    );
    vec![Problem::other(path("agents.list"), text)]
}

fn is_channel(name: &str) -> bool {
    CHANNELS.contains(&name) || OTHER_CHANNELS.contains(&name) || name.contains(REFERENCE)
}

/// A name that is read in any case.
fn plain(name: &str) -> String {
    name.trim().to_ascii_lowercase()
}

/// The doubt of a channel that nobody knows; `instead`: what becomes of what is said of it.
fn channel(key: KeyPath, name: &str, instead: &str) -> Option<Problem> {
    let problem = format!("is no channel that is known here, {instead}");
    let text = || unknown(name, &problem, CHANNELS);
    (!is_channel(name)).then(|| Problem::other(key, text()))
}

fn by_channel(document: &Value) -> Vec<Problem> {
    let of_map = |section: &&str| {
        let place = format!("/{}", section.replace('.', "/"));
        let all = fields(document, &place);
        let doubt = |(name, _): (&String, &Value)| {
            let key = path(section).child(name);
            channel(key, name, "so it holds for clients alone that name it")
        };
        all.filter_map(doubt).collect::<Vec<_>>()
    };
    BY_CHANNEL.iter().flat_map(of_map).collect()
}

fn kinds(document: &Value) -> impl Iterator<Item = Problem> {
    let all = fields(document, "/session/resetByType");
    all.filter(|(kind, _)| !KINDS.contains(&kind.as_str()))
        .map(|(kind, _)| {
            let problem = "is no kind of conversation, so nothing begins anew by it";
            let key = path("session.resetByType").child(kind);
            Problem::other(key, unknown(kind, problem, KINDS))
        })
}

/// Sections of channels that are called almost as one: what they say, who may talk above
/// all, would hold nowhere.
pub(super) fn channels(document: &Value) -> Vec<Problem> {
    let refused = nameless(document).filter_map(|name| {
        nearest::nearest(name, configured())?;
        let text = unknown(name, "is no channel", configured());
        Some(Problem::other(path("channels").child(name), text))
    });
    refused.collect()
}

/// Sections of channels that are called like none. OpenClaw's plugins may have brought
/// them, so that the file is a good one there.
fn unknown_channels(document: &Value) -> impl Iterator<Item = Problem> {
    let unknown_ones = nameless(document).filter(|name| !OF_PLUGINS.contains(&name.as_str()));
    unknown_ones.filter_map(|name| {
        let is_near = nearest::nearest(name, configured()).is_some();
        let text = format!(
            "{name:?} is no channel that is known here, so nobody is answered by it: telegram is \
             connected, and of OpenClaw's others none is yet"
        );
        (!is_near).then(|| Problem::other(path("channels").child(name), text))
    })
}

/// The channels that a section of the file may be of.
fn configured() -> impl Iterator<Item = &'static str> {
    std::iter::once("telegram").chain(OTHER_CHANNELS.iter().copied())
}

/// Sections of channels that OpenClaw does not have.
fn nameless(document: &Value) -> impl Iterator<Item = &String> {
    let all = fields(document, "/channels").map(|(name, _)| name);
    all.filter(|name| !SETTINGS_OF_ALL.contains(&name.as_str()) && !is_channel(name))
}

/// Bindings of channels and accounts that there are not, and those that another one
/// before them answers for.
fn bindings(document: &Value) -> Vec<Problem> {
    let all: Vec<_> = items(document, "/bindings").collect();
    let mut found = Vec::new();
    for (at, binding) in &all {
        let Some(matched) = binding.get("match") else {
            continue;
        };
        let key = path("bindings").child(at).child("match");
        let text = |name: &str| matched.get(name).and_then(Value::as_str);
        if let Some(name) = text("channel") {
            let name = plain(name);
            found.extend(channel(key.child("channel"), &name, "so it binds nothing"));
        }
        if let Some(account) = text("accountId") {
            found.extend(account_of(document, matched, account).map(|text| {
                let key = key.child("accountId");
                Problem::other(key, text)
            }));
        }
        let peer = matched.pointer("/peer/id").and_then(Value::as_str);
        let is_telegram = text("channel").map(plain).as_deref() == Some("telegram");
        let is_nobody = |id: &&str| !id.contains(REFERENCE) && !telegram::is_chat(id);
        if let Some(id) = peer.filter(is_nobody).filter(|_| is_telegram) {
            let text = format!(
                "{id:?} is no chat, so it binds nothing: chats have numeric ids, as 123456789, \
                 -1001234567890 or -1001234567890:topic:42; * is any"
            );
            found.push(Problem::other(key.child("peer").child("id"), text));
        }
        let mut before = all.iter().take_while(|(earlier, _)| earlier != at);
        if let Some((first, _)) = before.find(|(_, it)| it.get("match") == Some(matched)) {
            let text = format!("is that of bindings.{first}, which answers first");
            found.push(Problem::other(key, text));
        }
    }
    found
}

/// Why nothing comes by the account.
fn account_of(document: &Value, matched: &Value, account: &str) -> Option<String> {
    let name = plain(matched.get("channel")?.as_str()?);
    let place = format!("/channels/{name}");
    let configured = document.pointer(&place).filter(|_| name == "telegram")?;
    let account = account.trim();
    if account == ANY || account.is_empty() || account.contains(REFERENCE) {
        return None;
    }
    let accounts = configured.get("accounts").and_then(Value::as_object);
    let mut known: Vec<&str> = accounts
        .into_iter()
        .flatten()
        .map(|(it, _)| it.as_str())
        .collect();
    if known.is_empty() {
        known.push("default");
    }
    let problem = format!("is no account of channels.{name}, so it binds nothing");
    let is_known = known.contains(&account);
    (!is_known).then(|| unknown(account, &problem, known))
}

fn rules(document: &Value) -> impl Iterator<Item = Problem> {
    items(document, "/session/sendPolicy/rules").filter_map(|(at, rule)| {
        let name = rule.pointer("/match/channel")?.as_str()?;
        let key = path("session.sendPolicy.rules").child(&at);
        let key = key.child("match").child("channel");
        channel(
            key,
            &plain(name),
            "so the rule fits clients alone that name it",
        )
    })
}

fn links(document: &Value) -> Vec<Problem> {
    let mut found = Vec::new();
    for (person, peers) in fields(document, "/session/identityLinks") {
        for (at, peer) in peers.as_array().into_iter().flatten().enumerate() {
            let Some((name, _)) = peer.as_str().and_then(|peer| peer.split_once(':')) else {
                continue;
            };
            let key = path("session.identityLinks").child(person);
            let key = key.child(&at.to_string());
            found.extend(channel(key, &plain(name), "so nobody is linked by it"));
        }
    }
    found
}

/// Providers whose names differ only in case.
fn providers(document: &Value) -> Vec<Problem> {
    let mut known: BTreeMap<String, &String> = BTreeMap::new();
    let mut found = Vec::new();
    for (id, _) in fields(document, "/models/providers") {
        match known.get(&id.to_lowercase()) {
            Some(first) => {
                let key = path("models.providers").child(id);
                let text = format!(
                    "differs from models.providers.{first} in case alone: they are two providers, \
                     and models are named by either"
                );
                found.push(Problem::other(key, text));
            }
            None => {
                known.insert(id.to_lowercase(), id);
            }
        }
    }
    found
}

/// Models that a provider lists again.
fn models(document: &Value) -> Vec<Problem> {
    let mut found = Vec::new();
    for (provider, section) in fields(document, "/models/providers") {
        let ids: Vec<_> = items(section, "/models")
            .map(|(at, model)| (at, model.get("id").and_then(Value::as_str)))
            .collect();
        for (place, (at, id)) in ids.iter().enumerate() {
            let later = ids[place + 1..]
                .iter()
                .find(|(_, it)| id.is_some() && it == id);
            if let Some((later, _)) = later {
                let key = path("models.providers").child(provider).child("models");
                let text = format!("is the model of models.{later}, which holds");
                found.push(Problem::other(key.child(at).child("id"), text));
            }
        }
    }
    found
}

/// Entries of lists of commands that are empty.
fn commands(document: &Value) -> Vec<Problem> {
    let whole = (KeyPath::default(), document);
    let sections = std::iter::once(whole).chain(super::agents(document));
    let mut found = Vec::new();
    for (section, value) in sections {
        for list in ["allowlist", "safeBins"] {
            for (at, entry) in items(value, &format!("/tools/exec/{list}")) {
                if entry.as_str().is_some_and(|it| it.trim().is_empty()) {
                    let key = section.child("tools").child("exec").child(list);
                    let text = "is empty, so it allows nothing";
                    found.push(Problem::other(key.child(&at), text));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(document: &Value) -> Vec<String> {
        let all = doubts(document).into_iter();
        all.map(|it| it.to_string()).collect()
    }

    /// Each document with the beginning of what is said of it.
    fn are_said(all: &[(Value, &str)]) {
        for (document, start) in all {
            let said = said(document);
            assert_eq!(said.len(), 1, "{document}: {said:#?}");
            assert!(said[0].starts_with(start), "{document}: {said:#?}");
        }
    }

    #[test]
    fn default_agent_that_is_not_said_clearly_is_doubted() {
        let listed = |list: Value| json!({"agents": {"list": list}});
        let one = json!({"id": "a", "default": true});
        are_said(&[
            (
                listed(json!([{"id": "a"}, {"id": "b"}])),
                "agents.list: marks none of several agents",
            ),
            (
                listed(json!([{"id": "z"}, one, {"id": "b", "default": true}])),
                "agents.list: marks more than one agent with \"default\": true: messages that \
                 name no agent go to \"a\", the first",
            ),
        ]);
        for list in [json!([]), json!([{"id": "a"}]), json!([{"id": "b"}, one])] {
            assert_eq!(said(&listed(list.clone())), [""; 0], "{list}");
        }
    }

    #[test]
    fn channel_that_nobody_knows_is_doubted() {
        let queue = |queue: Value| json!({"messages": {"queue": queue}});
        let session = |session: Value| json!({ "session": session });
        let rule = |channel: &str| json!({"action": "deny", "match": {"channel": channel}});
        are_said(&[
            (
                queue(json!({"byChannel": {"telegrm": "steer", "telegram": "steer"}})),
                "messages.queue.byChannel.telegrm: \"telegrm\" is no channel that is known here, \
                 so it holds for clients alone that name it; did you mean \"telegram\"?",
            ),
            (
                queue(json!({"debounceMsByChannel": {"Telegram": 1, "cli": 1}})),
                "messages.queue.debounceMsByChannel.Telegram: ",
            ),
            (
                session(json!({"resetByChannel": {"telegrm": {}, "discord": {}}})),
                "session.resetByChannel.telegrm: ",
            ),
            (
                session(json!({"sendPolicy": {"rules": [rule("telegram"), rule("tlegram")]}})),
                "session.sendPolicy.rules.1.match.channel: ",
            ),
            (
                session(json!({"identityLinks": {"ada": ["telegram:5", "telgram:5"]}})),
                "session.identityLinks.ada.1: ",
            ),
            (
                json!({"bindings": [{"agentId": "a", "match": {"channel": "telegrm"}}]}),
                "bindings.0.match.channel: \"telegrm\" is no channel that is known here, so it \
                 binds nothing",
            ),
            (
                session(json!({"resetByType": {"direkt": {}, "dm": {}, "thread": {}}})),
                "session.resetByType.direkt: \"direkt\" is no kind of conversation, so nothing \
                 begins anew by it; did you mean \"direct\"?",
            ),
        ]);
    }

    #[test]
    fn binding_that_binds_nothing_is_doubted() {
        let with = |accounts: Value, account: &str| {
            json!({"channels": {"telegram": {"accounts": accounts}},
                "bindings": [{"match": {"channel": "Telegram", "accountId": account}}]})
        };
        let telegram = json!({"agentId": "a", "match": {"channel": "telegram"}});
        are_said(&[
            (
                with(json!({"work": {}}), "wrk"),
                "bindings.0.match.accountId: \"wrk\" is no account of channels.telegram, so it \
                 binds nothing; did you mean \"work\"?",
            ),
            (with(json!({}), "work"), "bindings.0.match.accountId: "),
            (
                json!({"bindings": [telegram, {"agentId": "b", "match": telegram["match"]}]}),
                "bindings.1.match: is that of bindings.0, which answers first",
            ),
        ]);
        for (accounts, account) in [
            (json!({"work": {}}), "work"),
            (json!({"work": {}}), "*"),
            (json!({"work": {}}), "${ACCOUNT}"),
            (json!({}), "default"),
        ] {
            assert_eq!(said(&with(accounts, account)), [""; 0], "{account}");
        }
    }

    #[test]
    fn binding_of_a_chat_that_has_no_id_is_doubted() {
        let of = |channel: &str, id: Value| {
            let peer = json!({"kind": "group", "id": id});
            json!({"bindings": [{"agentId": "a", "match": {"channel": channel, "peer": peer}}]})
        };
        for wrong in ["x", "@news", "-100:topic:x", "*:topic:4", "slack:5"] {
            let start = format!("bindings.0.match.peer.id: {wrong:?} is no chat");
            are_said(&[(of("telegram", json!(wrong)), &start)]);
        }
        for fine in [
            json!("*"),
            json!(-100),
            json!("-100:topic:4"),
            json!("tg:5"),
            json!("${ID}"),
        ] {
            assert_eq!(said(&of("Telegram", fine.clone())), [""; 0], "{fine}");
        }
        assert_eq!(said(&of("signal", json!("x"))), [""; 0]);
    }

    #[test]
    fn channel_that_is_called_almost_as_one_is_refused() {
        let refused = |name: &str| channels(&json!({"channels": {name: {"allowFrom": [7]}}}));
        let wrong = refused("telgram");
        let expected = "channels.telgram: \"telgram\" is no channel; did you mean \"telegram\"?";
        assert_eq!(wrong.len(), 1);
        assert_eq!(wrong[0].to_string(), expected);
        assert_eq!(refused("Telegram").len(), 1);
        for fine in [
            "telegram",
            "discord",
            "defaults",
            "modelByChannel",
            "pigeon",
        ] {
            assert!(refused(fine).is_empty(), "{fine}");
        }
    }

    #[test]
    fn channel_that_is_called_as_none_is_doubted() {
        let of = |name: &str| json!({"channels": {name: {"loft": 1}}});
        are_said(&[(
            of("pigeon"),
            "channels.pigeon: \"pigeon\" is no channel that is known here, so nobody is answered \
             by it: telegram is connected, and of OpenClaw's others none is yet",
        )]);
        for fine in ["discord", "defaults", "telegram", "telgram"] {
            assert_eq!(said(&of(fine)), [""; 0], "{fine}");
        }
    }

    #[test]
    fn provider_or_model_that_is_there_twice_is_doubted() {
        let providers = |providers: Value| json!({"models": {"providers": providers}});
        are_said(&[
            (
                providers(json!({"Mine": {}, "mine": {}, "other": {}})),
                "models.providers.mine: differs from models.providers.Mine in case alone",
            ),
            (
                providers(json!({"mine": {"models": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}})),
                "models.providers.mine.models.0.id: is the model of models.2, which holds",
            ),
        ]);
        let fine =
            json!({"mine": {"models": [{"id": "a"}, {}, {}]}, "other": {"models": [{"id": "a"}]}});
        assert_eq!(said(&providers(fine)), [""; 0]);
    }

    #[test]
    fn command_that_is_empty_is_doubted() {
        let exec = json!({"exec": {"allowlist": ["make", " "]}});
        are_said(&[
            (
                json!({ "tools": exec }),
                "tools.exec.allowlist.1: is empty, so it allows nothing",
            ),
            (
                json!({"agents": {"list": [{"tools": exec}]}}),
                "agents.list.0.tools.exec.allowlist.1: ",
            ),
            (
                json!({"tools": {"exec": {"safeBins": [""]}}}),
                "tools.exec.safeBins.0: ",
            ),
        ]);
    }
}
