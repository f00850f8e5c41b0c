//! The events of a run that a journal is searched for, each with its own
//! MESSAGE_ID (systemd.journal-fields(7)). The run's span adds the rest.

use std::time::Duration;

use openclaw_proto::event::Kind;
use openclaw_proto::memory::Compaction;
use openclaw_proto::runner::{Started, Turn};
use openclaw_words as words;

/// Characters of a text where the log may have it.
const SHOWN: usize = 2000;

/// A message is durable and has a run.
const RUN_ACCEPTED: &str = "7cde505430944ee39571c1a4b8d43d88";
/// The runner has taken the turn.
const RUN_STARTED: &str = "1598c3c479a247bb8605a921218e233f";
/// What did not fit the model became a summary.
const CONVERSATION_SUMMARISED: &str = "8a1f5f0b7f5c4d0e9b43c6d2e7a90f34";
/// The run has its terminal event, and that is durable.
const RUN_ENDED: &str = "127fc85473024db2a466b9bd4bc54252";

/// What the text of a message or an answer is in the log.
#[derive(Debug, Clone, Copy)]
pub struct Spoken<'a> {
    /// It.
    pub text: &'a str,
    /// Whether it may be there itself (`logging.content`).
    pub is_shown: bool,
}

impl std::fmt::Display for Spoken<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let length = self.text.chars().count() as u64;
        formatter.write_str(&words::count(length, "character"))?;
        if self.is_shown {
            let shown = openclaw_escape::line_within(self.text, SHOWN);
            write!(formatter, ": {shown}")?;
        }
        Ok(())
    }
}

/// A message is on the disk and has a run.
pub fn accepted(channel: &str, message: Spoken<'_>) {
    let from = match channel {
        "" => String::new(),
        channel => format!("by {} ", openclaw_escape::line(channel)),
    };
    tracing::info!(
        message_id = RUN_ACCEPTED,
        "run accepted {from}with {message}"
    );
}

/// A turn has begun. `turn`: what the runner was given, `started`: what it made of it.
pub fn started(started: &Started, turn: &Given) {
    let Started {
        backend,
        provider,
        model,
        ..
    } = started;
    let asked = match (provider.as_str(), model.as_str()) {
        (_, "") => String::new(),
        ("", model) => format!(" asks {model}"),
        (provider, model) => format!(" asks {provider}/{model}"),
    };
    tracing::info!(
        message_id = RUN_STARTED,
        backend,
        "run started: {backend}{asked} with {}, {} and {}",
        words::count(turn.history, "earlier message"),
        words::count(turn.files, "bootstrap file"),
        words::count(turn.passages, "passage")
    );
}

/// How much a turn was given.
#[derive(Debug, Clone, Copy)]
pub struct Given {
    history: u64,
    files: u64,
    passages: u64,
}

impl Given {
    /// What `turn` has.
    pub fn to(turn: &Turn) -> Self {
        Self {
            history: turn.history.len() as u64,
            files: turn.bootstrap.len() as u64,
            passages: turn.passages.iter().filter(|it| !it.held).count() as u64,
        }
    }
}

/// What was said first became a summary.
pub fn summarised(planned: &Compaction) {
    tracing::info!(
        message_id = CONVERSATION_SUMMARISED,
        "summarised the conversation: {} of {} tokens instead of {}",
        words::count(planned.summarise.len() as u64, "message"),
        planned.tokens_after,
        planned.tokens_before
    );
}

/// A run has ended. `reply`: what the log has of the answer.
pub fn ended(outcome: &Kind, took: Duration, reply: &str) {
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let after = words::elapsed(took);
    match outcome {
        Kind::Failed(failed) => tracing::warn!(
            message_id = RUN_ENDED,
            outcome = "failed",
            code = failed.code.as_str(),
            backend = failed.backend,
            took_ms,
            "run ended: failed after {after}: {}",
            openclaw_escape::line_within(&failed.message, SHOWN)
        ),
        Kind::Aborted {
            reason, backend, ..
        } => tracing::info!(
            message_id = RUN_ENDED,
            outcome = "aborted",
            backend,
            took_ms,
            "run ended: aborted after {after}: {}",
            openclaw_escape::line_within(reason, SHOWN)
        ),
        Kind::Done(done) => tracing::info!(
            message_id = RUN_ENDED,
            outcome = "done",
            backend = done.backend,
            model = done.model,
            took_ms,
            "run ended: done after {after} with {reply}"
        ),
        _ => {}
    }
}
