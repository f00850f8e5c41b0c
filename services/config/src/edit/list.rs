//! Lists that a change begins.

use serde_json::Value;

use super::Error;
use crate::key::KeyPath;

/// The change of `path` to `value`, where a list on the way is not in `document` yet: it
/// is made with its first entry, and is no object with the key "0". `is_list` knows where lists are.
///
/// # Errors
/// The entry is not the first one, or they are written by id.
pub fn with_list(
    path: &KeyPath,
    value: Value,
    (document, is_list): (&Value, impl Fn(&KeyPath) -> bool),
) -> Result<(KeyPath, Value), Error> {
    let parts = path.parts();
    let place = |length: usize| -> KeyPath { parts[..length].iter().cloned().collect() };
    let is_absent = |length: &usize| place(*length).get(document).is_none_or(Value::is_null);
    let is_list = |length: &usize| is_list(&place(*length));
    let absent = (1..parts.len()).filter(is_absent).find(is_list);
    let counted = absent.and_then(|length| Some((length, parts[length].parse::<usize>().ok()?)));
    let Some((length, index)) = counted else {
        return Ok((path.clone(), value));
    };
    let list = place(length);
    if let Some(by_id) = by_id(&list, document) {
        return Err(Error::ById(list, by_id));
    }
    if index != 0 {
        return Err(Error::NoSuchEntry(place(length + 1), 0));
    }
    let within = |inner: Value, at: usize| match parts[at].as_str() {
        "0" if is_list(&at) => Value::Array(vec![inner]),
        key => Value::Object([(key.to_owned(), inner)].into_iter().collect()),
    };
    Ok((list, (length..parts.len()).rev().fold(value, within)))
}

/// Where the entries of the list are written by id instead: the first of them.
fn by_id(list: &KeyPath, document: &Value) -> Option<KeyPath> {
    let entries: KeyPath = ["agents", "entries"].into_iter().collect();
    let is_agents = list.parts() == ["agents", "list"];
    let written = entries.get(document).filter(|_| is_agents)?;
    let first = written.as_object()?.keys().next()?;
    Some(entries.child(first))
}
