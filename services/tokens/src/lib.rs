//! What a text costs a model at most, estimated without its tokenizer.

mod ascii;

pub use ascii::CHARACTERS_PER_TOKEN;

/// What `text` costs at most, in characters of plain English, of which four are
/// a token. Of other scripts one character is up to three tokens: they are
/// counted as so many more, or a conversation in Chinese would be six times as
/// long as it may be. So is text that is no prose ([`ascii`]): of base64 a token
/// is one and a half characters. Too many are no harm: whether it fits is then
/// counted.
pub fn characters(text: &str) -> usize {
    let is_ascii = |c: char| c.is_ascii();
    let mut rest = text;
    let mut sum = 0;
    while let Some(c) = rest.chars().next() {
        let end = if c.is_ascii() {
            let end = rest.find(|c| !is_ascii(c)).unwrap_or(rest.len());
            sum += ascii::characters(&rest.as_bytes()[..end]);
            end
        } else {
            let end = rest.find(is_ascii).unwrap_or(rest.len());
            sum += rest[..end].chars().map(other_script).sum::<usize>();
            end
        };
        rest = &rest[end..];
    }
    sum
}

fn other_script(c: char) -> usize {
    match c.len_utf8() {
        2 => 4,
        3 => 8,
        _ => 12,
    }
}

/// The tokens that so many characters cost at most.
pub const fn tokens(characters: usize) -> usize {
    characters.div_ceil(CHARACTERS_PER_TOKEN)
}

#[cfg(test)]
mod tests;
