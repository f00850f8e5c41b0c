//! Lines that are no wider than there is room.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::span::{Line, Span, Style, width};

/// What stays together on a line: a word with the blanks after it.
#[derive(Debug, Default)]
struct Word {
    spans: Vec<Span>,
    /// Without the blanks.
    columns: usize,
    blanks: usize,
    /// What the blanks look like, which a struck text goes on through.
    style: Style,
}

/// `spans` in lines of at most `columns`, which are at least one. Blanks at a break
/// are left out, and what is wider than a line is broken anywhere.
pub(crate) fn wrap(spans: &[Span], columns: usize) -> Vec<Line> {
    let columns = columns.max(1);
    let mut lines: Vec<Line> = vec![Line::new()];
    let mut used = 0;
    let mut owed: Option<Span> = None;
    for word in words(spans) {
        let blanks = owed.as_ref().map_or(0, |span| width(&span.text));
        if used > 0 && used + blanks + word.columns > columns {
            lines.push(Line::new());
            used = 0;
            owed = None;
        }
        if let (Some(span), Some(line)) = (owed.take(), lines.last_mut()) {
            used += width(&span.text);
            line.push(span);
        }
        for span in word.spans {
            used = put(&mut lines, span, used, columns);
        }
        let blank = Span {
            text: " ".repeat(word.blanks),
            style: word.style,
        };
        owed = Some(blank).filter(|_| word.blanks > 0);
    }
    lines
}

/// Puts a piece of a word onto the last line, and onto further ones what has no
/// room; the columns that are used then.
fn put(lines: &mut Vec<Line>, span: Span, used: usize, columns: usize) -> usize {
    let whole = width(&span.text);
    if used + whole <= columns {
        if let Some(line) = lines.last_mut() {
            line.push(span);
        }
        return used + whole;
    }
    let mut used = used;
    let mut piece = String::new();
    for grapheme in span.text.graphemes(true) {
        let more = width(grapheme);
        if used + more > columns && used > 0 {
            end_piece(lines, &mut piece, &span.style);
            lines.push(Line::new());
            used = 0;
        }
        piece.push_str(grapheme);
        used += more;
    }
    end_piece(lines, &mut piece, &span.style);
    used
}

fn end_piece(lines: &mut [Line], piece: &mut String, style: &Style) {
    if let (Some(line), false) = (lines.last_mut(), piece.is_empty()) {
        line.push(Span {
            text: std::mem::take(piece),
            style: style.clone(),
        });
    }
}

/// The words of a text, which may be of several styles each. A line may end behind
/// every wide character too, as scripts without blanks have it.
fn words(spans: &[Span]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word = Word::default();
    for span in spans {
        for grapheme in span.text.graphemes(true) {
            if grapheme == " " {
                word.blanks += 1;
                word.style = span.style.clone();
                continue;
            }
            let columns = width(grapheme);
            let is_wide_here = openclaw_escape::columns(grapheme) > 1;
            if word.blanks > 0 || (is_wide_here && word.columns > 0) || is_wide(&word) {
                words.push(std::mem::take(&mut word));
            }
            word.columns += columns;
            match word.spans.last_mut() {
                Some(last) if last.style == span.style => last.text.push_str(grapheme),
                _ => word.spans.push(Span {
                    text: grapheme.to_owned(),
                    style: span.style.clone(),
                }),
            }
        }
    }
    words.push(word);
    words
}

/// Whether a word is one wide character, behind which a line may end. What closes
/// a sentence stays with it: it is as wide, and is a word of its own only after
/// another one.
fn is_wide(word: &Word) -> bool {
    let [span] = word.spans.as_slice() else {
        return false;
    };
    // Asked for each character of a word: a long one is not counted again.
    span.text.graphemes(true).nth(1).is_none() && openclaw_escape::columns(&span.text) > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, columns: usize) -> Vec<String> {
        let spans = [Span::new(text, &Style::default())];
        let text = |line: Line| line.into_iter().map(|span| span.text).collect();
        wrap(&spans, columns).into_iter().map(text).collect()
    }

    #[test]
    fn wrap_breaks_between_words_and_in_words_without_room() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("a  b", 9), ["a  b"]);
    }

    #[test]
    fn wrap_counts_wide_characters_twice_and_breaks_between_them() {
        assert_eq!(wrapped("日本語のテキスト", 7), ["日本語", "のテキ", "スト"]);
        assert_eq!(wrapped("ab 日本", 5), ["ab 日", "本"]);
        assert_eq!(wrapped("👩‍👩‍👧 family", 6), ["👩‍👩‍👧", "family"]);
    }
}
