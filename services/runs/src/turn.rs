//! One turn, from the message to the durable reply.

mod asked;
mod assembler;
mod context;
mod conversation;
mod follow;
mod outcome;
mod resumption;
mod tails;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use openclaw_daemon::failure;
use openclaw_proto::event::{Done, Kind, Resources};
use openclaw_proto::gateway::Accepted;
use openclaw_sessions::now_ms;
use openclaw_sessions::transcript::Message;

use crate::approvals;
use crate::bus::DomainEvent;
use crate::compaction::Spent;
use crate::core::Core;
use crate::notable;
use crate::queue;
use crate::run::{MessageStatus, Run};
use crate::submission::Extra;
use asked::Asked;
use assembler::Assembler;
use context::Context;
use openclaw_conversations::Paragraphs;
use openclaw_conversations::Ticket;
use openclaw_conversations::storage::{
    Acceptance, Admitted, Closing, Fault, Incoming, Overrides, Pending, RESET_COMMAND, Said,
};

pub(crate) use assembler::Assembly;
pub(crate) use follow::{close_turn, end_abandoned, kept_turns};
pub(crate) use outcome::interrupted;
pub(crate) use tails::Tails;

/// What the user is told when the conversation begins anew.
const ANEW: &str = "A new conversation begins. What was said before stays in the transcript.";

/// Runs a message to its end. Nothing stops this but the end of the process:
/// whoever sent the message may be gone, and the run goes on.
pub(crate) async fn drive(
    core: Arc<Core>,
    run: Arc<Run>,
    text: String,
    extra: Extra,
    mut ticket: Ticket,
) {
    let Extra {
        instructions,
        earlier,
        queue,
        model,
        thinking_level,
    } = extra;
    // Memory is asked while the disk works when the lane is free. Its answer
    // has no effects, so nothing is lost when the message is then refused.
    let (accepted, context) = tokio::join!(
        accept(&core, &run, &text, earlier, queue),
        prepare(&core, &run, &text, &mut ticket),
    );
    if let Some(admitted) = accepted {
        let started = Instant::now();
        let mut reply = Reply::new(&core, &run, 0);
        let outcome = match (context, &admitted.said) {
            (_, Said::Reset) => begin_anew(&mut reply).await,
            (Some((mut context, together)), Said::Text(_)) => {
                let mut admitted = *admitted;
                context.bootstrap.extend(instructions);
                let overrides = &mut admitted.overrides;
                overrides.model = model.or(overrides.model.take());
                overrides.thinking_level = thinking_level.or(overrides.thinking_level.take());
                if let Some(text) = together {
                    admitted.said = Said::Text(text);
                }
                answer(&mut reply, admitted, context).await
            }
            (None, Said::Text(_)) if run.is_absorbed() => Run::answered_elsewhere(),
            (None, Said::Text(_)) => run.aborted(""),
        };
        finish(reply, outcome, started).await;
    }
    core.runs.end(&run);
    drop(ticket);
    core.announce();
}

/// What a gateway that died left of a run.
#[derive(Debug)]
pub(crate) struct Left {
    /// What its sender was told.
    pub accepted: Accepted,
    /// The file of its entries.
    pub transcript: PathBuf,
    /// What the user said; to be given to the runner if it never heard of the
    /// run. `None`: it must not be started (again).
    pub said: Option<Said>,
    /// How many of the answer's entries are on the disk.
    pub entries: usize,
    /// What the session wants instead of its agent's settings.
    pub(crate) overrides: Overrides,
}

/// Goes on with a run of a gateway that died.
pub(crate) async fn resume(core: Arc<Core>, run: Arc<Run>, left: Left, mut ticket: Ticket) {
    run.settle(MessageStatus::Accepted(left.accepted.clone()));
    core.bus.publish(&DomainEvent::RunBegan(&run));
    tokio::select! {
        biased;
        () = run.cancel.cancelled() => {}
        () = ticket.turn() => {}
    }
    let started = Instant::now();
    let mut reply = Reply::new(&core, &run, left.entries);
    let outcome = if run.is_absorbed() {
        Run::answered_elsewhere()
    } else {
        go_on(&mut reply, left).await
    };
    let may_go_on = resumption::is_wanted(&reply, &outcome);
    finish(reply, outcome, started).await;
    core.runs.end(&run);
    drop(ticket);
    if may_go_on {
        resumption::go_on(&core, &run);
    }
    core.announce();
}

/// Follows the turn of a run, if there is one, or starts it.
async fn go_on(reply: &mut Reply<'_>, left: Left) -> Kind {
    queue::begun(reply.core, reply.run);
    match follow::follow_turn(reply).await {
        Some(outcome) => outcome,
        None if left.said == Some(Said::Reset) => begin_anew(reply).await,
        None => start_again(reply, left).await,
    }
}

/// Starts the turn of a run that the runner has never heard of, if it may be.
async fn start_again(reply: &mut Reply<'_>, left: Left) -> Kind {
    let Some(Said::Text(text)) = left.said else {
        return interrupted();
    };
    // When it came is not known any more: of its own session nothing is recalled.
    let context = context::fetch(&reply.core.memory, reply.run, &text, 0).await;
    let admitted = Admitted {
        accepted: left.accepted,
        transcript: left.transcript,
        said: Said::Text(text),
        overrides: left.overrides,
    };
    answer(reply, admitted, context).await
}

/// Makes the end durable, tells it, and lets the runner forget the turn.
async fn finish(reply: Reply<'_>, outcome: Kind, started: Instant) {
    let Reply { core, run, .. } = reply;
    approvals::run_ended(core, &run.id).await;
    let (outcome, is_durable) = reply.close(outcome).await;
    notable::ended(&outcome, started.elapsed());
    core.counters.runs.ended(&outcome);
    run.publish(outcome);
    if is_durable {
        // Nobody waits for that: the next turn of the session begins meanwhile.
        let (closing, run_id) = (Arc::clone(core), run.id.clone());
        core.spawn(async move { follow::close_turn(&closing, &run_id).await });
    }
}

/// Makes the message durable and tells whoever waits for that.
async fn accept(
    core: &Arc<Core>,
    run: &Arc<Run>,
    text: &str,
    earlier: Vec<Message>,
    wish: Option<queue::Wish>,
) -> Option<Box<Admitted>> {
    if !earlier.is_empty() {
        // What goes wrong with it goes wrong with the message too, which is
        // next in the same file.
        let _ = core.storage.append(&run.key, earlier).await;
    }
    let incoming = Incoming {
        run_id: run.id.clone(),
        key: run.key.clone(),
        idempotency_key: run.idempotency_key.clone(),
        channel: run.channel.clone(),
        text: text.to_owned(),
    };
    let standing = match core.storage.accept(incoming).await {
        Ok(Acceptance::New(admitted)) => {
            notable::accepted();
            run.settle(MessageStatus::Accepted(admitted.accepted.clone()));
            if let (Some(wish), Said::Text(text)) = (wish, &admitted.said) {
                queue::arrived(core, run, text, wish, &admitted.overrides);
            }
            core.announce();
            return Some(admitted);
        }
        Ok(Acceptance::Existing(record)) => MessageStatus::Existing(record),
        Err(Fault::Blocked) => MessageStatus::Refused(Fault::Blocked),
        Err(fault) => {
            failure::report("accept the message", &fault);
            MessageStatus::Refused(fault)
        }
    };
    run.settle(standing);
    run.cancel.cancel();
    None
}

/// The message is written while memory is asked, so its time may be a little
/// before this one's.
const CLOCK_SLACK_MS: i64 = 1_000;

/// Waits for the lane and asks memory; what the turn is asked may be more than
/// the message. None when the run is ended first.
async fn prepare(
    core: &Core,
    run: &Run,
    text: &str,
    ticket: &mut Ticket,
) -> Option<(Context, Option<String>)> {
    let received_ms = now_ms() - CLOCK_SLACK_MS;
    let context = async {
        ticket.turn().await;
        let together = queue::compose(core, run, text).await;
        let asked = together.as_deref().unwrap_or(text);
        (
            context::fetch(&core.memory, run, asked, received_ms).await,
            together,
        )
    };
    tokio::select! {
        biased;
        () = run.cancel.cancelled() => None,
        context = context => Some(context),
    }
}

/// Answers a message that only begins the conversation anew.
async fn begin_anew(reply: &mut Reply<'_>) -> Kind {
    reply.command = Some(RESET_COMMAND);
    let text = ANEW.to_owned();
    reply.take(Kind::TextDelta { text }).await;
    Kind::Done(Done {
        stop_reason: "stop".to_owned(),
        provider: "openclaw".to_owned(),
        model: "gateway".to_owned(),
        ..Done::default()
    })
}

async fn answer(reply: &mut Reply<'_>, admitted: Admitted, context: Context) -> Kind {
    let mut asked = Asked::new(reply, admitted, context);
    let outcome = match asked.turn(reply).await {
        Ok(turn) => follow::run_turn(reply, turn).await,
        Err(outcome) => outcome,
    };
    if !outcome::is_overflow(&outcome) || reply.has_spoken {
        return outcome;
    }
    // Nothing was said and nothing done: it can be asked again, also by the
    // gateway that is started when this one dies meanwhile.
    follow::close_turn(reply.core, &reply.run.id).await;
    match asked.turn_after_overflow(reply).await {
        Ok(Some(turn)) => follow::run_turn(reply, turn).await,
        Ok(None) => outcome,
        Err(outcome) => outcome,
    }
}
/// What a run says, on its way to the readers and to the disk.
pub(crate) struct Reply<'a> {
    core: &'a Arc<Core>,
    run: &'a Run,
    assembler: Assembler,
    paragraphs: Paragraphs,
    /// Entries that are on the disk already, when the run is resumed.
    skip: usize,
    /// Events of the turn that were heard.
    heard: u64,
    appends: Vec<Pending<()>>,
    /// Whether the agent has said or done anything.
    has_spoken: bool,
    /// Calls of tools that have no result yet.
    open_calls: HashSet<String>,
    /// The command that is answered; no prompt sees it.
    command: Option<&'static str>,
    /// US dollars that the run cost before its turn: summaries.
    cost_before: f64,
}

impl<'a> Reply<'a> {
    fn new(core: &'a Arc<Core>, run: &'a Run, skip: usize) -> Self {
        Self {
            core,
            run,
            assembler: Assembler::new(&run.id),
            paragraphs: Paragraphs::default(),
            skip,
            heard: 0,
            appends: Vec::new(),
            has_spoken: false,
            open_calls: HashSet::new(),
            command: None,
            cost_before: 0.0,
        }
    }

    /// Counts what summaries took before the turn.
    fn add_before(&mut self, spent: &Spent) {
        self.cost_before += spent.cost_usd;
        self.assembler.add_before(&spent.usage);
    }

    /// Takes an event that does not end the run.
    async fn take(&mut self, mut kind: Kind) {
        if let Kind::Resources(Resources {
            cost_usd: Some(cost),
            ..
        }) = &mut kind
        {
            *cost += self.cost_before;
        }
        if let Kind::Steered { run_ids } = &kind {
            queue::taken(self.core, self.run, run_ids);
        }
        self.note(&kind);
        if let Some(mut messages) = self.assembler.add(&kind, now_ms()) {
            // A run's events make the same entries every time.
            let known = self.skip.min(messages.len());
            messages.drain(..known);
            self.skip -= known;
            let pending = self.core.storage.append(&self.run.key, messages).await;
            self.appends.extend(pending.ok());
        }
        approvals::observe(self.core, self.run, &kind).await;
        // Not in the transcript, where each round is an entry of its own.
        self.paragraphs.set_apart(&mut kind);
        self.run.publish(kind);
    }

    fn note(&mut self, kind: &Kind) {
        self.has_spoken |= matches!(kind, Kind::TextDelta { .. } | Kind::ToolCall { .. });
        match kind {
            Kind::ToolCall { id, .. } => drop(self.open_calls.insert(id.clone())),
            Kind::ToolResult(result) => drop(self.open_calls.remove(&result.call_id)),
            _ => {}
        }
    }

    /// Makes the end durable and returns what the readers are told: only a
    /// reply that is on disk is one. The second is whether it is.
    async fn close(self, outcome: Kind) -> (Kind, bool) {
        let Assembly {
            mut messages,
            usage,
            context_tokens,
            resources,
        } = self.assembler.finish(&outcome, now_ms());
        // The last one, which says how the run ended, is not there: the run
        // would have been closed.
        let known = self.skip.min(messages.len().saturating_sub(1));
        messages.drain(..known);
        if self.run.is_absorbed() {
            // Nobody said anything: the answer is another run's.
            messages.clear();
        }
        if let Some(command) = self.command {
            messages
                .iter_mut()
                .for_each(|message| message.set_command(command));
        }
        let closing = Closing {
            run_id: self.run.id.clone(),
            key: self.run.key.clone(),
            messages,
            outcome: outcome.clone(),
            usage,
            context_tokens,
            resources,
        };
        let mut result = self.core.storage.close(closing).await;
        for append in self.appends {
            result = append.answer().await.and(result);
        }
        match result {
            Ok(()) => (outcome, true),
            Err(fault) => (outcome::internal("save the reply", &fault), false),
        }
    }
}
