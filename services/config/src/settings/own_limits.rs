//! Limits that a session has instead of its agent's.

use std::time::Duration;

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::agent::AgentSettings;
use super::limits::{Limits, limits};
use crate::fragment;

/// The limits a session may have, by their names in the configuration; the
/// last two are the agent's `timeoutSeconds` and `noOutputSeconds`. What a day
/// may cost is the agent's alone.
const NAMES: [&str; 16] = [
    "steps",
    "identicalCalls",
    "addressSpaceMib",
    "processes",
    "openFiles",
    "fileSizeMib",
    "cpuSeconds",
    "memoryMax",
    "tasksMax",
    "cpuQuota",
    "outputTokens",
    "memorySearches",
    "costPerTurn",
    "retrySeconds",
    TIMEOUT,
    NO_OUTPUT,
];
const TIMEOUT: &str = "timeoutSeconds";
const NO_OUTPUT: &str = "noOutputSeconds";

/// A limit that no session can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLimit {
    /// There is no such limit.
    #[error("a session has no limit {name:?}; there are {}", NAMES.join(", "))]
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
    let mut any = OfTurn {
        limits: Limits::default(),
        timeout: Duration::MAX,
        no_output: Duration::MAX,
    };
    any.set(name, value)
}

impl AgentSettings {
    /// These settings with the limits of a session.
    ///
    /// # Errors
    /// The first of them that no session can have.
    pub fn with_limits(&self, own: &Map<String, Value>) -> Result<Self, InvalidLimit> {
        let mut turn = OfTurn {
            limits: self.limits,
            timeout: self.timeout,
            no_output: self.no_output,
        };
        for (name, value) in own {
            turn.set(name, value)?;
        }
        Ok(Self {
            limits: turn.limits,
            timeout: turn.timeout,
            no_output: turn.no_output,
            ..self.clone()
        })
    }
}

/// What a session may have of its own.
struct OfTurn {
    limits: Limits,
    timeout: Duration,
    no_output: Duration,
}

impl OfTurn {
    fn set(&mut self, name: &str, value: &Value) -> Result<(), InvalidLimit> {
        if !NAMES.contains(&name) {
            return Err(InvalidLimit::Name {
                name: name.to_owned(),
            });
        }
        let why = match name {
            TIMEOUT => seconds(value).map(|read| self.timeout = read),
            NO_OUTPUT => seconds(value).map(|read| self.no_output = read),
            _ => self.limits(name, value).map(|read| self.limits = read),
        };
        why.map_err(|why| InvalidLimit::Value {
            name: name.to_owned(),
            value: value.to_string(),
            why,
        })
    }

    fn limits(&self, name: &str, value: &Value) -> Result<Limits, String> {
        let one = Map::from_iter([(name.to_owned(), value.clone())]);
        let fragment =
            fragment::Limits::deserialize(Value::Object(one)).map_err(|error| error.to_string())?;
        limits(&fragment, &self.limits, "limits").map_err(|problem| problem.problem)
    }
}

fn seconds(value: &Value) -> Result<Duration, String> {
    match value.as_u64() {
        Some(seconds @ 1..) => Ok(Duration::from_secs(seconds)),
        _ => Err("it takes a number of seconds, at least 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::environment::Environment;

    fn main_agent() -> AgentSettings {
        let environment: Environment = [("OPENCLAW_STATE_DIR", "/nonexistent")]
            .into_iter()
            .collect();
        let settings = crate::load(&environment).unwrap();
        settings.agents["main"].clone()
    }

    #[test]
    fn a_session_has_limits_of_its_own_and_else_its_agents() {
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
    fn every_name_is_one_and_nothing_else_is() {
        for name in NAMES {
            check(name, &json!(7)).unwrap();
        }
        for (name, value, words) in [
            ("memory", json!(1), "there are steps"),
            ("costPerDay", json!(1), "there are steps"),
            ("memoryMax", json!("lots"), "512M"),
            ("memoryMax", json!(0), "at least 1"),
            ("steps", json!(-1), "steps"),
            ("costPerTurn", json!(0.0), "above 0"),
            ("timeoutSeconds", json!("long"), "number of seconds"),
        ] {
            let error = check(name, &value).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains(name), "{error}");
        }
    }
}
