//! Amounts of memory as people write them.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

/// Bytes: a number, or text with K, M, G or T behind it (powers of 1024, as
/// systemd.resource-control(5) writes them).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

impl Size {
    /// Reads `text`; `None` when it is no size.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor: u64 = match text[digits.len()..].to_ascii_uppercase().as_str() {
            "" | "B" => 1,
            "K" | "KB" | "KIB" => 1 << 10,
            "M" | "MB" | "MIB" => 1 << 20,
            "G" | "GB" | "GIB" => 1 << 30,
            "T" | "TB" | "TIB" => 1 << 40,
            _ => return None,
        };
        let number: u64 = digits.trim().parse().ok()?;
        number.checked_mul(factor).map(Self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Size;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("bytes, as a number or as text such as \"512M\" or \"2G\"")
            }

            fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<Size, E> {
                Ok(Size(bytes))
            }

            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<Size, E> {
                u64::try_from(bytes)
                    .map(Size)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(bytes), &self))
            }

            fn visit_f64<E: de::Error>(self, bytes: f64) -> Result<Size, E> {
                if bytes >= 0.0 && bytes.fract() == 0.0 && bytes < u64::MAX as f64 {
                    return Ok(Size(bytes as u64));
                }
                Err(E::invalid_value(de::Unexpected::Float(bytes), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Size, E> {
                Size::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// A size that is not 0, in bytes.
pub mod bytes {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::size::Size;

    /// Reads one.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        match Size::deserialize(from)? {
            Size(0) => Err(D::Error::custom("is 0; it must be at least 1")),
            Size(bytes) => Ok(bytes),
        }
    }

    /// Writes it as a number.
    pub fn serialize<S: Serializer>(bytes: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(*bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_people_write_them() {
        for (text, bytes) in [
            ("512M", Some(512 << 20)),
            ("2G", Some(2 << 30)),
            ("2 GiB", Some(2 << 30)),
            ("7", Some(7)),
            ("7b", Some(7)),
            ("3k", Some(3 << 10)),
            ("3KB", Some(3 << 10)),
            ("3kib", Some(3 << 10)),
            ("3mb", Some(3 << 20)),
            ("3MiB", Some(3 << 20)),
            ("3gb", Some(3 << 30)),
            ("3t", Some(3 << 40)),
            ("3TB", Some(3 << 40)),
            ("3TiB", Some(3 << 40)),
            ("1048576", Some(1 << 20)),
            ("", None),
            ("G", None),
            ("2X", None),
            ("99999999999T", None),
        ] {
            assert_eq!(Size::parse(text), bytes.map(Size), "{text}");
        }
    }

    #[test]
    fn sizes_are_whole_and_not_negative() {
        let read = |text: &str| serde_json::from_str::<Size>(text);
        for (text, bytes) in [
            ("0", 0),
            ("5", 5),
            ("5.0", 5),
            ("0.0", 0),
            ("1e3", 1000),
            ("\"1K\"", 1024),
        ] {
            assert_eq!(read(text).unwrap(), Size(bytes), "{text}");
        }
        for text in ["-1", "-1.0", "0.5", "1e30", "18446744073709551616", "true"] {
            let words = read(text).unwrap_err().to_string();
            assert!(words.contains("expected bytes, as a number"), "{words}");
        }
    }

    #[test]
    fn size_of_a_limit_is_at_least_one_byte() {
        #[derive(Debug, PartialEq, Deserialize, serde::Serialize)]
        struct Limit(#[serde(with = "bytes")] u64);
        let read = |text: &str| serde_json::from_str::<Limit>(text);
        assert_eq!(read("1").unwrap(), Limit(1));
        assert_eq!(read("\"2K\"").unwrap(), Limit(2048));
        let error = read("0").unwrap_err().to_string();
        assert!(error.contains("at least 1"), "{error}");
        assert_eq!(serde_json::to_string(&Limit(2048)).unwrap(), "2048");
    }
}
