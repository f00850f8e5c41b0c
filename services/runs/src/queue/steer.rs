//! Messages that go into the turn that runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use openclaw_sessions::SessionKey;
use tracing::Instrument as _;

use super::{Mode, Queue};
use crate::run::Run;

/// The note for messages that get no answer of their own.
const TAKEN: &str = "the message went into the turn that runs, whose answer is its answer \
                     (messages.queue)";

impl Queue {
    /// The message of `run` wants to go into its session's turn. When that has not
    /// begun yet, [`Self::begun`] comes back to it.
    pub(super) fn offer(&self, run: &Arc<Run>) {
        let turn = self.lanes.running(&run.key);
        let Some(turn) = turn.and_then(|id| self.runs.find(&id)) else {
            return;
        };
        if turn.has_begun.load(Ordering::Relaxed) && turn.is_answered_with(run) {
            self.send(&turn, run);
        }
    }

    /// The turn of `turn` has begun at the runner: what waited for that goes there.
    pub(crate) fn begun(&self, turn: &Run) {
        if turn.has_begun.swap(true, Ordering::Relaxed) {
            return;
        }
        for run in self.waiting(&turn.key) {
            let mode = run.queued.get().map(|queued| queued.mode);
            if mode == Some(Mode::Steer) && turn.is_answered_with(&run) {
                self.send(turn, &run);
            }
        }
    }

    /// The message `id` of a place, whose run is of the session `key`, says `words` now:
    /// whether that is told in its place. When a model knows it, it is too late.
    pub(crate) fn edit(&self, key: &SessionKey, id: &str, words: &str) -> bool {
        let mut live = self.runs.live().into_iter();
        let Some(run) = live.find(|run| run.key == *key && run.words.is_of(id)) else {
            return false;
        };
        if run.cancel.is_cancelled() || !run.words.edit(id, words) {
            return false;
        }
        if run.queued.get().map(|queued| queued.mode) == Some(Mode::Steer) {
            // The newest of the same run is the one that the turn takes.
            self.offer(&run);
        }
        true
    }

    /// The message stays in its session's queue until the turn says that it was
    /// taken, so that nothing is lost when the runner cannot be told.
    fn send(&self, turn: &Run, run: &Arc<Run>) {
        let (runner, turn_id, run) = (self.runner.clone(), turn.id.clone(), Arc::clone(run));
        let span = run.span.clone();
        let tell = async move {
            let Some(queued) = run.queued.get() else {
                return;
            };
            let text = run.words.edited().unwrap_or_else(|| queued.text.clone());
            let text = format!("[Sent while you were working]\n{text}");
            if let Err(error) = runner.steer_turn(&turn_id, &run.id, &text).await {
                tracing::debug!("the turn cannot be steered ({error}); the message waits");
            }
        };
        self.tasks.spawn(tell.instrument(span));
    }

    /// The turn of `turn` has taken the messages of these runs, which end without
    /// an answer of their own. It is believed for its own session alone.
    pub(crate) fn taken(&self, turn: &Run, run_ids: &[String]) {
        let runs = run_ids.iter().filter_map(|id| self.runs.find(id));
        let own = runs.filter(|run| run.key == turn.key && run.id != turn.id);
        for run in own {
            run.words.tell();
            run.absorb(TAKEN);
        }
    }
}
