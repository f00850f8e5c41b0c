//! The last log lines of this process, for whoever asks the process itself.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of lines that are kept: some hundred lines, and nothing beside the
/// rest of a daemon.
const BYTE_LIMIT: usize = 128 * 1024;

static KEPT: Mutex<RecentLines> = Mutex::new(RecentLines {
    wanted: false,
    lines: VecDeque::new(),
    bytes: 0,
    end: 0,
});

#[derive(Debug)]
struct RecentLines {
    wanted: bool,
    lines: VecDeque<String>,
    bytes: usize,
    /// Bytes of all lines there ever were.
    end: u64,
}

/// Some of the last lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Oldest first, without line ends.
    pub lines: Vec<String>,
    /// Where the next tail goes on.
    pub cursor: u64,
    /// Whether lines were left out because there are too many.
    pub truncated: bool,
    /// Whether the cursor was not a place in this log any more.
    pub reset: bool,
}

/// Keeps the lines from now on. For daemons that are asked for them; call it
/// before the log is installed.
pub fn keep() {
    lock().wanted = true;
}

pub(super) fn is_wanted() -> bool {
    lock().wanted
}

/// Adds a line.
pub(super) fn add(line: &str) {
    let mut kept = lock();
    if !kept.wanted {
        return;
    }
    let line = line.trim_end().to_owned();
    kept.bytes += line.len();
    kept.end += line.len() as u64 + 1;
    kept.lines.push_back(line);
    while kept.bytes > BYTE_LIMIT {
        match kept.lines.pop_front() {
            Some(oldest) => kept.bytes -= oldest.len(),
            None => return,
        }
    }
}

/// The lines after `cursor`, or the last ones: at most `limit` lines and
/// `bytes` bytes of them.
pub fn tail(cursor: Option<u64>, limit: usize, bytes: usize) -> Tail {
    let kept = lock();
    let first = kept.end - (kept.bytes + kept.lines.len()) as u64;
    let reset = cursor.is_some_and(|cursor| cursor < first || cursor > kept.end);
    let from = cursor.filter(|_| !reset).unwrap_or(first);
    let mut at = kept.end;
    let (mut left, mut truncated) = (bytes, false);
    let mut lines = Vec::new();
    for line in kept.lines.iter().rev() {
        at -= line.len() as u64 + 1;
        if at < from {
            break;
        }
        if lines.len() >= limit || line.len() > left {
            truncated = cursor.is_some();
            break;
        }
        left -= line.len();
        lines.push(line.clone());
    }
    lines.reverse();
    Tail {
        lines,
        cursor: kept.end,
        truncated,
        reset,
    }
}

fn lock() -> MutexGuard<'static, RecentLines> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_again_by_the_cursor_until_they_are_gone() {
        keep();
        add("one\n");
        let begin = tail(None, 10, 1000);
        assert_eq!(begin.lines, ["one"]);
        add("two");
        add("three");
        assert_eq!(tail(Some(begin.cursor), 10, 1000).lines, ["two", "three"]);
        let short = tail(Some(begin.cursor), 1, 1000);
        assert_eq!(
            (short.lines, short.truncated),
            (vec!["three".to_owned()], true)
        );
        for _ in 0..3 {
            add(&"x".repeat(BYTE_LIMIT / 2));
        }
        let late = tail(Some(begin.cursor), 10, 1000);
        assert!(late.reset && late.lines.is_empty(), "{late:?}");
    }
}
