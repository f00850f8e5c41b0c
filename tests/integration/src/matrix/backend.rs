//! The backends of the matrix.

use crate::Setup;
use scripted_model::Server;

/// Who answers, and what it calls things.
pub(super) struct Backend {
    pub(super) name: &'static str,
    pub(super) setup: Setup,
    /// Of tools that are not its own.
    pub(super) prefix: &'static str,
    pub(super) shell: &'static str,
    /// Whether it is told of tools that come while a turn goes on.
    pub(super) takes_late_tools: bool,
    /// Whether it keeps a session of its own.
    pub(super) has_own_session: bool,
}

pub(super) fn native(model: &Server) -> Option<Backend> {
    Some(Backend {
        name: "native",
        setup: Setup::anthropic(model),
        prefix: "",
        shell: "execute_shell",
        takes_late_tools: true,
        has_own_session: false,
    })
}

pub(super) fn claude(model: &Server) -> Option<Backend> {
    Some(Backend {
        name: "claude-cli",
        setup: Setup::claude(model)?,
        prefix: "mcp__openclaw__",
        shell: "Bash",
        takes_late_tools: true,
        has_own_session: true,
    })
}

pub(super) fn codex(model: &Server) -> Option<Backend> {
    Some(Backend {
        name: "codex-cli",
        setup: Setup::codex(model)?,
        prefix: "mcp__openclaw__",
        shell: "exec_command",
        takes_late_tools: false,
        has_own_session: true,
    })
}
