//! What is taken over of an entry that somebody else's index has.
//!
//! Such an index may come from anybody. What it says of names, times and counts
//! is only shown. What says how turns are done (limits, models, profiles,
//! permissions, where answers go) is the user's to set here, and is left out. The
//! list is of what is taken, because OpenClaw adds fields with every version.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::store::{LABEL_LIMIT, SessionEntry};

/// Names of fields that a report has. Foreign ones are not trusted to be few.
const NAMES: usize = 100;

/// Characters of such a name.
const NAME: usize = 60;

/// What fields are counted as beyond [`NAMES`].
const OTHERS: &str = "other fields";

/// Longest text that is taken over, in bytes.
const TEXT: usize = LABEL_LIMIT;

/// What a field that is taken over has to be.
#[derive(Clone, Copy)]
enum Kind {
    /// Words that are shown.
    Text,
    /// A time or a count.
    Number,
    /// A mark that is shown.
    Mark,
}

/// The fields that are taken over.
const TAKEN: [(&str, Kind); 24] = [
    ("label", Kind::Text),
    ("displayName", Kind::Text),
    ("subject", Kind::Text),
    ("category", Kind::Text),
    ("icon", Kind::Text),
    ("color", Kind::Text),
    ("statusNote", Kind::Text),
    ("sessionStartedAt", Kind::Number),
    ("createdAt", Kind::Number),
    ("lastInteractionAt", Kind::Number),
    ("archivedAt", Kind::Number),
    ("archiveReason", Kind::Text),
    ("pinnedAt", Kind::Number),
    ("markedUnreadAt", Kind::Number),
    ("startedAt", Kind::Number),
    ("endedAt", Kind::Number),
    ("inputTokens", Kind::Number),
    ("outputTokens", Kind::Number),
    ("cacheRead", Kind::Number),
    ("cacheWrite", Kind::Number),
    ("totalTokens", Kind::Number),
    ("totalTokensFresh", Kind::Mark),
    ("compactionCount", Kind::Number),
    ("estimatedCostUsd", Kind::Number),
];

/// Fields that the takeover itself states anew.
const RESTATED: [&str; 2] = ["sessionFile", "chatType"];

/// Names of fields that were left out, with the number of entries that had them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut(BTreeMap<String, u32>);

impl LeftOut {
    /// The names and how many entries had them.
    pub fn fields(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().map(|(name, count)| (name.as_str(), *count))
    }

    /// Takes what is harmless of `entry`, and notes the names of the rest.
    pub(super) fn harmless(&mut self, mut entry: SessionEntry) -> SessionEntry {
        let left_out: Vec<String> = entry
            .fields()
            .filter(|(name, value)| !is_taken(name, value))
            .map(|(name, _)| name.to_owned())
            .collect();
        for name in left_out {
            entry.clear(&name);
            if !RESTATED.contains(&name.as_str()) {
                self.note(name.chars().take(NAME).collect());
            }
        }
        entry
    }

    fn note(&mut self, name: String) {
        let is_room = self.0.len() < NAMES || self.0.contains_key(&name);
        let name = if is_room { name } else { OTHERS.to_owned() };
        *self.0.entry(name).or_default() += 1;
    }
}

fn is_taken(name: &str, value: &Value) -> bool {
    let kind = TAKEN.iter().find(|(taken, _)| *taken == name);
    kind.is_some_and(|(_, kind)| match kind {
        Kind::Text => value.as_str().is_some_and(|text| text.len() <= TEXT),
        // Costs and counts below nothing would make room for more.
        Kind::Number => value.as_f64().is_some_and(|number| number >= 0.0),
        Kind::Mark => value.is_boolean(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn left_out_fields_are_named_and_bounded() {
        let mut left_out = LeftOut::default();
        for number in 0..NAMES + 50 {
            let mut entry = SessionEntry::default();
            entry.set(&format!("{number}{}", "x".repeat(NAME)), 1);
            entry.set("label", "x".repeat(TEXT + 1));
            entry.set("estimatedCostUsd", -5);
            entry.set("totalTokens", json!({"no": "number"}));
            entry.set("pinnedAt", 7);
            let entry = left_out.harmless(entry);
            let kept: Vec<_> = entry.fields().map(|(name, _)| name).collect();
            assert_eq!(kept, ["pinnedAt"]);
        }
        let fields: Vec<_> = left_out.fields().collect();
        assert!(fields.len() <= NAMES + 1, "{}", fields.len());
        assert!(fields.iter().all(|(name, _)| name.chars().count() <= NAME));
        assert!(fields.contains(&("label", 150)));
        assert!(
            fields
                .iter()
                .any(|(name, count)| *name == OTHERS && *count > 1)
        );
    }
}
