//! Runs that clients start, look for and wait for.

use crate::refused::refused;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use openclaw_conversations::Refusal;
use openclaw_conversations::storage::{Deadline, Record, Storage, StoredRun, replay};
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::{Accepted, Message};
use openclaw_protocol::Failure;
use openclaw_runs::{Core, Extra, MessageStatus, Run, is_model};
use openclaw_sessions::SessionKey;
use openclaw_sessions::store::THINKING_LEVELS;
use tokio::time::timeout;
use uuid::Uuid;

use super::{Call, by_effect};
use crate::refused::stored;
use crate::reported_runs::{Held, ReportedRuns};

/// The outcome of a message.
pub(super) enum Started {
    /// It is durable and its run has begun.
    New(Arc<Run>, Accepted, Held),
    /// Its key names a run that goes on.
    Going(Arc<Run>, Accepted),
    /// Its key names a run that ended.
    Ended(Box<Record>),
}

/// Hands a message to the core and waits until it is durable. The clients are
/// not told of a new run before [`report`](crate::run_report::RunReporter::report).
pub(super) async fn start(call: &Call, message: Message, extra: Extra) -> Result<Started, Failure> {
    call.client
        .need(by_effect::of_message(call, &message.text, &extra.sender))?;
    let context = &call.context;
    let id = run_id(&message.idempotency_key);
    let held = context.reporter.reported.hold(&id);
    let submitted = context
        .core
        .submitter
        .submit(message, extra, Some(id))
        .map_err(refused)?;
    let run = submitted.run;
    match run.settled().await {
        MessageStatus::Accepted(accepted) if submitted.existing => {
            Ok(Started::Going(run, accepted))
        }
        MessageStatus::Accepted(accepted) => Ok(Started::New(run, accepted, held)),
        MessageStatus::Existing(record) => Ok(Started::Ended(record)),
        MessageStatus::Refused(fault) => Err(refused(Refusal::of_message(fault))),
        MessageStatus::Asked => Err(Failure::unavailable("the run has no status yet")),
    }
}

/// The id of the run that a client's key names: the key itself, as in OpenClaw,
/// when it is a UUID, which a run's id is everywhere else.
fn run_id(key: &str) -> String {
    match Uuid::parse_str(key) {
        Ok(id) if id.to_string() == key => key.to_owned(),
        _ => Uuid::new_v4().to_string(),
    }
}

/// How much is to be thought in a turn, if the client says it.
pub(super) fn thinking(method: &str, level: Option<String>) -> Result<Option<String>, Failure> {
    let level = level.map(|level| level.trim().to_lowercase());
    let Some(level) = level.filter(|level| !level.is_empty()) else {
        return Ok(None);
    };
    if THINKING_LEVELS.contains(&level.as_str()) {
        return Ok(Some(level));
    }
    let levels = THINKING_LEVELS.join(", ");
    let problem = format!("at /thinking: must be one of {levels}");
    Err(Failure::params(method, &problem))
}

/// The model of a turn, if the client says it.
pub(super) fn model(method: &str, model: Option<String>) -> Result<Option<String>, Failure> {
    match model {
        Some(model) if !is_model(&model) => {
            Err(Failure::params(method, "at /model: must be provider/model"))
        }
        model => Ok(model),
    }
}

/// How a run ended.
pub(super) struct End {
    /// All its text.
    pub(super) text: String,
    pub(super) outcome: Kind,
    pub(super) started_ms: i64,
    pub(super) ended_ms: i64,
    /// Tokens sent and generated.
    pub(super) tokens: (u64, u64),
}

impl End {
    fn of(events: impl IntoIterator<Item = (i64, Kind)>) -> Option<Self> {
        let mut text = String::new();
        let (mut started, mut tokens) = (None, (0u64, 0u64));
        for (at_ms, kind) in events {
            started.get_or_insert(at_ms);
            match kind {
                Kind::TextDelta { text: more } => text.push_str(&more),
                Kind::Usage(usage) => {
                    tokens.0 = tokens.0.saturating_add(usage.input);
                    tokens.1 = tokens.1.saturating_add(usage.output);
                }
                outcome if outcome.is_terminal() => {
                    return Some(Self {
                        text,
                        outcome,
                        started_ms: started.unwrap_or(at_ms),
                        ended_ms: at_ms,
                        tokens,
                    });
                }
                _ => {}
            }
        }
        None
    }
}

/// Waits for the end of a live run.
pub(super) async fn end_of(run: &Run) -> Result<End, Failure> {
    let mut events = Vec::new();
    let mut seq = 1;
    loop {
        match run.log.wait_for(seq).await {
            Ok(Some(event)) => {
                seq = event.seq + 1;
                events.push((event.at_ms, event.kind));
            }
            Ok(None) => break,
            // Of a very long reply the end is left.
            Err(missed) => seq = missed.first(),
        }
    }
    End::of(events).ok_or_else(|| Failure::unavailable("the run has no end"))
}

/// The end of a run that is only on disk; None when it is not known.
pub(super) async fn stored_end(storage: &Storage, run_id: &str) -> Result<Option<End>, Failure> {
    let found = storage.find(run_id).await;
    let Some(StoredRun {
        record, transcript, ..
    }) = found.map_err(|fault| stored(&fault))?
    else {
        return Ok(None);
    };
    if record.ended_ms.is_none() {
        return Err(refused(Refusal::LeftOpen(record.run_id)));
    }
    let read = move || replay(&transcript, &record);
    let events = tokio::task::spawn_blocking(read)
        .await
        .map_err(|_| Failure::unavailable("the reading thread ended"))?
        .map_err(|error| stored(&error.into()))?;
    let events = events.into_iter().map(|event| (event.at_ms, event.kind));
    Ok(End::of(events))
}

/// How long a run that is aborted may take to end before the client is answered all the same.
const ABORT_DEADLINE: Duration = Duration::from_secs(10);

/// Which runs of a session are meant.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which<'a> {
    /// The one with this id.
    One(&'a str),
    /// Runs that have begun.
    Running,
    /// Waiting runs as well.
    All,
}

impl Which<'_> {
    fn is(self, run: &Run, waiting: &[String]) -> bool {
        match self {
            Self::One(id) => run.public_id() == id,
            Self::Running => !waiting.contains(&run.id),
            Self::All => true,
        }
    }
}

/// Ends runs of the session and returns their ids.
pub(super) async fn abort(
    core: &Core,
    reported: &ReportedRuns,
    key: &SessionKey,
    which: Which<'_>,
) -> Result<Vec<String>, Failure> {
    let mut live = core.runs.live();
    let waiting = core.lanes.waiting(key);
    live.retain(|run| run.key == *key && which.is(run, &waiting));
    if let Which::One(id) = which
        && let Some(other) = run_elsewhere(core, key, id)
    {
        return Err(Failure::invalid(format!(
            "runId does not match sessionKey: {id} belongs to {other}"
        )));
    }
    live.retain(|run| run.end("user"));
    let ends = live.iter().map(|run| async {
        run.log.ended().await;
        reported.told(run).await;
    });
    let _ = timeout(ABORT_DEADLINE, join_all(ends)).await;
    Ok(live.iter().map(|run| run.public_id().to_owned()).collect())
}

fn run_elsewhere(core: &Core, key: &SessionKey, id: &str) -> Option<SessionKey> {
    let run = core.runs.find_public(id)?;
    (run.key != *key).then(|| run.key.clone())
}

/// Until when a run may take whose client allows it `limit_ms`; 0: as long as its agent's may.
pub(super) fn deadline(limit_ms: Option<u64>) -> Option<Deadline> {
    let limit_ms = limit_ms.filter(|ms| *ms > 0)?;
    Some(Deadline::after(Duration::from_millis(limit_ms), "timeout"))
}
