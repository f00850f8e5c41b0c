//! Which agent answers.

use openclaw_proto::gateway::ChatKind;
use openclaw_settings::keys::channels::{Binding, BindingMatch, BindingPeer};
use openclaw_settings::recipient::TOPIC;

use crate::facts::Facts;
use crate::peer::bare;

/// The agent of the narrowest binding that fits, the first of several.
pub fn agent_of<'a>(bindings: &'a [Binding], facts: &Facts<'_>) -> Option<&'a str> {
    let fitting = bindings.iter().enumerate().filter_map(|(at, binding)| {
        let narrowness = narrowness(&binding.matches, facts)?;
        Some((narrowness, std::cmp::Reverse(at), binding))
    });
    let narrowest = fitting.max_by_key(|(narrowness, at, _)| (*narrowness, *at))?;
    Some(narrowest.2.agent_id.as_str()).filter(|agent| !agent.is_empty())
}

/// How narrow a match is that fits; None: it does not.
fn narrowness(matches: &BindingMatch, facts: &Facts<'_>) -> Option<u8> {
    let channel = matches.channel.as_deref()?.trim();
    if !channel.eq_ignore_ascii_case(facts.channel) {
        return None;
    }
    let of_account = match matches.account_id.as_deref().map(str::trim) {
        Some("*") => 0,
        None | Some("") if facts.is_default_account => 0,
        Some(account) if account == facts.account => 1,
        _ => return None,
    };
    let of_peer = match &matches.peer {
        None => 0,
        Some(peer) => of_peer(peer, facts)?,
    };
    Some(of_peer + of_account)
}

fn of_peer(peer: &BindingPeer, facts: &Facts<'_>) -> Option<u8> {
    let kind = match facts.chat {
        ChatKind::Direct => ["direct", "dm"],
        ChatKind::Group => ["group", "group"],
        ChatKind::Channel | ChatKind::Room => ["channel", "group"],
    };
    let fits = |said: &str| kind.contains(&said.trim().to_ascii_lowercase().as_str());
    if !peer.kind.as_deref().is_none_or(fits) {
        return None;
    }
    let id = peer.id.to_string();
    if id.trim() == "*" {
        return Some(2);
    }
    let (chat, topic) = match id.split_once(TOPIC) {
        None => (id.as_str(), None),
        Some((chat, topic)) => (chat, Some(topic)),
    };
    let chat = bare(chat, facts.channel)?;
    let is_this = chat == facts.chat_id || chat == facts.former_chat_id;
    if !is_this || chat.is_empty() {
        return None;
    }
    match topic {
        None => Some(4),
        topic => (topic == facts.thread).then_some(6),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn agent(bindings: Value, chat: ChatKind, id: &str, thread: Option<&str>) -> Option<String> {
        let bindings: Vec<Binding> = serde_json::from_value(bindings).unwrap();
        let facts = Facts {
            channel: "telegram",
            account: "work",
            is_default_account: false,
            chat,
            chat_id: id,
            former_chat_id: "-99",
            thread,
            sender: "7",
            is_bot: false,
            is_to_bot: true,
        };
        agent_of(&bindings, &facts).map(str::to_owned)
    }

    #[test]
    fn binding_that_is_narrower_comes_first() {
        let of = |agent: &str, matches: Value| json!({"agentId": agent, "match": matches});
        let all = json!([
            of("channel", json!({"channel": "telegram", "accountId": "*"})),
            of("second", json!({"channel": "telegram", "accountId": "*"})),
            of(
                "account",
                json!({"channel": "Telegram", "accountId": "work"})
            ),
            of(
                "groups",
                json!({"channel": "telegram", "accountId": "*", "peer": {"kind": "group", "id": "*"}})
            ),
            of(
                "group",
                json!({"channel": "telegram", "accountId": "*", "peer": {"kind": "group", "id": -100}})
            ),
            of(
                "topic",
                json!({"channel": "telegram", "accountId": "*", "peer": {"kind": "group", "id": "-100:topic:4"}})
            ),
            of(
                "friend",
                json!({"channel": "telegram", "accountId": "work", "peer": {"kind": "dm", "id": "tg:7"}})
            ),
            of(
                "elsewhere",
                json!({"channel": "slack", "accountId": "*", "peer": {"id": "7"}})
            ),
        ]);
        for (chat, id, thread, expected) in [
            (ChatKind::Direct, "8", None, "account"),
            (ChatKind::Direct, "7", None, "friend"),
            (ChatKind::Group, "-200", None, "groups"),
            (ChatKind::Channel, "-200", None, "groups"),
            (ChatKind::Group, "-100", None, "group"),
            (ChatKind::Group, "-100", Some("5"), "group"),
            (ChatKind::Group, "-100", Some("4"), "topic"),
        ] {
            let found = agent(all.clone(), chat, id, thread);
            assert_eq!(found.as_deref(), Some(expected), "{id} {thread:?}");
        }
        let first = json!([all[0], all[1]]);
        assert_eq!(
            agent(first, ChatKind::Direct, "8", None).unwrap(),
            "channel"
        );
        // Without a word about accounts it is for the default one.
        let default = json!([of("default", json!({"channel": "telegram"}))]);
        assert_eq!(agent(default, ChatKind::Direct, "8", None), None);
    }
}
