//! What a session wants to be shown beside the answer, for every door that shows it.

use openclaw_conversations::storage::shown_by;
use openclaw_proto::shown::Shown;
use openclaw_runs::{Core, Run};
use serde_json::{Map, Value};

/// By the session's entry in the index.
#[must_use]
pub fn of_entry(entry: &Map<String, Value>) -> Shown {
    shown_by(|name| entry.get(name).and_then(Value::as_str))
}

/// Of the session of `run`. One that is gone has no wishes. What was known when the message was
/// accepted is not asked for again: whoever sent it would wait for that behind the storage's work.
pub async fn of(core: &Core, run: &Run) -> Shown {
    if let Some(shown) = run.shown.get() {
        return *shown;
    }
    let entry = core.sessions.entry(&run.key).await;
    entry.map(|entry| of_entry(&entry)).unwrap_or_default()
}
