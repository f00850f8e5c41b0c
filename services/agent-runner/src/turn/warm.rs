//! CLIs that stand ready for a session's next turn.

use std::sync::Arc;

use openclaw_backends::choice::{Choice, Plan};
use openclaw_daemon::failure;
use openclaw_handoff::own_limits;
use openclaw_proto::event::{Done, Kind};
use openclaw_proto::runner::{BackendSession, Purpose, Turn};
use openclaw_settings::{AgentSettings, RunnerSettings};

use super::TurnContext;
use super::cli::Chosen;
use super::ready::watch_over;
use super::start::TurnStart;
use crate::table::Entry;

/// Whether a CLI stands ready for the session after such a turn. Where the
/// session has limits of its own it does not.
pub(crate) fn keeps_warm(agent: &AgentSettings, turn: &Turn) -> bool {
    !agent.cli_warm.is_zero()
        && turn.purpose == Purpose::Message
        && own_limits::names(turn).is_empty()
}

/// Starts the CLI for the session's next turn, after one that went well.
pub(super) async fn renew(
    turn_context: &TurnContext,
    settings: &Arc<RunnerSettings>,
    turn: &Turn,
    choice: &Choice,
    entry: &Entry,
) {
    let Some(Kind::Done(done)) = entry.log.terminal() else {
        return;
    };
    let Some(agent) = settings.agent(&turn.agent_id) else {
        return;
    };
    let Ok(Plan::Cli {
        cli,
        program,
        model,
    }) = &choice.plan
    else {
        return;
    };
    if !keeps_warm(agent, turn) {
        return;
    }
    let chosen = Chosen {
        cli: *cli,
        program,
        model: model.as_deref(),
    };
    let spare = turn_context.warm.of(&turn.session_key);
    let Some(name) = spare.wanted(settings, &agent.id).await else {
        return;
    };
    let next = next(turn, &name, done);
    let start = TurnStart::new(turn_context, settings, agent, &next, choice);
    let stood = async { start.await?.stand_ready(chosen).await };
    match stood.await {
        Ok(ready) => {
            let watch = ready.held.watch();
            spare.put(Some(ready));
            watch_over(&spare, name, watch, agent.cli_warm);
        }
        // The next turn tries again and says why.
        Err(error) => {
            spare.put(None);
            tracing::debug!(error = %failure::chain(&error), "no CLI stands ready");
        }
    }
    turn_context.warm.prune().await;
}

/// The turn after `turn`, as far as it is known.
fn next(turn: &Turn, run_id: &str, done: Done) -> Turn {
    let session = done.backend_session.map(|id| BackendSession {
        backend: done.backend,
        id,
        unseen: 0,
    });
    Turn {
        run_id: run_id.to_owned(),
        backend_sessions: session.into_iter().collect(),
        ..turn.clone()
    }
}
