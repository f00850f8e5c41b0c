//! Bytes of a file as text.

/// The text of a file: without the byte order mark that some editors write,
/// and with replacement characters where it is not UTF-8.
pub(super) fn text(mut bytes: Vec<u8>) -> String {
    if bytes.starts_with("\u{feff}".as_bytes()) {
        bytes.drain(.."\u{feff}".len());
    }
    // Valid text, nearly always, is taken over without a copy.
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn marks_go_and_foreign_bytes_are_replaced() {
        assert_eq!(text("\u{feff}caf\u{e9}".into()), "café");
        assert_eq!(text(b"caf\xe9!".to_vec()), "caf\u{fffd}!");
    }
}
