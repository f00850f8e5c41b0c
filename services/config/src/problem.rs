//! One thing that is wrong with the configuration.

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use crate::key::KeyPath;
use crate::redact;

/// The longest value that is shown whole, in characters; a message is one line.
const SHOWN_LENGTH: usize = 60;
/// How many known keys are listed; OpenClaw's longest section has sixty.
const LISTED_KEYS: usize = 12;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A value that is not allowed.
    Value {
        /// The value as JSON; secrets are not shown.
        value: String,
        /// What would be allowed.
        allowed: String,
    },
    /// A key that is not known.
    UnknownKey {
        /// The keys there are, in their order.
        known: Vec<String>,
    },
    /// Something else.
    Other(String),
}

/// Where something is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1.
    pub column: usize,
}

/// One thing that is wrong with the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The value.
    pub path: KeyPath,
    /// What is wrong with it.
    pub kind: Kind,
    /// The nearest word that would be right.
    pub nearest: Option<String>,
    /// Where it is written, when that is known.
    pub place: Option<Box<Place>>,
}

impl Problem {
    /// A problem without further details.
    pub fn other(path: KeyPath, text: impl Into<String>) -> Self {
        Self {
            path,
            kind: Kind::Other(text.into()),
            nearest: None,
            place: None,
        }
    }

    /// A value that is not allowed.
    pub fn value(path: KeyPath, value: &Value, allowed: String, nearest: Option<String>) -> Self {
        let kind = Kind::Value {
            value: shown(&path, value),
            allowed,
        };
        Self {
            path,
            kind,
            nearest,
            place: None,
        }
    }

    /// What is wrong, without the path.
    pub fn text(&self) -> String {
        let nearest = match &self.nearest {
            Some(nearest) => format!("; did you mean {nearest:?}?"),
            None => String::new(),
        };
        match &self.kind {
            Kind::Value { value, allowed } => format!("is {value}; allowed: {allowed}{nearest}"),
            Kind::UnknownKey { known } => {
                format!(
                    "is not known{nearest}{}",
                    listed(known, self.nearest.is_some())
                )
            }
            Kind::Other(text) => format!("{text}{nearest}"),
        }
    }

    /// What would be allowed, when that can be said.
    pub fn allowed(&self) -> Option<String> {
        match &self.kind {
            Kind::Value { allowed, .. } => Some(allowed.clone()),
            Kind::UnknownKey { known } => Some(known.join(", ")),
            Kind::Other(_) => None,
        }
    }

    /// The same behind the place where it is, where that is known.
    pub fn placed(&self) -> String {
        match &self.place {
            Some(place) => {
                let file = place.file.display();
                format!("{file}:{}:{}: {self}", place.line, place.column)
            }
            None => self.to_string(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.text())
    }
}

fn listed(known: &[String], near: bool) -> String {
    let keys = known.iter().take(LISTED_KEYS).cloned().collect::<Vec<_>>();
    match (keys.join(", "), known.len() > LISTED_KEYS) {
        (keys, _) if keys.is_empty() => String::new(),
        // With the right word at hand a long list only hides it.
        (_, true) if near => String::new(),
        (keys, true) => format!("; allowed are {keys}, …"),
        (keys, false) => format!("; allowed are {keys}"),
    }
}

fn shown(path: &KeyPath, value: &Value) -> String {
    let text = redact::redacted(path, value).to_string();
    match text.char_indices().nth(SHOWN_LENGTH) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> KeyPath {
        KeyPath::parse(text).unwrap()
    }

    #[test]
    fn values_are_shown_up_to_a_length() {
        for (length, shown) in [(58, true), (59, false)] {
            let value = "ä".repeat(length);
            let problem = Problem::value(path("a"), &json!(value), "b".to_owned(), None);
            let whole = format!("a: is \"{value}\"; allowed: b");
            let cut = format!("a: is \"{}…; allowed: b", "ä".repeat(59));
            let expected = if shown { whole } else { cut };
            assert_eq!(problem.to_string(), expected);
            assert_eq!(problem.allowed().as_deref(), Some("b"));
        }
    }

    #[test]
    fn known_keys_are_listed_unless_they_hide_the_right_one() {
        let problem = |count: usize, nearest: Option<&str>| Problem {
            path: path("x"),
            kind: Kind::UnknownKey {
                known: (0..count).map(|at| format!("k{at}")).collect(),
            },
            nearest: nearest.map(str::to_owned),
            place: None,
        };
        let keys = |count: usize| {
            let keys: Vec<_> = (0..count).map(|at| format!("k{at}")).collect();
            keys.join(", ")
        };
        assert_eq!(problem(0, None).text(), "is not known");
        let twelve = format!("is not known; allowed are {}", keys(12));
        assert_eq!(problem(12, None).text(), twelve);
        assert_eq!(problem(13, None).text(), twelve + ", …");
        let near = "is not known; did you mean \"k1\"?";
        assert_eq!(problem(13, Some("k1")).text(), near);
        let both = format!("{near}; allowed are {}", keys(12));
        assert_eq!(problem(12, Some("k1")).text(), both);
        assert_eq!(problem(13, None).allowed(), Some(keys(13)));
        assert_eq!(Problem::other(path("x"), "is odd").allowed(), None);
    }
}
