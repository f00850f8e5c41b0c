//! Text that is too long. Of a command the end matters as much as the
//! beginning, and what is missing is said.

use unicode_width::UnicodeWidthStr as _;

use crate::forms::line;

/// The least width at which a cut line shows its end too.
const BOTH_ENDS: usize = 60;

/// Of what is left of a cut text, one part in so many is its end.
const TAIL_SHARE: usize = 3;

/// At most about `limit` bytes of `text`: its beginning and its end, and on a
/// line between them how many bytes are missing.
#[must_use]
pub fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let tail = limit / TAIL_SHARE;
    let head = text.floor_char_boundary_at(limit - tail);
    let tail = text.ceil_char_boundary_at(text.len() - tail);
    let missing = tail - head;
    format!(
        "{}\n[… {missing} bytes left out …]\n{}",
        &text[..head],
        &text[tail..]
    )
}

/// [`line()`] in at most `width` columns of a terminal. A wide one that is
/// cut shows its end and how many columns are missing; a narrow one ends in
/// `…`.
#[must_use]
pub fn line_within(text: &str, width: usize) -> String {
    let written = line(text);
    let length = written.width();
    if length <= width {
        return written;
    }
    if width < BOTH_ENDS {
        return head(&written, width.saturating_sub(1)).to_owned() + "…";
    }
    // One more than there can be, so that the mark fits whatever it says.
    let room = width - mark(length).width();
    let tail = room / TAIL_SHARE;
    let head = head(&written, room - tail);
    let end = tail_of(&written, tail);
    let mark = mark(length - head.width() - end.width());
    format!("{head}{mark}{end}")
}

/// As much of the beginning as has room in `columns`.
fn head(text: &str, columns: usize) -> &str {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let fits = ends.take_while(|end| text[..*end].width() <= columns);
    &text[..fits.last().unwrap_or(0)]
}

/// As much of the end as has room in `columns`.
fn tail_of(text: &str, columns: usize) -> &str {
    let starts = text.char_indices().rev().map(|(at, _)| at);
    let fits = starts.take_while(|start| text[*start..].width() <= columns);
    &text[fits.last().unwrap_or(text.len())..]
}

fn mark(missing: usize) -> String {
    format!(" [… {missing} left out …] ")
}

/// Edges of characters.
trait Boundaries {
    /// The last one at or below `at`.
    fn floor_char_boundary_at(&self, at: usize) -> usize;
    /// The first one at or above `at`.
    fn ceil_char_boundary_at(&self, at: usize) -> usize;
}

impl Boundaries for str {
    fn floor_char_boundary_at(&self, at: usize) -> usize {
        let mut below = (0..=at.min(self.len())).rev();
        below.find(|&at| self.is_char_boundary(at)).unwrap_or(0)
    }

    fn ceil_char_boundary_at(&self, at: usize) -> usize {
        let mut above = at..self.len();
        above
            .find(|&at| self.is_char_boundary(at))
            .unwrap_or(self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_keeps_both_ends_and_says_what_is_missing() {
        assert_eq!(cut("short", 9), "short");
        let text = format!("begin{}end", "é".repeat(100));
        let cut = cut(&text, 60);
        assert!(cut.starts_with("beginé") && cut.ends_with("éend"), "{cut}");
        let (head, rest) = cut.split_once("\n[… ").unwrap();
        let (missing, tail) = rest.split_once(" bytes left out …]\n").unwrap();
        let missing: usize = missing.parse().unwrap();
        assert_eq!(head.len() + missing + tail.len(), text.len());
    }

    #[test]
    fn line_is_cut_by_characters() {
        assert_eq!(line_within("one\ntwo", 10), "one⏎two");
        assert_eq!(line_within("äöüß", 3), "äö…");
        let long = format!("rm {} /etc", "a".repeat(200));
        let cut = line_within(&long, 78);
        assert!(cut.chars().count() <= 78, "{cut}");
        assert!(
            cut.starts_with("rm aaa") && cut.ends_with("a /etc"),
            "{cut}"
        );
        let shown = cut.matches('a').count();
        assert!(
            cut.contains(&format!("[… {} left out …]", 200 - shown)),
            "{cut}"
        );
    }
}
