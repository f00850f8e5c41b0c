//! WordPiece as BERT's uncased models cut text (Devlin et al., 2018; the rules
//! of `BertNormalizer` and `BertPreTokenizer`).

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use xxhash_rust::xxh3::xxh3_64;

/// Longer words are no words; in characters (BERT's `max_input_chars_per_word`).
const WORD_LIMIT: usize = 100;
/// What a piece that goes on with a word begins with.
const CONTINUATION: &str = "##";
const EMPTY: u32 = u32::MAX;

/// The pieces there are, numbered from 0.
///
/// A hash table of numbers over one text: a tenth of what a map of strings
/// takes, and the daemon is to be small.
#[derive(Debug)]
pub struct Vocabulary {
    text: String,
    /// Where each piece ends in the text.
    ends: Vec<u32>,
    /// Numbers of pieces by hash, [`EMPTY`] where there is none.
    slots: Vec<u32>,
    /// The longest piece, in bytes.
    longest: usize,
}

impl Vocabulary {
    /// The pieces in their order.
    pub fn new<'a>(pieces: impl Iterator<Item = &'a str>) -> Self {
        let mut text = String::new();
        let mut ends = Vec::new();
        let mut longest = 0;
        for piece in pieces {
            text.push_str(piece);
            ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
            longest = longest.max(piece.len());
        }
        text.shrink_to_fit();
        ends.shrink_to_fit();
        let slots = vec![EMPTY; (ends.len() * 2).next_power_of_two()];
        let mut vocabulary = Self {
            text,
            ends,
            slots,
            longest,
        };
        for number in 0..vocabulary.ends.len() {
            let slot = vocabulary.slot(vocabulary.piece(number));
            vocabulary.slots[slot] = number as u32;
        }
        vocabulary
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.ends.len()
    }

    /// The number of `piece`.
    pub fn number(&self, piece: &str) -> Option<u32> {
        Some(self.slots[self.slot(piece)]).filter(|&number| number != EMPTY)
    }

    fn piece(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text
            .get(start as usize..self.ends[number] as usize)
            .unwrap_or_default()
    }

    /// The slot `piece` is in, or the free one where it would be; at most half
    /// of them are taken.
    fn slot(&self, piece: &str) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = xxh3_64(piece.as_bytes()) as usize & mask;
        while self.slots[slot] != EMPTY && self.piece(self.slots[slot] as usize) != piece {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Calls `sink` with the numbers of the pieces of `text`, in order; None
    /// stands for a word that cannot be cut into pieces.
    pub fn pieces(&self, text: &str, mut sink: impl FnMut(Option<u32>)) {
        let text = normalised(text);
        let mut word = Word::default();
        let mut rest = &*text;
        while let Some((length, kind)) = next(rest) {
            if kind != Kind::Space {
                self.cut(&rest[..length], &mut word, &mut sink);
            }
            rest = &rest[length..];
        }
    }

    /// The longest piece first, then the longest that goes on with it.
    fn cut(&self, text: &str, word: &mut Word, sink: &mut impl FnMut(Option<u32>)) {
        word.found.clear();
        let mut rest = text;
        if text.chars().count() > WORD_LIMIT {
            return sink(None);
        }
        while !rest.is_empty() {
            let Some((number, length)) = self.longest(rest, rest.len() < text.len(), word) else {
                return sink(None);
            };
            word.found.push(number);
            rest = &rest[length..];
        }
        word.found.iter().for_each(|&number| sink(Some(number)));
    }

    fn longest(&self, rest: &str, goes_on: bool, word: &mut Word) -> Option<(u32, usize)> {
        word.buffer.clear();
        if goes_on {
            word.buffer.push_str(CONTINUATION);
        }
        let prefix = word.buffer.len();
        let room = self.longest.saturating_sub(prefix).min(rest.len());
        word.buffer.push_str(&rest[..floor(rest, room)]);
        while word.buffer.len() > prefix {
            if let Some(number) = self.number(&word.buffer) {
                return Some((number, word.buffer.len() - prefix));
            }
            word.buffer.pop();
        }
        None
    }
}

/// What is needed for one word, kept for the next.
#[derive(Default)]
struct Word {
    found: Vec<u32>,
    buffer: String,
}

/// The last character boundary up to `end`.
fn floor(text: &str, end: usize) -> usize {
    (0..=end)
        .rev()
        .find(|&index| text.is_char_boundary(index))
        .unwrap_or(0)
}

/// Lower case without accents.
fn normalised(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Cow::Owned(text.to_ascii_lowercase());
        }
        return Cow::Borrowed(text);
    }
    let lower = text.to_lowercase();
    Cow::Owned(lower.nfd().filter(|&c| !is_combining_mark(c)).collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Word,
    /// A word of its own.
    Single,
}

/// The length of what `text` begins with.
fn next(text: &str) -> Option<(usize, Kind)> {
    let first = text.chars().next()?;
    let kind = kind(first);
    let length = match kind {
        Kind::Single => first.len_utf8(),
        _ => text.find(|c| self::kind(c) != kind).unwrap_or(text.len()),
    };
    Some((length, kind))
}

fn kind(character: char) -> Kind {
    match character {
        'a'..='z' | '0'..='9' => Kind::Word,
        _ if character.is_whitespace() || character.is_control() => Kind::Space,
        '\u{fffd}' | '\u{200b}'..='\u{200f}' | '\u{feff}' => Kind::Space,
        _ if character.is_ascii_punctuation() => Kind::Single,
        _ if is_punctuation(character) || is_ideograph(character) => Kind::Single,
        _ => Kind::Word,
    }
}

/// Unicode's categories P*, as far as they are used in running text.
fn is_punctuation(character: char) -> bool {
    matches!(character,
        '¡' | '§' | '«' | '¶' | '·' | '»' | '¿'
        | '\u{37e}' | '\u{387}' | '\u{55a}'..='\u{55f}' | '\u{589}' | '\u{58a}'
        | '\u{5be}' | '\u{60c}' | '\u{60d}' | '\u{61b}' | '\u{61f}' | '\u{66a}'..='\u{66d}'
        | '\u{6d4}' | '\u{964}' | '\u{965}' | '\u{e4f}' | '\u{2010}'..='\u{2027}'
        | '\u{2030}'..='\u{2043}' | '\u{2045}'..='\u{2051}' | '\u{2053}'..='\u{205e}'
        | '\u{2308}'..='\u{230b}' | '\u{2329}' | '\u{232a}' | '\u{2e00}'..='\u{2e4f}'
        | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}'
        | '\u{3030}' | '\u{303d}' | '\u{30a0}' | '\u{30fb}' | '\u{fe10}'..='\u{fe19}'
        | '\u{fe30}'..='\u{fe52}' | '\u{ff01}'..='\u{ff03}' | '\u{ff05}'..='\u{ff0a}'
        | '\u{ff0c}'..='\u{ff0f}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}' | '\u{ff20}'
        | '\u{ff3b}'..='\u{ff3d}' | '\u{ff3f}' | '\u{ff5b}' | '\u{ff5d}' | '\u{ff5f}'..='\u{ff65}')
}

/// BERT's `_is_chinese_char`.
fn is_ideograph(character: char) -> bool {
    matches!(character,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2ceaf}' | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests;
