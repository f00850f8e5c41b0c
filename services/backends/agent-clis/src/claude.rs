//! The Claude Code CLI.

use serde::{Deserialize, Serialize};

use crate::cli::{AgentCli, ModelApi};

/// What is known of it everywhere.
pub const CLI: AgentCli = AgentCli {
    backend: "claude-cli",
    program: "claude",
    path_key: "claudeCliPath",
    variable: "OPENCLAW_CLAUDE",
    title: "Claude Code",
    package: "@anthropic-ai/claude-code",
    login: "claude",
    connection: "run `claude setup-token` and set CLAUDE_CODE_OAUTH_TOKEN, or set ANTHROPIC_API_KEY",
    provider: "anthropic",
    api: ModelApi::Messages,
    comes_first: true,
    hears_of_tools: true,
    hides_memory: false,
    folder: ".claude",
    sessions: "projects",
    installed_in: &[".local/bin", ".claude/local", ".npm-global/bin"],
};

/// Its tools that start agents, by the names that it has them under: what a call says of where
/// such an agent works, and of what it may, is not the model's to choose.
pub const STARTING: [&str; 2] = ["Agent", "Task"];

/// What is said to it.
#[derive(Debug, Serialize, Deserialize)]
pub struct ClaudeDialogue {
    /// Written to its standard input.
    pub input: String,
    /// Its own session.
    pub session: String,
}
