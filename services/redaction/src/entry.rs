//! Which entry of a conversation a line is.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Longest word that is taken of an entry, in bytes; ours are shorter by far.
const WORD: usize = 256;

/// What a line says of itself. Nothing else is kept of it: the whole of a long line takes many
/// times its length.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Its id; empty where the line is no entry.
    pub id: String,
    /// Who said it; empty when nobody.
    pub role: String,
    /// When, as it says it.
    pub time: Time,
}

/// When something was said.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Time {
    /// It does not say.
    #[default]
    Unknown,
    /// A date.
    Text(String),
    /// A number.
    Number(i64),
}

impl Entry {
    /// What `line` says.
    pub fn of(line: &[u8]) -> Self {
        match serde_json::from_slice(line) {
            Ok(Value::Object(entry, message)) => Self {
                role: message.map(|message| message.role).unwrap_or_default(),
                ..entry
            },
            _ => Self::default(),
        }
    }
}

/// A value of which only that is kept.
#[derive(Debug)]
enum Value {
    /// With what its `message` says.
    Object(Entry, Option<Entry>),
    Text(String),
    Number(i64),
    Other,
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let (mut own, mut of_message) = (Entry::default(), None);
        while let Some(key) = map.next_key::<Box<str>>()? {
            if !["id", "role", "timestamp", "message"].contains(&&*key) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            match (&*key, map.next_value()?) {
                ("id", Value::Text(id)) => own.id = id,
                ("role", Value::Text(role)) => own.role = role,
                ("timestamp", Value::Text(time)) => own.time = Time::Text(time),
                ("timestamp", Value::Number(time)) => own.time = Time::Number(time),
                ("message", Value::Object(message, _)) => of_message = Some(message),
                _ => {}
            }
        }
        Ok(Value::Object(own, of_message))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(if text.len() > WORD {
            Value::Other
        } else {
            Value::Text(text.to_owned())
        })
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::Other, Value::Number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_says_what_it_is_whatever_else_the_line_has() {
        let line = r#"{"x":[{"id":"no"},1.5,null],"timestamp":1700000000000,"message":{"content":[{"role":"no"}],"role":"user","id":"no"},"id":"e1","role":"no","y":true}"#;
        let expected = Entry {
            id: "e1".to_owned(),
            role: "user".to_owned(),
            time: Time::Number(1_700_000_000_000),
        };
        assert_eq!(Entry::of(line.as_bytes()), expected);
        let dated = Entry::of(br#"{"timestamp":"2026-03-04"}"#);
        assert_eq!(dated.time, Time::Text("2026-03-04".to_owned()));
        let long = "i".repeat(WORD + 1);
        let others = [
            r#"{"id":7,"message":"user","timestamp":null}"#.to_owned(),
            format!(r#"{{"id":"{long}","message":[{{"role":"user"}}],"timestamp":1e99}}"#),
            "[1]".to_owned(),
            r#"{"id":"e1""#.to_owned(),
        ];
        for line in others {
            assert_eq!(Entry::of(line.as_bytes()), Entry::default(), "{line}");
        }
    }
}
