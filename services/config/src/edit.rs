//! Changes one value of a JSON5 text and leaves the rest as it was written.

use std::ops::Range;

use serde_json::Value;

use crate::key::KeyPath;
use crate::syntax::{self, Fault, Kind, Node};

mod insert;
mod layout;
mod list;
mod remove;

pub use list::with_list;

/// Why a text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is no JSON5 as it is.
    #[error("the file is not valid JSON5 at line {line}, column {column}")]
    Broken {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// Something on the way is neither an object nor a list.
    #[error("{0} is neither an object nor a list, so nothing can be put into it")]
    NoContainer(KeyPath),
    /// A list has no such place.
    #[error("{0} is behind the end of the list, which has {1} entries")]
    NoSuchEntry(KeyPath, usize),
    /// What would be in the list is written by id.
    #[error("{0} cannot be counted: its entries are written by id, as {1}")]
    ById(KeyPath, KeyPath),
    /// There is nothing to take away.
    #[error("{0} is not set")]
    NotSet(KeyPath),
}

/// A replacement of a part of the text.
type Change = (Range<usize>, String);

/// The text with `value` at `path`; what is missing on the way is made.
pub fn set(text: &str, path: &KeyPath, value: &Value) -> Result<String, Error> {
    let Some(root) = structure(text)? else {
        return set(&layout::with_empty_object(text), path, value);
    };
    let parts = path.parts();
    let found = (0..=parts.len())
        .rev()
        .find_map(|length| Some((length, root.at(&parts[..length])?)));
    let (length, node) = found.unwrap_or((0, &root));
    let (here, below) = parts.split_at(length);
    let is_null = &text[node.span.clone()] == "null";
    let change = match (below.split_first(), &node.kind) {
        (None, _) => vec![layout::replacement(text, &root, node, value)],
        (Some((key, rest)), Kind::Object(members)) => {
            insert::member(text, &root, (node, members), key, &nested(rest, value))
        }
        (Some((index, rest)), Kind::Array(items)) if *index == items.len().to_string() => {
            insert::item(text, &root, (node, items), &nested(rest, value))
        }
        (Some((index, _)), Kind::Array(items)) => {
            let place = here.iter().chain([index]).cloned().collect();
            return Err(Error::NoSuchEntry(place, items.len()));
        }
        (Some(_), Kind::Scalar) if is_null => {
            vec![layout::replacement(
                text,
                &root,
                node,
                &nested(below, value),
            )]
        }
        (Some(_), Kind::Scalar) => {
            return Err(Error::NoContainer(here.iter().cloned().collect()));
        }
    };
    Ok(applied(text, change))
}

/// The text without the value at `path`. Comments stay.
pub fn unset(text: &str, path: &KeyPath) -> Result<String, Error> {
    let missing = || Error::NotSet(path.clone());
    let root = structure(text)?.ok_or_else(missing)?;
    let parent = root.at(path.parent().parts()).ok_or_else(missing)?;
    let change = match &parent.kind {
        Kind::Object(members) => {
            let spans: Vec<_> = members
                .iter()
                .map(|member| member.key_span.start..member.value.span.end)
                .collect();
            let index = members.iter().rposition(|member| member.key == path.last());
            remove::element(text, &spans, index.ok_or_else(missing)?)
        }
        Kind::Array(items) => {
            let spans: Vec<_> = items.iter().map(|item| item.span.clone()).collect();
            let index: usize = path.last().parse().map_err(|_| missing())?;
            if index >= spans.len() {
                return Err(missing());
            }
            remove::element(text, &spans, index)
        }
        Kind::Scalar => return Err(missing()),
    };
    let shorter = applied(text, change);
    // A key that was written twice is gone only with both.
    match structure(&shorter)? {
        Some(rest) if is_member(&rest, path) => unset(&shorter, path),
        _ => Ok(shorter),
    }
}

fn is_member(root: &Node, path: &KeyPath) -> bool {
    root.at(path.parent().parts()).is_some_and(|parent| {
        matches!(parent.kind, Kind::Object(_)) && parent.child(path.last()).is_some()
    })
}

fn structure(text: &str) -> Result<Option<Node>, Error> {
    syntax::parse(text).map_err(|fault| {
        let (Fault::TooDeep(at) | Fault::Structure(at)) = fault;
        let (line, column) = syntax::line_and_column(text, at);
        Error::Broken { line, column }
    })
}

/// `value` inside the objects that are missing on the way to it.
fn nested(parts: &[String], value: &Value) -> Value {
    parts.iter().rev().fold(value.clone(), |inner, part| {
        Value::Object([(part.clone(), inner)].into_iter().collect())
    })
}

fn applied(text: &str, mut changes: Vec<Change>) -> String {
    changes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut result = text.to_owned();
    for (range, with) in changes {
        result.replace_range(range, &with);
    }
    result
}

#[cfg(test)]
mod tests;
