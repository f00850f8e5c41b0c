//! Transcripts that the index does not have.
//!
//! A new session's transcript is durable before the index names it, which is
//! written later: waiting for both would make every first message slower. A
//! transcript written here says its key in its second line.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::entry::SessionEntry;
use super::file::Slot;
use super::{rebuild, transcript_name};
use crate::agent::AgentId;
use crate::error::Error;

/// Enters them, and says how many. One whose key has another session already
/// is an old transcript of it, and is left alone, as are those of other
/// programs, which do not say their key.
pub(super) fn adopt(
    dir: &Path,
    agent: &AgentId,
    slots: &mut BTreeMap<String, Slot>,
) -> Result<usize, Error> {
    let known: HashSet<String> = slots
        .values()
        .filter_map(Slot::session)
        .map(transcript_name)
        .collect();
    let mut adopted = 0;
    for (path, name) in rebuild::transcripts(dir)? {
        if known.contains(&name) {
            continue;
        }
        let Some((Some(key), entry)) = rebuild::candidate(&path, &name, agent) else {
            continue;
        };
        if takes_place(slots.get(key.as_str()), &entry) {
            slots.insert(key.to_string(), Slot::session_of(entry));
            adopted += 1;
        }
    }
    Ok(adopted)
}

fn takes_place(there: Option<&Slot>, found: &SessionEntry) -> bool {
    match there.map(Slot::session) {
        None => true,
        Some(None) => false,
        // Both were begun between two writes of the index; the later counts.
        Some(Some(there)) => there.counted().bytes == 0 && found.updated_at() > there.updated_at(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Count;

    #[test]
    fn transcript_takes_the_place_of_what_was_begun_before_it() {
        let entry = |updated_at: i64, bytes: u64| {
            let mut entry = SessionEntry::new("id".to_owned(), "direct", updated_at);
            entry.set_counted(Count { bytes, messages: 1 });
            entry
        };
        let found = entry(5, 0);
        let takes = |there: SessionEntry| takes_place(Some(&Slot::session_of(there)), &found);
        assert!(takes_place(None, &found));
        assert!(!takes_place(
            Some(&Slot::Kept(serde_json::Value::Null)),
            &found
        ));
        assert!(takes(entry(4, 0)));
        assert!(!takes(entry(5, 0)), "it may be the same");
        assert!(!takes(entry(6, 0)));
        assert!(!takes(entry(4, 1)), "the index knows its transcript");
    }
}
