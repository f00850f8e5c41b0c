//! The last lines of a terminal while they still change: what is final is written
//! above them once, and never again.

use std::fmt::Write as _;

use openclaw_escape::{columns as columns_of, columns_at_least, columns_at_most};

use crate::failure::Failure;
use crate::output;
pub use crate::size::size;

/// Terminals that know it show all of an update at once; the others pass over it.
const BEGIN_UPDATE: &str = "\u{1b}[?2026h";
const END_UPDATE: &str = "\u{1b}[?2026l";
/// Clears everything from the cursor on.
const CLEAR: &str = "\u{1b}[J";

/// Lines that are shown and may change.
#[derive(Debug, Default)]
pub struct Live {
    shown: Vec<String>,
}

/// The rows that `line` takes on any terminal. What is above them is not ours: where
/// terminals differ, a rest that stays is better than a line that is lost.
fn rows_at_least(line: &str, columns: usize) -> usize {
    let text = text_of(line);
    columns_at_least(&text).div_ceil(columns).max(1)
}

/// The rows for which there has to be room.
fn rows_at_most(line: &str, columns: usize) -> usize {
    let text = text_of(line);
    columns_at_most(&text).div_ceil(columns).max(1)
}

/// The line without escape sequences.
fn text_of(line: &str) -> String {
    let mut text = String::new();
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        if c != '\u{1b}' {
            text.push(c);
            continue;
        }
        // Those that are written here: styles end with a letter, links with ESC \.
        match characters.next() {
            Some(']') => {
                while characters.next().is_some_and(|c| c != '\u{1b}') {}
                characters.next();
            }
            _ => while characters.next().is_some_and(|c| !c.is_ascii_alphabetic()) {},
        }
    }
    text
}

impl Live {
    /// Writes `done`, which has whole lines, for good, and shows `lines` below it,
    /// as many of the last ones as there is room for. All of it was laid out for a
    /// terminal (`openclaw_markdown`).
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn show(&mut self, done: &str, lines: Vec<String>) -> Result<(), Failure> {
        let (columns, rows) = size();
        let lines = last_that_fit(lines, columns, rows);
        let update = self.update(done, &lines, columns);
        self.shown = lines;
        if update.is_empty() {
            return Ok(());
        }
        output::stdout_laid_out(&format!("{BEGIN_UPDATE}{update}{END_UPDATE}"))
    }

    /// Takes away what may still change.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn clear(&mut self) -> Result<(), Failure> {
        self.show("", Vec::new())
    }

    /// What makes a terminal show `done` and `lines` instead of what it shows.
    fn update(&self, done: &str, lines: &[String], columns: usize) -> String {
        let pairs = self.shown.iter().zip(lines);
        let same = match done {
            "" => pairs.take_while(|(before, now)| before == now).count(),
            _ => 0,
        };
        if same == self.shown.len() && same == lines.len() && done.is_empty() {
            return String::new();
        }
        let mut update = String::new();
        let old: usize = self.shown[same..]
            .iter()
            .map(|line| rows_at_least(line, columns))
            .sum();
        match old {
            // Behind lines that stay.
            0 if same > 0 => update.push('\n'),
            0 => {}
            rows => {
                update.push('\r');
                if rows > 1 {
                    // Writing to a text cannot fail.
                    let _ = write!(update, "\u{1b}[{}A", rows - 1);
                }
                update.push_str(CLEAR);
            }
        }
        update.push_str(done);
        update.push_str(&lines[same..].join("\n"));
        if lines.len() == same && same > 0 {
            // The last of those that stay is above the cursor.
            let _ = write!(
                update,
                "\u{1b}[A\u{1b}[{}C",
                columns_of(&text_of(&lines[same - 1])).max(1)
            );
        }
        update
    }
}

/// The last of `lines`, leaving a row of the screen free.
fn last_that_fit(lines: Vec<String>, columns: usize, rows: usize) -> Vec<String> {
    let mut room = rows.saturating_sub(1).max(1);
    let mut first = lines.len();
    for (index, line) in lines.iter().enumerate().rev() {
        let taken = rows_at_most(line, columns);
        if taken > room {
            break;
        }
        room -= taken;
        first = index;
    }
    lines.into_iter().skip(first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn live(shown: &[&str]) -> Live {
        Live {
            shown: lines(shown),
        }
    }

    #[test]
    fn live_writes_what_changed_alone() {
        let update =
            |shown: &[&str], done: &str, now: &[&str]| live(shown).update(done, &lines(now), 10);
        assert_eq!(update(&[], "", &["a", "b"]), "a\nb");
        assert_eq!(update(&["a", "b"], "", &["a", "b"]), "");
        assert_eq!(update(&["a", "b"], "", &["a", "c"]), "\r\u{1b}[Jc");
        assert_eq!(update(&["a"], "", &["a", "b"]), "\nb");
        assert_eq!(
            update(&["a", "b"], "done\n", &["b"]),
            "\r\u{1b}[1A\u{1b}[Jdone\nb"
        );
        assert_eq!(update(&["a", "b"], "", &[]), "\r\u{1b}[1A\u{1b}[J");
        assert_eq!(
            update(&["0123456789ab", "c"], "", &[]),
            "\r\u{1b}[2A\u{1b}[J"
        );
    }

    #[test]
    fn live_counts_no_columns_for_escape_sequences() {
        let link =
            "\u{1b}]8;;https://example.org\u{1b}\\\u{1b}[4;34mab\u{1b}[0m\u{1b}]8;;\u{1b}\\日";
        assert_eq!(text_of(link), "ab日");
        assert_eq!(rows_at_least("", 10), 1);
        assert_eq!(rows_at_least("0123456789", 10), 1);
    }

    #[test]
    fn live_goes_up_over_no_row_that_may_not_be_its_own() {
        for line in [
            "👍🏽👍🏽👍🏽👍🏽👍🏽",
            "👩‍👩‍👧‍👦 0123456",
            "❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}",
        ] {
            let update = live(&[line]).update("", &lines(&["a"]), 10);
            assert_eq!(update, "\r\u{1b}[Ja", "{line}");
            assert_eq!(rows_at_most(line, 10), 2, "{line}");
        }
    }

    #[test]
    fn live_leaves_out_what_has_no_room() {
        let all = || lines(&["one", "two", "0123456789abc", "four"]);
        assert_eq!(last_that_fit(all(), 10, 5).len(), 3);
        assert_eq!(last_that_fit(all(), 10, 4).len(), 2);
        assert_eq!(last_that_fit(all(), 10, 1).len(), 1);
    }
}
