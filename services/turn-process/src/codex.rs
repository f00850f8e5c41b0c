//! The dialogue with Codex: JSON-RPC with its `app-server`.

use std::sync::Arc;

use openclaw_agent_clis::codex::{CLI, CodexDialogue};
use openclaw_handoff::limits::Limits;
use tokio::net::UnixStream;

use crate::approvals::Approvals;
use crate::cli_input::CliInput;

mod approver;
mod conversation;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod item;
mod said;

use approver::CodexApprover;
use conversation::Conversation;

/// The backend's name.
const NAME: &str = CLI.backend;

/// Speaks to the CLI that was started.
pub(crate) fn begin(
    dialogue: CodexDialogue,
    stdin: Option<UnixStream>,
    approvals: Arc<Approvals>,
    limits: Limits,
    model: Option<String>,
) -> Conversation {
    let first = format!("{}\n", said::initialize());
    let cli_input = stdin.map(|stdin| CliInput::new(stdin, first));
    let approver = cli_input.clone().map(|cli_input| CodexApprover {
        cli_input,
        approvals,
        own: dialogue.own,
    });
    Conversation::new(dialogue, cli_input, approver, limits).with_model(model)
}

#[cfg(test)]
pub(crate) mod tests;
