//! Cutting text at limits without breaking characters.

/// Cuts `text` to `limit` bytes and says how much is missing.
pub(crate) fn cap(mut text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let keep = floor(&text, limit);
    let missing = text.len() - keep;
    text.truncate(keep);
    text.push_str(&format!("\n[truncated, {missing} more bytes]"));
    text
}

/// The beginning of `text` for use inside a message.
pub(crate) fn excerpt(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    format!("{}…", &text[..floor(text, limit)])
}

/// The last character boundary at or below `limit`.
fn floor(text: &str, limit: usize) -> usize {
    (0..=limit.min(text.len()))
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// How many bytes at the end of `bytes` begin a character that is not complete.
pub(crate) fn incomplete_tail(bytes: &[u8]) -> usize {
    // A character has at most four bytes, so its first is among the last three.
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let width = match byte {
            0x80..=0xBF => continue,
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            _ => 1,
        };
        return if width > back { back } else { 0 };
    }
    0
}

/// How many bytes at the beginning of `bytes` continue a character that began before.
pub(crate) fn continued_head(bytes: &[u8]) -> usize {
    let continuation = |byte: &&u8| (0x80..=0xBF).contains(*byte);
    bytes.iter().take(3).take_while(continuation).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cap_never_splits_a_character_and_names_what_is_missing() {
        assert_eq!(cap("aé".into(), 2), "a\n[truncated, 2 more bytes]");
        assert_eq!(cap("aé".into(), 3), "aé");
    }

    #[test]
    fn character_edges_are_found_in_both_directions() {
        let bytes = "€".as_bytes();
        assert_eq!(incomplete_tail(&bytes[..2]), 2);
        assert_eq!(incomplete_tail(bytes), 0);
        assert_eq!(incomplete_tail(b"abc"), 0);
        assert_eq!(continued_head(&bytes[1..]), 2);
        assert_eq!(continued_head(bytes), 0);
    }

    #[test]
    fn excerpt_is_the_whole_or_ends_in_an_ellipsis() {
        assert_eq!(excerpt("aé", 3), "aé");
        assert_eq!(excerpt("aé", 2), "a…");
        assert_eq!(excerpt("é", 0), "…");
    }

    #[test]
    fn text_every_character_is_found_however_it_is_cut() {
        for character in ["a", "é", "€", "😀"] {
            let bytes = character.as_bytes();
            for cut in 0..=bytes.len() {
                let (head, tail) = bytes.split_at(cut);
                let is_whole = cut == 0 || cut == bytes.len();
                let expected = if is_whole { 0 } else { cut };
                assert_eq!(incomplete_tail(&[b"xyz", head].concat()), expected);
                let continued = if is_whole { 0 } else { tail.len() };
                assert_eq!(continued_head(tail), continued, "{character} {cut}");
            }
        }
        assert_eq!(incomplete_tail(&[0xBF; 4]), 0);
        assert_eq!(continued_head(&[0x80; 9]), 3);
        assert_eq!(incomplete_tail(&[0xFF]), 0);
    }
}
