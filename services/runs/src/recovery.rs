//! Runs that the last gateway left open.

use std::path::Path;
use std::sync::Arc;

use openclaw_conversations::storage::{Closing, Fault, Found, Record, Said};
use openclaw_daemon::failure;
use openclaw_proto::event::{Code, Done, Failed, Kind};
use openclaw_proto::gateway::Accepted;
use openclaw_sessions::transcript::{self, AssistantMessage, Content, Message, StopReason, Usage};
use openclaw_sessions::{Error, SessionKey, now_ms};
use tracing::Instrument as _;

use crate::compaction;
use crate::core::Core;
use crate::run::Run;
use crate::turn::{self, Left, interrupted};

/// Takes up the runs of `records`: a run whose reply is in the transcript had
/// only not been closed, the others go on. A turn that the runner has never
/// heard of is started now, unless the machine was started since: then it may
/// have run, and whatever it did must not be done twice unasked.
pub async fn take_up(core: &Arc<Core>, records: Vec<Record>) {
    for record in records {
        let run_id = record.run_id.clone();
        match one(core, record).await {
            Ok(true) => {}
            Ok(false) => {
                let closing = Arc::clone(core);
                core.spawn(async move { turn::close_turn(&closing, &run_id).await });
            }
            Err(fault) => failure::report("take up an open run", &fault),
        }
    }
    let closing = Arc::clone(core);
    core.spawn(async move { close_ended(&closing).await });
}

/// Lets the runner forget the turns that the last gateway saw to their end but
/// could not say so.
async fn close_ended(core: &Core) {
    for run_id in turn::kept_turns(core).await {
        if compaction::abandoned(core, &run_id) {
            turn::end_abandoned(core, &run_id).await;
            continue;
        }
        let found = core.storage.find(&run_id).await;
        if let Ok(Some(found)) = found
            && found.record.ended_ms.is_some()
        {
            turn::close_turn(core, &run_id).await;
        }
    }
}

/// What a transcript says of a run.
#[derive(Debug, Default)]
struct Known {
    said: Option<Said>,
    entries: usize,
    outcome: Option<Kind>,
}

/// True when the run goes on.
async fn one(core: &Arc<Core>, record: Record) -> Result<bool, Fault> {
    let Some(key) = key_of(&record) else {
        return Ok(false);
    };
    let found = core.storage.find(&record.run_id).await?;
    let Some(Found {
        transcript,
        overrides,
        ..
    }) = found
    else {
        return Ok(false);
    };
    let known = known(&transcript, &record.run_id)?;
    if let Some(outcome) = known.outcome {
        close(core, record, key, outcome, Vec::new()).await?;
        return Ok(false);
    }
    let run = Run::new(
        record.run_id.clone(),
        key.clone(),
        record.channel.clone(),
        record.idempotency_key.clone(),
    );
    core.runs.start(&run);
    let Ok(ticket) = core.lanes.enter(&key, &record.run_id) else {
        core.runs.end(&run);
        let outcome = interrupted();
        let messages = vec![notice(&record.run_id, &outcome)];
        close(core, record, key, outcome, messages).await?;
        return Ok(false);
    };
    let may_start = record.state == "accepted" || is_of_this_boot(record.created_ms);
    let left = Left {
        accepted: Accepted {
            run_id: record.run_id,
            session_key: record.session_key,
            session_id: record.session_id,
            agent_id: record.agent_id,
            existing: false,
        },
        transcript,
        said: known.said.filter(|_| may_start),
        entries: known.entries,
        overrides,
    };
    run.span
        .in_scope(|| tracing::info!("the gateway was started again; the run goes on"));
    let span = run.span.clone();
    let resume = turn::resume(Arc::clone(core), run, left, ticket);
    core.spawn(resume.instrument(span));
    Ok(true)
}

async fn close(
    core: &Core,
    record: Record,
    key: SessionKey,
    outcome: Kind,
    messages: Vec<Message>,
) -> Result<(), Fault> {
    let closing = Closing {
        run_id: record.run_id,
        key,
        messages,
        outcome,
        usage: Usage::default(),
        context_tokens: 0,
        resources: None,
    };
    core.storage.close(closing).await
}

/// Whether the machine has been up since then (`btime`, proc_stat(5)).
fn is_of_this_boot(at_ms: i64) -> bool {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let seconds = stat
        .lines()
        .find_map(|line| line.strip_prefix("btime ")?.trim().parse::<i64>().ok());
    seconds.is_some_and(|seconds| at_ms > seconds.saturating_mul(1000))
}

fn key_of(record: &Record) -> Option<SessionKey> {
    let agent = record.agent_id.parse().ok()?;
    SessionKey::parse(&record.session_key, &agent).ok()
}

fn known(path: &Path, run_id: &str) -> Result<Known, Error> {
    let mut known = Known::default();
    for entry in transcript::of_run(path, run_id)? {
        match &entry.message {
            message @ Message::User(_) if message.is_command() => known.said = Some(Said::Reset),
            Message::User(user) => known.said = Some(Said::Text(user.content.to_text())),
            message => {
                known.entries += 1;
                known.outcome = outcome_of(message);
            }
        }
    }
    Ok(known)
}

fn outcome_of(message: &Message) -> Option<Kind> {
    let Message::Assistant(assistant) = message else {
        return None;
    };
    let words = || assistant.error_message.clone().unwrap_or_default();
    match &assistant.stop_reason {
        StopReason::ToolUse | StopReason::Other(_) => None,
        StopReason::Stop | StopReason::Length => Some(Kind::Done(Done {
            stop_reason: match assistant.stop_reason {
                StopReason::Length => "length".to_owned(),
                _ => "stop".to_owned(),
            },
            provider: assistant.provider.clone(),
            model: assistant.model.clone(),
            ..Done::default()
        })),
        StopReason::Error => Some(Kind::Failed(Failed {
            code: Code::Interrupted,
            message: words(),
            retry_after_ms: None,
            backend_session: None,
            backend: String::new(),
        })),
        StopReason::Aborted => Some(Kind::Aborted {
            reason: words(),
            backend_session: None,
            backend: String::new(),
        }),
    }
}

/// The entry that says that a run was interrupted.
fn notice(run_id: &str, outcome: &Kind) -> Message {
    let message = match outcome {
        Kind::Failed(failed) => failed.message.clone(),
        _ => String::new(),
    };
    let mut notice = Message::Assistant(AssistantMessage {
        content: Content::Blocks(Vec::new()),
        stop_reason: StopReason::Error,
        error_message: Some(message),
        timestamp: now_ms(),
        ..AssistantMessage::default()
    });
    notice.set_run_id(run_id);
    notice
}
