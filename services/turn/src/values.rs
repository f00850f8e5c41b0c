//! How much may be made of JSON that somebody in a sandbox wrote. It is read outside, and a
//! value of two bytes (`0,`) takes up to a hundred there.

/// Values of one JSON text, far more than a conversation or a result has.
pub const MOST_VALUES: usize = 512 * 1024;

/// Whether a JSON text has more values than [`MOST_VALUES`]. It need not be valid.
pub fn has_too_many_values(json: &[u8]) -> bool {
    // Each has a sign of its own, which is a byte.
    json.len() > MOST_VALUES && signs(json) > MOST_VALUES
}

/// Whether a byte outside of a text begins or parts values.
pub fn begins_value(byte: u8) -> bool {
    matches!(byte, b',' | b':' | b'[' | b'{')
}

fn signs(json: &[u8]) -> usize {
    let mut count = 0;
    let mut bytes = json.iter();
    while let Some(&byte) = bytes.next() {
        count += usize::from(begins_value(byte));
        if byte == b'"' {
            pass_text(&mut bytes);
        }
    }
    count
}

/// Goes on behind the text in which `bytes` are.
fn pass_text<'a>(bytes: &mut impl Iterator<Item = &'a u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_texts() {
        for (json, many) in [
            (format!("[{}0]", "0,".repeat(MOST_VALUES - 1)), false),
            (format!("[{}0]", "0,".repeat(MOST_VALUES)), true),
            (format!("[{}0]", "{},".repeat(MOST_VALUES / 2)), true),
            (
                format!("{{{}}}", "\"a\":[],".repeat(MOST_VALUES / 3 + 1)),
                true,
            ),
            (format!("[\"{}\"]", "[{,:".repeat(MOST_VALUES)), false),
            (format!("[\"{}\"]", "\\\",".repeat(MOST_VALUES)), false),
            (format!("[\"\\\\\"{}]", ",0".repeat(MOST_VALUES)), true),
            (format!("[\"{}", ",0".repeat(MOST_VALUES)), false),
            ("\"".repeat(2 * MOST_VALUES), false),
        ] {
            assert_eq!(
                has_too_many_values(json.as_bytes()),
                many,
                "{}",
                &json[..12]
            );
        }
    }
}
