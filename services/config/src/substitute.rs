//! `${VARIABLE}` references in strings (seed 003 §2.3, step 5).

use serde_json::{Map, Value};

use crate::environment::Environment;
use crate::key::KeyPath;
use crate::problem::Problem;

/// What a reference to a variable that is not set means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// An error, wherever it is.
    Refused,
    /// Left as it is in the sections whose secrets one daemon alone holds: they
    /// are in its environment alone.
    KeptForOwner,
    /// The agent-runner's: left as it is in the sections of the others.
    KeptForGateway,
}

/// Sections with secrets that are in the agent-runner's environment alone.
const RUNNER_SECTIONS: [&str; 4] = ["auth", "env", "models", "secrets"];
/// Sections with secrets that are in the gateway's environment, or in that of
/// a channel, a plugin or a tool.
const OTHER_SECTIONS: [&str; 11] = [
    "browser", "channels", "cron", "gateway", "hooks", "mcp", "messages", "plugins", "skills",
    "talk", "tools",
];

/// Where OpenClaw's secrets are.
const SOURCES: [&str; 4] = ["env", "file", "exec", "store"];
/// Keys of a channel that are its credentials.
const TOKENS: [&str; 2] = ["botToken", "tokenFile"];
/// What is left of a reference to a secret in a file, a program or a store: like a
/// variable that is not set, it is no value.
pub const ELSEWHERE: &str = "${a secret elsewhere}";

impl Missing {
    fn is_kept(self, path: &KeyPath) -> bool {
        let section = path.parts().first().map(String::as_str).unwrap_or_default();
        let runners = RUNNER_SECTIONS.contains(&section);
        let others = OTHER_SECTIONS.contains(&section);
        match self {
            Self::Refused => false,
            Self::KeptForOwner => runners || others,
            Self::KeptForGateway => others,
        }
    }
}

/// Replaces every `${NAME}` in every string of `document`, and every object
/// `{source: "env", provider, id: "NAME"}` (OpenClaw's SecretRef); `$${` stands
/// for a literal `${`. Returns what refers to a variable that is not set, which
/// is left as it is, and to a secret that is not a variable ([`ELSEWHERE`] is left).
pub fn apply(document: &mut Value, environment: &Environment) -> Vec<Problem> {
    let mut missing = Vec::new();
    walk(document, &KeyPath::default(), environment, &mut missing);
    missing
}

/// The references that are errors, and those that are not: what needs them is done
/// without.
pub fn refused(missing: Vec<Problem>, policy: Missing) -> (Vec<Problem>, Vec<Problem>) {
    let is_refused = |it: &Problem| !policy.is_kept(&it.path) && !is_done_without(&it.path);
    missing.into_iter().partition(is_refused)
}

/// Whether the place is one whose value nobody but its owner misses: a provider of
/// models or of embeddings, a variable, what a server of tools is given, a channel's token.
fn is_done_without(path: &KeyPath) -> bool {
    let parts: Vec<&str> = path.parts().iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["models", "providers", _, _, ..] | ["env", ..] => true,
        ["mcp", "servers", _, "env", ..] => true,
        ["channels", .., key] => TOKENS.contains(key),
        ["memory", "search", "remote", "apiKey"]
        | ["agents", .., "memorySearch", "remote", "apiKey"] => true,
        _ => false,
    }
}

/// The first reference in a text that nothing answered.
pub fn unanswered(text: &str) -> Option<&str> {
    let start = text.find("${")?;
    let length = text[start..].find('}')? + 1;
    Some(&text[start..start + length])
}

fn walk(value: &mut Value, path: &KeyPath, environment: &Environment, out: &mut Vec<Problem>) {
    if let Value::Object(fields) = value {
        match secret_reference(fields) {
            Some(("env", name)) => *value = Value::from(format!("${{{name}}}")),
            Some((source, _)) => {
                let problem = format!(
                    "is a reference to a secret elsewhere ({source}), which is not read here; write \
                     ${{VARIABLE}}, {{source: \"env\", …}}, or use a systemd credential"
                );
                out.push(Problem::other(path.clone(), problem));
                *value = Value::from(ELSEWHERE);
                return;
            }
            None => {}
        }
    }
    match value {
        Value::String(text) => match expand(text, environment) {
            Ok(expanded) => *text = expanded,
            Err(name) => {
                let problem = format!("refers to ${{{name}}}, which is not set in the environment");
                out.push(Problem::other(path.clone(), problem));
            }
        },
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                walk(item, &path.child(&index.to_string()), environment, out);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                walk(field, &path.child(name), environment, out);
            }
        }
        _ => {}
    }
}

/// Where OpenClaw's SecretRef says that a secret is, and its name there.
fn secret_reference(fields: &Map<String, Value>) -> Option<(&str, &str)> {
    let known = |key: &String| ["source", "provider", "id"].contains(&key.as_str());
    let source = fields.get("source")?.as_str()?;
    let is_one = SOURCES.contains(&source) && fields.keys().all(known);
    Some((source, fields.get("id")?.as_str().filter(|_| is_one)?))
}

/// The text with its references replaced, or the name that is not set.
fn expand(text: &str, environment: &Environment) -> Result<String, String> {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, reference) = rest.split_at(start);
        if let Some(literal) = before.strip_suffix('$') {
            result.push_str(literal);
            result.push_str("${");
            rest = &reference[2..];
            continue;
        }
        result.push_str(before);
        let Some(end) = reference.find('}') else {
            result.push_str(reference);
            return Ok(result);
        };
        let name = &reference[2..end];
        result.push_str(environment.get(name).ok_or_else(|| name.to_owned())?);
        rest = &reference[end + 1..];
    }
    result.push_str(rest);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_literals_and_missing_names() {
        let environment: Environment = [("A", "1"), ("B", "2")].into_iter().collect();
        assert_eq!(expand("x${A}-${B}y", &environment).unwrap(), "x1-2y");
        assert_eq!(expand("$${A}", &environment).unwrap(), "${A}");
        assert_eq!(expand("${A", &environment).unwrap(), "${A");
        assert_eq!(expand("${C}", &environment).unwrap_err(), "C");
    }

    #[test]
    fn secret_references_to_variables_are_references() {
        let environment = [("KEY", "k")].into_iter().collect();
        let mut document = json!({
            "a": {"source": "env", "provider": "default", "id": "KEY"},
            "b": {"source": "file", "id": "KEY"},
            "c": {"source": "env", "id": "KEY", "more": 1},
            "d": {"source": "gmail", "id": "KEY"},
        });
        let missing = apply(&mut document, &environment);
        assert_eq!(document["a"], "k");
        assert_eq!(document["b"], ELSEWHERE);
        assert_eq!(document["c"]["more"], 1);
        assert_eq!(document["d"]["source"], "gmail");
        assert_eq!(missing.len(), 1);
        let told = missing[0].to_string();
        assert!(
            told.starts_with("b: is a reference to a secret elsewhere (file)"),
            "{told}"
        );
    }

    #[test]
    fn substitute_what_is_missing_is_named_and_left() {
        let mut document = json!({
            "models": {"list": ["${NOPE}"]}, "gateway": {"x": "${NOPE}"}, "logging": {"y": "${NOPE}"},
        });
        let before = document.clone();
        let missing = apply(&mut document, &Environment::default());
        assert_eq!(document, before);
        let left = |policy| {
            refused(missing.clone(), policy)
                .0
                .iter()
                .map(|problem| problem.path.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            left(Missing::Refused),
            ["models.list.0", "gateway.x", "logging.y"]
        );
        assert_eq!(left(Missing::KeptForOwner), ["logging.y"]);
        assert_eq!(
            left(Missing::KeptForGateway),
            ["models.list.0", "logging.y"]
        );
        assert!(missing[0].to_string().contains("${NOPE}"));
    }

    #[test]
    fn substitute_what_its_owner_alone_misses_is_done_without() {
        let mut document = json!({
            "models": {"providers": {"x": {"apiKey": "${A}"}}, "default": "${B}"},
            "mcp": {"servers": {"s": {"env": {"T": "${C}"}, "command": "${D}"}}},
            "channels": {"telegram": {"accounts": {"w": {"botToken": "${E}"}}, "allowFrom": ["${F}"]}},
            "gateway": {"auth": {"token": "${G}"}}, "tools": {"deny": ["${H}"]},
        });
        let missing = apply(&mut document, &Environment::default());
        let (refused, without) = refused(missing, Missing::Refused);
        let names = |all: Vec<Problem>| all.iter().map(|it| it.text()).collect::<String>();
        let (refused, without) = (names(refused), names(without));
        for (name, is_refused) in [
            ("A", false),
            ("B", true),
            ("C", false),
            ("D", true),
            ("E", false),
            ("F", true),
            ("G", true),
            ("H", true),
        ] {
            let name = format!("${{{name}}}");
            assert_eq!(refused.contains(&name), is_refused, "{name}");
            assert_eq!(without.contains(&name), !is_refused, "{name}");
        }
    }

    #[test]
    fn unanswered_is_the_first_reference() {
        assert_eq!(unanswered("x${A}${B}"), Some("${A}"));
        assert_eq!(unanswered("x${A"), None);
        assert_eq!(unanswered("A}"), None);
    }
}
