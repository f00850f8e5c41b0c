//! `chat.history`: the conversation as clients show it.

use std::collections::HashSet;

use crate::refused::refused;

use openclaw_conversations::Refusal;
use openclaw_conversations::sessions::{History, Wanted};
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::transcript::Message;
use openclaw_sessions::{SessionKey, silence};
use openclaw_settings::Settings;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{Answer, Call};
use crate::message::{Names, names, shown, waits};
use openclaw_runs::{injected, model};

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
    cursor: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
    #[serde(rename = "pendingBefore")]
    _pending_before: Option<u64>,
    #[serde(rename = "inputRunIds")]
    _input_run_ids: Option<Vec<Filled>>,
    message_id: Option<Filled>,
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
    let key = call
        .context
        .core
        .key(&params.session_key, agent)
        .map_err(refused)?;
    let session_id = match call.context.core.sessions.get(&key).await {
        Ok(shown) => Some(shown.session.id),
        Err(Refusal::UnknownSession(_)) => None,
        Err(refusal) => return Err(refused(refusal)),
    };
    let session_id = session_id.filter(|id| {
        params
            .session_id
            .as_deref()
            .is_none_or(|wanted| wanted == id)
    });
    let place = match (params.message_id, params.cursor.filter(|it| !it.is_empty())) {
        (Some(id), _) => Place::Around(id.0),
        (None, Some(cursor)) => Place::Before(read_cursor(call.method, &cursor)?),
        (None, None) => Place::Offset(params.offset.unwrap_or(0)),
    };
    let (offset, history) = match &session_id {
        Some(_) => page(&call, &key, place, limit).await?,
        None => (0, None),
    };
    let settings = call.context.core.configuration.settings();
    let (provider, model) = model::configured(&settings, key.agent().as_str());
    let waiting = call.context.core.lanes.waiting(&key);
    let names = named(&call, history.as_ref()).await;
    let told = told(history.as_ref(), offset, &waiting, (chars, &names));
    let next_cursor = next_cursor(history.as_ref(), offset, &told);
    Ok(json!({
        "sessionKey": params.session_key.0,
        "sessionId": session_id,
        "messages": told.messages,
        "pendingInputs": { "items": told.pending, "total": told.pending.len() },
        "hasMore": next_cursor.is_some(),
        "nextCursor": next_cursor,
        "totalMessages": history.as_ref().map_or(0, |history| history.total),
        "hasActiveRun": !call.context.core.lanes.runs(&key).is_empty(),
        "defaults": {
            "modelProvider": provider,
            "model": model,
            "contextTokens": window(&settings, key.agent().as_str()),
        },
    })
    .into())
}

/// The window of the agent's model, in tokens.
fn window(settings: &Settings, agent: &str) -> u64 {
    settings.context_window(settings.model_of(agent))
}

/// Where a page is.
enum Place {
    /// So many messages before the newest.
    Offset(usize),
    /// Before the message with this number, counted from the oldest.
    Before(usize),
    /// Around the message with this id: that of its entry, or the one that whoever had
    /// it said was told.
    Around(String),
}

/// A page, and how many messages are newer than it.
async fn page(
    call: &Call,
    key: &SessionKey,
    place: Place,
    limit: usize,
) -> Result<(usize, Option<History>), Failure> {
    let read = async |skip: usize, limit: usize| {
        let wanted = Wanted {
            skip,
            limit,
            all: true,
        };
        call.context
            .core
            .sessions
            .history(key, wanted)
            .await
            .map_err(refused)
    };
    let offset = match place {
        Place::Offset(offset) => offset,
        Place::Before(number) => count(read(0, 1).await?.total).saturating_sub(number),
        Place::Around(id) => {
            let mut skip = 0;
            loop {
                let history = read(skip, LIMIT).await?;
                let newer = history
                    .entries
                    .iter()
                    .rev()
                    .position(|entry| entry.id == id || injected::is(&entry.message, &id));
                if let Some(newer) = newer {
                    break (skip + newer).saturating_sub(limit / 2);
                }
                skip += history.entries.len();
                if history.entries.is_empty() {
                    let problem = format!("at /messageId: there is no message {id:?}");
                    return Err(Failure::params(call.method, &problem));
                }
            }
        }
    };
    Ok((offset, Some(read(offset, limit).await?)))
}

/// The keys that clients gave the runs of the page. Of one that began before the
/// page the ledger knows it: a message is told with the same run on every page.
async fn named<'a>(call: &Call, history: Option<&'a History>) -> Names<'a> {
    let entries = history.map_or(&[][..], |history| &history.entries);
    let mut names = names(entries);
    let mut asked = HashSet::new();
    for run_id in entries.iter().filter_map(|entry| entry.message.run_id()) {
        if asked.len() == BEGUN_BEFORE {
            break;
        }
        if names.contains_key(run_id) || !asked.insert(run_id) {
            continue;
        }
        // A run that the ledger does not have any more keeps its own id.
        if let Ok(Some(found)) = call.context.core.storage.find(run_id).await
            && let Some(key) = found.record.idempotency_key
        {
            names.insert(run_id, key);
        }
    }
    names
}

/// Runs of a page that may have begun before it: one that went on, and those of
/// messages that it answered together with its own.
const BEGUN_BEFORE: usize = 16;

/// The number of the oldest message that is told, when there are older ones: it
/// stays the same while others come.
fn next_cursor(history: Option<&History>, offset: usize, told: &HistoryPage) -> Option<String> {
    let history = history?;
    let older = match told.cut_before {
        Some(older) => older,
        None => {
            let newer = history.entries.len().saturating_add(offset);
            count(history.total).checked_sub(newer)?
        }
    };
    (older > 0).then(|| format!("{CURSOR}{older}"))
}

/// What a cursor begins with.
const CURSOR: &str = "before-";

fn read_cursor(method: &str, cursor: &str) -> Result<usize, Failure> {
    let number = cursor.strip_prefix(CURSOR).and_then(|it| it.parse().ok());
    number.ok_or_else(|| {
        let problem = "at /cursor: must be a nextCursor of an earlier answer";
        Failure::params(method, problem)
    })
}

fn count(total: u64) -> usize {
    usize::try_from(total).unwrap_or(usize::MAX)
}

/// What a page has for the client.
struct HistoryPage {
    messages: Vec<Value>,
    /// Messages that wait for their turn.
    pending: Vec<Value>,
    /// How many messages are older than the oldest that is told, where the page
    /// had more than the client wants.
    cut_before: Option<usize>,
}

fn told(
    history: Option<&History>,
    offset: usize,
    waiting: &[String],
    (chars, names): (usize, &Names<'_>),
) -> HistoryPage {
    let entries = history.map_or(&[][..], |history| &history.entries);
    let total = history.map_or(0, |history| history.total);
    let passed = entries.len().saturating_add(offset);
    let first = usize::try_from(total)
        .unwrap_or(usize::MAX)
        .saturating_sub(passed);
    let (mut messages, mut pending) = (Vec::new(), Vec::new());
    let mut places = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if says_nothing(&entry.message) {
            continue;
        }
        let run_id = entry.message.run_id();
        if run_id.is_some_and(|id| waiting.iter().any(|waits| waits == id)) {
            pending.push(waits(entry, run_id.unwrap_or_default(), names));
        } else {
            messages.push(shown(entry, first + at + 1, names));
            places.push(first + at);
        }
    }
    let messages = within(messages, chars);
    let cut = places.len() - messages.len();
    HistoryPage {
        cut_before: (cut > 0).then(|| places[cut]),
        messages,
        pending,
    }
}

/// Whether it is an answer of which nobody is told.
fn says_nothing(message: &Message) -> bool {
    let Message::Assistant(assistant) = message else {
        return false;
    };
    silence::is_silent(&assistant.content.to_text())
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
