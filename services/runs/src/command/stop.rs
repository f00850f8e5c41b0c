//! `/stop`: the circuit breaker of a session.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::run::Run;
use crate::turn::Turns;

/// Its name in the transcript.
const NAME: &str = "stop";

/// The same, of somebody who ends what it began itself and nothing else.
pub(super) const OWN: &str = "stop-own";

/// Why a run ended that was stopped.
const STOPPED: &str = "stop";

/// Why one ended that had not begun.
const DROPPED: &str = "dropped from the queue by stop";

/// How long whoever said it waits for the ends, at most: somebody who says stop
/// wants to know that it was heard. Each comes by itself before that.
const DEADLINE: Duration = Duration::from_millis(900);

/// The runs of a session that are ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// Everything.
    Everybodys,
    /// The runs that the sender began.
    Senders,
}

impl Whose {
    /// The runs that the command `name` of a transcript ends.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            NAME => Some(Self::Everybodys),
            OWN => Some(Self::Senders),
            _ => None,
        }
    }

    fn has(self, run: &Run, other: &Run) -> bool {
        self == Self::Everybodys || other.is_of_sender_of(run)
    }
}

/// Ends what runs and waits in the session of `run`, which says it, and says what that was.
pub(super) async fn stop(turns: &Turns, run: &Run, whose: Whose) -> String {
    let stopped = halt(turns, run, whose);
    let ends = stopped.iter().map(|it| it.run.log.ended());
    let all_ended = timeout(DEADLINE, join_all(ends)).await.is_ok();
    words(&stopped, all_ended, whose)
}

/// A run that is being stopped.
pub(super) struct Stopped {
    run: Arc<Run>,
    /// Whether it had not begun.
    waited: bool,
}

/// Ends what runs and waits in the session of `run`, and waits for nothing.
pub(super) fn halt(turns: &Turns, run: &Run, whose: Whose) -> Vec<Stopped> {
    let running = turns.lanes.running(&run.key);
    if whose == Whose::Everybodys {
        turns.queue.forget_dropped(&run.key);
    }
    let mut live = turns.runs.live();
    live.retain(|other| other.key == run.key && other.id != run.id && whose.has(run, other));
    let stopped = live.into_iter().filter_map(|other| {
        let waited = other.command().is_none() && running.as_ref() != Some(&other.id);
        let reason = if waited { DROPPED } else { STOPPED };
        let run = other.stop(reason).then_some(other)?;
        Some(Stopped { run, waited })
    });
    stopped.collect()
}

fn words(stopped: &[Stopped], all_ended: bool, whose: Whose) -> String {
    if stopped.is_empty() {
        let nothing = match whose {
            Whose::Everybodys => "⚙️ There was nothing to stop.",
            Whose::Senders => "⚙️ There was nothing of yours to stop.",
        };
        return nothing.to_owned();
    }
    let mut words = "⚙️ Agent was aborted.".to_owned();
    match stopped.iter().filter(|it| it.waited).count() {
        0 => {}
        1 => words.push_str(" 1 message that waited was dropped."),
        dropped => words.push_str(&format!(" {dropped} messages that waited were dropped.")),
    }
    if !all_ended || stopped.iter().any(|it| it.run.is_left()) {
        words.push_str(
            " The agent-runner does not answer: it ends the turn's processes as soon as it is back.",
        );
    }
    words
}
