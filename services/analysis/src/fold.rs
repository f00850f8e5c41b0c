//! Case and diacritics.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

/// Appends `word` to `folded` without its case. Lower case, and the one full
/// folding that lower case does not cover and people type both ways.
pub(super) fn lowercase(word: &str, folded: &mut String) {
    for character in word.chars() {
        match character {
            'ß' | 'ẞ' => folded.push_str("ss"),
            // Not with the combining dot that full lower case leaves.
            'İ' => folded.push('i'),
            _ if character.is_ascii() => folded.push(character.to_ascii_lowercase()),
            _ => folded.extend(character.to_lowercase()),
        }
    }
}

/// Letters that people type without, and that Unicode does not take apart.
fn without_stroke(letter: char) -> char {
    match letter {
        'ı' => 'i',
        'ł' => 'l',
        'ø' => 'o',
        'đ' => 'd',
        _ => letter,
    }
}

/// The word without accents, as people type it who have no such key. After
/// stemming: the stemmers know their languages' accents.
pub(super) fn without_accents(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    // Combining Diacritical Marks only: the marks of other scripts are vowels.
    let is_accent = |character: &char| ('\u{300}'..='\u{36f}').contains(character);
    let plain = word.nfd().filter(|c| !is_accent(c)).nfc();
    Cow::Owned(plain.map(without_stroke).collect())
}
