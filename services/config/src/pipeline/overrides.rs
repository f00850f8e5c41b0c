//! What comes before the file: variables, and before those the command line
//! (seed 003 §2.3, step 13).
//!
//! Every key has a variable, `OPENCLAW__SECTION__KEY`, in which neither case
//! nor single underscores count: OPENCLAW__AGENTS__DEFAULTS__MAX_TOKENS is
//! `agents.defaults.maxTokens`. Some have a shorter one of OpenClaw's own.

use serde_json::Value;

use super::alias;
use crate::environment::{Environment, OVERRIDES};
use crate::error::{COMMAND_LINE, ENVIRONMENT, Error};
use crate::key::KeyPath;
use crate::problem::Problem;
use crate::schema::Schema;

/// Variables with the keys they stand for. Of two for the same key the later
/// one counts.
const NAMED: [(&str, &str); 12] = [
    ("OPENCLAW_BACKEND", BACKEND),
    ("OPENCLAW_CLI_PORT", "gateway.cli.port"),
    ("OPENCLAW_CLI_SECRET", "gateway.cli.secret"),
    ("OPENCLAW_GATEWAY_BIND", "gateway.bind"),
    ("OPENCLAW_GATEWAY_PASSWORD", "gateway.auth.password"),
    ("OPENCLAW_GATEWAY_PORT", "gateway.port"),
    ("OPENCLAW_GATEWAY_TOKEN", "gateway.auth.token"),
    ("OPENCLAW_HOOKS_TOKEN", "hooks.token"),
    ("OPENCLAW_LOG_LEVEL", "logging.level"),
    ("OPENCLAW_LOG", "logging.level"),
    ("OPENCLAW_MODEL", "agents.defaults.model"),
    ("OPENCLAW_WORKSPACE_DIR", "agents.defaults.workspace"),
];
/// Which backend answers.
const BACKEND: &str = "agents.defaults.backend";
/// Before the section and between the parts of a generic name.
const SEPARATOR: &str = "__";
const GENERIC: &str = "OPENCLAW__";

/// A value that comes before the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The variable, or the key on the command line.
    pub name: String,
    /// [`ENVIRONMENT`] or [`COMMAND_LINE`].
    pub origin: &'static str,
    /// Where its value is put.
    pub places: Vec<KeyPath>,
}

/// Puts the overrides in; `true` when there was any.
pub fn apply(
    document: &mut Value,
    environment: &Environment,
    schema: &Schema,
) -> Result<bool, Error> {
    Ok(!put_all(document, environment, schema)?.is_empty())
}

/// The same, and what was put in, of two for the same key the one that counts
/// last.
pub fn put_all(
    document: &mut Value,
    environment: &Environment,
    schema: &Schema,
) -> Result<Vec<Given>, Error> {
    let mut all = Vec::new();
    let mut note = |origin, name: &str, places| {
        let name = name.to_owned();
        all.push(Given {
            name,
            origin,
            places,
        });
    };
    let named = NAMED.map(|(name, key)| (name, key.to_owned(), key == BACKEND));
    let programs = openclaw_agent_clis::ALL.into_iter().map(|cli| {
        let key = format!("agents.defaults.{}", cli.path_key);
        (cli.variable, key, true)
    });
    // Which program answers is the machine's affair: it holds for agents that say otherwise, too.
    for (name, key, is_for_every_agent) in named.into_iter().chain(programs) {
        if let Some(text) = environment.get(name) {
            let path = KeyPath::parse(&key).map_err(|error| wrong(ENVIRONMENT, name, error))?;
            let mut places = put(document, schema, &path, text, ENVIRONMENT, name)?;
            if is_for_every_agent {
                places.extend(put_everywhere(document, &path));
            }
            note(ENVIRONMENT, name, places);
        }
    }
    for (name, text) in environment.beginning_with(GENERIC) {
        let parts: Vec<&str> = name[GENERIC.len()..].split(SEPARATOR).collect();
        let path = schema
            .resolve(&parts, document)
            .map_err(|problem| wrong(ENVIRONMENT, name, problem))?;
        let places = put(document, schema, &path, text, ENVIRONMENT, name)?;
        note(ENVIRONMENT, name, places);
    }
    for (key, text) in passed(environment)?.iter().chain(environment.overrides()) {
        let path = KeyPath::parse(key).map_err(|error| wrong(COMMAND_LINE, key, error))?;
        let places = put(document, schema, &path, text, COMMAND_LINE, key)?;
        note(COMMAND_LINE, key, places);
    }
    Ok(all)
}

/// What `openclawctl run` was given.
fn passed(environment: &Environment) -> Result<Vec<(String, String)>, Error> {
    let Some(text) = environment.get(OVERRIDES) else {
        return Ok(Vec::new());
    };
    let problem = "is no JSON list of keys and values";
    serde_json::from_str(text).map_err(|_| wrong(ENVIRONMENT, OVERRIDES, problem))
}

/// Puts the value of the defaults into every agent that has one of its own.
fn put_everywhere(document: &mut Value, path: &KeyPath) -> Vec<KeyPath> {
    let mut places = Vec::new();
    let Some(value) = path.get(document).cloned() else {
        return places;
    };
    let list = document.pointer_mut("/agents/list");
    let agents = list.and_then(Value::as_array_mut).into_iter().flatten();
    for (index, agent) in agents.enumerate() {
        if let Some(own) = agent.get_mut(path.last()) {
            own.clone_from(&value);
            let index = index.to_string();
            let parts = ["agents", "list", &index, path.last()];
            places.push(parts.into_iter().collect());
        }
    }
    places
}

fn put(
    document: &mut Value,
    schema: &Schema,
    path: &KeyPath,
    text: &str,
    origin: &str,
    name: &str,
) -> Result<Vec<KeyPath>, Error> {
    let value = schema.typed(path, text).map_err(|problem: Problem| {
        // The variable is named, not the key: that is where the mistake is.
        wrong(origin, name, problem.text())
    })?;
    let mut places = Vec::new();
    for (place, value) in alias::placed(path, value, document) {
        if !place.put(document, value) {
            let problem = format!("leads nowhere: {path} cannot be put there");
            return Err(wrong(origin, name, problem));
        }
        places.push(place);
    }
    Ok(places)
}

fn wrong(origin: &str, key: &str, problem: impl ToString) -> Error {
    Error::Value {
        origin: origin.to_owned(),
        key: key.to_owned(),
        problem: problem.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn applied(document: Value, variables: &[(&str, &str)]) -> Result<Value, Error> {
        let mut document = document;
        let environment = variables.iter().copied().collect();
        apply(&mut document, &environment, Schema::shipped())?;
        Ok(document)
    }

    #[test]
    fn overrides_every_key_has_a_variable() {
        let file = json!({
            "models": {"providers": {"my-host": {"baseUrl": "http://file"}}},
            "gateway": {"port": 1, "bind": "lan"},
        });
        let document = applied(
            file,
            &[
                (
                    "OPENCLAW__MODELS__PROVIDERS__MY_HOST__BASE_URL",
                    "http://env",
                ),
                ("OPENCLAW__AGENTS__DEFAULTS__MAXTOKENS", "7"),
                ("OPENCLAW__AGENTS__DEFAULTS__LIMITS__OPEN_FILES", "99"),
                ("OPENCLAW__sandbox__paths__ro", "['/a', '/b']"),
                ("OPENCLAW__GATEWAY__AUTH__TOKEN", "12345"),
                ("OPENCLAW_GATEWAY_PORT", "19000"),
                ("OPENCLAW_GATEWAY_BIND", ""),
            ],
        );
        let expected = json!({
            "models": {"providers": {"my-host": {"baseUrl": "http://env"}}},
            "gateway": {"port": 19000, "bind": "lan", "auth": {"token": "12345"}},
            "agents": {"defaults": {"maxTokens": 7, "limits": {"openFiles": 99}}},
            "sandbox": {"paths": {"ro": ["/a", "/b"]}},
        });
        assert_eq!(document.unwrap(), expected);
    }

    #[test]
    fn command_line_comes_first() {
        let environment: Environment = [("OPENCLAW_LOG", "warn")].into_iter().collect();
        let environment =
            environment.overridden([("logging.level".to_owned(), "debug".to_owned())]);
        let passed = environment.overrides_variable().unwrap();
        let daemons = [("OPENCLAW_LOG", "warn"), (OVERRIDES, &passed)]
            .into_iter()
            .collect();
        for environment in [environment, daemons] {
            let mut document = json!({"logging": {"level": "error"}});
            assert!(apply(&mut document, &environment, Schema::shipped()).unwrap());
            assert_eq!(document, json!({"logging": {"level": "debug"}}));
        }
    }

    /// Which places they were: what is said of a variable depends on it.
    #[test]
    fn overrides_what_was_put_in_is_told_with_its_places() {
        let mut document = json!({"agents": {"list": [
            {"id": "a"}, {"id": "b", "backend": "offline"}, {"id": "c", "model": "x/y"},
        ]}});
        let environment = [
            ("OPENCLAW_BACKEND", "native"),
            ("OPENCLAW_MODEL", "p/m"),
            ("OPENCLAW__LOGGING__FILE", "/x"),
        ];
        let environment = environment.into_iter().collect();
        let given = put_all(&mut document, &environment, Schema::shipped()).unwrap();
        let places = |given: &Given| given.places.iter().map(ToString::to_string).collect();
        let told: Vec<(_, _, Vec<String>)> = given
            .iter()
            .map(|given| (given.name.as_str(), given.origin, places(given)))
            .collect();
        let strings = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        assert_eq!(
            told,
            [
                (
                    "OPENCLAW_BACKEND",
                    ENVIRONMENT,
                    strings(&["agents.defaults.backend", "agents.list.1.backend"])
                ),
                (
                    "OPENCLAW_MODEL",
                    ENVIRONMENT,
                    strings(&["agents.defaults.model"])
                ),
                (
                    "OPENCLAW__LOGGING__FILE",
                    ENVIRONMENT,
                    strings(&["logging.file"])
                ),
            ]
        );
        let list = &document["agents"]["list"];
        assert_eq!(
            (&list[1]["backend"], &list[2]["model"]),
            (&json!("native"), &json!("x/y"))
        );
    }

    #[test]
    fn mistakes_name_the_variable() {
        for (name, value, words) in [
            (
                "OPENCLAW_GATEWAY_PORT",
                "often",
                ["the environment: OPENCLAW_GATEWAY_PORT", "65535"],
            ),
            ("OPENCLAW_LOG", "loud", ["OPENCLAW_LOG", "debug"]),
            (
                "OPENCLAW__GATEWAY__PROT",
                "1",
                ["OPENCLAW__GATEWAY__PROT", "\"port\""],
            ),
            (
                "OPENCLAW__AGENTS__DEFAULTS__MAX_TOKENS",
                "0",
                ["MAX_TOKENS", "at least 1"],
            ),
        ] {
            let error = applied(json!({}), &[(name, value)])
                .unwrap_err()
                .to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}
