//! The JSON Schema of the configuration: what is known, and what is allowed.
//!
//! It is generated from the types of the sections and shipped as
//! packaging/openclaw.schema.json; a test keeps the two the same.

use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::key::KeyPath;
use crate::problem::Problem;

mod check;
mod definitions;
mod describe;

use definitions::Definitions;

/// The schema as it is shipped.
pub const TEXT: &str = include_str!("../../../packaging/openclaw.schema.json");

/// The schema, to ask. Nine tenths of it are definitions, of which one question
/// needs few: each is parsed when it is first asked for.
#[derive(Debug, Default)]
pub struct Schema {
    root: Value,
    definitions: Definitions,
}

impl Schema {
    /// The schema that is shipped.
    pub fn shipped() -> &'static Self {
        // A test parses the text; without it nothing would be known, and
        // everything refused.
        static SHIPPED: LazyLock<Schema> =
            LazyLock::new(|| definitions::taken_apart(TEXT).unwrap_or_default());
        &SHIPPED
    }

    /// Everything that is wrong with `document`. A string that still refers
    /// to a variable is taken for anything it could become.
    pub fn check(&self, document: &Value) -> Vec<Problem> {
        self.check_at(&self.root, &KeyPath::default(), document)
    }

    /// Everything that is wrong with `value` as the value at `path`.
    pub fn check_value(&self, path: &KeyPath, value: &Value) -> Vec<Problem> {
        match self.at(path) {
            Some(node) => self.check_at(node, path, value),
            None => vec![self.unknown(path)],
        }
    }

    /// The part of the schema for the value at `path`.
    pub fn at(&self, path: &KeyPath) -> Option<&Value> {
        path.parts()
            .iter()
            .try_fold(&self.root, |node, part| self.child(node, part))
            .map(|node| self.resolved(node))
    }

    /// Whether the value at `path` is a list.
    pub fn is_list(&self, path: &KeyPath) -> bool {
        self.at(path)
            .is_some_and(|node| node.get("items").is_some())
    }

    /// Why there is no value at `path`: the first part that is not known.
    pub fn unknown(&self, path: &KeyPath) -> Problem {
        let mut here = KeyPath::default();
        let mut node = &self.root;
        for part in path.parts() {
            match self.child(node, part) {
                Some(child) => node = child,
                None => return check::unknown_key(&here.child(part), self.keys(node)),
            }
            here = here.child(part);
        }
        Problem::other(path.clone(), "is known")
    }

    /// The value that `text` stands for as the value at `path`: a string where
    /// one is allowed and the text is nothing better, else JSON5.
    pub fn typed(&self, path: &KeyPath, text: &str) -> Result<Value, Problem> {
        let plain = Value::from(text);
        let parsed = crate::parse::parse_value(Path::new(""), text).ok();
        let Some(parsed) = parsed.flatten() else {
            return self.allowed(path, plain);
        };
        // "12345" may be a token.
        match self.allowed(path, parsed) {
            Ok(value) => Ok(value),
            Err(problem) => self.allowed(path, plain).map_err(|_| problem),
        }
    }

    fn allowed(&self, path: &KeyPath, value: Value) -> Result<Value, Problem> {
        match self.check_value(path, &value).into_iter().next() {
            Some(problem) => Err(problem),
            None => Ok(value),
        }
    }

    /// The path that is meant by parts of a variable's name, in which case and
    /// underscores do not count. `document` tells names the schema leaves open.
    pub fn resolve(&self, parts: &[&str], document: &Value) -> Result<KeyPath, Problem> {
        let mut path = KeyPath::default();
        let mut node = &self.root;
        for part in parts {
            let name = self
                .keys(node)
                .into_iter()
                .find(|key| folded(key) == folded(part))
                .or_else(|| existing(&path, document, part))
                .unwrap_or_else(|| part.to_lowercase());
            match self.child(node, &name) {
                Some(child) => node = child,
                None => return Err(check::unknown_key(&path.child(&name), self.keys(node))),
            }
            path = path.child(&name);
        }
        Ok(path)
    }

    fn resolved<'a>(&'a self, node: &'a Value) -> &'a Value {
        let name = node
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| reference.strip_prefix("#/$defs/"));
        match name.and_then(|name| self.definitions.get(name)) {
            Some(definition) => self.resolved(definition),
            None => node,
        }
    }

    /// The alternatives of a node; itself when there are none.
    fn alternatives<'a>(&'a self, node: &'a Value) -> Vec<&'a Value> {
        let node = self.resolved(node);
        let either = ["anyOf", "oneOf"]
            .iter()
            .find_map(|word| node.get(word)?.as_array());
        match either {
            Some(nodes) => nodes
                .iter()
                .flat_map(|node| self.alternatives(node))
                .collect(),
            None => vec![node],
        }
    }

    fn child<'a>(&'a self, node: &'a Value, part: &str) -> Option<&'a Value> {
        self.alternatives(node).into_iter().find_map(|node| {
            let named = node.get("properties").and_then(|all| all.get(part));
            let listed = node.get("items").filter(|_| part.parse::<usize>().is_ok());
            named.or(listed).or_else(|| {
                let extra = extra(node)?;
                (extra.is_object() || extra == &Value::Bool(true)).then_some(extra)
            })
        })
    }

    fn keys(&self, node: &Value) -> Vec<String> {
        let objects = self.alternatives(node);
        let keys = objects
            .iter()
            .filter_map(|node| node.get("properties")?.as_object())
            .flat_map(Map::keys);
        keys.cloned().collect()
    }
}

/// What keys that are not listed may be; objects without a word about it take
/// everything.
fn extra(node: &Value) -> Option<&Value> {
    const EVERYTHING: &Value = &Value::Bool(true);
    let is_object = node.get("properties").is_some();
    let is_open = node
        .as_object()
        .is_none_or(|node| !node.contains_key("type"));
    node.get("additionalProperties")
        .or((!is_object && is_open).then_some(EVERYTHING))
}

fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

fn existing(path: &KeyPath, document: &Value, part: &str) -> Option<String> {
    let fields = path.get(document)?.as_object()?;
    fields
        .keys()
        .find(|key| folded(key) == folded(part))
        .cloned()
}

#[cfg(test)]
mod tests;
