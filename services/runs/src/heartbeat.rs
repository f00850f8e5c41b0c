//! Turns that nobody asked for with words of their own: an agent is woken, and
//! what came of it is kept, the last one over restarts too.

use std::time::Instant;

use openclaw_conversations::database::{Database, Fault};
use openclaw_daemon::failure;
use openclaw_sessions::{now_ms, silence};
use rusqlite::{OptionalExtension as _, params};
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use crate::bus::{Bus, DomainEvent};
use crate::reply_text;
use crate::stream::Events;

/// Characters of an answer that are kept of it; all of it is in the session.
const PREVIEW_LIMIT: usize = 200;

/// The last heartbeat, and the turns that are to be the next. Cheap to clone.
#[derive(Clone)]
pub struct Heartbeats {
    database: Database,
    bus: Bus,
    tasks: TaskTracker,
}

impl Heartbeats {
    pub(crate) fn new(database: Database, bus: Bus, tasks: TaskTracker) -> Self {
        Self {
            database,
            bus,
            tasks,
        }
    }

    /// Follows the turn of an agent that was woken for `reason`, and tells how it ended.
    pub(crate) fn follow(&self, events: Events, reason: &'static str) {
        let own = self.clone();
        self.tasks.spawn(async move {
            let event = outcome(events, reason).await;
            own.note(&event).await;
        });
    }

    /// The last one, if there was any.
    pub async fn last(&self) -> Result<Option<Value>, Fault> {
        let read = |connection: &rusqlite::Connection| {
            let text: Option<String> = connection
                .query_row("SELECT event FROM heartbeats", [], |row| row.get(0))
                .optional()?;
            Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
        };
        self.database.read("read the last heartbeat", read).await
    }

    /// Notes and tells one that needed no turn, or whose turn others followed; in
    /// OpenClaw's fields.
    pub async fn note(&self, event: &Value) {
        if let Err(fault) = self.keep(event).await {
            failure::report("keep the last heartbeat", &fault);
        }
        self.bus.publish(&DomainEvent::HeartbeatEnded(event));
    }

    async fn keep(&self, event: &Value) -> Result<(), Fault> {
        let text = event.to_string();
        let write = move |connection: &rusqlite::Connection| {
            connection.execute(
                "INSERT OR REPLACE INTO heartbeats (number, event) VALUES (1, ?1)",
                params![text],
            )
        };
        let kept = self.database.call("keep the last heartbeat", write).await;
        kept.map(|_| ())
    }
}

/// In OpenClaw's fields.
async fn outcome(events: Events, reason: &str) -> Value {
    let started = Instant::now();
    let reply = reply_text::of(events).await;
    let (status, indicator) = match reply.as_ref().map(|text| text.trim()) {
        Err(_) => ("failed", "error"),
        Ok("") => ("ok-empty", "ok"),
        Ok(text) if silence::is_for_nobody(text) => ("ok-token", "ok"),
        Ok(_) => ("sent", "alert"),
    };
    let mut event = json!({
        "ts": now_ms(),
        "status": status,
        "durationMs": u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        "reason": reply.as_ref().err().map_or(reason, String::as_str),
        "indicatorType": indicator,
    });
    if let (Ok(text), "sent") = (&reply, status) {
        let preview: String = text.trim().chars().take(PREVIEW_LIMIT).collect();
        event["preview"] = json!(preview);
    }
    event
}
