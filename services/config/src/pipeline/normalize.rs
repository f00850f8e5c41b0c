//! Paths of the configuration as absolute ones (seed 003 §2.3, step 12).

use serde_json::Value;

use crate::key::KeyPath;
use crate::paths::Paths;

/// Where paths are; `*` is any key or index.
const PATHS: [&str; 10] = [
    "agents.defaults.sandbox.paths.ro.*",
    "agents.defaults.sandbox.paths.rw.*",
    "agents.defaults.workspace",
    "agents.list.*.sandbox.paths.ro.*",
    "agents.list.*.sandbox.paths.rw.*",
    "agents.list.*.workspace",
    "logging.file",
    "memory.workspacePath",
    "sandbox.paths.ro.*",
    "sandbox.paths.rw.*",
];

/// Whose keys say where the programs of agent CLIs are.
const AGENTS: [&str; 3] = ["agent", "agents.defaults", "agents.list.*"];

/// Puts the home in for `~` and makes relative paths absolute. A program's
/// name without a slash is looked for on the PATH and stays.
pub fn apply(document: &mut Value, paths: &Paths) {
    let programs = openclaw_agent_clis::ALL.into_iter().flat_map(|cli| {
        let key = move |agent| (format!("{agent}.{}", cli.path_key), true);
        AGENTS.into_iter().map(key)
    });
    let others = PATHS.map(|pattern| (pattern.to_owned(), false));
    for (pattern, is_program) in programs.chain(others) {
        let Ok(pattern) = KeyPath::parse(&pattern) else {
            continue;
        };
        visit(document, pattern.parts(), &mut |path| {
            if !path.is_empty() && (path.contains('/') || !is_program) {
                *path = paths.expand(path).display().to_string();
            }
        });
    }
}

fn visit(value: &mut Value, pattern: &[String], change: &mut impl FnMut(&mut String)) {
    let Some((part, below)) = pattern.split_first() else {
        if let Value::String(path) = value {
            change(path);
        }
        return;
    };
    match value {
        Value::Array(items) if part == "*" => {
            items.iter_mut().for_each(|item| visit(item, below, change));
        }
        Value::Object(fields) => {
            if let Some(field) = fields.get_mut(part) {
                visit(field, below, change);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn homes_and_relative_paths() {
        let paths = Paths::resolve(&[("HOME", "/home/claw")].into_iter().collect()).unwrap();
        let mut document = json!({
            "agents": {"defaults": {"workspace": "~/w", "claudeCliPath": "claude"},
                "list": [{"workspace": "other"}, {"workspace": "/abs"}]},
            "sandbox": {"paths": {"ro": ["~/a", "b"]}},
            "memory": {"workspacePath": 5},
        });
        apply(&mut document, &paths);
        let expected = json!({
            "agents": {"defaults": {"workspace": "/home/claw/w", "claudeCliPath": "claude"},
                "list": [{"workspace": "/home/claw/.openclaw/other"}, {"workspace": "/abs"}]},
            "sandbox": {"paths": {"ro": ["/home/claw/a", "/home/claw/.openclaw/b"]}},
            "memory": {"workspacePath": 5},
        });
        assert_eq!(document, expected);
    }
}
