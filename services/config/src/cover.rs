//! What is shown of a document whose secrets are known: none of them, wherever they stand
//! once more.

use serde_json::Value;

use crate::key::KeyPath;
use crate::redact::{RECOGNISABLE, REDACTED, redacted, secrets};
use crate::{parse, syntax};

/// What covers the secrets of a document.
#[derive(Debug, Default)]
pub struct Cover {
    secrets: Vec<String>,
}

impl Cover {
    /// Of `document`.
    pub fn of(document: &Value) -> Self {
        let found = secrets(document).into_iter().map(|(_, secret)| secret);
        let found = found.filter(|secret| secret.len() >= RECOGNISABLE);
        Self {
            secrets: found.map(str::to_owned).collect(),
        }
    }

    /// A part of the document, or what is made of it, without them.
    pub fn shown(&self, path: &KeyPath, value: &Value) -> Value {
        self.covered(redacted(path, value))
    }

    /// The document of this `text`, in which its secrets are covered already, if they are
    /// covered everywhere in it: not where a comment has one, or a key that counts no more
    /// because it is written again.
    pub fn admits(&self, text: &str, shown: &Value) -> bool {
        let Ok(read) = parse::parse("".as_ref(), text) else {
            return false;
        };
        let structure = syntax::parse(text).ok().flatten();
        let is_twice = structure.is_some_and(|node| !node.twice().is_empty());
        read == *shown && !is_twice && !self.is_in(text)
    }

    fn covered(&self, value: Value) -> Value {
        match value {
            Value::String(text) if self.is_in(&text) => Value::from(REDACTED),
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(key, value)| {
                    let key = if self.is_in(&key) {
                        REDACTED.to_owned()
                    } else {
                        key
                    };
                    (key, self.covered(value))
                });
                fields.collect::<serde_json::Map<_, _>>().into()
            }
            Value::Array(items) => items.into_iter().map(|it| self.covered(it)).collect(),
            other => other,
        }
    }

    /// Whether one of them stands in `text`, as it is or as JSON writes it.
    fn is_in(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| {
            let quoted = Value::from(secret.as_str()).to_string();
            text.contains(secret.as_str()) || text.contains(&quoted[1..quoted.len() - 1])
        })
    }
}
