//! The index as OpenClaw imports it.

use serde_json::{Map, Value};

use crate::store::{SessionEntry, transcript_name};

/// Fields of ours begin with this; nobody else knows what they mean.
const OURS: &str = "openclaw";

/// The index of the sessions, without what only this suite understands.
pub fn exported_index<'a>(
    sessions: impl Iterator<Item = (&'a str, &'a SessionEntry)>,
) -> Map<String, Value> {
    let entries = sessions.map(|(key, entry)| {
        let mut fields = entry.to_json();
        fields.retain(|field, _| !field.starts_with(OURS));
        fields.insert("sessionFile".to_owned(), exported_name(entry).into());
        (key.to_owned(), Value::Object(fields))
    });
    entries.collect()
}

/// The name of a session's transcript in an export.
pub fn exported_name(entry: &SessionEntry) -> String {
    transcript_name(entry)
}
