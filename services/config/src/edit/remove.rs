//! Takes something out of an object or a list.

use std::ops::Range;

use super::{Change, layout};
use crate::syntax;

/// The changes that take element `index` out; comments stay.
pub(super) fn element(text: &str, spans: &[Range<usize>], index: usize) -> Vec<Change> {
    let Some(span) = spans.get(index) else {
        return Vec::new();
    };
    let own = comma(text, span.end);
    let before = index.checked_sub(1).and_then(|before| spans.get(before));
    let mut changes = Vec::new();
    // The last one of a list without a comma at its end takes the comma before
    // it along: the file may be read as plain JSON, too.
    if let (None, Some(before)) = (own, before)
        && let Some(at) = comma(text, before.end)
    {
        changes.push((at..at + 1, String::new()));
    }
    let end = own.map_or(span.end, |comma| comma + 1);
    let remark = own.map_or("", |comma| text[span.end..comma].trim());
    let kept = match remark {
        "" => String::new(),
        // A line comment would swallow what follows.
        remark => format!("{remark}\n"),
    };
    changes.push((whole(text, span.start, end, kept.is_empty()), kept));
    changes
}

fn comma(text: &str, after: usize) -> Option<usize> {
    let at = syntax::skip_trivia(text, after);
    text[at..].starts_with(',').then_some(at)
}

/// The range with the space that belongs to it: its whole line when nothing
/// else is on it, else the blanks beside it.
fn whole(text: &str, start: usize, end: usize, nothing_kept: bool) -> Range<usize> {
    let blanks = |text: &str| text.len() - text.trim_start_matches([' ', '\t', '\r']).len();
    let behind = end + blanks(&text[end..]);
    // The end of the object or the list comes after it.
    let line_ends = text[behind..].starts_with('\n');
    let first = layout::is_first_of_line(text, start);
    let leading = layout::indentation(text, start).len();
    match (first, line_ends, nothing_kept) {
        (true, true, true) => start - leading..behind + 1,
        // What follows takes its place.
        (true, false, true) => start..behind,
        (false, false, true) if !text[behind..].starts_with(['}', ']']) => start..behind,
        (false, _, true) => {
            let before = text[..start].trim_end_matches([' ', '\t']).len();
            // A comma before it keeps no space behind it either.
            before..end
        }
        _ => start..end,
    }
}
