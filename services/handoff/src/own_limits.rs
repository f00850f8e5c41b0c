//! Limits that a session has instead of its agent's.

use std::sync::Arc;

use openclaw_proto::event::limit_of_session;
use openclaw_proto::runner::Turn;
use openclaw_settings::{InvalidLimit, RunnerSettings};
use serde_json::{Map, Value};

/// Why a turn has no limits.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The session's limits are not an object.
    #[error(
        "the limits of session {0} are no JSON object; clear them with `openclawctl sessions patch {0} --set limits=`"
    )]
    Malformed(String),
    /// One of its limits cannot be.
    #[error(
        "{invalid}; set it with `openclawctl sessions patch {session} --set limits.NAME=VALUE`"
    )]
    Invalid {
        /// The key of the session.
        session: String,
        /// Which limit, and why.
        #[source]
        invalid: InvalidLimit,
    },
}

/// The settings of this turn: all of them, but for its session's own limits.
pub fn settings(all: &Arc<RunnerSettings>, turn: &Turn) -> Result<Arc<RunnerSettings>, Error> {
    let own = read(turn)?;
    let agent = all.agents.get(&turn.agent_id);
    let Some(agent) = agent.filter(|_| !own.is_empty()) else {
        return Ok(Arc::clone(all));
    };
    let agent = agent.with_limits(&own).map_err(|invalid| Error::Invalid {
        session: turn.session_key.clone(),
        invalid,
    })?;
    let mut settings = RunnerSettings::clone(all);
    settings.agents.insert(turn.agent_id.clone(), agent);
    Ok(Arc::new(settings))
}

/// The names of the session's own limits.
pub fn names(turn: &Turn) -> Vec<String> {
    read(turn)
        .map(|own| own.into_iter().map(|(name, _)| name).collect())
        .unwrap_or_default()
}

fn read(turn: &Turn) -> Result<Map<String, Value>, Error> {
    match turn.limits.as_str() {
        "" => Ok(Map::new()),
        limits => {
            serde_json::from_str(limits).map_err(|_| Error::Malformed(turn.session_key.clone()))
        }
    }
}

/// Has `message` name the session's limits where it names the agent's.
pub fn advise(message: String, own: &[String]) -> String {
    own.iter().fold(message, |message, name| {
        let here = limit_of_session(name);
        [
            format!("agents.defaults.limits.{name}"),
            format!("agents.defaults.{name}"),
        ]
        .iter()
        .fold(message, |message, there| {
            replace_word(&message, there, &here)
        })
    })
}

/// Replaces `word` where no letter follows it: one name may begin another.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let mut rest = text;
    let mut whole = String::with_capacity(text.len());
    while let Some(at) = rest.find(word) {
        let end = at + word.len();
        let goes_on = rest[end..].starts_with(|next: char| next.is_ascii_alphanumeric());
        whole.push_str(&rest[..at]);
        whole.push_str(if goes_on { word } else { by });
        rest = &rest[end..];
    }
    whole + rest
}

#[cfg(test)]
mod tests {
    use super::advise;

    #[test]
    fn limit_that_has_to_be_raised_is_named() {
        let said = "it took 3 steps; raise agents.defaults.limits.steps, not agents.defaults.limits.stepsToo";
        let own = ["steps".to_owned()];
        let advice = advise(said.to_owned(), &own);
        assert!(
            advice.contains("raise the session's limits.steps ("),
            "{advice}"
        );
        assert!(
            advice.ends_with("agents.defaults.limits.stepsToo"),
            "{advice}"
        );
        assert_eq!(advise(said.to_owned(), &[]), said);
        let own = ["timeoutSeconds".to_owned()];
        let advice = advise("raise agents.defaults.timeoutSeconds".to_owned(), &own);
        assert!(
            advice.starts_with("raise the session's limits.timeoutSeconds"),
            "{advice}"
        );
    }
}
