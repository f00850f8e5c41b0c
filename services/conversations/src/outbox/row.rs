//! A delivery as a row.

use openclaw_proto::gateway::ChatKind;
use openclaw_proto::outbox::{Delivery, Extras, Kind, Place};
use rusqlite::Row;
use rusqlite::types::Type;

/// The columns that [`delivery`] reads.
pub(super) const DELIVERY: &str = "delivery_id, attempts, not_before_ms, channel, account, target, \
                                   chat, thread, session_key, agent_id, run_id, created_ms, facts, extras";

pub(super) fn delivery(row: &Row<'_>) -> rusqlite::Result<Delivery> {
    let (facts, extras): (String, String) = (row.get(12)?, row.get(13)?);
    let kind = serde_json::from_str(&facts);
    Ok(Delivery {
        id: id(row)?,
        attempt: row.get(1)?,
        lease_until_ms: row.get(2)?,
        place: place(row)?,
        session_key: row.get(8)?,
        agent_id: row.get(9)?,
        run_id: row.get(10)?,
        created_ms: row.get(11)?,
        kind: kind.map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(12, Type::Text, Box::new(error))
        })?,
        // Of a gateway that knew others, perhaps: the text comes without.
        extras: serde_json::from_str(&extras).unwrap_or_default(),
    })
}

/// Of a question that was asked: its id, session, agent, run, and where. What
/// it asks is not kept after it was delivered.
pub(super) fn asked(row: &Row<'_>) -> rusqlite::Result<(u64, String, String, String, Place)> {
    Ok((
        id(row)?,
        row.get(8)?,
        row.get(9)?,
        row.get(10)?,
        place(row)?,
    ))
}

fn id(row: &Row<'_>) -> rusqlite::Result<u64> {
    let id: i64 = row.get(0)?;
    Ok(u64::try_from(id).unwrap_or_default())
}

fn place(row: &Row<'_>) -> rusqlite::Result<Place> {
    let chat: Option<String> = row.get(6)?;
    let thread: String = row.get(7)?;
    Ok(Place {
        channel: row.get(3)?,
        account: row.get(4)?,
        to: row.get(5)?,
        chat: chat.and_then(|name| chat_of(&name)),
        thread: Some(thread).filter(|thread| !thread.is_empty()),
    })
}

/// The delivery that one of this kind is about.
pub(super) fn about(kind: &Kind) -> Option<i64> {
    match kind {
        Kind::Edit { delivery_id, .. } => Some(number(*delivery_id)),
        _ => None,
    }
}

pub(super) fn json(value: &impl ToJson) -> rusqlite::Result<String> {
    let text = value.to_json();
    text.map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// Most deliveries have none.
pub(super) fn extras_text(extras: &Extras) -> rusqlite::Result<String> {
    if *extras == Extras::default() {
        Ok(String::new())
    } else {
        json(extras)
    }
}

/// A value that is kept as JSON.
pub(super) trait ToJson {
    fn to_json(&self) -> serde_json::Result<String>;
}

impl ToJson for Kind {
    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

impl ToJson for Extras {
    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

impl ToJson for Vec<String> {
    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

pub(super) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

const CHATS: [(ChatKind, &str); 4] = [
    (ChatKind::Direct, "direct"),
    (ChatKind::Group, "group"),
    (ChatKind::Channel, "channel"),
    (ChatKind::Room, "room"),
];

pub(super) fn chat_name(chat: ChatKind) -> &'static str {
    let found = CHATS.iter().find(|(kind, _)| *kind == chat);
    found.map_or("direct", |(_, name)| name)
}

fn chat_of(name: &str) -> Option<ChatKind> {
    let found = CHATS.iter().find(|(_, known)| *known == name);
    found.map(|(kind, _)| *kind)
}
