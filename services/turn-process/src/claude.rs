//! The dialogue with Claude Code: stream-json in and out.

use std::sync::Arc;

use openclaw_agent_clis::claude::{CLI, ClaudeDialogue};
use openclaw_handoff::limits::Limits;
use tokio::net::UnixStream;

use crate::approvals::Approvals;
use crate::cli_input::CliInput;

mod approver;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod output;
mod tasks;

use approver::ClaudeApprover;
use output::Output;

/// The backend's name.
const NAME: &str = CLI.backend;

/// Speaks to the CLI that was started.
pub(crate) fn begin(
    dialogue: ClaudeDialogue,
    stdin: Option<UnixStream>,
    approvals: Arc<Approvals>,
    limits: Limits,
    model: Option<String>,
) -> Output {
    let cli_input = stdin.map(|stdin| CliInput::new(stdin, dialogue.input));
    let approver = cli_input.map(|cli_input| ClaudeApprover::new(cli_input, approvals));
    Output::new(dialogue.session, model, limits).answering(approver)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Reads what the CLI writes.
    pub(crate) fn reader() -> Output {
        let limits = Limits {
            steps: u32::MAX,
            identical_calls: u32::MAX,
            output_tokens: u64::MAX,
            cost_per_turn: f64::MAX,
            cost_per_day: f64::MAX,
            spent_today: 0.0,
        };
        Output::new("s".to_owned(), None, limits)
    }
}
