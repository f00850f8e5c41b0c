//! Session keys: which conversation a message belongs to.

mod form;
mod route;

use std::borrow::Cow;
use std::fmt;

use crate::agent::AgentId;

pub use form::E164_DIGITS;
pub use route::{Chat, DmScope, IdentityLinks, InvalidRoute, Route};

/// Longest key in bytes, as OpenClaw's protocol has it. It bounds a journal field and an index key.
pub const KEY_LIMIT: usize = 512;

/// Keys without an agent that stand for themselves in OpenClaw's index.
const BARE_KEYS: [&str; 2] = ["global", "unknown"];

/// A canonical session key: `agent:<agent>:<rest>` or one of OpenClaw's bare keys, lowercase.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    text: String,
    agent: AgentId,
}

/// A text that is not a session key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "session key {key:?} {problem}; allowed are \"main\", a name, \"<channel>:<peer>\" and \
     \"agent:<agent>:…\", at most {KEY_LIMIT} bytes without spaces"
)]
pub struct InvalidKey {
    key: String,
    problem: Cow<'static, str>,
}

impl SessionKey {
    /// The canonical form of `raw`; `agent` is used when the key names none.
    ///
    /// | written | canonical |
    /// |---|---|
    /// | nothing, `main` | `agent:<agent>:main` |
    /// | `work` | `agent:<agent>:work` |
    /// | `telegram:42` | `agent:<agent>:telegram:direct:42` |
    /// | `telegram:dm:42` | `agent:<agent>:telegram:direct:42` |
    /// | `telegram:group:-7` | `agent:<agent>:telegram:group:-7` |
    /// | `+49 151 234`, `12@g.us` | `agent:<agent>:whatsapp:direct:+49151234`, `…:whatsapp:group:12@g.us` |
    /// | `global`, `unknown` | as they are |
    /// | `agent:…` | lowercase, phone numbers in E.164 |
    pub fn parse(raw: &str, agent: &AgentId) -> Result<Self, InvalidKey> {
        Self::checked(raw, agent, strict_problem)
    }

    /// The canonical form of a key that an index has. OpenClaw puts names of
    /// rooms into keys, so that spaces are allowed here.
    pub fn stored(raw: &str, agent: &AgentId) -> Result<Self, InvalidKey> {
        Self::checked(raw, agent, stored_problem)
    }

    /// An agent's main session.
    pub fn main(agent: &AgentId) -> Self {
        Self {
            text: format!("agent:{agent}:main"),
            agent: agent.clone(),
        }
    }

    /// The conversation that all of an agent's chats share where they share one.
    pub fn global(agent: &AgentId) -> Self {
        Self {
            text: BARE_KEYS[0].to_owned(),
            agent: agent.clone(),
        }
    }

    /// The key of a session that was taken over and whose own key is taken.
    pub fn imported(agent: &AgentId, session_id: &str) -> Self {
        Self {
            text: format!("agent:{agent}:imported:{}", session_id.to_lowercase()),
            agent: agent.clone(),
        }
    }

    /// Whether a session may be made of it: every character of its name is seen as what it
    /// is, so that no two look alike. Sessions that are there keep theirs, and so do those
    /// that are taken over.
    ///
    /// # Errors
    /// Names the character that is not seen.
    pub fn check_new(&self) -> Result<(), InvalidKey> {
        let name = self.rest().unwrap_or_default();
        let Some(unseen) = openclaw_escape::first_unseen(name) else {
            return Ok(());
        };
        let number = u32::from(unseen);
        Err(InvalidKey {
            key: self.text.clone(),
            problem: format!("has the character U+{number:04X} in it, which is not seen").into(),
        })
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The agent it belongs to.
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// Whether it is its agent's main session.
    pub fn is_main(&self) -> bool {
        self.rest() == Some("main")
    }

    /// `direct`, `group` or `thread`, as the reset policies tell them apart.
    pub fn kind(&self) -> &'static str {
        let mut parts = self.text.split(':').skip(2).peekable();
        while let Some(part) = parts.next() {
            // The last part is an id, whatever it is called.
            if matches!(part, "thread" | "topic") && parts.peek().is_some() {
                return "thread";
            }
        }
        self.chat_type()
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

    /// The channel it names: the part before the kind of chat.
    pub fn channel(&self) -> Option<&str> {
        let (channel, rest) = self.rest()?.split_once(':')?;
        form::names_chat(rest).then_some(channel)
    }

    /// What follows the agent.
    fn rest(&self) -> Option<&str> {
        let named = self.text.strip_prefix("agent:")?;
        named.split_once(':').map(|(_, rest)| rest)
    }

    fn checked(
        raw: &str,
        agent: &AgentId,
        problem: fn(&str) -> Option<&'static str>,
    ) -> Result<Self, InvalidKey> {
        let invalid = |problem: &'static str| InvalidKey {
            key: raw.chars().take(KEY_LIMIT).collect(),
            problem: problem.into(),
        };
        let lower = raw.trim().to_lowercase();
        if BARE_KEYS.contains(&lower.as_str()) {
            return Ok(Self {
                text: lower,
                agent: agent.clone(),
            });
        }
        let (agent, rest) = match lower.strip_prefix("agent:") {
            None if lower == "agent" => return Err(invalid("names no agent")),
            None => (agent.clone(), form::canonical(&lower)),
            Some(named) => {
                let (id, rest) = named
                    .split_once(':')
                    .ok_or_else(|| invalid("names an agent and no conversation"))?;
                let agent = id.parse().map_err(|_| invalid("names no valid agent"))?;
                (agent, form::current(rest))
            }
        };
        let text = format!("agent:{agent}:{rest}");
        match length_problem(&text).or_else(|| problem(&rest)) {
            None => Ok(Self { text, agent }),
            Some(problem) => Err(invalid(problem)),
        }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

fn length_problem(text: &str) -> Option<&'static str> {
    (text.len() > KEY_LIMIT).then_some("is too long")
}

fn strict_problem(rest: &str) -> Option<&'static str> {
    if rest.contains(char::is_whitespace) {
        Some("has a space in it")
    } else {
        stored_problem(rest)
    }
}

fn stored_problem(rest: &str) -> Option<&'static str> {
    if rest.contains(char::is_control) {
        Some("has a control character in it")
    } else if rest.split(':').any(|part| part.trim() != part) {
        Some("has a part that begins or ends with a space")
    } else if rest.split(':').any(str::is_empty) {
        Some("has an empty part")
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
