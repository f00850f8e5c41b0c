//! Holding a document against the schema.

use serde_json::{Map, Value};

use super::{Schema, describe, extra};
use crate::key::KeyPath;
use crate::nearest::nearest;
use crate::problem::{Kind, Problem};

impl Schema {
    pub(super) fn check_at(&self, node: &Value, path: &KeyPath, value: &Value) -> Vec<Problem> {
        if is_pending(value) {
            return Vec::new();
        }
        let alternatives = self.alternatives(node);
        let fitting: Vec<_> = alternatives
            .iter()
            .filter(|node| has_type(node, value))
            .collect();
        let fewest = fitting
            .into_iter()
            .map(|node| self.check_one(node, path, value))
            .min_by_key(Vec::len);
        match fewest {
            Some(problems) if problems.is_empty() => problems,
            Some(problems) if alternatives.len() == 1 || value.is_object() || value.is_array() => {
                problems
            }
            _ => vec![self.not_allowed(&alternatives, path, value)],
        }
    }

    fn check_one(&self, node: &Value, path: &KeyPath, value: &Value) -> Vec<Problem> {
        if !is_member(node, value) || !is_in_range(node, value) {
            return vec![self.not_allowed(&[node], path, value)];
        }
        match value {
            Value::Object(fields) => self.check_object(node, path, fields),
            Value::Array(items) => match node.get("items") {
                Some(item) => items
                    .iter()
                    .enumerate()
                    .flat_map(|(at, value)| {
                        self.check_at(item, &path.child(&at.to_string()), value)
                    })
                    .collect(),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn check_object(
        &self,
        node: &Value,
        path: &KeyPath,
        fields: &Map<String, Value>,
    ) -> Vec<Problem> {
        let properties = node.get("properties").and_then(Value::as_object);
        let mut problems = Vec::new();
        for (key, value) in fields {
            let here = path.child(key);
            match (properties.and_then(|all| all.get(key)), extra(node)) {
                (Some(node), _) | (None, Some(node @ Value::Object(_))) => {
                    problems.extend(self.check_at(node, &here, value));
                }
                (None, Some(Value::Bool(false))) => {
                    let known = properties.map(|all| all.keys().cloned().collect());
                    problems.push(unknown_key(&here, known.unwrap_or_default()));
                }
                _ => {}
            }
        }
        let required = node.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(key) {
                problems.push(Problem::other(path.child(key), "is missing"));
            }
        }
        problems
    }

    fn not_allowed(&self, nodes: &[&Value], path: &KeyPath, value: &Value) -> Problem {
        let words = nodes.iter().flat_map(|node| describe::members(node));
        let words: Vec<&str> = words.filter_map(Value::as_str).collect();
        let near = value
            .as_str()
            .and_then(|text| nearest(text, words.iter().copied()))
            .map(str::to_owned);
        Problem::value(path.clone(), value, self.describe(nodes), near)
    }
}

pub(super) fn unknown_key(path: &KeyPath, known: Vec<String>) -> Problem {
    let nearest = nearest(path.last(), known.iter().map(String::as_str)).map(str::to_owned);
    Problem {
        path: path.clone(),
        nearest,
        kind: Kind::UnknownKey { known },
        place: None,
    }
}

/// Whether it is a string with a variable that is still to be put in.
fn is_pending(value: &Value) -> bool {
    value
        .as_str()
        .and_then(|text| text.split_once("${"))
        .is_some_and(|(_, rest)| rest.contains('}'))
}

fn has_type(node: &Value, value: &Value) -> bool {
    let fits = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    match node.get("type") {
        Some(Value::Array(names)) => names.iter().any(fits),
        Some(name) => fits(name),
        None => true,
    }
}

fn is_member(node: &Value, value: &Value) -> bool {
    let members: Vec<_> = describe::members(node).collect();
    // A type that may be null lists only its words.
    members.is_empty() || members.contains(&value) || value.is_null()
}

fn is_in_range(node: &Value, value: &Value) -> bool {
    let bound = |name: &str| node.get(name).and_then(Value::as_f64);
    if let Some(number) = value.as_f64() {
        return bound("minimum").is_none_or(|least| number >= least)
            && bound("exclusiveMinimum").is_none_or(|least| number > least)
            && bound("maximum").is_none_or(|most| number <= most);
    }
    let shortest = node.get("minLength").and_then(Value::as_u64).unwrap_or(0);
    value
        .as_str()
        .is_none_or(|text| text.len() as u64 >= shortest)
}
