//! Going on with a run that a gateway left when it died, and by itself with an
//! answer that the end of the machine cut off (`session.interrupted`).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use openclaw_conversations::Ticket;
use openclaw_conversations::storage::{Admitted, Intent, Overrides, TurnOptions};
use openclaw_proto::event::{Code, Kind};
use openclaw_proto::gateway::{Accepted, Message as Sent};
use openclaw_settings::Interrupted;

use super::reply::Reply;
use super::{CLOCK_SLACK_MS, Turns, answer, begin_anew, context, finish, follow, interrupted};
use crate::bus::DomainEvent;
use crate::run::{MessageStatus, Run};

/// What the agent is told.
const GO_ON: &str = "[The machine stopped while you were answering. What you had said and done is \
                     above. Look at how far you came, then go on from there.]";

/// Begins the idempotency keys of messages that are sent here: an interrupted
/// run is gone on with once, however often the gateway starts, and what goes on
/// with it is not gone on with again.
const KEY: &str = "resume-";

/// What a run has at least whose deadline passed while there was no gateway: an answer that is
/// complete is taken up in that time.
const TAKING_UP: Duration = Duration::from_secs(10);

/// What a gateway that died left of a run.
#[derive(Debug)]
pub(crate) struct Left {
    /// What its sender was told.
    pub(crate) accepted: Accepted,
    /// The file of its entries.
    pub(crate) transcript: PathBuf,
    /// What the user said; to be given to the runner if it never heard of the
    /// run. `None`: it must not be started (again).
    pub(crate) said: Option<Intent>,
    /// How many of the answer's entries are on the disk.
    pub(crate) entries: usize,
    /// What the session wants instead of its agent's settings.
    pub(crate) overrides: Overrides,
    /// What the message wants for its turn.
    pub(crate) options: TurnOptions,
    /// When it was accepted, in Unix milliseconds.
    pub(crate) accepted_ms: i64,
}

impl Turns {
    /// Goes on with a run of a gateway that died. What it was cut off from is to be
    /// gone on with by the message that is returned, with what it wants for its turn.
    pub(crate) async fn resume(
        self: Arc<Self>,
        run: Arc<Run>,
        left: Left,
        mut ticket: Ticket,
    ) -> Option<(Sent, TurnOptions)> {
        let _ = run.shown.set(left.overrides.shown);
        run.settle(MessageStatus::Accepted(left.accepted.clone()));
        self.bus.publish(&DomainEvent::RunBegan(&run));
        tokio::select! {
            biased;
            () = run.cancel.cancelled() => {}
            () = ticket.turn() => {}
        }
        let started = Instant::now();
        let options = left.options.clone();
        if let Some(deadline) = &options.deadline {
            run.end_after(deadline.left().max(TAKING_UP), &deadline.reason);
        }
        let mut reply = Reply::new(&self, &run, left.entries);
        let outcome = if run.is_absorbed() {
            Run::answered_by_gateway()
        } else {
            go_on(&mut reply, left).await
        };
        let may_go_on = is_wanted(&reply, &outcome);
        finish(reply, outcome, started).await;
        self.runs.end(&run);
        self.leave(&run, ticket).await;
        may_go_on.then(|| (message(&run), options))
    }
}

/// Follows the turn of a run, if there is one, or starts it.
async fn go_on(reply: &mut Reply<'_>, left: Left) -> Kind {
    reply.turns.queue.begun(reply.run);
    match follow::follow_turn(reply).await {
        Some(outcome) => outcome,
        None if left.said == Some(Intent::Reset) => begin_anew(reply).await,
        None => start_again(reply, left).await,
    }
}

/// Starts the turn of a run that the runner has never heard of, if it may be.
async fn start_again(reply: &mut Reply<'_>, left: Left) -> Kind {
    let Some(Intent::Text(text)) = left.said else {
        return interrupted();
    };
    let received_ms = left.accepted_ms - CLOCK_SLACK_MS;
    let mut context = context::fetch(reply.turns, reply.run, &text, received_ms).await;
    context.bound_by(&left.options);
    let mut admitted = Admitted {
        accepted: left.accepted,
        transcript: left.transcript,
        said: Intent::Text(text),
        overrides: left.overrides,
    };
    admitted.overrides.put_over(&left.options);
    answer(reply, admitted, context).await
}

/// Whether the run of `reply` is to be gone on with. Not when a tool was
/// running: what it did nobody knows, and it must not be done twice unasked.
fn is_wanted(reply: &Reply<'_>, outcome: &Kind) -> bool {
    let is_interrupted =
        matches!(outcome, Kind::Failed(failed) if failed.code == Code::Interrupted);
    let policy = reply.turns.configuration.settings().session.interrupted;
    let is_first = !reply
        .run
        .idempotency_key
        .as_deref()
        .is_some_and(|key| key.starts_with(KEY));
    is_interrupted && policy == Interrupted::Resume && reply.open_calls.is_empty() && is_first
}

/// The message that goes on with `run`.
fn message(run: &Run) -> Sent {
    Sent {
        text: GO_ON.to_owned(),
        session_key: run.key.to_string(),
        agent_id: String::new(),
        idempotency_key: format!("{KEY}{}", run.id),
        channel: run.channel.clone(),
        route: None,
    }
}
