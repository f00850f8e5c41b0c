//! The index of another state directory, of which nobody knows who wrote it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::store::{self, SessionEntry};

/// Most bytes of an index. OpenClaw's have some kilobytes for each session.
const LIMIT: u64 = 64 << 20;

/// Why an index says nothing.
pub(super) enum Unusable {
    /// It cannot be read.
    Unread(io::Error),
    /// There is nothing in it.
    Empty,
    /// It has more bytes than these.
    Long(u64),
    /// It is not what it should be.
    Malformed(serde_json::Error),
}

/// The entries of the index at `path` by their keys; None: it is none of a session. Of a
/// field that has others in it only the name is kept: none such is taken over, and held in
/// memory it would take many times what it takes in the file.
pub(super) fn entries(path: &Path) -> Result<Vec<(String, Option<SessionEntry>)>, Unusable> {
    let file = File::open(path).map_err(Unusable::Unread)?;
    if file.metadata().map_err(Unusable::Unread)?.len() > LIMIT {
        return Err(Unusable::Long(LIMIT));
    }
    let mut text = Vec::new();
    let read = file.take(LIMIT).read_to_end(&mut text);
    read.map_err(Unusable::Unread)?;
    if text.trim_ascii().is_empty() {
        return Err(Unusable::Empty);
    }
    let index: Index = serde_json::from_slice(&text).map_err(Unusable::Malformed)?;
    let entries = index.0.into_iter();
    let entries = entries.map(|(key, entry)| (key, store::entry_of(entry.0)));
    Ok(entries.collect())
}

/// The entries in their order.
struct Index(Vec<(String, Entry)>);

/// An object of fields that have no others in them, or null.
struct Entry(Value);

/// What has no other fields in it; null, where there are some.
struct Plain(Value);

/// Reads an [`Index`].
struct OfIndex;

/// Reads an [`Entry`].
struct OfEntry;

/// Reads a [`Plain`].
struct OfPlain;

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OfIndex)
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfEntry)
    }
}

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfPlain)
    }
}

impl<'de> Visitor<'de> for OfIndex {
    type Value = Index;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object that has an entry for each session")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Index, M::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Index(entries))
    }
}

impl<'de> Visitor<'de> for OfEntry {
    type Value = Entry;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an entry")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Entry, M::Error> {
        let mut fields = Map::new();
        while let Some((name, Plain(value))) = map.next_entry()? {
            fields.insert(name, value);
        }
        Ok(Entry(Value::Object(fields)))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, seq: S) -> Result<Entry, S::Error> {
        OfPlain.visit_seq(seq).map(|plain| Entry(plain.0))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Entry, E> {
        Ok(Entry(Value::Null))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Entry, E> {
        Ok(Entry(Value::Null))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Entry, E> {
        Ok(Entry(Value::Null))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Entry, E> {
        Ok(Entry(Value::Null))
    }

    fn visit_str<E>(self, _: &str) -> Result<Entry, E> {
        Ok(Entry(Value::Null))
    }

    fn visit_unit<E>(self) -> Result<Entry, E> {
        Ok(Entry(Value::Null))
    }
}

impl<'de> Visitor<'de> for OfPlain {
    type Value = Plain;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a field")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Plain, E> {
        Ok(Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Plain, E> {
        Ok(Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Plain, E> {
        Ok(Plain(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Plain, E> {
        Ok(Plain(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Plain, E> {
        Ok(Plain(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Plain, E> {
        Ok(Plain(Value::Null))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Plain, S::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Plain(Value::Null))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Plain, M::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Plain(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<(String, Option<SessionEntry>)>, Unusable> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        entries(file.path())
    }

    #[test]
    fn index_keeps_of_a_field_with_others_its_name() {
        let index = r#"{
            "k": {"sessionId": "0a", "updatedAt": 1.5, "pinned": true, "list": [1, {"a": 2}], "n": null},
            "a": "text", "b": 7, "c": [[]], "d": null
        }"#;
        let found = of(index).ok().unwrap();
        let keys: Vec<&str> = found.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["k", "a", "b", "c", "d"]);
        let entry = found[0].1.as_ref().unwrap();
        assert_eq!(entry.session_id(), "0a");
        let list: Vec<Value> = entry
            .fields()
            .filter(|it| it.0 == "list")
            .map(|it| it.1.clone())
            .collect();
        assert_eq!(list, [Value::Null]);
        assert!(found[1..].iter().all(|(_, entry)| entry.is_none()));
    }

    /// It need not take room on the disk of whoever sends it.
    #[test]
    fn index_that_is_long_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(LIMIT + 1).unwrap();
        assert!(matches!(entries(file.path()), Err(Unusable::Long(LIMIT))));
        assert!(matches!(of(" \n"), Err(Unusable::Empty)));
        assert!(matches!(of("[]"), Err(Unusable::Malformed(_))));
        let deep = format!("{{\"k\": {}", "[".repeat(1 << 20));
        assert!(matches!(of(&deep), Err(Unusable::Malformed(_))));
    }
}
