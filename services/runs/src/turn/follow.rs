//! The turn at the runner.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use openclaw_daemon::failure;
use openclaw_proto::event::{Event, Kind};
use openclaw_proto::runner::{Started, Turn};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tonic::{Code, Status};

use super::{Reply, outcome};
use crate::core::Core;
use crate::notable;
use crate::queue;

/// How long the runner may take to acknowledge a turn; it may have to be
/// started first.
const START_DEADLINE: Duration = Duration::from_secs(30);

/// How long ending a turn may take. The runner kills the process tree at once;
/// longer means that it hangs itself.
const CANCEL_DEADLINE: Duration = Duration::from_secs(10);

/// How long a runner that does not answer is waited for, since its last event.
/// The turn goes on meanwhile; systemd starts a runner again within a second.
const ABSENCE: Duration = Duration::from_secs(60);

/// Between two attempts to reach it.
const PAUSE: Duration = Duration::from_millis(50);

/// How long the runner may take to say what it keeps, or to forget it.
const CLOSE_DEADLINE: Duration = Duration::from_secs(10);

/// Starts of one turn: a runner that dies right after it took a turn, before
/// the turn has a process, has begun nothing. As many as one that is killed
/// again and again on a busy machine needs; one that dies of the turn itself is
/// through with them in seconds.
const STARTS: usize = 20;

/// Runs `turn` and passes on its events; returns how it ended.
pub(super) async fn run_turn(reply: &mut Reply<'_>, turn: Turn) -> Kind {
    let mut starts = 0;
    loop {
        let started = match start(reply, turn.clone()).await {
            Ok(started) => started,
            Err(outcome) => return outcome,
        };
        starts += 1;
        notable::started(&started.backend);
        // Asked again, it is the same one.
        let _ = reply.run.backend.set(started.backend.clone());
        if !started.model.is_empty() {
            let chosen = (started.provider.clone(), started.model.clone());
            let _ = reply.run.model.set(chosen);
        }
        queue::begun(reply.core, reply.run);
        reserve(reply, &started);
        reply.assembler.speaks(&started);
        let before = reply.heard;
        match follow(reply, &started.backend).await {
            Ok(outcome) => return outcome,
            // A runner keeps every turn that was begun until it is closed.
            Err(status)
                if status.code() == Code::NotFound
                    && reply.heard == before
                    && starts < STARTS
                    && !reply.run.cancel.is_cancelled() =>
            {
                tracing::warn!("the agent-runner died before the turn began, starting it again");
            }
            Err(status) => return outcome::lost(&status, &started.backend),
        }
    }
}

/// Notes the run id of the process that will stand ready. Nobody waits for it.
fn reserve(reply: &Reply<'_>, started: &Started) {
    let core = Arc::clone(reply.core);
    let key = &reply.run.key;
    let (agent, run_id) = (key.agent().clone(), started.next_run_id.clone());
    let session = started.next_run_is_sessions.then(|| key.clone());
    let reserve = async move { core.reserve(&agent, session, &run_id).await };
    reply.core.spawn(reserve);
}

/// Passes on the events of a turn that may be there; `None` when the runner
/// does not know it.
pub(super) async fn follow_turn(reply: &mut Reply<'_>) -> Option<Kind> {
    match follow(reply, "").await {
        Ok(outcome) => Some(outcome),
        Err(status) if status.code() == Code::NotFound => None,
        Err(status) => Some(outcome::lost(&status, "")),
    }
}

async fn follow(reply: &mut Reply<'_>, backend: &str) -> Result<Kind, Status> {
    let mut following = Following {
        backend: backend.to_owned(),
        next_seq: 1,
        cancelled_at: None,
    };
    let mut patient_until = Instant::now() + ABSENCE;
    loop {
        let before = following.next_seq;
        let status = match following.attach(reply).await {
            Ok(outcome) => return Ok(outcome),
            Err(status) => status,
        };
        if following.next_seq > before {
            patient_until = Instant::now() + ABSENCE;
        }
        if !is_connection(&status) || Instant::now() >= patient_until {
            return Err(status);
        }
        tracing::warn!(code = ?status.code(), "the turn's events broke off, attaching again");
        sleep(PAUSE).await;
    }
}

/// Lets the runner forget a turn whose end is durable. When it cannot be told
/// it keeps what it has, and the next gateway tells it.
pub(crate) async fn close_turn(core: &Core, run_id: &str) {
    if let Err(status) = patiently(|| core.runner.close_turn(run_id)).await {
        tracing::debug!(code = ?status.code(), "the runner was not told to forget the turn");
    }
}

/// Ends a turn whose answer nobody waits for, and lets the runner forget it.
pub(crate) async fn end_abandoned(core: &Core, run_id: &str) {
    let end = patiently(|| core.runner.cancel_turn(run_id, "nobody waits for it")).await;
    if let Err(status) = end {
        tracing::debug!(code = ?status.code(), "a turn that is not wanted was not ended");
    }
    close_turn(core, run_id).await;
}

/// The turns that the runner keeps until they are closed.
pub(crate) async fn kept_turns(core: &Core) -> Vec<String> {
    let kept = patiently(|| core.runner.kept_turns()).await;
    kept.unwrap_or_else(|status| {
        tracing::debug!(code = ?status.code(), "the runner does not say what it keeps");
        Vec::new()
    })
}

/// Asks the runner again where it could not be reached.
async fn patiently<T, F>(call: impl Fn() -> F) -> Result<T, Status>
where
    F: Future<Output = Result<T, Status>>,
{
    let patient_until = Instant::now() + ABSENCE;
    loop {
        let answer = timeout(CLOSE_DEADLINE, call())
            .await
            .unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")));
        match answer {
            Err(status) if is_connection(&status) && Instant::now() < patient_until => {
                sleep(PAUSE).await;
            }
            answer => return answer,
        }
    }
}

/// Starts the turn, with more attempts when the runner is not there: the
/// service manager starts it again when somebody connects.
async fn start(reply: &Reply<'_>, turn: Turn) -> Result<Started, Kind> {
    let runner = &reply.core.runner;
    let cancel = &reply.run.cancel;
    let attempt = |turn: Turn| async {
        tokio::select! {
            biased;
            started = timeout(START_DEADLINE, runner.start_turn(turn)) => started
                .unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer to StartTurn"))),
            () = cancel.cancelled() => Err(Status::cancelled("ended before it started")),
        }
    };
    let patient_until = Instant::now() + ABSENCE;
    let mut result = attempt(turn.clone()).await;
    while matches!(&result, Err(status) if is_connection(status) && !is_absent(status))
        && !cancel.is_cancelled()
        && Instant::now() < patient_until
    {
        tracing::warn!("the agent-runner was not there, trying again");
        sleep(PAUSE).await;
        result = attempt(turn.clone()).await;
        // An attempt got through, and only its answer was lost.
        if matches!(&result, Err(status) if status.code() == Code::AlreadyExists) {
            return Ok(Started::default());
        }
    }
    match result {
        Ok(started) => Ok(started),
        Err(_) if cancel.is_cancelled() => {
            // It may have started all the same.
            end_turn(reply).await;
            Err(reply.run.aborted(""))
        }
        Err(status) => Err(outcome::not_started(&status)),
    }
}

/// Where we are in the turn's events.
struct Following {
    backend: String,
    next_seq: u64,
    cancelled_at: Option<Instant>,
}

impl Following {
    /// Passes on events until the terminal one, which is returned. An error is
    /// a stream that broke off.
    async fn attach(&mut self, reply: &mut Reply<'_>) -> Result<Kind, Status> {
        let cancel = reply.run.cancel.clone();
        let stream = reply.core.runner.attach(&reply.run.id, self.next_seq);
        let mut stream = pin!(stream.await?);
        loop {
            let deadline = self.cancelled_at.map(|at| at + CANCEL_DEADLINE);
            tokio::select! {
                biased;
                event = stream.next() => {
                    let event = event.unwrap_or_else(|| Err(Status::unavailable("the stream ended")))?;
                    if let Some(outcome) = self.take(reply, event).await {
                        return Ok(outcome);
                    }
                }
                () = cancel.cancelled(), if deadline.is_none() => {
                    self.cancelled_at = Some(Instant::now());
                    end_turn(reply).await;
                }
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    failure::report_text("end the turn", &format!("the agent-runner did not do it within {CANCEL_DEADLINE:?}"));
                    return Ok(reply.run.aborted(&self.backend));
                }
            }
        }
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
/// break off too, and that is dealt with there.
async fn end_turn(reply: &Reply<'_>) {
    let call = reply
        .core
        .runner
        .cancel_turn(&reply.run.id, reply.run.end_reason());
    match timeout(CANCEL_DEADLINE, call).await {
        Ok(Ok(_)) => {}
        Ok(Err(status)) if status.code() == Code::NotFound => {}
        Ok(Err(status)) => {
            failure::report("end the turn", &status);
        }
        Err(_) => {
            failure::report_text("end the turn", "the agent-runner did not answer CancelTurn")
        }
    }
}

/// Whether nobody listens for the runner: then nobody will start it.
fn is_absent(status: &Status) -> bool {
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            return error.kind() == std::io::ErrorKind::NotFound;
        }
        cause = error.source();
    }
    false
}

/// Whether the call did not reach the runner, as far as one can know.
fn is_connection(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable | Code::Unknown | Code::Cancelled
    )
}
