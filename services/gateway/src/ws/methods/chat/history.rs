//! `chat.history`: the conversation as clients show it.

use std::path::PathBuf;

use openclaw_proto::gateway::Session;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::SessionKey;
use openclaw_sessions::transcript::{self, Entry, Line};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{Answer, Call, models};
use crate::gateway::Gateway;
use crate::ws::refused::stored;

/// Messages when the client does not say how many.
const DEFAULT_LIMIT: usize = 200;

/// The most it may ask for.
const LIMIT: usize = 1000;

/// Characters of texts together, when it does not say how many.
const DEFAULT_CHARS: usize = 500_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    session_key: Filled,
    agent_id: Option<Filled>,
    #[serde(rename = "cursor")]
    _cursor: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
    #[serde(rename = "pendingBefore")]
    _pending_before: Option<u64>,
    #[serde(rename = "inputRunIds")]
    _input_run_ids: Option<Vec<Filled>>,
    #[serde(rename = "messageId")]
    _message_id: Option<Filled>,
    session_id: Option<Filled>,
    max_chars: Option<usize>,
}

/// `chat.history`
pub(in super::super) async fn history(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.params()?;
    let limit = params.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=LIMIT).contains(&limit) {
        let problem = match limit {
            0 => "at /limit: must be >= 1".to_owned(),
            _ => format!("at /limit: must be <= {LIMIT}"),
        };
        return Err(Failure::params(call.method, &problem));
    }
    let chars = params.max_chars.unwrap_or(DEFAULT_CHARS);
    if !(1..=DEFAULT_CHARS).contains(&chars) {
        let problem = format!("at /maxChars: must be between 1 and {DEFAULT_CHARS}");
        return Err(Failure::params(call.method, &problem));
    }
    let agent = params.agent_id.as_deref().unwrap_or_default();
    let key = call.gateway.key(&params.session_key, agent)?;
    let session = session_of(&call.gateway, &key).await?;
    let session = session.filter(|it| params.session_id.as_deref().is_none_or(|id| id == it.id));
    let waiting = call.gateway.lanes.runs(&key);
    let (messages, total) = match &session {
        Some(session) => {
            read(
                session.transcript_path.clone().into(),
                limit,
                params.offset.unwrap_or(0),
                chars,
            )
            .await?
        }
        None => (Vec::new(), 0),
    };
    let agent = key.agent().as_str();
    let (provider, model) = models::configured(&call.gateway, agent);
    let more = total > messages.len() + params.offset.unwrap_or(0);
    Ok(json!({
        "sessionKey": params.session_key.0,
        "sessionId": session.map(|session| session.id),
        "messages": messages,
        "pendingInputs": { "items": [], "total": 0 },
        "hasMore": more,
        "totalMessages": total,
        "hasActiveRun": !waiting.is_empty(),
        "defaults": {
            "modelProvider": provider,
            "model": model,
            "contextTokens": call.gateway.configuration.settings().memory.context_tokens,
        },
    })
    .into())
}

/// The session, if there is one.
pub(in super::super) async fn session_of(
    gateway: &Gateway,
    key: &SessionKey,
) -> Result<Option<Session>, Failure> {
    let listed = gateway.storage.list(Some(key.agent().clone())).await;
    let listed = listed.map_err(|fault| stored(&fault))?;
    Ok(listed
        .into_iter()
        .find(|session| session.key == key.as_str()))
}

/// The last messages before `offset` from the end, oldest first, and how many
/// there are.
async fn read(
    path: PathBuf,
    limit: usize,
    offset: usize,
    chars: usize,
) -> Result<(Vec<Value>, usize), Failure> {
    let work = move || {
        if !path.exists() {
            return Ok((Vec::new(), 0));
        }
        let reading = transcript::read(&path)?;
        let entries: Vec<Box<Entry>> = reading
            .lines
            .into_iter()
            .filter_map(|line| match line {
                Line::Message(entry) => Some(entry),
                _ => None,
            })
            .collect();
        let total = entries.len();
        let end = total.saturating_sub(offset);
        let begin = end.saturating_sub(limit);
        let numbered = entries.into_iter().enumerate().take(end).skip(begin);
        let messages: Vec<Value> = numbered.map(|(at, entry)| shown(&entry, at + 1)).collect();
        Ok((within(messages, chars), total))
    };
    let read = tokio::task::spawn_blocking(work).await;
    read.map_err(|_| Failure::unavailable("the reading thread ended"))?
        .map_err(|error: openclaw_sessions::Error| stored(&error.into()))
}

/// A message with what the transcript says of it.
fn shown(entry: &Entry, seq: usize) -> Value {
    let mut message = json!(entry.message);
    let mut about = match message.get("__openclaw") {
        Some(Value::Object(about)) => about.clone(),
        _ => serde_json::Map::new(),
    };
    about.insert("id".to_owned(), json!(entry.id));
    about.insert("seq".to_owned(), json!(seq));
    if let Ok(at) = entry.timestamp.parse::<jiff::Timestamp>() {
        about.insert("recordTimestampMs".to_owned(), json!(at.as_millisecond()));
    }
    message["__openclaw"] = Value::Object(about);
    message
}

/// The newest of them that have at most so many characters together; the
/// newest one always.
fn within(mut messages: Vec<Value>, chars: usize) -> Vec<Value> {
    let mut left = chars;
    let fits = |message: &Value| {
        let size = message.to_string().len();
        let fits = size <= left;
        left = left.saturating_sub(size);
        fits
    };
    let kept = messages.iter().rev().map(fits).take_while(|fits| *fits);
    let kept = kept.count().max(1).min(messages.len());
    messages.drain(..messages.len() - kept);
    messages
}
