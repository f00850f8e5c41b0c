//! What a text costs a model at most, estimated without its tokenizer.

/// What a token is taken for, in characters of plain English.
pub const CHARACTERS_PER_TOKEN: usize = 4;

/// What `text` costs at most, in characters of plain English, of which four are
/// a token. Of other scripts one character is up to three tokens: they are
/// counted as so many more, or a conversation in Chinese would be six times as
/// long as it may be. Too many are no harm: whether it fits is then counted.
pub fn characters(text: &str) -> usize {
    text.chars()
        .map(|c| match c.len_utf8() {
            1 => 1,
            2 => 4,
            3 => 8,
            _ => 12,
        })
        .sum()
}

/// The tokens that so many characters cost at most.
pub const fn tokens(characters: usize) -> usize {
    characters.div_ceil(CHARACTERS_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_other_scripts_count_more() {
        assert_eq!(characters("abc"), 3);
        assert_eq!(characters("жа"), 8);
        assert_eq!(characters("狐"), 8);
        assert_eq!(characters("🦊"), 12);
    }

    #[test]
    fn tokens_are_whole_ones() {
        assert_eq!([0, 1, 4, 5].map(tokens), [0, 1, 1, 2]);
    }
}
