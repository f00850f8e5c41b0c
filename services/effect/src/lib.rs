//! What each of OpenClaw's keys does here: those that are stated in
//! `openclaw-settings` act, and of each other the table says why it does not.
//! Nothing is silently ignored: what has no effect is listed, and what would
//! restrict something and does not is an error.
//!
//! The facts are in one table ([`table`]); the schema's keys that are only kept,
//! the lists that `config validate`, `doctor`, `status` and the daemons' logs
//! show, and the errors are made from it. A test holds it against OpenClaw's own
//! schema (`openclaw-keys/keys.txt`).

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use openclaw_config::key::KeyPath;
use openclaw_config::problem::Problem;
use openclaw_config::schema::Schema;
use serde::Serialize;
use serde_json::Value;
use table::Effect;

mod others;
pub mod table;
#[cfg(test)]
mod tests;
pub mod values;

pub use values::{absent_token_files, faults};

/// Keys of a configuration that have no effect, for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unused {
    /// Why: `not supported yet`, `not needed here: …` or `replaced by …`.
    pub reason: String,
    /// The keys, as they are written.
    pub keys: Vec<String>,
}

impl std::fmt::Display for Unused {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys = self.keys.join(", ");
        write!(formatter, "without effect ({}): {keys}", self.reason)
    }
}

/// The keys of `document` that have no effect, or none with their values, by reason.
pub fn unused(document: &Value) -> Vec<Unused> {
    let mut found: BTreeMap<(u8, String), Vec<String>> = BTreeMap::new();
    let mut add = |path: &KeyPath, effect: Effect, reason: Option<String>| {
        if let Some(reason) = reason {
            let keys = found.entry((effect.rank(), reason)).or_default();
            keys.push(path.to_string());
        }
    };
    visit(document, |path, value, effect, is_last| {
        let reason = effect.reason_with(value).filter(|_| is_last);
        add(path, effect, reason);
    });
    others::visit(document, |path, effect| add(path, effect, effect.reason()));
    for (path, reason) in values::idle(document) {
        add(&path, Effect::NotSupported(""), Some(reason));
    }
    let unused = |((_, reason), keys)| Unused { reason, keys };
    found.into_iter().map(unused).collect()
}

/// What in `document` would restrict something, and does not.
pub fn restrictions(document: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    visit(document, |path, value, effect, _| {
        let Effect::Restricts { when, instead } = effect else {
            return;
        };
        // A key whose value is a map is judged before what is in it.
        if when.holds(value) && !starts_any(&problems, path) {
            let text = format!("is a restriction that would not hold here yet: {instead}");
            problems.push(Problem::other(path.clone(), text));
        }
    });
    problems.extend(values::restrictions(document));
    problems
}

/// What in `document` is most likely a mistake, and does not do what it looks like.
pub fn doubts(document: &Value) -> Vec<Problem> {
    values::doubts(document)
}

fn starts_any(problems: &[Problem], path: &KeyPath) -> bool {
    problems
        .iter()
        .any(|problem| path.starts_with(&problem.path))
}

/// A section of the table as a tree, so that the entry nearest above a key is found.
#[derive(Debug, Default)]
struct Node {
    effect: Option<Effect>,
    below: BTreeMap<&'static str, Node>,
}

impl Node {
    fn child(&self, part: &str) -> Option<&Self> {
        self.below.get(part).or_else(|| self.below.get("*"))
    }
}

/// The nodes of sections. Each is made when a document has the section: most have
/// a few of them, and are read when a program starts.
static SECTIONS: LazyLock<BTreeMap<&'static str, OnceLock<Node>>> = LazyLock::new(|| {
    let sections = table::sections();
    sections.map(|name| (name, OnceLock::new())).collect()
});

/// The node of a section.
fn section(name: &str) -> Option<&'static Node> {
    let (name, node) = SECTIONS.get_key_value(name)?;
    Some(node.get_or_init(|| {
        let mut tree = Node::default();
        for (path, effect) in table::entries_of(name) {
            let mut node = &mut tree;
            for part in path {
                node = node.below.entry(part).or_default();
            }
            node.effect = Some(effect);
        }
        tree
    }))
}

/// What the table says of the key. One that it does not know is stated, and acts.
#[cfg(test)]
pub fn of(path: &KeyPath) -> Option<Effect> {
    let (first, rest) = path.parts().split_first()?;
    let mut node = section(first);
    let mut effect = node.and_then(|node| node.effect);
    for part in rest {
        node = node.and_then(|node| node.child(part));
        effect = node.and_then(|node| node.effect).or(effect);
    }
    effect
}

/// Shows every key of `document` with its value, its effect, and whether
/// nothing is below it. A list is one value unless the table knows what is in
/// it.
fn visit(document: &Value, mut each: impl FnMut(&KeyPath, &Value, Effect, bool)) {
    // The table says nothing of the whole.
    for (key, value) in document.as_object().into_iter().flatten() {
        let path = KeyPath::default().child(key);
        walk(value, &path, section(key), None, &mut each);
    }
}

fn walk(
    value: &Value,
    path: &KeyPath,
    node: Option<&Node>,
    above: Option<Effect>,
    each: &mut impl FnMut(&KeyPath, &Value, Effect, bool),
) {
    let effect = node.and_then(|node| node.effect).or(above);
    let effect = effect.or_else(|| is_kept(path).then_some(ELSEWHERE));
    let below: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, below)| (key.clone(), below))
            .collect(),
        Value::Array(items) if node.is_some_and(|node| node.below.contains_key("*")) => items
            .iter()
            .enumerate()
            .map(|(at, below)| (at.to_string(), below))
            .collect(),
        _ => Vec::new(),
    };
    if let Some(effect) = effect {
        each(path, value, effect, below.is_empty());
    }
    for (part, value) in below {
        let node = node.and_then(|node| node.child(read_as(path, &part)));
        walk(value, &path.child(&part), node, effect, each);
    }
}

/// How the schema describes keys that no type has.
pub const KEPT: &str = "Of OpenClaw; kept in the file";

/// Sections that have the same type have the same keys in the schema.
const ELSEWHERE: Effect = Effect::NotSupported("OpenClaw has this key in another section");

/// Whether the schema allows the key and no type has it.
fn is_kept(path: &KeyPath) -> bool {
    let Some(node) = Schema::shipped().at(path) else {
        return false;
    };
    let said = node.get("description").and_then(Value::as_str);
    node.get("properties").is_none() && said.is_some_and(|said| said.starts_with(KEPT))
}

/// `agents.list` is `agents.entries` as a list.
fn read_as<'a>(path: &KeyPath, part: &'a str) -> &'a str {
    match (path.parts(), part) {
        ([agents], "list") if agents == "agents" => "entries",
        _ => part,
    }
}
