//! The values that hold where nothing is set (seed 003 §2.3, step 11).
//!
//! Daemons apply them where settings are validated; here they are a document,
//! to be shown.

use serde_json::{Value, json};

use super::include::deep_merge;
use crate::environment::Environment;
use crate::error::Error;
use crate::paths::Paths;
use crate::settings::{AgentSettings, Network, SandboxLevel, Settings, memory};

/// Puts the defaults under the document.
pub fn apply(document: Value, paths: &Paths) -> Result<Value, Error> {
    let empty = Value::Object(serde_json::Map::new());
    let settings = Settings::assemble(paths.clone(), empty, &Environment::default())?;
    Ok(under(standard(&settings), document))
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

fn standard(settings: &Settings) -> Value {
    let agent = settings.agents.values().next().map(agent);
    json!({
        "agents": {"defaults": agent.unwrap_or_default()},
        "gateway": {"maxConcurrentTurns": settings.concurrent_turns},
        "logging": {"level": settings.log_level.name()},
        "memory": {
            "maxContextTokens": settings.memory.context_tokens,
            "temporalDecayHalfLife": memory::HALF_LIFE_DAYS,
        },
        "sandbox": {
            "hosts": [],
            "level": SandboxLevel::Strict.name(),
            "missing": settings.sandbox.missing.name(),
            "network": Network::ModelOnly.name(),
            "paths": {"ro": [], "rw": []},
            "user": settings.sandbox.user,
        },
    })
}

fn agent(agent: &AgentSettings) -> Value {
    /// One MiB in bytes.
    const MIB: u64 = 1 << 20;
    let limits = &agent.limits;
    json!({
        "workspace": agent.workspace.display().to_string(),
        "backend": agent.backend.name(),
        "maxTokens": agent.max_tokens,
        "timeoutSeconds": agent.timeout.as_secs(),
        "noOutputSeconds": agent.no_output.as_secs(),
        "claudeCliPath": agent.claude_path,
        "limits": {
            "steps": limits.steps,
            "identicalCalls": limits.identical_calls,
            "addressSpaceMib": limits.address_space / MIB,
            "processes": limits.processes,
            "openFiles": limits.open_files,
            "fileSizeMib": limits.file_size / MIB,
            "cpuSeconds": limits.cpu_seconds,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;

    fn paths() -> Paths {
        Paths::resolve(&[("HOME", "/home/claw")].into_iter().collect()).unwrap()
    }

    #[test]
    fn the_defaults_are_what_an_empty_file_means() {
        let document = apply(json!({}), &paths()).unwrap();
        assert_eq!(Schema::shipped().check(&document), []);
        let empty = Settings::assemble(paths(), json!({}), &Environment::default()).unwrap();
        let full = Settings::assemble(paths(), document, &Environment::default()).unwrap();
        assert_eq!(empty, full);
    }

    #[test]
    fn what_is_set_counts() {
        let file = json!({"logging": {"level": "warn"}, "sandbox": {"paths": {"ro": ["/a"]}}});
        let document = apply(file, &paths()).unwrap();
        assert_eq!(document["logging"]["level"], "warn");
        assert_eq!(
            document["sandbox"]["paths"],
            json!({"ro": ["/a"], "rw": []})
        );
        assert_eq!(document["agents"]["defaults"]["maxTokens"], 8192);
    }
}
