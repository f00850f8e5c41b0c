//! One turn, from the message to the durable reply.

mod assembler;
mod context;
mod conversation;
mod follow;
mod outcome;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use openclaw_daemon::failure;
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::Accepted;
use openclaw_proto::runner::Turn;
use openclaw_sessions::now_ms;

use crate::gateway::Gateway;
use crate::notable;
use crate::run::{Run, Standing, Ticket};
use crate::storage::{Acceptance, Closing, Incoming, Pending};
use assembler::Assembler;
use context::Context;

pub(crate) use assembler::Assembly;
pub(crate) use outcome::interrupted;

/// Runs a message to its end. Nothing stops this but the end of the process:
/// whoever sent the message may be gone, and the run goes on.
pub(crate) async fn drive(gateway: Arc<Gateway>, run: Arc<Run>, text: String, mut ticket: Ticket) {
    // Memory is asked while the disk works when the lane is free. Its answer
    // has no effects, so nothing is lost when the message is then refused.
    let (accepted, context) = tokio::join!(
        accept(&gateway, &run, &text),
        prepare(&gateway, &run, &text, &mut ticket),
    );
    if let Some((accepted, transcript)) = accepted {
        let started = Instant::now();
        let mut reply = Reply::new(&gateway, &run);
        let outcome = match context {
            Some(context) => answer(&mut reply, accepted, transcript, text, context).await,
            None => run.aborted(""),
        };
        let outcome = reply.close(outcome).await;
        notable::ended(&outcome, started.elapsed());
        run.publish(outcome);
    }
    gateway.runs.end(&run);
    drop(ticket);
    gateway.announce();
}

/// Makes the message durable and tells whoever waits for that.
async fn accept(gateway: &Gateway, run: &Run, text: &str) -> Option<(Accepted, PathBuf)> {
    let incoming = Incoming {
        run_id: run.id.clone(),
        key: run.key.clone(),
        idempotency_key: run.idempotency_key.clone(),
        channel: run.channel.clone(),
        text: text.to_owned(),
    };
    let standing = match gateway.storage.accept(incoming).await {
        Ok(Acceptance::New(accepted, transcript)) => {
            notable::accepted();
            run.settle(Standing::Accepted(accepted.clone()));
            gateway.announce();
            return Some((accepted, transcript));
        }
        Ok(Acceptance::Existing(record)) => Standing::Existing(record),
        Err(fault) => {
            failure::report("accept the message", &fault);
            Standing::Refused(fault)
        }
    };
    run.settle(standing);
    run.cancel.cancel();
    None
}

/// The message is written while memory is asked, so its time may be a little
/// before this one's.
const CLOCK_SLACK_MS: i64 = 1_000;

/// Waits for the lane and asks memory. None when the run is ended first.
async fn prepare(gateway: &Gateway, run: &Run, text: &str, ticket: &mut Ticket) -> Option<Context> {
    let received_ms = now_ms() - CLOCK_SLACK_MS;
    let context = async {
        ticket.turn().await;
        context::fetch(&gateway.memory, run, text, received_ms).await
    };
    tokio::select! {
        biased;
        () = run.cancel.cancelled() => None,
        context = context => Some(context),
    }
}

async fn answer(
    reply: &mut Reply<'_>,
    accepted: Accepted,
    transcript: PathBuf,
    text: String,
    context: Context,
) -> Kind {
    match turn(reply, accepted, transcript, text, context).await {
        Ok(turn) => follow::run_turn(reply, turn).await,
        Err(outcome) => outcome,
    }
}

/// Collects what the runner needs.
async fn turn(
    reply: &Reply<'_>,
    accepted: Accepted,
    transcript: PathBuf,
    text: String,
    context: Context,
) -> Result<Turn, Kind> {
    let Reply { gateway, run, .. } = reply;
    let tokens = gateway.configuration.settings().memory.context_tokens;
    let budget = conversation::history_budget(tokens, &text, &context);
    let waiting = gateway.lanes.runs(&run.key);
    let (backend_sessions, history) = tokio::join!(
        gateway.storage.begin(&run.id, &run.key),
        conversation::load(transcript, budget, waiting),
    );
    let backend_sessions =
        backend_sessions.map_err(|fault| outcome::internal("begin the turn", &fault))?;
    let history = history.map_err(|error| outcome::internal("read the conversation", &error))?;
    if history.corrupt_lines > 0 {
        tracing::warn!(
            corrupt_lines = history.corrupt_lines,
            "the transcript has lines that are no entries; they are skipped"
        );
    }
    let session_id = accepted.session_id;
    Ok(Turn {
        run_id: run.id.clone(),
        session_key: accepted.session_key,
        session_id: session_id.clone(),
        agent_id: accepted.agent_id,
        channel: run.channel.clone(),
        text,
        bootstrap: context.bootstrap,
        passages: conversation::passages(
            context.recall,
            &history,
            &session_id,
            context.received_ms,
        ),
        received_ms: context.received_ms,
        backend_sessions: conversation::backend_sessions(&history, backend_sessions),
        history: conversation::messages(history),
    })
}

/// What a run says, on its way to the readers and to the disk.
pub(crate) struct Reply<'a> {
    gateway: &'a Gateway,
    run: &'a Run,
    assembler: Assembler,
    appends: Vec<Pending<()>>,
}

impl<'a> Reply<'a> {
    fn new(gateway: &'a Gateway, run: &'a Run) -> Self {
        Self {
            gateway,
            run,
            assembler: Assembler::new(&run.id),
            appends: Vec::new(),
        }
    }

    /// Takes an event that does not end the run.
    async fn take(&mut self, kind: Kind) {
        if let Some(messages) = self.assembler.add(&kind, now_ms()) {
            let pending = self.gateway.storage.append(&self.run.key, messages).await;
            self.appends.extend(pending.ok());
        }
        self.run.publish(kind);
    }

    /// Makes the end durable and returns what the readers are told: only a
    /// reply that is on disk is one.
    async fn close(self, outcome: Kind) -> Kind {
        let Assembly {
            messages,
            usage,
            context_tokens,
        } = self.assembler.finish(&outcome, now_ms());
        let closing = Closing {
            run_id: self.run.id.clone(),
            key: self.run.key.clone(),
            messages,
            outcome: outcome.clone(),
            usage,
            context_tokens,
        };
        let mut result = self.gateway.storage.close(closing).await;
        for append in self.appends {
            result = append.answer().await.and(result);
        }
        match result {
            Ok(()) => outcome,
            Err(fault) => outcome::internal("save the reply", &fault),
        }
    }
}
