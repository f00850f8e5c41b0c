//! The definitions of a schema, each parsed when it is first asked for: programs
//! that start for one message ask for a few of many.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::Schema;

/// The member of a schema that has them.
const KEY: &str = "$defs";

/// The definitions of a schema, by name.
#[derive(Debug, Default)]
pub(super) struct Definitions(BTreeMap<String, Definition>);

#[derive(Debug)]
struct Definition {
    text: &'static str,
    value: OnceLock<Value>,
}

impl Definitions {
    /// The definition of that name.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let definition = self.0.get(name)?;
        // A test parses all of them.
        let parse = || serde_json::from_str(definition.text).unwrap_or_default();
        Some(definition.value.get_or_init(parse))
    }
}

/// The schema in `text`; `None`: there is none.
pub(super) fn taken_apart(text: &'static str) -> Option<Schema> {
    let mut root = Map::new();
    let mut definitions = Definitions::default();
    let mut define = |name: String, rest: &'static str| {
        let (text, after) = value(rest)?;
        let value = OnceLock::new();
        definitions.0.insert(name, Definition { text, value });
        Some(after)
    };
    members(text, |key, rest| {
        if key == KEY {
            return members(rest, &mut define);
        }
        let (text, after) = value(rest)?;
        root.insert(key, serde_json::from_str(text).ok()?);
        Some(after)
    })?;
    Some(Schema {
        root: Value::Object(root),
        definitions,
    })
}

/// Shows `each` member of the object that `text` begins with: its key, and the text
/// from its value on, of which it gives back what comes after the value. What comes
/// after the object is given back in turn.
fn members(
    text: &'static str,
    mut each: impl FnMut(String, &'static str) -> Option<&'static str>,
) -> Option<&'static str> {
    let mut rest = text.trim_start().strip_prefix('{')?.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            return Some(after);
        }
        let (key, after) = value(rest)?;
        let key = serde_json::from_str(key).ok()?;
        let after = after.trim_start().strip_prefix(':')?.trim_start();
        let after = each(key, after)?.trim_start();
        rest = after.strip_prefix(',').unwrap_or(after).trim_start();
    }
}

/// The value that `text` begins with, and what comes after it. It is not parsed:
/// most of the schema is passed over here by every program that starts.
fn value(text: &'static str) -> Option<(&'static str, &'static str)> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => at = end_of_string(bytes, at)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
        let ends = || {
            matches!(
                bytes.get(at),
                None | Some(b',' | b'}' | b']' | b':' | b'\n')
            )
        };
        if depth == 0 && ends() {
            return text.split_at_checked(at);
        }
    }
}

/// Where the string that begins at `start` has its last quote.
fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TEXT;
    use super::*;

    #[test]
    fn schema_that_is_taken_apart_says_what_its_text_says() {
        let mut whole: Value = serde_json::from_str(TEXT).unwrap();
        let schema = taken_apart(TEXT).unwrap();
        let defined = whole.as_object_mut().unwrap().remove(KEY).unwrap();
        assert_eq!(schema.root, whole);
        let defined = defined.as_object().unwrap();
        assert!(defined.len() > 50, "{}", defined.len());
        assert_eq!(schema.definitions.0.len(), defined.len());
        for (name, value) in defined {
            assert_eq!(schema.definitions.get(name), Some(value), "{name}");
        }
        assert_eq!(schema.definitions.get("nosuch"), None);
    }

    #[test]
    fn definition_is_parsed_when_it_is_asked_for() {
        let schema = taken_apart(TEXT).unwrap();
        let parsed = |schema: &Schema| {
            let all = schema.definitions.0.values();
            all.filter(|one| one.value.get().is_some()).count()
        };
        assert_eq!(parsed(&schema), 0);
        let document = serde_json::json!({"logging": {"level": "warn"}});
        assert_eq!(schema.check(&document), []);
        assert!((1..10).contains(&parsed(&schema)), "{}", parsed(&schema));
    }

    #[test]
    fn text_that_is_no_schema_is_none() {
        for text in [
            "",
            "[]",
            "{",
            r#"{"a" 1}"#,
            r#"{"a": }"#,
            r#"{"$defs": 1}"#,
            r#"{"a": 1"#,
        ] {
            assert!(taken_apart(text).is_none(), "{text}");
        }
        assert!(taken_apart("{}").is_some());
    }
}
