//! What a part of the schema allows, in words.

use serde_json::Value;

use super::Schema;

/// The largest number that is worth naming as a bound: above it only the size
/// of the machine's integers is meant.
const LARGEST_NAMED: f64 = 1e9;

/// The values of an `enum` or `const`.
pub(super) fn members(node: &Value) -> impl Iterator<Item = &Value> {
    let list = node.get("enum").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .chain(node.get("const"))
        .filter(|value| !value.is_null())
}

impl Schema {
    /// What one of these allows.
    pub(super) fn describe(&self, nodes: &[&Value]) -> String {
        let words: Vec<String> = nodes
            .iter()
            .flat_map(|node| members(node))
            .map(|word| {
                word.as_str()
                    .map_or_else(|| word.to_string(), str::to_owned)
            })
            .collect();
        let rest = nodes
            .iter()
            .filter(|node| members(node).next().is_none())
            .filter_map(|node| self.kind(node));
        let words = (!words.is_empty()).then(|| words.join(", "));
        let all: Vec<String> = words.into_iter().chain(rest).collect();
        all.join(" or ")
    }

    fn kind(&self, node: &Value) -> Option<String> {
        let names: Vec<&str> = match node.get("type") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(name)) => vec![name],
            _ => return None,
        };
        let names = names.into_iter().filter(|name| *name != "null");
        let words: Vec<String> = names.map(|name| self.type_name(name, node)).collect();
        (!words.is_empty()).then(|| words.join(" or "))
    }

    fn type_name(&self, name: &str, node: &Value) -> String {
        match name {
            "boolean" => "true or false".to_owned(),
            "integer" => format!("a whole number{}", range(node)),
            "number" => format!("a number{}", range(node)),
            "string" => "a string".to_owned(),
            "object" => "an object { … }".to_owned(),
            "array" => match node.get("items") {
                Some(item) => format!("a list of: {}", self.describe(&self.alternatives(item))),
                None => "a list".to_owned(),
            },
            other => other.to_owned(),
        }
    }
}

fn range(node: &Value) -> String {
    let bound = |name: &str| node.get(name).and_then(Value::as_f64);
    let most = bound("maximum").filter(|most| *most <= LARGEST_NAMED);
    match (bound("minimum"), bound("exclusiveMinimum"), most) {
        (Some(least), _, Some(most)) => format!(" from {least} to {most}"),
        (Some(least), _, None) => format!(", at least {least}"),
        (None, Some(least), _) => format!(" above {least}"),
        (None, None, Some(most)) => format!(", at most {most}"),
        (None, None, None) => String::new(),
    }
}
