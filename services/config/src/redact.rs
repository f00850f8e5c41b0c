//! Which values are secrets, and what is shown instead.

use serde_json::Value;

use crate::key::KeyPath;

mod arguments;
mod texts;

/// What OpenClaw shows instead of a secret.
pub const REDACTED: &str = "__OPENCLAW_REDACTED__";

/// Bytes of a secret from which on it is looked for elsewhere too. A shorter one may be
/// any word.
pub(crate) const RECOGNISABLE: usize = 8;

/// Keys that have a program with its arguments, in a list or in one text.
const PROGRAMS: [&str; 4] = ["args", "argv", "command", "gate"];

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
    // `env` of a server, a skill or a command, headers, and what a request is let in by.
    match path.parent().last() {
        "env" => !is_plain_variable(path.last()),
        "auth" => last == "value",
        above => above == "headers",
    }
}

/// Whether what a variable of this name says may be a secret.
pub fn is_secret_variable(name: &str) -> bool {
    !is_plain_variable(name)
}

/// Whether the name of a variable says that it holds no secret.
fn is_plain_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_plain = PLAIN_VARIABLES.contains(&name.as_str())
        || PLAIN_ENDS.iter().any(|end| name.ends_with(end))
        || PLAIN_BEGINNINGS.iter().any(|it| name.starts_with(it));
    is_plain && !SECRET_WORDS.iter().any(|word| name.contains(word))
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
            .enumerate()
            // A list of secrets is named by its own key.
            .map(|(at, item)| match item {
                Value::String(_) if hides_argument(path, items, at) => Value::from(REDACTED),
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
    found(document, hides, hides_argument)
}

/// Those of them that their keys say are secrets, and that nobody needs but their
/// owner: an address is used, with what is in it.
pub fn credentials(document: &Value) -> Vec<(KeyPath, &str)> {
    found(document, is_credential, |_, _, _| false)
}

fn found(
    document: &Value,
    hides: fn(&KeyPath, &str) -> bool,
    hides_argument: fn(&KeyPath, &[Value], usize) -> bool,
) -> Vec<(KeyPath, &str)> {
    let mut search = Search {
        hides,
        hides_argument,
        found: Vec::new(),
    };
    let root = KeyPath::default();
    search.collect(&root, &root, document);
    search.found.reverse();
    search.found
}

struct Search<'a> {
    hides: fn(&KeyPath, &str) -> bool,
    hides_argument: fn(&KeyPath, &[Value], usize) -> bool,
    found: Vec<(KeyPath, &'a str)>,
}

impl<'a> Search<'a> {
    /// `name` is the path that says what the value is; of what is in a list, the
    /// list's.
    fn collect(&mut self, place: &KeyPath, name: &KeyPath, value: &'a Value) {
        match value {
            Value::String(text) if (self.hides)(name, text) => {
                self.found.push((place.clone(), text));
            }
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.collect(&place.child(key), &name.child(key), value);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let place = place.child(&index.to_string());
                    match item {
                        Value::String(text) if (self.hides_argument)(name, items, index) => {
                            self.found.push((place, text));
                        }
                        Value::String(_) => self.collect(&place, name, item),
                        _ => self.collect(&place, &place, item),
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether a text is a secret, by its key or by what is in it.
fn hides(path: &KeyPath, text: &str) -> bool {
    let is_line = PROGRAMS.contains(&path.last());
    is_credential(path, text)
        || texts::has_secret_url(text)
        || (is_line && arguments::is_secret_line(text))
        || (is_argument(path) && !is_reference(text))
}

/// Whether the path is that of an argument by itself: without those before it nobody knows
/// what it is.
fn is_argument(path: &KeyPath) -> bool {
    let is_index = path.last().chars().all(|it| it.is_ascii_digit()) && !path.last().is_empty();
    is_index && PROGRAMS.contains(&path.parent().last())
}

fn is_credential(path: &KeyPath, text: &str) -> bool {
    is_secret(path) && !text.is_empty() && !is_reference(text)
}

/// Whether an argument of a program is a secret.
fn hides_argument(path: &KeyPath, arguments: &[Value], at: usize) -> bool {
    let texts = arguments.iter().map(|it| it.as_str().unwrap_or_default());
    PROGRAMS.contains(&path.last()) && arguments::is_secret(&texts.collect::<Vec<_>>(), at)
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
    fn argument_by_itself_is_covered_and_a_line_that_may_have_a_secret() {
        let shown = |key: &str, text: &str| {
            let path = KeyPath::parse(key).unwrap();
            redacted(&path, &Value::from(text)) != REDACTED
        };
        assert!(!shown("mcp.servers.s.args.1", "S"));
        assert!(shown("mcp.servers.s.args.1", "${S}"));
        assert!(!shown(
            "agents.defaults.heartbeat.gate",
            "curl -H 'X: S' localhost"
        ));
        assert!(shown(
            "agents.defaults.heartbeat.gate",
            "/usr/bin/new-mail --quiet"
        ));
        assert!(shown("mcp.servers.s.command", "npx"));
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
    fn secrets_in_addresses_and_arguments_are_hidden_and_given_back() {
        let url = "https://me:word@example.org/x?key=k";
        let document = json!({
            "models": {"providers": {"x": {"baseUrl": url, "request": {"auth": {"value": "v"}}}}},
            "mcp": {"servers": {"s": {"url": url, "args": ["-y", "--api-key", "k", url]}}},
            "channels": {"telegram": {"proxy": url, "name": "n"}},
            "env": {"vars": {"INDEX_ROOT": url}},
        });
        let shown = redacted(&KeyPath::default(), &document);
        let expected = json!({
            "models": {"providers": {"x": {"baseUrl": REDACTED,
                "request": {"auth": {"value": REDACTED}}}}},
            "mcp": {"servers": {"s": {"url": REDACTED,
                "args": ["-y", "--api-key", REDACTED, REDACTED]}}},
            "channels": {"telegram": {"proxy": REDACTED, "name": "n"}},
            "env": {"vars": {"INDEX_ROOT": REDACTED}},
        });
        assert_eq!(shown, expected);
        assert_eq!(secrets(&document).len(), 7);
        // What is used for its address stays where it is used.
        let owned: Vec<_> = credentials(&document)
            .into_iter()
            .map(|(_, it)| it)
            .collect();
        assert_eq!(owned, ["v"]);
        let mut back = shown;
        restore(&KeyPath::default(), &mut back, &document).unwrap();
        assert_eq!(back, document);
    }
}
