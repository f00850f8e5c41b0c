//! How a client that was away catches up: with a cursor it is told what came since, as the
//! `session.message` events that it missed, or that it has to begin anew.

use openclaw_conversations::sessions::{History, Shown, Wanted};
use openclaw_message_views::{self as message, Cursor, MESSAGES, Page};
use openclaw_protocol::Failure;
use openclaw_sessions::SessionKey;
use serde_json::{Value, json};

use super::super::super::Call;
use super::{named, read, told};
use crate::session_row::Rows;

/// Bytes of the events that a client catches up with, as OpenClaw's.
const BYTES: usize = 1_000_000;

pub(super) fn page(history: &History) -> Page<'_> {
    Page {
        entries: &history.entries,
        total: history.total,
        has_more: history.has_more,
    }
}

/// The messages since a client's `cursor`.
pub(super) async fn answer(
    call: &Call,
    key: &SessionKey,
    session: Option<&Shown>,
    cursor: &str,
) -> Result<Value, Failure> {
    let reset = json!({ "kind": "reset" });
    let (Some(shown), Some(cursor)) = (session, Cursor::read(cursor)) else {
        return Ok(reset);
    };
    let place = (key, shown.session.id.as_str());
    if !cursor.is_of(key, place.1) {
        return Ok(reset);
    }
    let wanted = Wanted {
        skip: 0,
        limit: MESSAGES + 1,
        all: false,
    };
    let mut history = read(call, key, wanted).await?;
    let Some(known) = cursor.told(page(&history)) else {
        return Ok(reset);
    };
    let waiting = call.context.core.lanes.waiting(key);
    let next = Cursor::after(place, page(&history), &waiting);
    let next = cursor.or_after(next);
    history.entries.drain(..known);
    let names = named(call, Some(&history)).await;
    let told = told(Some(&history), 0, &waiting, (usize::MAX, &names));
    let row = Rows::new(&call.context.core).row(&shown.session, &shown.entry);
    let events = told.messages.into_iter();
    let events: Value = events
        .map(|message| message::event(place, message, &row))
        .collect();
    if events.to_string().len() > BYTES {
        return Ok(reset);
    }
    Ok(json!({
        "kind": "delta",
        "messages": events,
        "deltaCursor": next.write(),
        "pendingInputs": { "items": told.pending, "total": told.pending.len() },
        "sessionInfo": row,
    }))
}
