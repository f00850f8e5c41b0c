//! The Codex CLI.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::{AgentCli, ModelApi};

/// What is known of it everywhere.
pub const CLI: AgentCli = AgentCli {
    backend: "codex-cli",
    program: "codex",
    path_key: "codexCliPath",
    variable: "OPENCLAW_CODEX",
    title: "Codex",
    package: "@openai/codex",
    login: "codex login",
    connection: "run `codex login`, or set OPENAI_API_KEY",
    provider: "openai",
    api: ModelApi::Responses,
    comes_first: false,
    hears_of_tools: false,
    hides_memory: true,
    folder: ".codex",
    sessions: "sessions",
    installed_in: &[".local/bin", ".npm-global/bin", ".codex/bin"],
};

/// What is said to it.
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
