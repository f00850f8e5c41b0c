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

/// Variables that hold no secret, whatever program they are for.
const PLAIN_VARIABLES: [&str; 15] = [
    "DEBUG", "EDITOR", "HOME", "LANG", "LANGUAGE", "LOGNAME", "NO_COLOR", "PAGER", "PATH",
    "RUST_LOG", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
];

/// Ends of names of such variables: places, and how a program is to behave.
const PLAIN_ENDS: [&str; 18] = [
    "PATH",
    "_CACHE",
    "_COLOR",
    "_DEBUG",
    "_DIR",
    "_DIRECTORY",
    "_ENV",
    "_FILE",
    "_FOLDER",
    "_FORMAT",
    "_HOME",
    "_LEVEL",
    "_LOG",
    "_PORT",
    "_PREFIX",
    "_ROOT",
    "_TIMEOUT",
    "_VERBOSE",
];

/// Beginnings of them.
const PLAIN_BEGINNINGS: [&str; 3] = ["LC_", "PYTHON", "XDG_"];

/// Words that make a name a secret's after all.
const SECRET_WORDS: [&str; 9] = [
    "AUTH", "COOKIE", "CRED", "DSN", "KEY", "PASS", "PRIVATE", "SECRET", "TOKEN",
];

/// Whether a string there is a secret.
pub fn is_secret(path: &KeyPath) -> bool {
    let parts = path.parts();
    // Variables are mostly keys; `env.shellEnv` is none.
    if parts.first().is_some_and(|section| section == "env") && parts.len() > 1 {
        return parts[1] != "shellEnv" && !is_plain_variable(path.last());
    }
    let last = path.last().to_lowercase();
    if SECRET_ENDS.iter().any(|end| last.ends_with(end)) {
        return true;
    }
    // `env` of a server, a skill or a command, and headers.
    match path.parent().last() {
        "env" => !is_plain_variable(path.last()),
        above => above == "headers",
    }
}

/// Whether the name of a variable says that it holds no secret.
fn is_plain_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_plain = PLAIN_VARIABLES.contains(&name.as_str())
        || PLAIN_ENDS.iter().any(|end| name.ends_with(end))
        || PLAIN_BEGINNINGS.iter().any(|it| name.starts_with(it));
    is_plain && !SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// Whether a text has a password in a URL.
fn has_password(text: &str) -> bool {
    let authority = text
        .split_once("://")
        .map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    authority.is_some_and(|authority| authority.contains('@'))
}

/// A copy in which no secret can be read. References to variables are none.
pub fn redacted(path: &KeyPath, value: &Value) -> Value {
    match value {
        Value::String(text) if hides(path, text) => Value::from(REDACTED),
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

/// The secrets of a document with their places, the last place first: so that
/// each can be taken out without moving those that follow.
pub fn secrets(document: &Value) -> Vec<(KeyPath, &str)> {
    let mut found = Vec::new();
    let root = KeyPath::default();
    collect(&root, &root, document, &mut found);
    found.reverse();
    found
}

/// `name` is the path that says what the value is; of what is in a list, the
/// list's.
fn collect<'a>(
    place: &KeyPath,
    name: &KeyPath,
    value: &'a Value,
    found: &mut Vec<(KeyPath, &'a str)>,
) {
    match value {
        Value::String(text) if hides(name, text) => found.push((place.clone(), text)),
        Value::Object(fields) => {
            for (key, value) in fields {
                collect(&place.child(key), &name.child(key), value, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let place = place.child(&index.to_string());
                match item {
                    Value::String(_) => collect(&place, name, item, found),
                    _ => collect(&place, &place, item, found),
                }
            }
        }
        _ => {}
    }
}

/// A variable that is named like a plain one may have a password all the same.
fn hides(path: &KeyPath, text: &str) -> bool {
    let is_variable = path.parts().iter().any(|part| part == "env");
    let is_secret = is_secret(path) || (is_variable && has_password(text));
    is_secret && !text.is_empty() && !is_reference(text)
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
    fn harmless_variables_are_shown() {
        let path = KeyPath::parse("mcp.servers.s").unwrap();
        let shown = |name: &str, value: &str| {
            let document = json!({"env": {name: value}});
            redacted(&path, &document)["env"][name] != REDACTED
        };
        for name in [
            "PYTHONPATH",
            "PATH",
            "NODE_ENV",
            "LOG_LEVEL",
            "LC_ALL",
            "PYTHONUNBUFFERED",
            "DATA_DIR",
            "XDG_CONFIG_HOME",
        ] {
            assert!(shown(name, "/srv/x"), "{name}");
        }
        for name in [
            "GITHUB_TOKEN",
            "KEY_FILE",
            "PASSWORD",
            "DATABASE_URL",
            "A",
            "SLACK_AUTH_DIR",
            "PYTHON_SECRET",
        ] {
            assert!(!shown(name, "/srv/x"), "{name}");
        }
        assert!(!shown("INDEX_ROOT", "https://me:word@example.org/x"));
    }

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

    #[test]
    fn names_say_what_is_a_secret() {
        for (path, secret) in [
            ("gateway.auth.token", true),
            ("a.myApiKey", true),
            ("a.Authorization", true),
            ("a.tokens", false),
            ("env", false),
            ("env.A", true),
            ("env.PATH", false),
            ("env.shellEnv", false),
            ("env.shellEnv.x", false),
            ("a.env.A", true),
            ("a.env.PATH", false),
            ("a.headers.x", true),
            ("headers", false),
            ("a.b", false),
        ] {
            let path = KeyPath::parse(path).unwrap();
            assert_eq!(is_secret(&path), secret, "{path}");
        }
    }

    #[test]
    fn references_and_nothing_are_no_secrets() {
        let path = KeyPath::parse("a.token").unwrap();
        for (text, hidden) in [
            ("x", true),
            ("", false),
            ("${A}", false),
            ("${A}b", true),
            ("${A}${B}", true),
            ("${$A}", true),
        ] {
            assert_eq!(hides(&path, text), hidden, "{text}");
        }
        for (text, found) in [
            ("https://a:b@c/d", true),
            ("https://c/a@b", false),
            ("https://c?a@b", false),
            ("https://c#a@b", false),
            ("a@b", false),
        ] {
            assert_eq!(has_password(text), found, "{text}");
        }
    }

    #[test]
    fn secrets_are_found_with_their_places_from_the_end() {
        let document = json!({
            "a": {"token": "1", "b": [{"password": "2"}, {"plain": "x"}]},
            "tokens": "x", "apiKey": ["3", "4", {"secret": "5"}],
        });
        let found: Vec<_> = secrets(&document)
            .into_iter()
            .map(|(path, secret)| format!("{path} {secret}"))
            .collect();
        let expected = [
            "apiKey.2.secret 5",
            "apiKey.1 4",
            "apiKey.0 3",
            "a.b.0.password 2",
            "a.token 1",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn lists_are_given_back_as_they_were() {
        let document = json!({"apiKey": ["1", "${A}"], "a": [{"token": "2"}, 3]});
        let shown = redacted(&KeyPath::default(), &document);
        let expected = json!({"apiKey": [REDACTED, "${A}"], "a": [{"token": REDACTED}, 3]});
        assert_eq!(shown, expected);
        let mut back = shown;
        restore(&KeyPath::default(), &mut back, &document).unwrap();
        assert_eq!(back, document);
    }

    #[test]
    fn password_in_a_url_is_hidden_in_variables_alone() {
        let url = "https://me:word@example.org/x";
        for (path, hidden) in [
            ("mcp.servers.s.env.INDEX_ROOT", true),
            ("env.vars.INDEX_ROOT", true),
            ("models.providers.x.baseUrl", false),
        ] {
            let path = KeyPath::parse(path).unwrap();
            assert_eq!(hides(&path, url), hidden, "{path}");
        }
    }
}
