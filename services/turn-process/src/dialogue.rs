//! The agent CLIs that a turn's process can speak to.

use std::sync::Arc;

use openclaw_agent_clis::Dialogue;
use openclaw_handoff::limits::Limits;
use tokio::net::UnixStream;

use crate::approvals::Approvals;
use crate::translate::Translate;
use crate::{claude, codex};

/// Begins the dialogue with the CLI that was started; the result translates its output.
pub(crate) fn begin(
    dialogue: Dialogue,
    stdin: Option<UnixStream>,
    approvals: Arc<Approvals>,
    limits: Limits,
    model: Option<String>,
) -> Box<dyn Translate> {
    match dialogue {
        Dialogue::Claude(said) => Box::new(claude::begin(said, stdin, approvals, limits, model)),
        Dialogue::Codex(said) => Box::new(codex::begin(said, stdin, approvals, limits, model)),
    }
}
