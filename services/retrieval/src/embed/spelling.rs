//! The words of a text as the table spells them: two bytes for each piece of a
//! word, so that a search can compare the words of many texts without reading
//! one of them.

use super::table::Table;
use openclaw_analysis::{self as analysis, Language, Word};

/// Looked at of a text, in bytes: a long one has something near everything.
const TEXT: usize = 400;
/// Says of a piece that its word ends with it.
const END: u16 = 1;

/// Appends the words of `text` that say something to `spelled`. Words that
/// `table` cannot spell are left out.
pub(crate) fn spell(table: &Table, text: &str, language: Language, spelled: &mut Vec<u8>) {
    let mut pieces: Vec<u16> = Vec::new();
    let end = (0..=TEXT.min(text.len())).rev();
    let start = end.into_iter().find_map(|end| text.get(..end));
    analysis::words(start.unwrap_or_default(), |word| {
        if let Word::Plain(word) = word
            && !analysis::is_stop_word(word, language)
        {
            pieces.clear();
            let mut is_whole = true;
            table.pieces(word, |piece| match piece.and_then(code) {
                Some(code) => pieces.push(code),
                None => is_whole = false,
            });
            if let (Some(last), true) = (pieces.last_mut(), is_whole) {
                *last |= END;
                spelled.extend(pieces.iter().flat_map(|code| code.to_le_bytes()));
            }
        }
    });
}

/// None of a piece with a number that is too large, as no table has them.
fn code(piece: u32) -> Option<u16> {
    u16::try_from(piece << 1).ok()
}

/// The words in what [`spell`] wrote, in order, as they are there.
pub(crate) fn words(spelled: &[u8]) -> impl Iterator<Item = &[[u8; 2]]> {
    let (codes, _) = spelled.as_chunks();
    codes.split_inclusive(|code| u16::from_le_bytes(*code) & END != 0)
}

/// The pieces of one of [`words`].
pub(crate) fn pieces(word: &[[u8; 2]]) -> impl Iterator<Item = u32> {
    word.iter()
        .map(|code| u32::from(u16::from_le_bytes(*code) >> 1))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn words_are_spelled_in_order_without_those_that_say_nothing() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/share/embedding");
        let table = Table::open(&folder).unwrap();
        let mut spelled = Vec::new();
        let text = "The violin, the physiotherapist and the violin";
        spell(&table, text, Language::English, &mut spelled);
        let found: Vec<Vec<u32>> = words(&spelled).map(|word| pieces(word).collect()).collect();
        let expected = ["violin", "physiotherapist", "violin"].map(|word| {
            let mut pieces = Vec::new();
            table.pieces(word, |piece| pieces.extend(piece));
            pieces
        });
        assert_eq!(found, expected);
        assert!(found[1].len() > 1);
        let before = spelled.len();
        spell(&table, "the and", Language::English, &mut spelled);
        assert_eq!(spelled.len(), before);
        spell(
            &table,
            &"violin ".repeat(100),
            Language::English,
            &mut spelled,
        );
        assert_eq!(spelled.len() - before, 2 * TEXT.div_ceil("violin ".len()));
        assert_eq!(code(1 << 15), None);
    }
}
