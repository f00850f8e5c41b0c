//! The columns of a terminal that text takes, and text made to fit them. A
//! Chinese character and most pictures take two, a combining mark none.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Stands for what was left out.
const ELLIPSIS: char = '…';

/// The columns that `text` takes, which has no escape sequences.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.width()
}

/// `text` in at most `room` columns: what has no room is an ellipsis.
#[must_use]
pub fn cut(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    if room == 0 {
        return String::new();
    }
    let mut cut = text[..fitting(text, room - 1)].trim_end().to_owned();
    cut.push(ELLIPSIS);
    cut
}

/// `text` with blanks behind it until it takes `width` columns.
#[must_use]
pub(crate) fn pad(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(columns(text));
    // Not by format!, which panics beyond 65,535.
    format!("{text}{}", " ".repeat(blanks))
}

/// `text` in lines of at most `room` columns, broken between words, and in a word
/// where that has no room by itself. At least one line.
#[must_use]
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    if columns(text) <= room {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let gap = usize::from(!line.is_empty());
        if columns(&line) + gap + columns(word) <= room {
            line.extend(std::iter::repeat_n(' ', gap));
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        let mut rest = word;
        while columns(rest) > room {
            // Where not even one character has room, it is there all the same.
            let first = rest.graphemes(true).next().map_or(0, str::len);
            let (head, tail) = rest.split_at(fitting(rest, room).max(first));
            lines.push(head.to_owned());
            rest = tail;
        }
        rest.clone_into(&mut line);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// The rows of a terminal with `room` columns that the lines of `text` take: it goes on in the
/// next row wherever it is.
#[must_use]
pub fn rows(text: &str, room: usize) -> usize {
    let of_line = |mut line: &str| {
        let mut rows = 1;
        while columns(line) > room {
            let first = line.graphemes(true).next().map_or(0, str::len);
            line = &line[fitting(line, room).max(first)..];
            rows += usize::from(!line.is_empty());
        }
        rows
    };
    text.lines().map(of_line).sum()
}

/// The bytes of `text` that `room` has columns for, whole characters with their marks.
fn fitting(text: &str, room: usize) -> usize {
    let mut used = 0;
    let fits = text.graphemes(true).take_while(|piece| {
        used += columns(piece);
        used <= room
    });
    fits.map(str::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_a_terminal() {
        assert_eq!(columns("日本"), 4);
        assert_eq!(columns("e\u{301}"), 1);
        assert_eq!(columns("🦞"), 2);
        assert_eq!(pad("日本", 6), "日本  ");
        assert_eq!(pad("toolong", 3), "toolong");
        assert_eq!(pad("", 300_000).len(), 300_000);
    }

    #[test]
    fn cut_ends_in_an_ellipsis_within_its_room() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(cut("ab cdef", 4), "ab…");
        assert_eq!(cut("日", 1), "…");
        assert_eq!(cut("a", 0), "");
    }

    #[test]
    fn rows_are_those_that_a_terminal_wraps() {
        assert_eq!(rows("", 4), 0);
        assert_eq!(rows("abcd\n\nabcde\n", 4), 4);
        assert_eq!(rows("日本語", 5), 2);
        assert_eq!(rows("日本", 1), 2);
        assert_eq!(rows(&"step ".repeat(1000), 80), 63);
    }

    #[test]
    fn wrap_loses_no_word_and_keeps_to_its_room() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("", 7), [""]);
        assert_eq!(wrap("/a/long/path x", 5), ["/a/lo", "ng/pa", "th x"]);
        assert_eq!(wrap("日本語", 3), ["日", "本", "語"]);
        assert_eq!(wrap("日本", 1), ["日", "本"]);
        for room in 1..40 {
            let text = "what 日本語 is not\u{301} there, /home/somebody/.openclaw";
            let lines = wrap(text, room);
            let joined: String = lines.concat().replace(' ', "");
            assert_eq!(joined, text.replace(' ', ""));
            assert!(room < 2 || lines.iter().all(|it| columns(it) <= room));
        }
    }
}
