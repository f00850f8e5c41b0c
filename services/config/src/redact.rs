//! Which values are secrets, and what is shown instead.

use serde_json::Value;

use crate::key::KeyPath;

/// What OpenClaw shows instead of a secret.
pub const REDACTED: &str = "__OPENCLAW_REDACTED__";

/// Ends of keys whose strings are secrets, in lower case.
const SECRET_ENDS: [&str; 10] = [
    "accesskey",
    "apikey",
    "authorization",
    "credential",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "serviceaccount",
    "token",
];

/// Whether a string there is a secret.
pub fn is_secret(path: &KeyPath) -> bool {
    let parts = path.parts();
    // Variables are mostly keys; `env.shellEnv` is none.
    if parts.first().is_some_and(|section| section == "env") && parts.len() > 1 {
        return parts[1] != "shellEnv";
    }
    let last = path.last().to_lowercase();
    if SECRET_ENDS.iter().any(|end| last.ends_with(end)) {
        return true;
    }
    // `env` of a server, a skill or a command, and headers.
    let above = path.parent();
    ["env", "headers"].contains(&above.last())
}

/// A copy in which no secret can be read. References to variables are none.
pub fn redacted(path: &KeyPath, value: &Value) -> Value {
    match value {
        Value::String(text) if is_secret(path) && !text.is_empty() && !is_reference(text) => {
            Value::from(REDACTED)
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), redacted(&path.child(key), value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => items
            .iter()
            // A list of secrets is named by its own key.
            .map(|item| match item {
                Value::String(_) => redacted(path, item),
                other => redacted(&path.child("0"), other),
            })
            .collect(),
        other => other.clone(),
    }
}

fn is_reference(text: &str) -> bool {
    text.strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|name| !name.contains(['$', '{', '}']))
}

/// Puts the values of `current` where `new` has [`REDACTED`], so that what was
/// shown can be given back. The first path without a value is the error.
pub fn restore(path: &KeyPath, new: &mut Value, current: &Value) -> Result<(), KeyPath> {
    match new {
        Value::String(text) if text == REDACTED => {
            *new = path.get(current).cloned().ok_or_else(|| path.clone())?;
            Ok(())
        }
        Value::Object(fields) => fields
            .iter_mut()
            .try_for_each(|(key, value)| restore(&path.child(key), value, current)),
        Value::Array(items) => items.iter_mut().enumerate().try_for_each(|(index, value)| {
            restore(&path.child(&index.to_string()), value, current)
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_told_from_other_values() {
        let document = json!({
            "gateway": {"auth": {"token": "t", "mode": "token"}, "port": 1},
            "models": {"providers": {"x": {"apiKey": "${KEY}", "baseUrl": "u"}}},
            "env": {"vars": {"A": "b"}, "shellEnv": {"enabled": true}, "KEY": "k"},
            "agents": {"defaults": {"maxTokens": 5, "contextTokens": 6}},
            "channels": {"telegram": {"botToken": "b", "tokenFile": "/f"}},
            "mcp": {"servers": {"s": {"env": {"A": "b"}, "command": "c"}}},
        });
        let shown = redacted(&KeyPath::default(), &document);
        let expected = json!({
            "gateway": {"auth": {"token": REDACTED, "mode": "token"}, "port": 1},
            "models": {"providers": {"x": {"apiKey": "${KEY}", "baseUrl": "u"}}},
            "env": {"vars": {"A": REDACTED}, "shellEnv": {"enabled": true}, "KEY": REDACTED},
            "agents": {"defaults": {"maxTokens": 5, "contextTokens": 6}},
            "channels": {"telegram": {"botToken": REDACTED, "tokenFile": "/f"}},
            "mcp": {"servers": {"s": {"env": {"A": REDACTED}, "command": "c"}}},
        });
        assert_eq!(shown, expected);
        let mut back = shown;
        restore(&KeyPath::default(), &mut back, &document).unwrap();
        assert_eq!(back, document);
        let mut other = json!({"hooks": {"token": REDACTED}});
        let missing = restore(&KeyPath::default(), &mut other, &document).unwrap_err();
        assert_eq!(missing.to_string(), "hooks.token");
    }
}
