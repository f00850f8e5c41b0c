//! Files that are to be looked at, and when.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::watch::Phase;

/// Editors write more than one file at once, and some one file twice.
const SETTLE: Duration = Duration::from_millis(150);
/// A file that is made and not written to in this time is a link, or empty.
const MADE: Duration = Duration::from_secs(1);
/// A file that is still open so long after the last write to it is a log that
/// nobody is going to close.
const LEFT_OPEN: Duration = Duration::from_secs(60);
/// Lines of a transcript are whole: what was appended is read soon, and several
/// together.
const APPENDED: Duration = Duration::from_millis(300);

/// Place and path.
pub(super) type Key = (usize, String);

#[derive(Debug, Clone, Copy)]
struct Entry {
    due: Instant,
    /// Whether somebody has it open for writing.
    open: bool,
}

/// Files the indexer has still to look at.
#[derive(Debug, Default)]
pub(super) struct Pending(BTreeMap<Key, Entry>);

impl Pending {
    /// Something happened to a file. `pause`: it is only ever appended to in
    /// whole lines, and those of so long a time are read together.
    pub(super) fn note(&mut self, key: Key, phase: Phase, pause: Option<Duration>, now: Instant) {
        let earlier = self.0.get(&key).copied();
        let (wait, open) = match (pause, phase) {
            (Some(pause), _) => (APPENDED.max(pause), false),
            (None, Phase::Writing) => (LEFT_OPEN, true),
            (None, Phase::Created) => (MADE, false),
            (None, Phase::Settled) => (SETTLE, false),
        };
        let due = match earlier {
            // Appending goes on and on, and must not put off reading.
            Some(entry) if pause.is_some() => entry.due.min(now + wait),
            _ => now + wait,
        };
        self.0.insert(key, Entry { due, open });
    }

    /// A file is to be looked at again after `wait`, unless it is to be anyway.
    pub(super) fn again(&mut self, key: Key, wait: Duration, now: Instant) {
        let due = now + wait;
        self.0.entry(key).or_insert(Entry { due, open: false });
    }

    /// Files that a process is writing to.
    pub(super) fn open(&self) -> BTreeSet<Key> {
        let open = self.0.iter().filter(|(_, entry)| entry.open);
        open.map(|(key, _)| key.clone()).collect()
    }

    /// Takes out what is due.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<Key> {
        let due = |entry: &Entry| entry.due <= now;
        let keys = self.0.iter().filter(|(_, entry)| due(entry));
        let keys: Vec<Key> = keys.map(|(key, _)| key.clone()).collect();
        self.0.retain(|_, entry| !due(entry));
        keys
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.values().map(|entry| entry.due).min()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Everything is looked at anyway; what is being written stays.
    pub(super) fn clear_settled(&mut self) {
        self.0.retain(|_, entry| entry.open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        (0, "memory/a.md".to_owned())
    }

    #[test]
    fn pending_what_is_being_written_waits_until_it_is_closed() {
        let mut pending = Pending::default();
        let now = Instant::now();
        pending.note(key(), Phase::Created, None, now);
        pending.note(key(), Phase::Writing, None, now);
        assert!(pending.open().contains(&key()));
        assert!(pending.take_due(now + Duration::from_secs(30)).is_empty());
        pending.note(key(), Phase::Settled, None, now);
        assert_eq!(pending.take_due(now + SETTLE), [key()]);
        assert_eq!(pending.next(), None);
    }

    #[test]
    fn pending_what_is_opened_again_while_it_settles_waits_again() {
        let mut pending = Pending::default();
        let now = Instant::now();
        pending.note(key(), Phase::Settled, None, now);
        pending.note(key(), Phase::Writing, None, now);
        assert!(pending.take_due(now + SETTLE).is_empty());
        assert_eq!(pending.take_due(now + LEFT_OPEN), [key()]);
    }

    #[test]
    fn appending_does_not_put_off_reading() {
        let mut pending = Pending::default();
        let begin = Instant::now();
        for tick in 0..10 {
            let now = begin + Duration::from_millis(100 * tick);
            pending.note(key(), Phase::Writing, Some(Duration::ZERO), now);
        }
        assert_eq!(pending.take_due(begin + APPENDED), [key()]);
    }
}
