//! The values that hold where nothing is set (seed 003 §2.3, step 11): those that
//! the keys are stated with, as a document to be shown.

use openclaw_config::paths::Paths;
use openclaw_config::pipeline::include::deep_merge;
use openclaw_config::pipeline::merge::patch;
use serde_json::{Map, Value, json};

use crate::keys::Fragment;

/// Puts the defaults under the document.
pub fn apply(document: Value, paths: &Paths) -> Value {
    under(standard(paths), document)
}

/// Lists are not put behind each other here: one that is set counts alone.
fn under(mut defaults: Value, document: Value) -> Value {
    remove_lists_of(&document, &mut defaults);
    deep_merge(defaults, document)
}

fn remove_lists_of(document: &Value, defaults: &mut Value) {
    match (document, defaults) {
        (Value::Object(fields), Value::Object(defaults)) => {
            for (key, value) in fields {
                if let Some(below) = defaults.get_mut(key) {
                    remove_lists_of(value, below);
                }
            }
        }
        (Value::Array(_), Value::Array(list)) => list.clear(),
        _ => {}
    }
}

/// Everything that has a value when nothing is set; the test of property 8 says what has none.
fn standard(paths: &Paths) -> Value {
    let mut all = serde_json::to_value(Fragment::default()).unwrap_or_default();
    without_unset(&mut all);
    let workspace = paths.default_workspace().display().to_string();
    // Where these are depends on the machine, or a part is left out as a whole.
    let beyond = json!({
        "agents": {"defaults": {"workspace": workspace}},
        "session": {"reset": {"mode": "none"}},
    });
    patch(&mut all, beyond);
    all
}

/// Takes away keys without a value, and sections of which nothing is left.
fn without_unset(value: &mut Value) {
    let Value::Object(fields) = value else {
        return;
    };
    fields.retain(|_, value| {
        let was_empty = is_empty(value);
        without_unset(value);
        !value.is_null() && is_empty(value) == was_empty
    });
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::tests::forget_choices;
    use openclaw_config::environment::Environment;
    use openclaw_config::pipeline::dot_env;
    use openclaw_config::schema::Schema;

    fn paths() -> Paths {
        Paths::resolve(&[("HOME", "/home/claw")].into_iter().collect()).unwrap()
    }

    #[test]
    fn defaults_are_what_an_empty_file_means() {
        let document = apply(json!({}), &paths());
        assert_eq!(Schema::shipped().check(&document), []);
        let empty = Settings::assemble(paths(), json!({}), &Environment::default()).unwrap();
        let mut full = Settings::assemble(paths(), document, &Environment::default()).unwrap();
        full.gateway.port_is_chosen = false;
        forget_choices(&mut full);
        let mut empty = empty;
        forget_choices(&mut empty);
        assert_eq!(empty, full);
    }

    #[test]
    fn defaults_what_is_set_counts() {
        let file = json!({"logging": {"level": "warn"}, "sandbox": {"paths": {"ro": ["/a"]}}});
        let document = apply(file, &paths());
        assert_eq!(document["logging"]["level"], "warn");
        assert_eq!(
            document["sandbox"]["paths"],
            json!({"ro": ["/a"], "rw": []})
        );
        assert_eq!(document["agents"]["defaults"]["maxTokens"], 8192);
    }

    #[test]
    fn template_is_one_and_says_the_defaults() {
        let text = include_str!("../../../.env.template");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), text).unwrap();
        let file = folder.path().join("openclaw.json");
        let all = dot_env::overlay(&file, &Environment::default()).unwrap();
        let settings = Settings::assemble(paths(), serde_json::json!({}), &Environment::default());
        let port = settings.unwrap().gateway.cli.port.to_string();
        assert_eq!(all.get("OPENCLAW_CLI_PORT"), Some(port.as_str()));
        // It is required, and a template has none.
        assert_eq!(all.get("OPENCLAW_CLI_SECRET"), None);
        assert!(text.contains("\nOPENCLAW_CLI_SECRET="));
    }

    #[test]
    fn list_that_is_set_counts_alone() {
        let defaults = json!({"a": {"list": [1, 2], "b": 3}, "list": [4], "c": {"d": 5}});
        let set = json!({"a": {"list": [9]}, "list": [], "c": 6, "e": [7]});
        let expected = json!({"a": {"list": [9], "b": 3}, "list": [], "c": 6, "e": [7]});
        assert_eq!(under(defaults.clone(), set), expected);
        assert_eq!(under(defaults.clone(), json!({})), defaults);
    }

    #[test]
    fn sections_without_a_value_are_left_out() {
        let mut value =
            json!({"a": null, "b": {"c": null}, "d": {}, "e": {"f": {"g": null}, "h": 1}, "i": []});
        without_unset(&mut value);
        assert_eq!(value, json!({"d": {}, "e": {"h": 1}, "i": []}));
    }
}
