//! All agent CLIs, and what is said to each.

use serde::{Deserialize, Serialize};

use crate::cli::AgentCli;
use crate::{claude, codex};

/// All of them, those first that are looked for first.
pub const ALL: [&AgentCli; 2] = [&claude::CLI, &codex::CLI];

/// What is said to a CLI, by its kind.
#[derive(Debug, Serialize, Deserialize)]
pub enum Dialogue {
    /// Claude Code.
    Claude(claude::ClaudeDialogue),
    /// Codex.
    Codex(codex::CodexDialogue),
}

impl Dialogue {
    /// The CLI that it is said to.
    pub fn cli(&self) -> &'static AgentCli {
        match self {
            Self::Claude(_) => &claude::CLI,
            Self::Codex(_) => &codex::CLI,
        }
    }
}

impl AgentCli {
    /// The CLI that is the backend of this name.
    pub fn of_backend(name: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|cli| cli.backend == name)
    }

    /// The CLI that a configuration means by this name: its backend, or its program.
    pub fn of_name(name: &str) -> Option<&'static Self> {
        ALL.into_iter()
            .find(|cli| [cli.backend, cli.program].contains(&name))
    }
}
