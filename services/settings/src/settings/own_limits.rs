//! Limits that a session has instead of its agent's.

use std::time::Duration;

use openclaw_config::key::KeyPath;
use openclaw_config::schema::Schema;
use serde_json::{Map, Value};

use super::agent::AgentSettings;
use crate::keys::{Agent, Limits};

/// What a day may cost is the agent's alone.
const OF_THE_AGENT: &str = "costPerDay";
/// Limits that are no keys of `limits`.
const TIMES: [&str; 2] = ["timeoutSeconds", "noOutputSeconds"];

/// The limits a session may have, by their names in the configuration.
fn names() -> Vec<String> {
    let limits = serde_json::to_value(Limits::default()).unwrap_or_default();
    let keys = limits.as_object().into_iter().flat_map(Map::keys).cloned();
    let own = keys.filter(|key| key != OF_THE_AGENT);
    own.chain(TIMES.map(str::to_owned)).collect()
}

/// A limit that no session can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLimit {
    /// There is no such limit.
    #[error("a session has no limit {name:?}; there are {}", names().join(", "))]
    Name {
        /// As it was given.
        name: String,
    },
    /// It cannot be this.
    #[error("the session's limits.{name} cannot be {value}: {why}")]
    Value {
        /// The limit.
        name: String,
        /// As it was given.
        value: String,
        /// What is wrong with it.
        why: String,
    },
}

/// Whether a session may have this limit.
///
/// # Errors
/// No such limit, or not this value.
pub fn check(name: &str, value: &Value) -> Result<(), InvalidLimit> {
    with(&Agent::default(), name, value).map(|_| ())
}

impl AgentSettings {
    /// These settings with the limits of a session.
    ///
    /// # Errors
    /// The first of them that no session can have.
    pub fn with_limits(&self, own: &Map<String, Value>) -> Result<Self, InvalidLimit> {
        let mut keys = Agent {
            limits: self.limits,
            ..self.stated.clone()
        };
        for (name, value) in own {
            keys = with(&keys, name, value)?;
        }
        Ok(Self {
            limits: keys.limits,
            timeout: Duration::from_secs(keys.timeout_seconds),
            no_output: Duration::from_secs(keys.no_output_seconds),
            stated: keys,
            ..self.clone()
        })
    }
}

/// The keys of an agent with one limit instead of its own.
fn with(agent: &Agent, name: &str, value: &Value) -> Result<Agent, InvalidLimit> {
    if !names().iter().any(|known| known == name) {
        let name = name.to_owned();
        return Err(InvalidLimit::Name { name });
    }
    let refused = |why: String| InvalidLimit::Value {
        name: name.to_owned(),
        value: value.to_string(),
        why,
    };
    if value.is_null() {
        return Ok(agent.clone());
    }
    let is_time = TIMES.contains(&name);
    let section = if is_time { "" } else { ".limits" };
    let path = KeyPath::parse(&format!("agents.defaults{section}.{name}")).unwrap_or_default();
    if let Some(problem) = Schema::shipped().check_value(&path, value).first() {
        return Err(refused(problem.text()));
    }
    let mut agent = agent.clone();
    let read = |error: serde_json::Error| refused(error.to_string());
    if is_time {
        let seconds = serde_json::from_value(value.clone()).map_err(read)?;
        match name {
            "timeoutSeconds" => agent.timeout_seconds = seconds,
            _ => agent.no_output_seconds = seconds,
        }
        return Ok(agent);
    }
    let mut limits = serde_json::to_value(agent.limits).unwrap_or_default();
    limits[name] = value.clone();
    agent.limits = serde_json::from_value(limits).map_err(read)?;
    Ok(agent)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use openclaw_config::environment::Environment;

    fn main_agent() -> AgentSettings {
        let environment: Environment = [("OPENCLAW_STATE_DIR", "/nonexistent")]
            .into_iter()
            .collect();
        let settings = crate::load(&environment).unwrap();
        settings.agents["main"].clone()
    }

    #[test]
    fn session_has_limits_of_its_own_and_else_its_agents() {
        let agent = main_agent();
        let own = json!({"memoryMax": "512M", "steps": 3, "timeoutSeconds": 60, "retrySeconds": 0});
        let own = agent.with_limits(own.as_object().unwrap()).unwrap();
        assert_eq!((own.limits.memory_max, own.limits.steps), (512 << 20, 3));
        assert_eq!(own.timeout, Duration::from_secs(60));
        assert_eq!(own.limits.retry_wait, Duration::ZERO);
        assert_eq!(own.no_output, agent.no_output);
        assert_eq!(own.limits.address_space, agent.limits.address_space);
        assert_eq!(agent.with_limits(&Map::new()).unwrap(), agent);
    }

    #[test]
    fn own_limits_every_name_is_one_and_nothing_else_is() {
        for name in names() {
            check(&name, &json!(7)).unwrap();
        }
        for (name, value, words) in [
            ("memory", json!(1), "there are steps"),
            ("costPerDay", json!(1), "there are steps"),
            ("memoryMax", json!("lots"), "512M"),
            ("memoryMax", json!(0), "at least 1"),
            ("steps", json!(-1), "steps"),
            ("costPerTurn", json!(0.0), "above 0"),
            (
                "timeoutSeconds",
                json!("long"),
                "a whole number, at least 1",
            ),
        ] {
            let error = check(name, &value).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains(name), "{error}");
        }
    }
}
