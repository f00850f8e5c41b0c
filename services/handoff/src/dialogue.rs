//! What is said to an agent CLI, told to the turn's process.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::servers::Pace;

/// What is said to a CLI, by its kind.
#[derive(Debug, Serialize, Deserialize)]
pub enum Dialogue {
    /// Claude Code.
    Claude(ClaudeDialogue),
    /// Codex.
    Codex(CodexDialogue),
}

impl Dialogue {
    /// Which servers of tools are waited for before it asks its model.
    pub fn patience(&self) -> Pace {
        match self {
            Self::Claude(_) => Pace::Prompt,
            // It takes no note of `tools/list_changed`.
            Self::Codex(_) => Pace::Late,
        }
    }
}

/// Claude Code's tools that start agents, by the names that it has them under: what a call says
/// of where such an agent works, and of what it may, is not the model's to choose.
pub const STARTING: [&str; 2] = ["Agent", "Task"];

/// What is said to Claude Code.
#[derive(Debug, Serialize, Deserialize)]
pub struct ClaudeDialogue {
    /// Written to its standard input.
    pub input: String,
    /// Its own session.
    pub session: String,
}

/// What is said to Codex.
#[derive(Debug, Serialize, Deserialize)]
pub struct CodexDialogue {
    /// What a thread is begun or resumed with.
    pub thread: Value,
    /// The thread to go on with.
    pub resumed: Option<CodexThread>,
    /// Said to a thread that begins.
    pub words: String,
    /// How much it is to think.
    pub effort: Option<String>,
    /// Its own tools.
    pub own: CodexTools,
}

/// A thread that the conversation was in.
#[derive(Debug, Serialize, Deserialize)]
pub struct CodexThread {
    /// Its name at the CLI.
    pub id: String,
    /// Said to it.
    pub words: String,
}

/// The Codex CLI's own tools: those that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodexTools {
    /// Runs commands.
    pub commands: bool,
    /// Changes files.
    pub changes: bool,
    /// Looks at pictures.
    pub images: bool,
    /// Lets the provider search the web.
    pub search: bool,
}
