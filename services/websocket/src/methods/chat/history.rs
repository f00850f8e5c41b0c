//! `chat.history`: the conversation as clients show it, from its last reset on, as
//! OpenClaw's gateway has it. What is older is shown around a message that is named.

mod delta;

use std::collections::HashSet;

use crate::refused::refused;

use openclaw_conversations::sessions::{History, Wanted};
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::transcript::{Entry, Message};
use openclaw_sessions::{SessionKey, silence};
use openclaw_settings::Settings;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{Answer, Call};
use openclaw_message_views::{Cursor, Names, names, shown, waits};
use openclaw_runs::{injected, model};

methods! { "chat.history" => READ, history; }

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

impl Params {
    /// How many messages, and how many characters of all their texts. The error says which is out of bounds.
    fn bounds(&self) -> Result<(usize, usize), String> {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT);
        let chars = self.max_chars.unwrap_or(DEFAULT_CHARS);
        if limit == 0 {
            return Err("at /limit: must be >= 1".to_owned());
        }
        if limit > LIMIT {
            return Err(format!("at /limit: must be <= {LIMIT}"));
        }
        if !(1..=DEFAULT_CHARS).contains(&chars) {
            return Err(format!(
                "at /maxChars: must be between 1 and {DEFAULT_CHARS}"
            ));
        }
        Ok((limit, chars))
    }
}

/// `chat.history`
async fn history(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.params()?;
    let bounds = params.bounds();
    let (limit, chars) = bounds.map_err(|problem| Failure::params(call.method, &problem))?;
    let key = call.key(&params.session_key, params.agent_id.as_deref())?;
    let session = call.session(&key).await?;
    let was_reset =
        (session.as_ref()).is_some_and(|session| session.entry.contains_key("lifecycleRevision"));
    let is_wanted = |id: &str| (params.session_id.as_deref()).is_none_or(|wanted| wanted == id);
    let session = session.filter(|session| is_wanted(&session.session.id));
    let session_id = session.as_ref().map(|session| session.session.id.as_str());
    let cursor = params.cursor.as_deref().filter(|it| !it.is_empty());
    if cursor.is_some() && (params.offset.is_some() || params.message_id.is_some()) {
        let problem = "cursor cannot be used with offset or messageId";
        return Err(Failure::invalid(problem));
    }
    let place = match (params.message_id, cursor) {
        (Some(id), _) => Place::Around(id.0),
        (None, Some(cursor)) => match read_cursor(cursor) {
            Some(place) => place,
            None => {
                let answer = delta::answer(&call, &key, session.as_ref(), cursor).await?;
                return Ok(answer.into());
            }
        },
        (None, None) => Place::Offset(params.offset.unwrap_or(0)),
    };
    let (wanted, history) = match &session_id {
        Some(_) => page(&call, &key, place, limit).await?,
        None => (newest(limit), None),
    };
    let offset = wanted.skip;
    let settings = call.context.core.configuration.settings();
    let (provider, model) = model::configured(&settings, key.agent().as_str());
    let waiting = call.context.core.lanes.waiting(&key);
    let names = named(&call, history.as_ref()).await;
    let told = told(history.as_ref(), offset, &waiting, (chars, &names));
    let older = older(history.as_ref(), wanted, &told);
    let next_cursor = older.map(|older| next_cursor(older, wanted));
    let total = total(history.as_ref(), wanted, was_reset);
    let mut answer = json!({
        "sessionKey": params.session_key.0,
        "sessionId": session_id,
        "messages": told.messages,
        "pendingInputs": { "items": told.pending, "total": told.pending.len() },
        "hasMore": next_cursor.is_some(),
        "nextCursor": next_cursor,
        "hasActiveRun": !call.context.core.lanes.runs(&key).is_empty(),
        "defaults": {
            "modelProvider": provider,
            "model": model,
            "contextTokens": window(&settings, key.agent().as_str()),
        },
    });
    if let (Some(history), Some(id), 0, false) = (&history, session_id, offset, wanted.all)
        && let Some(cursor) = Cursor::after((&key, id), delta::page(history), &waiting)
    {
        answer["deltaCursor"] = json!(cursor.write());
    }
    if let Some(next) = older.and_then(|older| next_offset(history.as_ref()?, older, wanted)) {
        answer["nextOffset"] = json!(next);
    }
    if let Some(total) = total {
        answer["totalMessages"] = json!(total);
    }
    Ok(answer.into())
}

/// The window of the agent's model, in tokens.
fn window(settings: &Settings, agent: &str) -> u64 {
    settings.context_window(settings.model_of(agent))
}

/// Where a page is.
enum Place {
    /// So many messages before the newest.
    Offset(usize),
    /// Before the message with this number, counted from the oldest; with what was before
    /// the last reset or without.
    Before(usize, bool),
    /// Around the message with this id: that of its entry, or the one that whoever had
    /// it said was told.
    Around(String),
}

/// The newest messages since the last reset.
fn newest(limit: usize) -> Wanted {
    Wanted {
        skip: 0,
        limit,
        all: false,
    }
}

/// A page, and which part of the conversation it is.
async fn page(
    call: &Call,
    key: &SessionKey,
    place: Place,
    limit: usize,
) -> Result<(Wanted, Option<History>), Failure> {
    let wanted = match place {
        Place::Offset(skip) => Wanted {
            skip,
            ..newest(limit)
        },
        Place::Before(number, all) => {
            let total = count(read(call, key, newest(1)).await?.total);
            let skip = total.saturating_sub(number);
            Wanted { skip, limit, all }
        }
        Place::Around(id) => {
            let found = around(call, key, &id, limit).await?;
            found.ok_or_else(|| {
                let problem = format!("at /messageId: there is no message {id:?}");
                Failure::params(call.method, &problem)
            })?
        }
    };
    let history = read(call, key, wanted).await?;
    Ok((wanted, Some(history)))
}

async fn read(call: &Call, key: &SessionKey, wanted: Wanted) -> Result<History, Failure> {
    let history = call.context.core.sessions.history(key, wanted).await;
    history.map_err(refused)
}

/// The part around the message `id`: of the conversation as it is now or, where it is
/// older, of what was before the last reset and nothing later.
async fn around(
    call: &Call,
    key: &SessionKey,
    id: &str,
    limit: usize,
) -> Result<Option<Wanted>, Failure> {
    let is_meant = |entry: &Entry| entry.id == id || injected::is(&entry.message, id);
    let mut found = None;
    let mut begins = 0;
    let mut looked = newest(LIMIT);
    while found.is_none() {
        let history = read(call, key, looked).await?;
        let newer = history.entries.iter().rev().position(is_meant);
        found = newer.map(|newer| looked.skip + newer);
        looked.skip += history.entries.len();
        if !history.has_more && found.is_none() {
            if looked.all {
                return Ok(None);
            }
            (begins, looked.all) = (looked.skip, true);
        }
    }
    let middle = found.unwrap_or_default().saturating_sub(limit / 2);
    Ok(Some(Wanted {
        skip: middle.max(begins),
        limit,
        all: looked.all,
    }))
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

/// How many messages are older than the oldest that is told, when there are any.
fn older(history: Option<&History>, wanted: Wanted, told: &HistoryPage) -> Option<usize> {
    let history = history?;
    match told.cut_before {
        Some(older) => Some(older),
        None if history.has_more => {
            let newer = history.entries.len().saturating_add(wanted.skip);
            count(history.total).checked_sub(newer)
        }
        None => None,
    }
}

/// The number of the oldest message that is told: it stays the same while others come.
fn next_cursor(older: usize, wanted: Wanted) -> String {
    let name = if wanted.all { CURSOR_OF_ALL } else { CURSOR };
    format!("{name}{older}")
}

/// The `offset` of the next page, where the page is of the conversation since its last
/// reset: that is all that an offset leads to.
fn next_offset(history: &History, older: usize, wanted: Wanted) -> Option<usize> {
    count(history.total)
        .checked_sub(older)
        .filter(|_| !wanted.all)
}

/// How many messages there are since the last reset, where the page shows it: it reaches
/// back to that, or there was none.
fn total(history: Option<&History>, wanted: Wanted, was_reset: bool) -> Option<u64> {
    let Some(history) = history else {
        return Some(0);
    };
    if !was_reset {
        return Some(history.total);
    }
    let length = history.entries.len();
    let is_end = !history.has_more && (length > 0 || wanted.skip == 0);
    let shown = u64::try_from(length.saturating_add(wanted.skip)).ok();
    shown.filter(|_| is_end && !wanted.all)
}

/// The beginning of a cursor.
const CURSOR: &str = "before-";

/// The beginning of a cursor whose page reaches before the last reset.
const CURSOR_OF_ALL: &str = "before-all-";

fn read_cursor(cursor: &str) -> Option<Place> {
    let of = |name: &str| cursor.strip_prefix(name)?.parse().ok();
    let all = of(CURSOR_OF_ALL).map(|number| Place::Before(number, true));
    all.or_else(|| Some(Place::Before(of(CURSOR)?, false)))
}

fn count(total: u64) -> usize {
    usize::try_from(total).unwrap_or(usize::MAX)
}

/// The contents of a page.
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

/// The newest messages with at most so many characters together; the newest one always.
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
