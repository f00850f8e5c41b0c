//! Messages that come while a session is busy.

mod batch;
mod overflow;
mod settings;
mod steer;

use std::sync::Arc;
use std::time::Instant;

use openclaw_conversations::Lanes;
use openclaw_conversations::storage::Overrides;
use openclaw_daemon::Configuration;
use openclaw_proto::runner;
use openclaw_sessions::SessionKey;
use tokio_util::task::TaskTracker;

use crate::run::{INTERRUPTED, Queued, Registry, Run};
use overflow::Dropped;
use settings::Drop;

pub use settings::{Change, Mode, Settings};

/// A client's wish for a message that arrives while its session is busy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueRequest {
    /// Instead of the session's own mode.
    pub mode: Option<Mode>,
    /// Whoever sent it waits for the answer, as at a command line: where nobody says
    /// otherwise messages follow one another, all of them.
    pub waits: bool,
}

/// The queue: messages that arrive while their session is busy.
pub(crate) struct Queue {
    configuration: Configuration,
    lanes: Lanes,
    runs: Registry,
    runner: runner::Client,
    tasks: TaskTracker,
    /// Messages for which there was no room.
    dropped: Dropped,
}

impl Queue {
    pub(crate) fn new(
        configuration: Configuration,
        lanes: Lanes,
        runs: Registry,
        runner: runner::Client,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            configuration,
            lanes,
            runs,
            runner,
            tasks,
            dropped: Dropped::default(),
        }
    }

    /// A message of `run` was accepted: says what becomes of it, and of those
    /// before it, when its session is busy.
    pub(crate) fn arrived(
        &self,
        run: &Arc<Run>,
        text: &str,
        wish: QueueRequest,
        overrides: &Overrides,
    ) {
        if self.lanes.is_first(&run.key, &run.id) {
            return;
        }
        let configured = self.configuration.settings();
        let place = (run.channel.as_str(), wish.waits);
        let settings = Settings::of(overrides, &configured.queue, place);
        let mode = wish.mode.unwrap_or(settings.mode);
        let queued = Queued {
            text: text.to_owned(),
            arrived: Instant::now(),
            mode,
            debounce: settings.debounce,
        };
        if run.queued.set(queued).is_err() {
            return;
        }
        match mode {
            Mode::Interrupt => self.interrupt(run),
            Mode::Steer => self.offer(run),
            Mode::Followup | Mode::Collect => {}
        }
        self.check_room(run, settings);
    }

    /// Nobody is to be told of messages that got no turn.
    pub(crate) fn forget_dropped(&self, key: &SessionKey) {
        self.dropped.take(key);
    }

    /// Ends everything else that runs and waits in the session of `run`.
    fn interrupt(&self, run: &Run) {
        let mut live = self.runs.live();
        live.retain(|other| other.key == run.key && other.id != run.id);
        for other in live {
            other.end(INTERRUPTED);
        }
    }

    /// The runs of a session that wait, as messages that found it busy, in the
    /// order in which they came.
    fn waiting(&self, key: &SessionKey) -> Vec<Arc<Run>> {
        let waiting = self.lanes.waiting(key);
        let runs = waiting.iter().filter_map(|id| self.runs.find(id));
        runs.filter(|run| run.waits()).collect()
    }
}
