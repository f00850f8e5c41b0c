//! The turn at the runner.

use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt as _;
use openclaw_daemon::failure;
use openclaw_notable as notable;
use openclaw_proto::call::{CallError, Patience, RefusalCode, within};
use openclaw_proto::event::{Event, Kind};
use openclaw_proto::runner::{End, Started, Turn};
use tokio::time::{Instant, sleep_until};
use tracing::Instrument as _;

use super::outcome;
use super::reply::Reply;
use openclaw_kept_turns::{self as kept, ABSENCE};

/// How long the runner may take to acknowledge a turn; it may have to be started first.
const START_DEADLINE: Duration = Duration::from_secs(30);

/// How long ending a turn may take. The runner kills the process tree at once;
/// longer means that it hangs itself.
const CANCEL_DEADLINE: Duration = Duration::from_secs(10);

/// Starts of one turn: a runner that dies right after it took a turn, before the turn has a
/// process, has begun nothing. As many as one that is killed again and again on a busy machine
/// needs; one that dies of the turn itself is through with them in seconds.
const STARTS: usize = 20;

/// Runs `turn` and passes on its events; returns how it ended.
pub(super) async fn run_turn(reply: &mut Reply<'_>, turn: Turn) -> Kind {
    let given = notable::Given::to(&turn);
    let mut starts = 0;
    loop {
        let started = match start(reply, turn.clone()).await {
            Ok(started) => started,
            Err(outcome) => return outcome,
        };
        starts += 1;
        notable::started(&started, &given);
        // Asked again, it is the same one.
        let _ = reply.run.backend.set(started.backend.clone());
        if !started.model.is_empty() {
            let chosen = (started.provider.clone(), started.model.clone());
            let _ = reply.run.model.set(chosen);
        }
        reply.turns.queue.begun(reply.run);
        reserve(reply, &started);
        reply.assembler.speaks(&started);
        let before = reply.heard;
        match follow(reply, &started.backend).await {
            Ok(outcome) => return outcome,
            // A runner keeps every turn that was begun until it is closed.
            Err(error)
                if error.is_refused(RefusalCode::NotFound)
                    && reply.heard == before
                    && starts < STARTS
                    && !reply.run.cancel.is_cancelled() =>
            {
                tracing::warn!("the agent-runner died before the turn began, starting it again");
            }
            Err(error) => return outcome::lost(&error, &started.backend),
        }
    }
}

/// Notes the run id of the process that will stand ready. Nobody waits for it.
fn reserve(reply: &Reply<'_>, started: &Started) {
    let standby = reply.turns.standby.clone();
    let key = &reply.run.key;
    let (agent, run_id) = (key.agent().clone(), started.next_run_id.clone());
    let session = started.next_run_is_sessions.then(|| key.clone());
    let reserve = async move { standby.reserve(&agent, session, &run_id).await };
    reply.turns.tasks.spawn(reserve);
}

/// Passes on the events of a turn that may be there; `None` when the runner does not know it.
pub(super) async fn follow_turn(reply: &mut Reply<'_>) -> Option<Kind> {
    match follow(reply, "").await {
        Ok(outcome) => Some(outcome),
        Err(error) if error.is_refused(RefusalCode::NotFound) => None,
        Err(error) => Some(outcome::lost(&error, "")),
    }
}

async fn follow(reply: &mut Reply<'_>, backend: &str) -> Result<Kind, CallError> {
    let mut following = Following {
        backend: backend.to_owned(),
        next_seq: 1,
        cancelled_at: None,
        is_stopped: false,
    };
    let mut patience = Patience::of(ABSENCE).with_absent();
    loop {
        let before = following.next_seq;
        let error = match following.attach(reply).await {
            Ok(outcome) => return Ok(outcome),
            Err(error) => error,
        };
        if following.next_seq > before {
            patience.renew();
        }
        let why = error.to_string();
        tokio::select! {
            waited = patience.wait(error) => waited?,
            () = reply.run.given_up() => return Ok(given_up(reply, backend)),
        }
        tracing::warn!("the turn's events broke off ({why}), attaching again");
    }
}

/// Starts the turn, with more attempts when the runner is not there: the
/// service manager starts it again when somebody connects.
async fn start(reply: &Reply<'_>, turn: Turn) -> Result<Started, Kind> {
    let runner = &reply.turns.runner;
    let cancel = &reply.run.cancel;
    let mut attempts = 0;
    let attempt = || {
        attempts += 1;
        if attempts > 1 {
            tracing::warn!("the agent-runner was not there, trying again");
        }
        within(START_DEADLINE, runner.start_turn(turn.clone()))
    };
    let started = tokio::select! {
        biased;
        started = Patience::of(ABSENCE).call(attempt) => Some(started),
        () = cancel.cancelled() => None,
    };
    match started {
        Some(Ok(started)) => Ok(started),
        // An attempt got through, and only its answer was lost.
        Some(Err(error)) if attempts > 1 && error.is_refused(RefusalCode::AlreadyExists) => {
            Ok(Started::default())
        }
        Some(Err(error)) if !cancel.is_cancelled() => Err(outcome::not_started(&error)),
        _ => {
            // It may have started all the same.
            let is_told = tokio::select! {
                is_told = end_turn(reply) => is_told,
                () = reply.run.given_up() => false,
            };
            if !is_told && reply.run.breaker.is_cancelled() {
                return Err(given_up(reply, ""));
            }
            Err(reply.run.aborted(""))
        }
    }
}

/// Whoever stopped the run waits for no runner: it ends, and its turn when the
/// runner is there again.
fn given_up(reply: &Reply<'_>, backend: &str) -> Kind {
    tracing::warn!("the agent-runner did not end the turn in time; the run ends without it");
    reply.run.leave();
    reply.run.aborted(backend)
}

/// Where we are in the turn's events.
struct Following {
    backend: String,
    next_seq: u64,
    cancelled_at: Option<Instant>,
    /// Whether the runner is being told to end the turn at once.
    is_stopped: bool,
}

impl Following {
    /// Passes on events until the terminal one, which is returned. An error is
    /// a stream that broke off.
    async fn attach(&mut self, reply: &mut Reply<'_>) -> Result<Kind, CallError> {
        let run = reply.run;
        self.stop(reply);
        let stream = reply.turns.runner.attach(&run.id, self.next_seq);
        let mut stream = pin!(tokio::select! {
            stream = stream => stream?,
            () = run.given_up() => return Ok(given_up(reply, &self.backend)),
        });
        loop {
            let deadline = self.cancelled_at.map(|at| at + CANCEL_DEADLINE);
            tokio::select! {
                biased;
                event = stream.next() => {
                    let event = event.unwrap_or_else(|| Err(CallError::cut_off()))?;
                    if let Some(outcome) = self.take(reply, event).await {
                        return Ok(outcome);
                    }
                }
                () = run.breaker.cancelled(), if !self.is_stopped => self.stop(reply),
                () = run.given_up() => return Ok(given_up(reply, &self.backend)),
                () = run.cancel.cancelled(), if deadline.is_none() => {
                    self.cancelled_at = Some(Instant::now());
                    tokio::select! {
                        _ = end_turn(reply) => {}
                        () = run.breaker.cancelled() => {}
                    }
                }
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    failure::report_text("end the turn", &format!("the agent-runner did not do it within {CANCEL_DEADLINE:?}"));
                    return Ok(reply.run.aborted(&self.backend));
                }
            }
        }
    }

    /// Tells the runner to end the turn at once, if the run is stopped. Nobody
    /// waits for that: it says what the turn says meanwhile, or nothing.
    fn stop(&mut self, reply: &Reply<'_>) {
        if !reply.run.breaker.is_cancelled() || std::mem::replace(&mut self.is_stopped, true) {
            return;
        }
        self.cancelled_at.get_or_insert_with(Instant::now);
        let runner = reply.turns.runner.clone();
        let (run_id, reason) = (reply.run.id.clone(), reply.run.end_reason().to_owned());
        let stop = async move { kept::stop(&runner, &run_id, &reason).await };
        let span = reply.run.span.clone();
        reply.turns.tasks.spawn(stop.instrument(span));
    }

    async fn take(&mut self, reply: &mut Reply<'_>, event: Event) -> Option<Kind> {
        // After an attach the runner may repeat what was already passed on.
        if event.seq < self.next_seq {
            return None;
        }
        self.next_seq = event.seq + 1;
        reply.heard += 1;
        if event.kind.is_terminal() {
            return Some(event.kind);
        }
        reply.take(event.kind).await;
        None
    }
}

/// Asks the runner to end the turn. When it cannot be asked the turn's events
/// break off too, and that is dealt with there. Whether it was told.
async fn end_turn(reply: &Reply<'_>) -> bool {
    let run = reply.run;
    let end = End {
        reason: run.end_reason(),
        at_once: run.breaker.is_cancelled(),
    };
    let call = reply.turns.runner.cancel_turn(&run.id, end);
    match within(CANCEL_DEADLINE, call).await {
        Ok(_) => true,
        Err(error) if error.is_refused(RefusalCode::NotFound) => true,
        Err(error) => {
            failure::report("end the turn at the agent-runner", &error);
            false
        }
    }
}
