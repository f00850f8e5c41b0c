//! Session keys: which conversation a message belongs to.

use std::fmt;

use crate::agent::AgentId;

/// Longest key in bytes. Peers are phone numbers, ids and addresses; nothing
/// real comes near it, and it bounds a journal field and an index key.
const KEY_LIMIT: usize = 256;

/// Characters other than letters and digits that ids of the known channels use.
const MARKS: &str = "+-_.@!#$%&*=/~";

/// Second parts that say what kind of conversation follows; a part that is none
/// of these is a peer of a direct chat.
const KINDS: [&str; 6] = ["direct", "group", "channel", "room", "thread", "topic"];

/// First parts that are no channels: keys such as `cron:<job>` stay as they are
/// below the agent.
const SOURCES: [&str; 6] = ["direct", "cron", "hook", "subagent", "openai", "explicit"];

/// A canonical session key: `agent:<agent>:<rest>`, lowercase.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    text: String,
    agent: AgentId,
}

/// A text that is no session key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "session key {key:?} {problem}; allowed are \"main\", a name, \"<channel>:<peer>\" and \
     \"agent:<agent>:…\", at most {KEY_LIMIT} bytes of letters, digits and {MARKS}"
)]
pub struct InvalidKey {
    key: String,
    problem: &'static str,
}

impl SessionKey {
    /// The canonical form of `raw`; `agent` is used when the key names none.
    ///
    /// | written | canonical |
    /// |---|---|
    /// | nothing, `main` | `agent:<agent>:main` |
    /// | `work` | `agent:<agent>:work` |
    /// | `telegram:42` | `agent:<agent>:telegram:direct:42` |
    /// | `telegram:group:-7` | `agent:<agent>:telegram:group:-7` |
    /// | `agent:…` | as it is, lowercase |
    pub fn parse(raw: &str, agent: &AgentId) -> Result<Self, InvalidKey> {
        let invalid = |problem| InvalidKey {
            key: raw.chars().take(KEY_LIMIT).collect(),
            problem,
        };
        let lower = raw.trim().to_lowercase();
        let (agent, rest) = match lower.strip_prefix("agent:") {
            None if lower == "agent" => return Err(invalid("names no agent")),
            None => (agent.clone(), canonical_rest(&lower)),
            Some(named) => {
                let (id, rest) = named
                    .split_once(':')
                    .ok_or_else(|| invalid("names an agent and no conversation"))?;
                let agent = id.parse().map_err(|_| invalid("names no valid agent"))?;
                (agent, rest.to_owned())
            }
        };
        let text = format!("agent:{agent}:{rest}");
        match problem(&rest, &text) {
            None => Ok(Self { text, agent }),
            Some(problem) => Err(invalid(problem)),
        }
    }

    /// An agent's main session.
    pub fn main(agent: &AgentId) -> Self {
        Self {
            text: format!("agent:{agent}:main"),
            agent: agent.clone(),
        }
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The agent it belongs to.
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// `direct` or `group`, as the index's `chatType` has it.
    pub fn chat_type(&self) -> &'static str {
        let group = |part| matches!(part, "group" | "channel" | "room");
        if self.text.split(':').skip(3).any(group) {
            "group"
        } else {
            "direct"
        }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

fn canonical_rest(key: &str) -> String {
    let Some((first, rest)) = key.split_once(':') else {
        return if key.is_empty() { "main" } else { key }.to_owned();
    };
    let second = rest.split(':').next().unwrap_or(rest);
    if SOURCES.contains(&first) || (KINDS.contains(&second) && second != rest) {
        return key.to_owned();
    }
    format!("{first}:direct:{}", phone_number(rest))
}

/// E.164: a number is written with `+` and digits only. Anything else that
/// starts with `+` is left alone.
fn phone_number(peer: &str) -> String {
    let formatting = |c: char| matches!(c, ' ' | '-' | '.' | '(' | ')');
    let digits: String = peer.chars().skip(1).filter(|c| !formatting(*c)).collect();
    if peer.starts_with('+') && !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()) {
        format!("+{digits}")
    } else {
        peer.to_owned()
    }
}

fn problem(rest: &str, whole: &str) -> Option<&'static str> {
    let allowed = |c: char| c == ':' || c.is_alphanumeric() || MARKS.contains(c);
    if whole.len() > KEY_LIMIT {
        Some("is too long")
    } else if !rest.chars().all(allowed) {
        Some("has a character that is not allowed")
    } else if rest.split(':').any(str::is_empty) {
        Some("has an empty part")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(raw: &str) -> String {
        SessionKey::parse(raw, &AgentId::main())
            .unwrap()
            .to_string()
    }

    #[test]
    fn known_forms_become_canonical() {
        for (raw, expected) in [
            ("", "agent:main:main"),
            (" Main ", "agent:main:main"),
            ("work", "agent:main:work"),
            ("cli:local", "agent:main:cli:direct:local"),
            (
                "Telegram:+1 (234) 567-890",
                "agent:main:telegram:direct:+1234567890",
            ),
            ("telegram:direct:42", "agent:main:telegram:direct:42"),
            (
                "telegram:group:-7:topic:3",
                "agent:main:telegram:group:-7:topic:3",
            ),
            (
                "discord:guild1:channel2",
                "agent:main:discord:direct:guild1:channel2",
            ),
            ("matrix:@a:b.org", "agent:main:matrix:direct:@a:b.org"),
            ("telegram:group", "agent:main:telegram:direct:group"),
            ("cron:job-1", "agent:main:cron:job-1"),
            ("agent:Ops:Main", "agent:ops:main"),
            (
                "agent:main:telegram:direct:123456789",
                "agent:main:telegram:direct:123456789",
            ),
        ] {
            assert_eq!(canonical(raw), expected, "of {raw:?}");
        }
    }

    #[test]
    fn an_invalid_key_is_named_with_the_allowed_form() {
        for raw in [
            "a b",
            "a::b",
            ":",
            "agent",
            "agent:main",
            "agent::x",
            "agent:a/b:x",
            "x\n",
        ] {
            let Err(error) = SessionKey::parse(raw, &AgentId::main()) else {
                assert_eq!(raw, "x\n", "only surrounding blanks may be dropped");
                continue;
            };
            let text = error.to_string();
            assert!(text.contains(&format!("{raw:?}")), "{text}");
            assert!(text.contains("<channel>:<peer>"), "{text}");
        }
        assert!(SessionKey::parse(&"k".repeat(300), &AgentId::main()).is_err());
    }

    #[test]
    fn groups_are_told_from_direct_chats() {
        let key = |raw| SessionKey::parse(raw, &AgentId::main()).unwrap();
        assert_eq!(key("telegram:group:-7").chat_type(), "group");
        assert_eq!(key("telegram:7").chat_type(), "direct");
        assert_eq!(key("main").chat_type(), "direct");
    }
}
