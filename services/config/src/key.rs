//! Where a value is in the configuration: `agents.list[0].id`.

use std::fmt;

use serde_json::{Map, Value};

/// What is wrong with a path that somebody typed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Two dots in a row, or one at an end.
    #[error("the key {0:?} has an empty part; write it as agents.defaults.workspace")]
    Empty(String),
    /// A bracket that is never closed, or something behind one.
    #[error("the key {0:?} has a bracket that does not fit; write [0] or [\"a.b\"]")]
    Bracket(String),
}

/// A path of keys and indices; empty is the whole document.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    /// Parses dots and brackets; a backslash takes the next character as it
    /// is, and so do quotes inside brackets.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (part, after) = match rest.strip_prefix('[') {
                Some(inner) => bracketed(inner, text)?,
                None => plain(rest),
            };
            if part.is_empty() {
                return Err(Error::Empty(text.to_owned()));
            }
            parts.push(part);
            rest = next(after, text)?;
        }
        if parts.is_empty() {
            Err(Error::Empty(text.to_owned()))
        } else {
            Ok(Self(parts))
        }
    }

    /// The path one step down.
    pub fn child(&self, part: &str) -> Self {
        let mut parts = self.0.clone();
        parts.push(part.to_owned());
        Self(parts)
    }

    /// The parts, outermost first.
    pub fn parts(&self) -> &[String] {
        &self.0
    }

    /// The last part; empty for the whole document.
    pub fn last(&self) -> &str {
        self.0.last().map(String::as_str).unwrap_or_default()
    }

    /// The path one step up.
    pub fn parent(&self) -> Self {
        let above = self.0.len().saturating_sub(1);
        Self(self.0[..above].to_vec())
    }

    /// Whether this is `other` or below it.
    pub fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The value there.
    pub fn get<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.0
            .iter()
            .try_fold(document, |value, part| step(value, part))
    }

    /// Puts a value there, making the objects on the way. `false` when
    /// something on the way is neither an object nor a list with that index.
    pub fn put(&self, document: &mut Value, value: Value) -> bool {
        let Some((last, above)) = self.0.split_last() else {
            *document = value;
            return true;
        };
        let mut place = document;
        for part in above {
            let Some(below) = entry(place, part) else {
                return false;
            };
            if below.is_null() {
                *below = Value::Object(Map::new());
            }
            place = below;
        }
        match entry(place, last) {
            Some(slot) => {
                *slot = value;
                true
            }
            None => false,
        }
    }

    /// Takes the value away; `None` when there is none.
    pub fn take(&self, document: &mut Value) -> Option<Value> {
        let (last, above) = self.0.split_last()?;
        let mut place = document;
        for part in above {
            place = match place {
                Value::Object(fields) => fields.get_mut(part)?,
                Value::Array(items) => items.get_mut(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        match place {
            Value::Object(fields) => fields.shift_remove(last),
            Value::Array(items) => {
                let index: usize = last.parse().ok()?;
                (index < items.len()).then(|| items.remove(index))
            }
            _ => None,
        }
    }
}

fn step<'a>(value: &'a Value, part: &str) -> Option<&'a Value> {
    match value {
        Value::Object(fields) => fields.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    }
}

/// The slot for `part`; one behind the end of a list is a new one.
fn entry<'a>(value: &'a mut Value, part: &str) -> Option<&'a mut Value> {
    match value {
        Value::Object(fields) => Some(fields.entry(part.to_owned()).or_insert(Value::Null)),
        Value::Array(items) => {
            let index: usize = part.parse().ok()?;
            if index == items.len() {
                items.push(Value::Null);
            }
            items.get_mut(index)
        }
        _ => None,
    }
}

fn plain(text: &str) -> (String, &str) {
    let mut part = String::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '.' | '[' => return (part, &text[at..]),
            '\\' => part.extend(characters.next().map(|(_, escaped)| escaped)),
            other => part.push(other),
        }
    }
    (part, "")
}

fn bracketed<'a>(inner: &'a str, whole: &str) -> Result<(String, &'a str), Error> {
    let misfit = || Error::Bracket(whole.to_owned());
    let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\''));
    let Some(quote) = quote else {
        let (part, after) = inner.split_once(']').ok_or_else(misfit)?;
        return Ok((part.to_owned(), after));
    };
    let mut part = String::new();
    let mut characters = inner.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => part.extend(characters.next().map(|(_, escaped)| escaped)),
            c if c == quote => {
                let after = inner[at + 1..].strip_prefix(']').ok_or_else(misfit)?;
                return Ok((part, after));
            }
            other => part.push(other),
        }
    }
    Err(misfit())
}

fn next<'a>(after: &'a str, whole: &str) -> Result<&'a str, Error> {
    match after.chars().next() {
        None => Ok(after),
        Some('[') => Ok(after),
        Some('.') if after.len() > 1 => Ok(&after[1..]),
        Some('.') => Err(Error::Empty(whole.to_owned())),
        Some(_) => Err(Error::Bracket(whole.to_owned())),
    }
}

impl<S: Into<String>> FromIterator<S> for KeyPath {
    fn from_iter<I: IntoIterator<Item = S>>(parts: I) -> Self {
        Self(parts.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return formatter.write_str("(top level)");
        }
        for (index, part) in self.0.iter().enumerate() {
            if part.is_empty() || part.contains(['.', '[', ']', '\\', '"', '\'']) {
                let escaped = part.replace('\\', "\\\\").replace('"', "\\\"");
                write!(formatter, "[\"{escaped}\"]")?;
            } else if index == 0 {
                formatter.write_str(part)?;
            } else {
                write!(formatter, ".{part}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parts(text: &str) -> Vec<String> {
        KeyPath::parse(text).unwrap().0
    }

    #[test]
    fn dots_brackets_and_escapes() {
        assert_eq!(parts("agents.list[0].id"), ["agents", "list", "0", "id"]);
        assert_eq!(parts("agents.list.0.id"), ["agents", "list", "0", "id"]);
        assert_eq!(parts("models[\"a.b\"].x"), ["models", "a.b", "x"]);
        assert_eq!(parts("models['a]b']"), ["models", "a]b"]);
        assert_eq!(parts(r"models.a\.b"), ["models", "a.b"]);
        for wrong in [
            "", ".", "a.", ".a", "a..b", "a[", "a[0", "a[0]b", "a['x", "a[]",
        ] {
            assert!(KeyPath::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_are_put_and_taken() {
        let mut document = json!({"list": [1]});
        assert!(KeyPath::parse("a.b").unwrap().put(&mut document, json!(2)));
        assert!(
            KeyPath::parse("list[1]")
                .unwrap()
                .put(&mut document, json!(3))
        );
        assert!(
            !KeyPath::parse("list[9]")
                .unwrap()
                .put(&mut document, json!(3))
        );
        assert!(
            !KeyPath::parse("a.b.c")
                .unwrap()
                .put(&mut document, json!(3))
        );
        assert_eq!(document, json!({"list": [1, 3], "a": {"b": 2}}));
        assert_eq!(
            KeyPath::parse("list[0]").unwrap().take(&mut document),
            Some(json!(1))
        );
        assert_eq!(KeyPath::parse("x.y").unwrap().take(&mut document), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn key_what_is_shown_can_be_typed(parts in proptest::collection::vec(".{1,8}", 1..4)) {
            let path: KeyPath = parts.into_iter().collect();
            prop_assert_eq!(KeyPath::parse(&path.to_string()), Ok(path));
        }
    }

    #[test]
    fn path_is_below_itself_and_what_is_above() {
        let path = |text| KeyPath::parse(text).unwrap();
        let below = path("a.b");
        for (other, starts) in [("a", true), ("a.b", true), ("a.b.c", false), ("b", false)] {
            assert_eq!(below.starts_with(&path(other)), starts, "{other}");
        }
        assert!(below.starts_with(&KeyPath::default()));
        assert_eq!(below.child("c"), path("a.b.c"));
        assert_eq!(below.child("c").parent(), below);
        assert_eq!(below.last(), "b");
        assert_eq!(KeyPath::default().last(), "");
        assert_eq!(KeyPath::default().parent(), KeyPath::default());
    }

    #[test]
    fn values_are_found_and_taken_in_lists_and_objects() {
        let document = json!({"a": [{"b": 1}, [2, 3]], "c": null});
        for (path, expected) in [
            ("a[0].b", Some(json!(1))),
            ("a[1][1]", Some(json!(3))),
            ("c", Some(json!(null))),
            ("a[2]", None),
            ("a.x", None),
            ("a[0].b.c", None),
            ("x", None),
        ] {
            let path = KeyPath::parse(path).unwrap();
            assert_eq!(path.get(&document).cloned(), expected, "{path}");
            let mut without = document.clone();
            assert_eq!(path.take(&mut without), expected, "{path}");
            assert_eq!(without == document, expected.is_none(), "{path}");
        }
        let mut whole = document.clone();
        assert_eq!(KeyPath::default().take(&mut whole), None);
        assert!(KeyPath::default().put(&mut whole, json!(1)));
        assert_eq!(whole, json!(1));
    }

    #[test]
    fn characters_behind_a_backslash_are_taken_as_they_are() {
        assert_eq!(parts(r"a\\b.c\[d"), [r"a\b", "c[d"]);
        assert_eq!(parts(r#"["a\"b"].c"#), ["a\"b", "c"]);
        assert_eq!(parts("['a\"b']"), ["a\"b"]);
        assert_eq!(parts("a[0][1]"), ["a", "0", "1"]);
    }
}
