//! ASCII, by runs of one class, as tokenizers take it apart: words, numbers of up
//! to three digits, marks, space.

/// What a token is taken for, in characters of plain English.
pub const CHARACTERS_PER_TOKEN: usize = 4;
/// The same.
const TOKEN: usize = CHARACTERS_PER_TOKEN;

/// Of each letter where letters are no word: a token has one and a half.
const RANDOM: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letters,
    Digits,
    Spaces,
    /// Line ends and tabs.
    Breaks,
    Mark,
}

fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letters,
        b'0'..=b'9' => Class::Digits,
        b' ' => Class::Spaces,
        b'\n' | b'\r' | b'\t' => Class::Breaks,
        _ => Class::Mark,
    }
}

/// What the text costs at most, in characters of which four are a token.
pub(crate) fn characters(text: &[u8]) -> usize {
    let mut sum = 0;
    let mut at = 0;
    while at < text.len() {
        let here = class(text[at]);
        let same = |byte: &&u8| class(**byte) == here;
        let length = match here {
            Class::Mark => 1,
            _ => text[at..].iter().take_while(same).count(),
        };
        let before = at.checked_sub(1).map(|at| text[at]);
        let after = text.get(at + length).copied();
        let run = &text[at..at + length];
        sum += match here {
            Class::Letters => letters(run, is_digit(before) || is_digit(after)),
            Class::Digits => length.div_ceil(3) * TOKEN,
            // One belongs to the word after it.
            Class::Spaces if length == 1 && !is_digit(after) => 0,
            Class::Spaces => TOKEN + length / 16,
            Class::Breaks => length * TOKEN,
            // Lines of one mark are a few tokens.
            Class::Mark if before == Some(run[0]) => TOKEN / 2,
            Class::Mark => TOKEN,
        };
        at += length;
    }
    sum
}

fn is_digit(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_digit())
}

/// Letters in a row; `has_digits`: there is a digit beside them.
fn letters(run: &[u8], has_digits: bool) -> usize {
    let mut sum = 0;
    let mut rest = run;
    while !rest.is_empty() {
        let (part, behind) = rest.split_at(part(rest));
        sum += if has_digits {
            match part.len() {
                1 => TOKEN,
                length => length * RANDOM,
            }
        } else {
            word(part, part.len() < run.len())
        };
        rest = behind;
    }
    sum
}

/// The length of the first word of several that are written as one: `Upper`, `lower`
/// or `UPPER`.
fn part(run: &[u8]) -> usize {
    let upper = run.iter().take_while(|it| it.is_ascii_uppercase()).count();
    let lower = |from: usize| {
        let lower = run[from..].iter();
        lower.take_while(|it| it.is_ascii_lowercase()).count()
    };
    match (upper, lower(upper)) {
        (0 | 1, lower) => upper + lower,
        (upper, 0) => upper,
        // The last one begins a word.
        (upper, _) => upper - 1,
    }
}

/// What a word costs with the space before it; `is_part`: of several.
fn word(word: &[u8], is_part: bool) -> usize {
    let length = word.len();
    let cost = if length > 1 && word.iter().all(u8::is_ascii_uppercase) {
        (length * 5).div_ceil(2)
    } else if !is_pronounceable(word) || (is_part && length < TOKEN) {
        length * RANDOM
    } else if is_part && length == TOKEN {
        length * 2
    } else {
        length + 1 + length / TOKEN
    };
    match length {
        1 => TOKEN,
        _ => cost.max(TOKEN),
    }
}

/// Whether the letters may be a word, and no random ones: by vowels, and by pairs that
/// languages do not have.
fn is_pronounceable(word: &[u8]) -> bool {
    if word.len() <= 2 {
        return true;
    }
    let is_vowel = |letter: u8| b"aeiouy".contains(&letter.to_ascii_lowercase());
    let (mut vowels, mut consonants, mut open) = (0, 0, 0);
    for letter in word.iter().copied() {
        if is_vowel(letter) {
            vowels += 1;
            consonants = 0;
            open += 1;
        } else {
            consonants += 1;
            open = 0;
        }
        // As in "lengths", and as in "queue" without the q.
        if consonants > 4 || open > 4 {
            return false;
        }
    }
    vowels * 5 >= word.len() && !word.windows(2).any(is_odd_pair)
}

/// Letters that do not follow each other in words.
fn is_odd_pair(pair: &[u8]) -> bool {
    let [first, second] = [pair[0], pair[1]].map(|letter| letter.to_ascii_lowercase());
    let is_vowel = b"aeiouy".contains(&second);
    match first {
        b'q' => second != b'u',
        b'j' | b'x' if !is_vowel => true,
        b'v' | b'w' | b'z' if b"vjqwzx".contains(&second) => true,
        _ => b"bcdfgjkpqvwxz".contains(&first) && b"jqvxz".contains(&second),
    }
}
