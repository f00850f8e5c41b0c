//! Events of a run's changes in the session index and in the transcript, for clients that follow
//! them.

use openclaw_conversations::sessions::{Shown, Wanted};
use openclaw_message_views as message;
use openclaw_runs::{Core, injected};
use openclaw_sessions::transcript::{Entry, Message};
use openclaw_sessions::{SessionKey, now_ms};
use serde_json::{Value, json};

use super::{RunReport, SENT};
use crate::audience::Audience;
use crate::hub::Hub;
use crate::session_row::{Rows, changed};

/// Messages among which one is looked for that was just said.
const LOOKED_AT: usize = 50;

/// Tells of the message `id`, which was said in a session without a run.
pub(super) async fn tell_said(core: &Core, hub: &Hub, key: &SessionKey, id: &str) {
    let audience = Audience::Messages(key.as_str());
    if !hub.has(audience) {
        return;
    }
    let wanted = Wanted {
        skip: 0,
        limit: LOOKED_AT,
        all: true,
    };
    let (Ok(shown), Ok(history)) = (
        core.sessions.get(key).await,
        core.sessions.history(key, wanted).await,
    ) else {
        return;
    };
    let mut newest = history.entries.iter().rev().enumerate();
    let found = newest.find(|(_, entry)| injected::is(&entry.message, id));
    let Some((newer, entry)) = found else {
        return;
    };
    let seq = history.total.saturating_sub(newer as u64);
    let row = Rows::new(core).row(&shown.session, &shown.entry);
    hub.tell(audience, "session.message", || {
        let message = message::single(entry, seq, "");
        message::event((key, &shown.session.id), message, &row)
    });
}

impl RunReport<'_> {
    /// Tells what changed with the last event. What cannot be read is told by whoever writes it.
    pub(super) async fn tell_change(&mut self) {
        let Some(reason) = self.change.take().filter(|_| !self.silent) else {
            return;
        };
        let hub = self.hub;
        let (index, messages) = (Audience::Index, Audience::Messages(self.key));
        if !hub.has(index) && !hub.has(messages) {
            return;
        }
        let Ok(shown) = self.core.sessions.get(&self.run.key).await else {
            return;
        };
        let row = self.row(&shown, reason);
        if hub.has(messages) {
            self.tell_messages(reason, &row).await;
        }
        let about = json!({
            "runId": self.run_id,
            "reason": reason,
            "ts": now_ms(),
        });
        hub.tell(index, "sessions.changed", || changed(row, about));
    }

    fn row(&self, shown: &Shown, reason: &str) -> Value {
        let rows = Rows::new(self.core);
        let rows = match reason {
            SENT => rows,
            // It has ended, and gives its place back in a moment.
            _ => rows.without(self.run),
        };
        rows.row(&shown.session, &shown.entry)
    }

    /// The user's message when it was accepted, and all others at the end.
    async fn tell_messages(&self, reason: &str, row: &Value) {
        let entries = self.core.sessions.of_run(&self.run.key, &self.run.id);
        let Ok(entries) = entries.await else { return };
        let wanted = |entry: &Entry| matches!(entry.message, Message::User(_)) == (reason == SENT);
        for (seq, entry) in entries.iter().filter(|(_, entry)| wanted(entry)) {
            let payload = || {
                let message = message::single(entry, *seq, self.run_id);
                let mut event = message::event((&self.run.key, self.session_id), message, row);
                event["runId"] = json!(self.run_id);
                event
            };
            let audience = Audience::Messages(self.key);
            self.hub.tell(audience, "session.message", payload);
        }
    }
}
