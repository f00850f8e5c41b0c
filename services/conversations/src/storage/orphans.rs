//! Messages that are in a transcript but not in the ledger.
//!
//! A message is written to its transcript first, with a wait for the disk, and
//! entered into the ledger then, which is put on disk a little later. A gateway
//! that is killed between the two leaves a message that nobody owns, and so
//! does a machine that loses power before the ledger is on disk.

use std::path::Path;

use openclaw_sessions::store::SessionEntry;
use openclaw_sessions::transcript::{self, Entry};
use openclaw_sessions::{AgentId, Error, modified_ms};
use serde_json::Value;

use super::ledger::{Record, log_of};
use super::session_files::SessionFiles;

/// Milliseconds for which a message may be on its way from its transcript to
/// the ledger on disk: many times the interval of its syncs. The very write that was to enter it may have been cut off, so
/// the time of the last write alone does not tell.
const UNDER_WAY: i64 = 10_000;

/// In Unix milliseconds, a time before which everything that is in a
/// transcript is in the ledger too. Asked before the ledger is opened.
pub(super) fn settled_until(ledger: &Path) -> i64 {
    let files = [ledger.metadata(), log_of(ledger).metadata()];
    let last = files.iter().flatten().map(modified_ms).max();
    last.map_or(i64::MAX, |last| last - UNDER_WAY)
}

/// The messages that came into a transcript at `since_ms` or later, as they are entered,
/// with what they want for their turns; some may be in the ledger already.
pub(super) fn find(
    session_files: &mut SessionFiles,
    since_ms: i64,
) -> Result<Vec<(Record, Option<Value>)>, Error> {
    let mut messages = Vec::new();
    for agent in session_files.agents() {
        let store = session_files.store(&agent)?;
        for (key, session) in store.sessions() {
            let path = store.transcript_path(session);
            if !path.metadata().is_ok_and(|it| modified_ms(&it) >= since_ms) {
                continue;
            }
            let entries = transcript::since(&path, since_ms)?;
            let found = entries.iter();
            messages.extend(found.filter_map(|entry| {
                let options = entry.message.turn_options().cloned();
                Some((record(key, &agent, session, entry)?, options))
            }));
        }
    }
    messages.sort_by_key(|(record, _)| record.created_ms);
    Ok(messages)
}

/// Only a user's message says how it came, and only one that was written here.
fn record(key: &str, agent: &AgentId, session: &SessionEntry, entry: &Entry) -> Option<Record> {
    let (channel, sender_key) = entry.message.arrival()?;
    Some(Record {
        run_id: entry.message.run_id()?.to_owned(),
        idempotency_key: sender_key.map(str::to_owned),
        session_key: key.to_owned(),
        agent_id: agent.to_string(),
        session_id: session.session_id().to_owned(),
        channel: channel.to_owned(),
        state: "accepted".to_owned(),
        user_entry_id: entry.id.clone(),
        created_ms: entry.message.timestamp(),
        ended_ms: None,
        outcome: None,
        route: entry
            .message
            .route()
            .and_then(|route| serde_json::from_value(route.clone()).ok()),
    })
}
