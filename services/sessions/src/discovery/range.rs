//! Transcripts by when something was said in them.

use std::path::Path;

use crate::error::Error;
use crate::time::unix_ms;
use crate::transcript::{Line, LineRead, Lines};

/// A range of time, in Unix milliseconds; open where nothing is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Range {
    /// From then on.
    pub since_ms: Option<i64>,
    /// Before then.
    pub until_ms: Option<i64>,
}

impl Range {
    /// Whether it is open at both ends.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a message of the transcript was said in it.
    pub(super) fn is_said_in(&self, path: &Path) -> Result<bool, Error> {
        if self.is_all() {
            return Ok(true);
        }
        for line in Lines::open(path)? {
            let LineRead::Whole(Line::Message(entry)) = line? else {
                continue;
            };
            let said = match entry.message.timestamp() {
                0 => unix_ms(&entry.timestamp),
                at => Some(at),
            };
            if said.is_some_and(|at| self.holds(at)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn holds(&self, at_ms: i64) -> bool {
        self.since_ms.is_none_or(|since| at_ms >= since)
            && self.until_ms.is_none_or(|until| at_ms < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcript_is_in_a_range_when_something_was_said_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let message = |id: &str, at: i64, time: &str| {
            format!(
                "{{\"type\":\"message\",\"id\":\"{id}\",\"timestamp\":\"{time}\",\"message\":\
                 {{\"role\":\"user\",\"content\":\"hi\",\"timestamp\":{at}}}}}\n"
            )
        };
        let text = format!(
            "{}{}{}",
            "{\"type\":\"session\",\"version\":3,\"id\":\"a\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"cwd\":\"/\"}\n",
            message("1", 1_000, "2026-01-01T00:00:00Z"),
            message("2", 0, "1970-01-01T00:00:05Z"),
        );
        std::fs::write(&path, text).unwrap();
        for (since_ms, until_ms, expected) in [
            (None, None, true),
            (Some(1_000), None, true),
            (Some(1_001), Some(5_000), false),
            (Some(5_000), None, true),
            (Some(5_001), None, false),
            (None, Some(1_000), false),
            (None, Some(1_001), true),
        ] {
            let range = Range { since_ms, until_ms };
            let found = range.is_said_in(&path).unwrap();
            assert_eq!(found, expected, "{range:?}");
        }
    }
}
