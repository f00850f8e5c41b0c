//! Messages that go into the turn that runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tracing::Instrument as _;

use super::{Mode, waiting};
use crate::core::Core;
use crate::run::Run;

/// The message of `run` wants to go into its session's turn. When that has not
/// begun yet, [`begun`] comes back to it.
pub(super) fn offer(core: &Arc<Core>, run: &Arc<Run>) {
    let turn = core.lanes.running(&run.key);
    let Some(turn) = turn.and_then(|id| core.runs.find(&id)) else {
        return;
    };
    if turn.has_begun.load(Ordering::Relaxed) {
        send(core, &turn, run);
    }
}

/// The turn of `turn` has begun at the runner: what waited for that goes there.
pub fn begun(core: &Arc<Core>, turn: &Run) {
    if turn.has_begun.swap(true, Ordering::Relaxed) {
        return;
    }
    for run in waiting(core, &turn.key) {
        let mode = run.queued.get().map(|queued| queued.settings.mode);
        if mode == Some(Mode::Steer) {
            send(core, turn, &run);
        }
    }
}

/// The message stays in its session's queue until the turn says that it was
/// taken, so that nothing is lost when the runner cannot be told.
fn send(core: &Arc<Core>, turn: &Run, run: &Arc<Run>) {
    let (runner, turn_id, run) = (core.runner.clone(), turn.id.clone(), Arc::clone(run));
    let span = run.span.clone();
    let tell = async move {
        let Some(queued) = run.queued.get() else {
            return;
        };
        let text = format!("[Sent while you were working]\n{}", queued.text);
        if let Err(status) = runner.steer_turn(&turn_id, &run.id, &text).await {
            tracing::debug!(code = ?status.code(), "the turn cannot be steered; the message waits");
        }
    };
    core.spawn(tell.instrument(span));
}

/// The turn of `turn` has taken the messages of these runs, which end without
/// an answer of their own. It is believed for its own session alone.
pub fn taken(core: &Core, turn: &Run, run_ids: &[String]) {
    let runs = run_ids.iter().filter_map(|id| core.runs.find(id));
    let own = runs.filter(|run| run.key == turn.key && run.id != turn.id);
    own.for_each(|run| run.absorb());
}
