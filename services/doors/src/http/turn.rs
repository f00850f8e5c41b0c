//! One turn, as the HTTP API tells it: text as it comes, tokens, and the end.

use std::sync::Arc;

use axum::http::StatusCode;
use futures_util::StreamExt as _;
use openclaw_proto::event::{Done, Kind, Usage};
use openclaw_proto::gateway::{Accepted, Message};
use openclaw_runs::Extra;
use openclaw_runs::Run;
use openclaw_runs::injected::PROVIDER;
use openclaw_runs::stream::Events;

use super::problem::Problem;
use crate::doors::Doors;

/// What a turn is ended with when its client goes away.
const GONE: &str = "the client closed the connection";

/// What becomes of the turn when nobody listens any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Abandoned {
    /// It ends: nobody else can see its reply.
    Ends,
    /// It goes on, and the reply is in the session.
    GoesOn,
}

/// A turn under way.
pub(super) struct Turn {
    pub(super) accepted: Accepted,
    events: Events,
    _guard: Option<EndOnDrop>,
    state: State,
}

/// What was said so far.
#[derive(Debug, Default)]
struct State {
    text: String,
    usage: Usage,
    done: Option<Done>,
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) usage: Usage,
    pub(super) done: Done,
}

impl Reply {
    /// Whether the gateway itself said it, to a command.
    pub(super) fn is_of_gateway(&self) -> bool {
        self.done.provider == PROVIDER && !self.text.is_empty()
    }
}

struct EndOnDrop(Arc<Run>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        // Without effect on one that has ended.
        self.0.end(GONE);
    }
}

impl Turn {
    /// Submits `message`; its user entry is durable when this returns.
    pub(super) async fn start(
        doors: &Arc<Doors>,
        message: Message,
        extra: Extra,
        abandoned: Abandoned,
    ) -> Result<Self, Problem> {
        let submitted = doors.core.submitter.submit(message, extra, None)?;
        let started = submitted.started().await?;
        // A repeated request must not end what the first one waits for.
        let ends = abandoned == Abandoned::Ends && !started.accepted.existing;
        Ok(Self {
            accepted: started.accepted,
            events: started.events,
            _guard: started.run.filter(|_| ends).map(EndOnDrop),
            state: State::default(),
        })
    }

    /// The next piece of the reply; None when it is whole. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<Option<String>, Problem> {
        while let Some(event) = self.events.next().await {
            if let Some(piece) = self.state.take(event?.kind)? {
                return Ok(Some(piece));
            }
        }
        match self.state.done {
            Some(_) => Ok(None),
            None => Err(unfinished("the run has no end")),
        }
    }

    /// The whole reply.
    pub(super) async fn whole(mut self) -> Result<Reply, Problem> {
        while self.next().await?.is_some() {}
        Ok(self.reply())
    }

    /// What was said so far.
    pub(super) fn reply(&mut self) -> Reply {
        let state = std::mem::take(&mut self.state);
        Reply {
            text: state.text,
            usage: state.usage,
            done: state.done.unwrap_or_default(),
        }
    }
}

impl State {
    fn take(&mut self, kind: Kind) -> Result<Option<String>, Problem> {
        match kind {
            Kind::Usage(usage) => {
                self.usage.input += usage.input;
                self.usage.output += usage.output;
                self.usage.cache_read += usage.cache_read;
                self.usage.cache_write += usage.cache_write;
                Ok(None)
            }
            Kind::Done(done) => {
                self.done = Some(done);
                Ok(None)
            }
            Kind::Failed(failed) => Err(Problem::from(&failed)),
            Kind::Aborted { reason, .. } => {
                Err(unfinished(&format!("the run was ended: {reason}")))
            }
            Kind::TextDelta { text } if !text.is_empty() => {
                self.text.push_str(&text);
                Ok(Some(text))
            }
            _ => Ok(None),
        }
    }
}

fn unfinished(message: &str) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "aborted", message)
}

/// All tokens that were sent.
pub(super) fn sent(usage: &Usage) -> u64 {
    usage.input + usage.cache_read + usage.cache_write
}
