//! Turns that nobody asked for with words of their own: an agent is woken, and
//! what came of it is kept, the last one over restarts too.

use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt as _;
use openclaw_daemon::failure;
use openclaw_proto::event::Kind;
use openclaw_sessions::now_ms;
use rusqlite::{OptionalExtension as _, params};
use serde_json::{Value, json};

use crate::desk::{Desk, Fault};
use crate::door::stream::Events;
use crate::gateway::Gateway;
use crate::reply_text::ReplyText;
use crate::ws;

/// What an agent answers when nobody needs to hear of it, as in OpenClaw.
pub(crate) const SILENT: [&str; 2] = ["NO_REPLY", "HEARTBEAT_OK"];

/// Characters of an answer that are kept of it; all of it is in the session.
const PREVIEW_LIMIT: usize = 200;

/// The last heartbeat.
#[derive(Debug)]
pub(crate) struct Heartbeats {
    desk: Desk,
}

impl Heartbeats {
    pub(crate) fn new(desk: Desk) -> Self {
        Self { desk }
    }

    /// The last one, if there was any.
    pub(crate) async fn last(&self) -> Result<Option<Value>, Fault> {
        let read = |connection: &rusqlite::Connection| {
            let text: Option<String> = connection
                .query_row("SELECT event FROM heartbeats", [], |row| row.get(0))
                .optional()?;
            Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
        };
        self.desk.call("read the last heartbeat", read).await
    }

    async fn keep(&self, event: &Value) -> Result<(), Fault> {
        let text = event.to_string();
        let write = move |connection: &rusqlite::Connection| {
            connection.execute(
                "INSERT OR REPLACE INTO heartbeats (number, event) VALUES (1, ?1)",
                params![text],
            )
        };
        let kept = self.desk.call("keep the last heartbeat", write).await;
        kept.map(|_| ())
    }
}

/// Follows the turn of an agent that was woken for `reason`, and tells how it
/// ended.
pub(crate) fn follow(gateway: &Arc<Gateway>, events: Events, reason: &'static str) {
    let follower = Arc::clone(gateway);
    gateway.spawn(async move {
        let event = outcome(events, reason).await;
        if let Err(fault) = follower.heartbeats.keep(&event).await {
            failure::report("keep the last heartbeat", &fault);
        }
        ws::tell_heartbeat(&follower, || event);
    });
}

/// In OpenClaw's fields.
async fn outcome(mut events: Events, reason: &str) -> Value {
    let started = Instant::now();
    let mut text = ReplyText::default();
    let mut problem = None;
    while let Some(event) = events.next().await {
        match event.map(|event| event.kind) {
            Ok(Kind::Failed(failed)) => problem = Some(failed.message),
            Ok(Kind::Aborted { reason, .. }) => problem = Some(format!("aborted: {reason}")),
            Ok(kind) => drop(text.take(&kind)),
            Err(status) => problem = Some(status.message().to_owned()),
        }
    }
    let text = text.whole();
    let (status, indicator) = match (&problem, text.trim()) {
        (Some(_), _) => ("failed", "error"),
        (None, "") => ("ok-empty", "ok"),
        (None, silent) if SILENT.contains(&silent) => ("ok-token", "ok"),
        (None, _) => ("sent", "alert"),
    };
    let mut event = json!({
        "ts": now_ms(),
        "status": status,
        "durationMs": u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        "reason": problem.as_deref().unwrap_or(reason),
        "indicatorType": indicator,
    });
    if status == "sent" {
        let preview: String = text.trim().chars().take(PREVIEW_LIMIT).collect();
        event["preview"] = json!(preview);
    }
    event
}
