//! What holds instead of what the file says, and why.

use openclaw_config::{Environment, KeyPath, Paths, redact};
use openclaw_foreground::environment_file;
use openclaw_settings::holder::{self, OverridingValue};
use openclaw_terminal::output;
use serde_json::Value;

use crate::run;

/// Keys that are told of one change; a drop-in may replace hundreds.
const TOLD: usize = 10;

/// Says of what was just written, or taken out, what holds in its place.
pub(super) fn tell(keys: &[KeyPath], paths: &Paths, environment: &Environment) {
    let all = all(keys, paths, environment);
    for held in all.iter().take(TOLD) {
        let holds = match held.value {
            Some(_) => "which holds",
            None => "so it does not hold",
        };
        let said = said(held);
        output::stderr_line(&format!("warning: written; but {said}, {holds}"));
    }
    if all.len() > TOLD {
        let more = all.len() - TOLD;
        output::stderr_line(&format!("warning: {more} more are set elsewhere"));
    }
}

/// Says of a value that is shown who sets it, when the file does not.
pub(super) fn hint(key: &KeyPath, paths: &Paths, environment: &Environment) {
    for held in all(std::slice::from_ref(key), paths, environment)
        .iter()
        .take(TOLD)
    {
        let file = paths.configuration.display();
        let said = said(held);
        output::stderr_line(&format!("hint: {said}, whatever {file} says"));
    }
}

/// Who sets the value, when the file does not.
pub(super) fn holder(key: &KeyPath, paths: &Paths, environment: &Environment) -> Option<String> {
    all(std::slice::from_ref(key), paths, environment)
        .first()
        .map(said)
}

fn all(keys: &[KeyPath], paths: &Paths, environment: &Environment) -> Vec<OverridingValue> {
    // As the daemons have it, the agent-runner's variables included.
    let environment = run::environment(paths, environment);
    let file = environment_file::read(paths).unwrap_or_default();
    let environment = environment.with_fallback(file);
    let mut all: Vec<OverridingValue> = Vec::new();
    for key in keys {
        // What is wrong with the configuration was said before.
        for held in holder::held(paths, &environment, key).unwrap_or_default() {
            if !all.contains(&held) {
                all.push(held);
            }
        }
    }
    all
}

fn said(held: &OverridingValue) -> String {
    let OverridingValue { key, by, value } = held;
    let Some(value) = value else {
        return format!("{by} takes {key} away");
    };
    match redact::redacted(key, value) {
        Value::String(text) if text == redact::REDACTED => format!("{by} sets {key}"),
        shown => format!("{by} sets {key} to {shown}"),
    }
}
