//! Runs that the last gateway left open.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use openclaw_daemon::failure;
use openclaw_proto::event::{Code, Done, Failed, Kind};
use openclaw_sessions::transcript::{
    self, AssistantMessage, Content, Line, Message, StopReason, Usage,
};
use openclaw_sessions::{Error, SessionKey, now_ms};

use crate::gateway::Gateway;
use crate::storage::{Closing, Fault, Record};
use crate::turn::interrupted;

/// How long the runner may take to end a turn that nobody waits for any more.
const CANCEL_DEADLINE: Duration = Duration::from_secs(10);

/// Closes the runs of `records`. A run whose reply is in the transcript had
/// only not been closed; the others get an entry that says that they were
/// interrupted, and the runner is told to end their turns.
pub(crate) async fn close_open_runs(gateway: &Arc<Gateway>, records: Vec<Record>) {
    let mut orphans = Vec::new();
    let mut cache = HashMap::new();
    for record in records {
        let run_id = record.run_id.clone();
        match close(gateway, record, &mut cache).await {
            Ok(true) => orphans.push(run_id),
            Ok(false) => {}
            Err(fault) => failure::report("close an interrupted run", &fault),
        }
    }
    if !orphans.is_empty() {
        gateway.spawn(cancel(Arc::clone(gateway), orphans));
    }
}

/// The outcomes by run that a transcript has.
type Outcomes = HashMap<String, Kind>;

/// True when the run was interrupted.
async fn close(
    gateway: &Gateway,
    record: Record,
    cache: &mut HashMap<String, Outcomes>,
) -> Result<bool, Fault> {
    let Some(key) = key_of(&record) else {
        return Ok(false);
    };
    let found = gateway.storage.find(&record.run_id).await?;
    let Some(found) = found else { return Ok(false) };
    if !cache.contains_key(&record.session_id) {
        cache.insert(record.session_id.clone(), outcomes(&found.transcript)?);
    }
    let known = cache
        .get(&record.session_id)
        .and_then(|runs| runs.get(&record.run_id));
    let is_interrupted = known.is_none();
    let outcome = known.cloned().unwrap_or_else(interrupted);
    tracing::warn!(
        openclaw_session = %key,
        openclaw_run = record.run_id,
        openclaw_agent = record.agent_id,
        openclaw_channel = record.channel,
        "the gateway stopped before this run was closed; closing it"
    );
    let messages = is_interrupted.then(|| notice(&record.run_id, &outcome));
    let closing = Closing {
        run_id: record.run_id,
        key,
        messages: messages.into_iter().collect(),
        outcome,
        usage: Usage::default(),
        context_tokens: 0,
    };
    gateway.storage.close(closing).await?;
    Ok(is_interrupted)
}

fn key_of(record: &Record) -> Option<SessionKey> {
    let agent = record.agent_id.parse().ok()?;
    SessionKey::parse(&record.session_key, &agent).ok()
}

/// How the runs of a transcript ended, of those that did.
fn outcomes(path: &Path) -> Result<Outcomes, Error> {
    if !path.exists() {
        return Ok(Outcomes::new());
    }
    let reading = transcript::read(path)?;
    let ended = reading.lines.into_iter().filter_map(|line| match line {
        Line::Message(entry) => {
            let run_id = entry.message.run_id()?.to_owned();
            Some((run_id, outcome_of(&entry.message)?))
        }
        _ => None,
    });
    Ok(ended.collect())
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

async fn cancel(gateway: Arc<Gateway>, runs: Vec<String>) {
    for run_id in runs {
        let call = gateway
            .runner
            .cancel_turn(&run_id, "the gateway was restarted");
        if let Ok(Err(status)) = tokio::time::timeout(CANCEL_DEADLINE, call).await {
            tracing::debug!(openclaw_run = run_id, code = ?status.code(), "no turn to end");
        }
    }
}
