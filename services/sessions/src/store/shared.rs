//! Sessions of an index that have one conversation, as only somebody who edits it by
//! hand makes them.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::SessionEntry;
use super::transcript_name;

/// Keys of sessions with the same id or the same transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// The keys, more than one.
    pub keys: Vec<String>,
    /// The transcript that the first of them has.
    pub transcript: String,
}

impl std::fmt::Display for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (keys, transcript) = (self.keys.join(" and "), &self.transcript);
        write!(formatter, "{keys} have one conversation ({transcript})")
    }
}

/// Those among `sessions`, in the order of their keys.
pub(super) fn shared<'a>(
    sessions: impl Iterator<Item = (&'a str, &'a SessionEntry)>,
) -> Vec<Shared> {
    let (mut by_file, mut by_id) = (BTreeMap::new(), BTreeMap::new());
    for (key, entry) in sessions {
        let file = transcript_name(entry);
        let of_id: &mut Vec<_> = by_id.entry(entry.session_id()).or_default();
        of_id.push((key, file.clone()));
        let of_file: &mut Vec<_> = by_file.entry(file.clone()).or_default();
        of_file.push((key, file));
    }
    let groups = by_file.into_values().chain(by_id.into_values());
    let groups: BTreeSet<Vec<(&str, String)>> = groups.filter(|all| all.len() > 1).collect();
    let shared = |all: Vec<(&str, String)>| Shared {
        transcript: all
            .first()
            .map(|(_, file)| file.clone())
            .unwrap_or_default(),
        keys: all.into_iter().map(|(key, _)| key.to_owned()).collect(),
    };
    groups.into_iter().map(shared).collect()
}
