//! `env`: variables of the configuration for what the environment does not
//! set (seed 003 §2.3, step 6).

use serde_json::Value;

use crate::environment::Environment;

/// Keys of `env` that are no variables.
const DIRECTIVES: [&str; 2] = ["shellEnv", "vars"];

/// The environment with the variables of `env.vars` and of `env` itself behind
/// it. What still refers to a variable is left out.
pub fn overlay(document: &Value, environment: &Environment) -> Environment {
    let section = document.get("env").and_then(Value::as_object);
    let listed = section
        .and_then(|env| env.get("vars"))
        .and_then(Value::as_object);
    let direct = section
        .into_iter()
        .flatten()
        .filter(|(name, _)| !DIRECTIVES.contains(&name.as_str()));
    let variables = listed.into_iter().flatten().chain(direct);
    environment.with_fallback(variables.filter_map(|(name, value)| {
        let value = value.as_str().filter(|value| !value.contains("${"))?;
        Some((name.clone(), value.to_owned()))
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn environment_comes_before_the_file() {
        let document = json!({"env": {
            "vars": {"A": "file", "B": "file", "C": "${X}"}, "D": "inline",
            "shellEnv": {"enabled": false},
        }});
        let environment = [("A", "outer")].into_iter().collect();
        let all = overlay(&document, &environment);
        let values = ["A", "B", "C", "D"].map(|name| all.get(name));
        assert_eq!(values, [Some("outer"), Some("file"), None, Some("inline")]);
    }
}
