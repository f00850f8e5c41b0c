//! Agent ids.

use std::fmt;
use std::str::FromStr;

/// Longest agent id in bytes; it is a directory name and part of every key.
const AGENT_ID_LIMIT: usize = 64;

/// The name of an agent: lowercase letters, digits, `-` and `_`, so that it can
/// be a directory name and a part of a session key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(String);

/// A text that is no agent id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "agent id {0:?} is not valid: 1 to {AGENT_ID_LIMIT} letters, digits, \"-\" or \"_\", \
     a letter or digit first"
)]
pub struct InvalidAgentId(String);

impl AgentId {
    /// The agent that is there when nothing else is configured.
    pub fn main() -> Self {
        Self("main".to_owned())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentId {
    type Err = InvalidAgentId;

    fn from_str(text: &str) -> Result<Self, InvalidAgentId> {
        let id = text.trim().to_ascii_lowercase();
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let valid = id.len() <= AGENT_ID_LIMIT
            && id.starts_with(allowed)
            && id.chars().all(|c| allowed(c) || c == '-' || c == '_');
        if valid {
            Ok(Self(id))
        } else {
            Err(InvalidAgentId(text.chars().take(AGENT_ID_LIMIT).collect()))
        }
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_lowercased_and_checked() {
        assert_eq!("Work_2".parse::<AgentId>().unwrap().as_str(), "work_2");
        for bad in ["", "-a", "a/b", "..", "a b", "ä", &"a".repeat(65)] {
            assert!(bad.parse::<AgentId>().is_err(), "{bad:?} was accepted");
        }
    }
}
