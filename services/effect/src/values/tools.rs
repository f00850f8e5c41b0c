//! Names of tools in lists, of which some are no tool's here.
//!
//! What OpenClaw has and is not here is listed with what has no effect; a name that
//! nobody knows is a doubt: a denial that is misspelt denies nothing.

use openclaw_config::key::KeyPath;
use openclaw_config::nearest;
use openclaw_config::problem::Problem;
use openclaw_policy::{Entry, known};
use serde_json::Value;

use super::REFERENCE;

/// The lists of a section `tools`.
const LISTS: [&str; 3] = ["allow", "alsoAllow", "deny"];

/// Entries that name a tool or a group of OpenClaw's that is not here.
pub(super) fn idle(document: &Value) -> Vec<(KeyPath, String)> {
    let absent = |(path, name): (KeyPath, &str)| {
        let is_absent = Entry::of(name) == Entry::Absent;
        is_absent.then(|| (path, format!("OpenClaw's {name:?} is no tool here")))
    };
    entries(document).into_iter().filter_map(absent).collect()
}

/// Entries that name nothing.
pub(super) fn doubts(document: &Value) -> Vec<Problem> {
    let unknown = |(path, name): (KeyPath, &str)| {
        (Entry::of(name) == Entry::Unknown).then(|| doubt(path, name))
    };
    entries(document).into_iter().filter_map(unknown).collect()
}

fn doubt(path: KeyPath, name: &str) -> Problem {
    let instead = if path.parent().last() == "deny" {
        "so it denies nothing"
    } else {
        "so it allows nothing"
    };
    let known: Vec<String> = known().collect();
    let meant = nearest::question(name, known.iter().map(String::as_str));
    let meant = meant.map_or_else(String::new, |question| format!("; {question}"));
    let text = format!("{name:?} is the name of no tool or group, {instead}{meant}");
    Problem::other(path, text)
}

/// The entries of all lists; what refers to a variable is not judged.
fn entries(document: &Value) -> Vec<(KeyPath, &str)> {
    let whole = document.get("tools");
    let whole = whole.map(|tools| (KeyPath::default().child("tools"), tools));
    let own = super::agents(document)
        .into_iter()
        .filter_map(|(path, agent)| Some((path.child("tools"), agent.get("tools")?)));
    let mut found = Vec::new();
    for (path, tools) in whole.into_iter().chain(own) {
        for list in LISTS {
            let path = path.child(list);
            let names = tools.get(list).and_then(Value::as_array);
            for (at, name) in names.into_iter().flatten().enumerate() {
                let name = name.as_str().filter(|name| !name.contains(REFERENCE));
                found.extend(name.map(|name| (path.child(&at.to_string()), name)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(tools: &Value) -> Vec<String> {
        let everywhere = json!({"tools": tools, "agents": {"list": [{"id": "a", "tools": tools}],
            "entries": {"b": {"tools": tools}}, "defaults": {"tools": tools}}});
        let doubts = doubts(&everywhere).into_iter().map(|it| it.to_string());
        doubts.collect()
    }

    #[test]
    fn misspelt_tool_is_told_with_what_was_meant() {
        let said =
            said(&json!({"deny": ["exec", "exce"], "allow": ["raed"], "alsoAllow": ["zzz"]}));
        assert_eq!(said.len(), 12, "{said:#?}");
        for section in ["tools", "agents.list.0.tools", "agents.entries.b.tools"] {
            for (list, words) in [
                (
                    "deny.1",
                    "\"exce\" is the name of no tool or group, so it denies nothing; did you mean \"exec\"?",
                ),
                (
                    "allow.0",
                    "\"raed\" is the name of no tool or group, so it allows nothing; did you mean \"read\"?",
                ),
                (
                    "alsoAllow.0",
                    "\"zzz\" is the name of no tool or group, so it allows nothing",
                ),
            ] {
                let line = format!("{section}.{list}");
                let is_it = |it: &&String| it.starts_with(&line) && it.ends_with(words);
                assert!(said.iter().any(|it| is_it(&it)), "{line}: {said:#?}");
            }
        }
    }

    #[test]
    fn tools_what_openclaw_has_is_no_mistake() {
        let tools = json!({"deny": ["browser", "group:ui", "files__*", "${TOOL}", "bundle-mcp"],
            "allow": ["web_fetch", "group:web", "*"]});
        assert_eq!(said(&tools), Vec::<String>::new());
        let idle = idle(&json!({ "tools": tools }));
        let keys: Vec<String> = idle.iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(keys, ["tools.deny.0", "tools.deny.1"]);
        assert!(idle[0].1.contains("\"browser\""));
    }
}
