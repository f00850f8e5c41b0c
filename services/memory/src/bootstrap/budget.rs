//! Cutting a text to a number of characters, visibly.

/// The most characters a mark has; names of bootstrap files are short.
pub(super) const MARK: usize = 120;

/// Which part of a text stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeptPart {
    Start,
    End,
}

/// The text, with at most `budget` characters, and whether it was cut. A mark
/// says where and how much is missing; a budget below [`MARK`] holds the mark
/// alone.
pub(super) fn cut(name: &str, text: String, keep: KeptPart, budget: usize) -> (String, bool) {
    let length = text.chars().count();
    if length <= budget {
        return (text, false);
    }
    let kept = budget.saturating_sub(MARK);
    let missing = length - kept;
    let mark = format!("[… {name} is cut here: {missing} of its {length} characters are missing]");
    let cut = match keep {
        KeptPart::Start => format!("{}\n{mark}", &text[..position(&text, kept)]),
        KeptPart::End => format!("{mark}\n{}", &text[position(&text, length - kept)..]),
    };
    (cut, true)
}

/// The byte at which the character number `index` begins.
fn position(text: &str, index: usize) -> usize {
    text.char_indices()
        .nth(index)
        .map_or(text.len(), |(byte, _)| byte)
}
