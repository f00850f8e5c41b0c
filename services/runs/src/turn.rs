//! One turn, from the message to the durable reply.

mod asked;
mod assembler;
mod command;
mod context;
mod conversation;
mod cramped;
mod follow;
mod late;
mod outcome;
mod reply;
mod resumption;
mod session_ids;
mod tails;

use std::sync::Arc;
use std::time::Instant;

use openclaw_commands::Sender;
use openclaw_conversations::sessions::Sessions;
use openclaw_conversations::storage::{
    Acceptance, Admitted, Fault, Incoming, Intent, RESET_COMMAND, Storage, TurnOptions,
};
use openclaw_conversations::{Lanes, Ticket};
use openclaw_daemon::{Configuration, failure};
use openclaw_inbound::SaidAs;
use openclaw_notable::{self as notable, Spoken};
use openclaw_proto::event::Kind;
use openclaw_proto::{memory, runner};
use openclaw_sessions::now_ms;
use openclaw_sessions::transcript::Message;
use tokio_util::task::TaskTracker;

use crate::approvals::Approvals;
use crate::bus::Bus;
use crate::counters::Counters;
use crate::queue::{Queue, QueueRequest};
use crate::run::{MessageStatus, Registry, Run};
use crate::standby::Standby;
use crate::status_line::StatusLine;
use crate::system_event::SystemEvents;
use asked::Asked;
use context::Context;
use openclaw_compaction::Compactor;
use openclaw_kept_turns as kept;
use reply::Reply;

pub(crate) use cramped::Cramped;
pub(crate) use outcome::{interrupted, of_backup};
pub(crate) use resumption::Left;
pub(crate) use session_ids::SessionIds;
pub(crate) use tails::Tails;

/// The answer when the conversation begins anew, in OpenClaw's words.
const ANEW: &str = "✅ New session started.";

/// A client's options beside its message.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    /// What it wants for its turn alone.
    pub turn: TurnOptions,
    /// A conversation that the client had elsewhere, put into the transcript before the message.
    pub earlier: Vec<Message>,
    /// What becomes of it when the session is busy; None: it is answered next. When
    /// the gateway dies it waits no more, and each message has a turn of its own.
    pub queue: Option<QueueRequest>,
    /// The sender. What it may do by that is settled when it is accepted.
    pub sender: Sender,
    /// What a channel may edit of it as long as no model knows it. The agent is told of
    /// an edit all the same, also by another gateway.
    pub said_as: Option<SaidAs>,
}

/// Runs turns, with all that one needs.
pub(crate) struct Turns {
    pub(crate) configuration: Configuration,
    pub(crate) storage: Storage,
    pub(crate) sessions: Sessions,
    pub(crate) runner: runner::Client,
    pub(crate) memory: memory::Client,
    pub(crate) lanes: Lanes,
    pub(crate) runs: Registry,
    pub(crate) counters: Arc<Counters>,
    pub(crate) system_events: SystemEvents,
    pub(crate) bus: Bus,
    pub(crate) queue: Queue,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) compactor: Compactor,
    pub(crate) standby: Standby,
    pub(crate) status: StatusLine,
    pub(crate) tasks: TaskTracker,
    /// The ends of the conversations that go on.
    pub(crate) tails: Tails,
    /// The sessions in which their last messages were.
    pub(crate) session_ids: SessionIds,
    /// The agents for whose conversations there is no room.
    pub(crate) cramped: Cramped,
}

/// The message is written while memory is asked, so its time may be a little before this one's.
pub(crate) const CLOCK_SLACK_MS: i64 = 1_000;

impl Turns {
    /// Runs a message to its end. Nothing stops this but the end of the process:
    /// whoever sent the message may be gone, and the run goes on.
    pub(crate) async fn drive(
        self: Arc<Self>,
        run: Arc<Run>,
        text: String,
        extra: Extra,
        mut ticket: Ticket,
    ) {
        let Extra {
            turn: options,
            earlier,
            queue,
            sender,
            said_as,
        } = extra;
        if let Some(said_as) = said_as {
            run.words.set(&text, said_as);
        }
        // Memory is asked while the disk works when the lane is free. Its answer
        // has no effects, so nothing is lost when the message is then refused.
        let (accepted, context) = tokio::join!(
            self.accept(
                &run,
                &text,
                (earlier, &options),
                (queue, sender.rules_the_conversation())
            ),
            self.prepare(&run, &text, &mut ticket),
        );
        if let Some(admitted) = accepted {
            let started = Instant::now();
            let mut reply = Reply::new(&self, &run, 0);
            let outcome = match (context, &admitted.said) {
                (_, Intent::Reset | Intent::Command) => begin_anew(&mut reply).await,
                (Some((mut context, together)), Intent::Text(_)) => {
                    let mut admitted = *admitted;
                    context.bound_by(&options);
                    admitted.overrides.put_over(&options);
                    if let Some(text) = together {
                        admitted.said = Intent::Text(text);
                    }
                    answer(&mut reply, admitted, context).await
                }
                (None, Intent::Text(_)) if run.is_absorbed() => {
                    if let Some(text) = run.absorbed_note().map(str::to_owned) {
                        reply.take(Kind::Note { text }).await;
                    }
                    Run::answered_by_gateway()
                }
                (None, Intent::Text(_)) => run.aborted(""),
            };
            finish(reply, outcome, started).await;
        }
        self.runs.end(&run);
        self.leave(&run, ticket).await;
    }

    /// Lets the next one in. Not before the turn of a run that was stopped has
    /// ended: a session has one turn at a time.
    async fn leave(&self, run: &Run, ticket: Ticket) {
        if run.is_left() {
            kept::stop(&self.runner, &run.id, run.end_reason()).await;
            kept::close(&self.runner, &run.id).await;
        }
        drop(ticket);
        self.status.announce();
    }

    /// Makes the message durable and tells whoever waits for that.
    async fn accept(
        &self,
        run: &Arc<Run>,
        text: &str,
        (earlier, options): (Vec<Message>, &TurnOptions),
        (wish, may_begin_anew): (Option<QueueRequest>, bool),
    ) -> Option<Box<Admitted>> {
        if !earlier.is_empty() {
            // What goes wrong with it goes wrong with the message too, which is
            // next in the same file.
            let _ = self.storage.append(&run.key, earlier).await;
        }
        let incoming = Incoming {
            may_begin_anew,
            options: options.clone(),
            ..command::incoming(run, text.to_owned())
        };
        let admitted = new_or_settled(run, self.storage.accept(incoming).await)?;
        notable::accepted(&run.channel, self.spoken(text));
        self.session_ids
            .note(&run.key, &admitted.accepted.session_id);
        let _ = run.shown.set(admitted.overrides.shown);
        run.settle(MessageStatus::Accepted(admitted.accepted.clone()));
        if let (Some(wish), Intent::Text(text)) = (wish, &admitted.said) {
            self.queue.arrived(run, text, wish, &admitted.overrides);
        }
        self.status.announce();
        Some(admitted)
    }

    /// The text as it is logged.
    fn spoken<'a>(&self, text: &'a str) -> Spoken<'a> {
        let is_shown = self.configuration.settings().log_content;
        Spoken { text, is_shown }
    }

    /// Waits for the lane and asks memory. Returns the turn's text if it is more than the message,
    /// and None when the run is ended first.
    async fn prepare(
        &self,
        run: &Run,
        text: &str,
        ticket: &mut Ticket,
    ) -> Option<(Context, Option<String>)> {
        let received_ms = now_ms() - CLOCK_SLACK_MS;
        let context = async {
            ticket.turn().await;
            let together = self.queue.compose(run, text).await;
            let asked = together.as_deref().unwrap_or(text);
            (
                context::fetch(self, run, asked, received_ms).await,
                together,
            )
        };
        tokio::select! {
            biased;
            () = run.cancel.cancelled() => None,
            context = context => Some(context),
        }
    }
}

/// The durable message; if there is none, tells whoever waits why.
fn new_or_settled(run: &Run, accepted: Result<Acceptance, Fault>) -> Option<Box<Admitted>> {
    let status = match accepted {
        Ok(Acceptance::New(admitted)) => return Some(admitted),
        Ok(Acceptance::Existing(record)) => MessageStatus::Existing(record),
        // Said by whoever sent it, and no failure.
        Err(fault @ (Fault::Blocked | Fault::Key(_))) => MessageStatus::Refused(fault),
        Err(fault) => {
            failure::report("accept the message", &fault);
            MessageStatus::Refused(fault)
        }
    };
    run.settle(status);
    run.cancel.cancel();
    None
}

/// Makes the end durable, tells it, and lets the runner forget the turn.
async fn finish(reply: Reply<'_>, outcome: Kind, started: Instant) {
    let Reply { turns, run, .. } = reply;
    turns.approvals.run_ended(&run.id).await;
    if conclude(reply, outcome, started).await && !run.is_left() {
        // Nobody waits for that: the next turn of the session begins meanwhile.
        let (runner, run_id) = (turns.runner.clone(), run.id.clone());
        turns
            .tasks
            .spawn(async move { kept::close(&runner, &run_id).await });
    }
}

/// Makes the end durable, announces it, and returns whether it is durable.
async fn conclude(reply: Reply<'_>, outcome: Kind, started: Instant) -> bool {
    let Reply { turns, run, .. } = reply;
    let said = turns.spoken(reply.text()).to_string();
    let (outcome, unsaved) = reply.close(outcome).await;
    notable::ended(&outcome, started.elapsed(), &said);
    turns.counters.runs.ended(&outcome);
    run.publish(outcome);
    match unsaved {
        None => true,
        Some(closing) => late::save(turns, closing).await,
    }
}

/// Answers a message that only begins the conversation anew.
async fn begin_anew(reply: &mut Reply<'_>) -> Kind {
    reply.command = Some(RESET_COMMAND);
    let text = ANEW.to_owned();
    reply.take(Kind::TextDelta { text }).await;
    Run::answered_by_gateway()
}

async fn answer(reply: &mut Reply<'_>, admitted: Admitted, context: Context) -> Kind {
    let run = reply.run;
    let mut asked = Asked::new(reply, admitted, context);
    // What it asks of memory and for summaries may take long.
    let turn = tokio::select! {
        biased;
        turn = asked.turn(reply) => turn,
        () = run.given_up() => Err(run.aborted("")),
    };
    let outcome = match turn {
        Ok(turn) => follow::run_turn(reply, turn).await,
        Err(outcome) => outcome,
    };
    if !outcome::is_overflow(&outcome) || reply.has_spoken || run.is_left() {
        return outcome;
    }
    // Nothing was said and nothing done: it can be asked again, also by the
    // gateway that is started when this one dies meanwhile.
    kept::close(&reply.turns.runner, &reply.run.id).await;
    let again = tokio::select! {
        biased;
        again = asked.turn_after_overflow(reply) => again,
        () = run.given_up() => Err(run.aborted("")),
    };
    match again {
        Ok(Some(turn)) => follow::run_turn(reply, turn).await,
        Ok(None) => outcome,
        Err(outcome) => outcome,
    }
}
