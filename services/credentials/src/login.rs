//! Logins of agent CLIs: where the CLIs keep them, and where an agent's own are
//! kept.
//!
//! A login is no auth profile. An agent's own lie in `agents/<id>/logins`,
//! where `openclawctl auth adopt` puts them after somebody has looked at them;
//! the agent-runner takes none out of a folder that an agent can write to.

use std::path::PathBuf;

use openclaw_agent_clis::{claude, codex};
use openclaw_config::paths::Paths;

/// A CLI that has logins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

impl Login {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Claude, Self::Codex];

    /// As it is named on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// What the CLI is called, for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => claude::CLI.title,
            Self::Codex => codex::CLI.title,
        }
    }

    /// Whose account it is of.
    pub fn provider(self) -> &'static str {
        match self {
            Self::Claude => claude::CLI.provider,
            Self::Codex => codex::CLI.provider,
        }
    }

    /// Where the CLI keeps it, seen from a home.
    pub fn in_home(self) -> &'static str {
        match self {
            Self::Claude => ".claude/.credentials.json",
            Self::Codex => ".codex/auth.json",
        }
    }

    /// Where earlier versions kept an agent's own, among the auth profiles and
    /// without asking anybody. What lies there is not used.
    pub fn earlier(self) -> &'static str {
        match self {
            Self::Claude => "claude-credentials.json",
            Self::Codex => "codex-auth.json",
        }
    }

    /// An agent's own, seen from the agent's folder.
    pub fn adopted(self) -> String {
        format!("logins/{}.json", self.name())
    }

    /// An agent's own.
    pub fn file(self, paths: &Paths, agent_id: &str) -> PathBuf {
        paths.agent(agent_id).join(self.adopted())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_is_found_where_its_cli_and_the_agent_keep_it() {
        let paths = Paths::resolve(&[("OPENCLAW_STATE_DIR", "/s")].into_iter().collect()).unwrap();
        let said = Login::ALL.map(|login| {
            let file = login.file(&paths, "a");
            let words = [
                login.name(),
                login.title(),
                login.provider(),
                login.in_home(),
                login.earlier(),
            ];
            (words, login.adopted(), file.display().to_string())
        });
        let expected = [
            (
                [
                    "claude",
                    "Claude Code",
                    "anthropic",
                    ".claude/.credentials.json",
                    "claude-credentials.json",
                ],
                "logins/claude.json".to_owned(),
                "/s/agents/a/logins/claude.json".to_owned(),
            ),
            (
                [
                    "codex",
                    "Codex",
                    "openai",
                    ".codex/auth.json",
                    "codex-auth.json",
                ],
                "logins/codex.json".to_owned(),
                "/s/agents/a/logins/codex.json".to_owned(),
            ),
        ];
        assert_eq!(said, expected);
    }
}
