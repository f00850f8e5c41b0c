//! Characters of a text where they stand in its bytes: nothing of it is copied, since a line
//! may have tens of millions of them.

/// A text from the beginning of some bytes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    bytes: &'a [u8],
    is_escaped: bool,
}

impl<'a> Text<'a> {
    /// What the bytes say as they are.
    pub(crate) fn plain(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            is_escaped: false,
        }
    }

    /// What they say as the text of a JSON document.
    pub(crate) fn escaped(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            is_escaped: true,
        }
    }

    /// The character that begins at `place`, and where the next one begins.
    pub(crate) fn at(&self, place: usize) -> Option<(char, usize)> {
        let rest = self.bytes.get(place..)?;
        let (c, length) = match rest.first()? {
            b'\\' if self.is_escaped => escaped(rest),
            ascii if ascii.is_ascii() => (char::from(*ascii), 1),
            _ => first(rest),
        };
        Some((c, (place + length).min(self.bytes.len())))
    }

    /// The characters from `place` on, each with where it begins.
    pub(crate) fn from(self, place: usize) -> impl Iterator<Item = (usize, char)> {
        let mut at = place;
        std::iter::from_fn(move || {
            let (c, next) = self.at(at)?;
            Some((std::mem::replace(&mut at, next), c))
        })
    }
}

/// The first character and its length; a byte that is none stands for itself.
fn first(bytes: &[u8]) -> (char, usize) {
    let end = bytes.len().min(4);
    let text = match std::str::from_utf8(&bytes[..end]) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let c = text.chars().next();
    c.map_or((char::REPLACEMENT_CHARACTER, 1), |c| (c, c.len_utf8()))
}

/// What an escape means (RFC 8259 §7), and its length.
fn escaped(bytes: &[u8]) -> (char, usize) {
    let simple = |c| (c, 2);
    match bytes.get(1) {
        Some(b'n') => simple('\n'),
        Some(b't') => simple('\t'),
        Some(b'r') => simple('\r'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'u') => {
            let high = unit(bytes);
            let low = bytes
                .get(6..)
                .filter(|rest| rest.starts_with(b"\\u"))
                .map(unit);
            let both = low.map(|low| [high, low]);
            let pair = both.and_then(|units| char::decode_utf16(units).next()?.ok());
            match (char::from_u32(high.into()), pair) {
                (Some(c), _) => (c, 6),
                (None, Some(c)) => (c, 12),
                (None, None) => (char::REPLACEMENT_CHARACTER, 6),
            }
        }
        Some(other) => simple(char::from(*other)),
        None => (char::REPLACEMENT_CHARACTER, 1),
    }
}

/// The four digits of `\uXXXX`.
fn unit(bytes: &[u8]) -> u16 {
    let digits = bytes
        .get(2..6)
        .and_then(|digits| std::str::from_utf8(digits).ok());
    let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    unit.unwrap_or(0xfffd)
}
