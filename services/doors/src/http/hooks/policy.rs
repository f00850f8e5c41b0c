//! In which session and by whom a hook's work is done.

use openclaw_sessions::SessionKey;
use openclaw_settings::gateway::hooks::{Hooks, SessionMode};
use uuid::Uuid;

use super::super::problem::Problem;
use crate::doors::Doors;

/// A session that work names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The caller says it, or it is made of what the caller sent.
    Callers(String),
    /// The configuration says it.
    Configured(String),
}

/// The session of work. Isolated work has one of its own each time, below the one it names: what
/// comes from outside does not get into another conversation.
pub(super) fn session(
    hooks: &Hooks,
    wanted: Option<&Wanted>,
    mode: SessionMode,
) -> Result<String, Problem> {
    let key = match (wanted, &hooks.default_session_key) {
        (Some(Wanted::Callers(key)), _) => {
            may_choose(hooks)?;
            Some(key)
        }
        (Some(Wanted::Configured(key)), _) | (None, Some(key)) => Some(key),
        (None, None) => None,
    };
    match (key, mode) {
        (Some(key), SessionMode::Persistent) => admitted(hooks, key.clone()),
        (Some(key), SessionMode::Isolated) => {
            let key = admitted(hooks, key.clone())?;
            Ok(format!("{key}:run:{}", Uuid::new_v4()))
        }
        (None, SessionMode::Isolated) => admitted(hooks, format!("hook:{}", Uuid::new_v4())),
        (None, SessionMode::Persistent) => Err(Problem::invalid(
            "sessionMode",
            "is persistent: say in sessionKey which session goes on",
        )),
    }
}

/// Callers choose sessions only where they may.
pub(super) fn may_choose(hooks: &Hooks) -> Result<(), Problem> {
    if hooks.allow_request_session_key {
        return Ok(());
    }
    Err(Problem::invalid(
        "sessionKey",
        "is not allowed: set hooks.allowRequestSessionKey if callers may choose",
    ))
}

/// `key`, if hooks may work there.
pub(super) fn admitted(hooks: &Hooks, key: String) -> Result<String, Problem> {
    if hooks.admits(below_agent(&key)) {
        return Ok(key);
    }
    let problem = "does not begin as hooks.allowedSessionKeyPrefixes says";
    Err(Problem::invalid("sessionKey", problem))
}

/// A key without the agent it names.
fn below_agent(key: &str) -> &str {
    let rest = key.strip_prefix("agent:");
    rest.and_then(|rest| rest.split_once(':'))
        .map_or(key, |(_, rest)| rest)
}

/// The agent that works: the one that is named, else the default one.
pub(super) fn agent(doors: &Doors, hooks: &Hooks, named: Option<&str>) -> Result<String, Problem> {
    let settings = doors.core.configuration.settings();
    let agent = named.unwrap_or(&settings.default_agent);
    if settings.agent(agent).is_none() {
        let problem = format!("names no agent: there is no {agent:?}");
        return Err(Problem::invalid("agentId", problem));
    }
    let allowed = hooks.allowed_agents.as_ref();
    if allowed.is_some_and(|allowed| !allowed.iter().any(|id| id == agent)) {
        let problem = "is not in hooks.allowedAgentIds";
        return Err(Problem::invalid("agentId", problem));
    }
    Ok(agent.to_owned())
}

/// The agent's main session, which hears of results.
pub(super) fn main_session(doors: &Doors, agent: &str) -> Result<SessionKey, Problem> {
    Ok(doors.core.key("", agent)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_names_no_session_has_one_of_its_own() {
        let (one, other) = (
            session(&Hooks::default(), None, SessionMode::Isolated).unwrap(),
            session(&Hooks::default(), None, SessionMode::Isolated).unwrap(),
        );
        assert!(one.starts_with("hook:") && one != other);
        assert!(session(&Hooks::default(), None, SessionMode::Persistent).is_err());
    }

    fn persistent(hooks: &Hooks, wanted: &Wanted) -> Result<String, Problem> {
        session(hooks, Some(wanted), SessionMode::Persistent)
    }

    #[test]
    fn callers_choose_only_where_they_may() {
        let mut hooks = Hooks::default();
        let wanted = Wanted::Callers("hook:Mail:7".to_owned());
        assert!(persistent(&hooks, &wanted).is_err());
        hooks.allow_request_session_key = true;
        assert_eq!(persistent(&hooks, &wanted).unwrap(), "hook:Mail:7");
        hooks.session_prefixes = vec!["hook:mail:".to_owned()];
        assert_eq!(persistent(&hooks, &wanted).unwrap(), "hook:Mail:7");
        for key in ["main", "agent:main:main", "agent:main:hook:other"] {
            let wanted = Wanted::Callers(key.to_owned());
            assert!(persistent(&hooks, &wanted).is_err(), "{key}");
            let wanted = Wanted::Configured(key.to_owned());
            assert!(persistent(&hooks, &wanted).is_err(), "{key}");
        }
        let run = session(&hooks, Some(&wanted), SessionMode::Isolated).unwrap();
        assert!(run.starts_with("hook:Mail:7:run:"), "{run}");
    }
}
