//! Messages that come while a session is busy.

mod batch;
mod overflow;
mod settings;
mod steer;

use std::sync::Arc;
use std::time::Instant;

use openclaw_conversations::storage::Overrides;
use openclaw_sessions::SessionKey;

use crate::core::Core;
use crate::run::Run;

pub(crate) use batch::compose;
pub(crate) use overflow::Dropped;
pub use settings::{Change, Drop, Mode, Settings};
pub use steer::{begun, taken};

/// What a client wants of a message that finds its session busy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wish {
    /// Instead of the session's own mode.
    pub mode: Option<Mode>,
}

/// A message that found its session busy.
#[derive(Debug)]
pub struct Queued {
    text: String,
    arrived: Instant,
    settings: Settings,
}

/// A message of `run` was accepted: says what becomes of it, and of those
/// before it, when its session is busy.
pub(crate) fn arrived(
    core: &Arc<Core>,
    run: &Arc<Run>,
    text: &str,
    wish: Wish,
    overrides: &Overrides,
) {
    if core.lanes.is_first(&run.key, &run.id) {
        return;
    }
    let configured = core.configuration.settings();
    let mut settings = Settings::of(overrides, &configured.queue, &run.channel);
    settings.mode = wish.mode.unwrap_or(settings.mode);
    let queued = Queued {
        text: text.to_owned(),
        arrived: Instant::now(),
        settings,
    };
    if run.queued.set(queued).is_err() {
        return;
    }
    match settings.mode {
        Mode::Interrupt => interrupt(core, run),
        Mode::Steer => steer::offer(core, run),
        Mode::Followup | Mode::Collect => {}
    }
    overflow::check(core, run, settings);
}

/// Ends everything else that runs and waits in the session of `run`.
fn interrupt(core: &Core, run: &Run) {
    let mut live = core.runs.live();
    live.retain(|other| other.key == run.key && other.id != run.id);
    for other in live {
        other.end("interrupted by a new message");
    }
}

/// The runs of a session that wait, as messages that found it busy, in the
/// order in which they came.
fn waiting(core: &Core, key: &SessionKey) -> Vec<Arc<Run>> {
    let waiting = core.lanes.waiting(key);
    let runs = waiting.iter().filter_map(|id| core.runs.find(id));
    runs.filter(|run| run.waits()).collect()
}
