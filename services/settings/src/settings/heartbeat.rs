//! Which agents have heartbeats.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use openclaw_effect::values::hours;

use crate::keys::Fragment;
use crate::keys::heartbeat::{ActiveHours, Heartbeat};
use crate::settings::{AgentSettings, Settings};

impl ActiveHours {
    /// The minutes of the day at which they begin and end; what is not said is the
    /// beginning or the end of the day. None: one of them is no time.
    pub fn minutes(&self) -> Option<(u16, u16)> {
        let start = self.start.as_deref().map_or(Some(0), hours::start)?;
        let end = self.end.as_deref().map_or(Some(hours::DAY), hours::end)?;
        Some((start, end))
    }

    /// Where the clock is; None: there is no such zone.
    pub fn zone(&self) -> Option<TimeZone> {
        hours::zone(self.timezone.as_deref())
    }
}

/// Refuses a heartbeat that would be in a session that is not its agent's; with the key.
pub(super) fn checked(
    fragment: &Fragment,
    agents: &BTreeMap<String, AgentSettings>,
) -> Result<(), (String, String)> {
    let of_defaults = fragment.agents.defaults.heartbeat.as_ref();
    let of_defaults = of_defaults.map(|beat| ("agents.defaults".to_owned(), None, beat));
    let listed = fragment.agents.list.iter().enumerate();
    let listed = listed.filter_map(|(at, it)| {
        let beat = it.agent.heartbeat.as_ref()?;
        Some((format!("agents.list[{at}]"), Some(it.id.as_str()), beat))
    });
    for (section, owner, beat) in of_defaults.into_iter().chain(listed) {
        let invalid = |key: &str, problem: String| {
            let key = format!("{section}.heartbeat.{key}");
            Err((key, problem))
        };
        let known = || agents.keys().cloned().collect::<Vec<_>>().join(", ");
        let session = beat.session.as_deref().unwrap_or_default();
        if session.contains(|it: char| it.is_whitespace() || it.is_control()) {
            let problem = "must be the key of a session, which has no spaces".to_owned();
            return invalid("session", problem);
        }
        let named = session.strip_prefix("agent:");
        let named = named.map(|rest| rest.split(':').next().unwrap_or_default());
        let owner = owner.or(beat.agent_id.as_deref().map(str::trim));
        match (named, owner.filter(|owner| !owner.is_empty())) {
            (Some(id), Some(owner)) if !id.eq_ignore_ascii_case(owner) => {
                let problem = format!("must be a session of the agent {owner}, not of {id:?}");
                return invalid("session", problem);
            }
            (Some(id), None) if !agents.contains_key(id) => {
                let problem = format!("there is no agent {id:?}; there are {}", known());
                return invalid("session", problem);
            }
            _ => {}
        }
    }
    Ok(())
}

impl Settings {
    /// The heartbeat of an agent, if it has one that is not switched off and whose hours can be
    /// read. Where an agent's own settings have one, those without have none, as in OpenClaw.
    pub fn heartbeat(&self, agent: &str) -> Option<&Heartbeat> {
        let stated = &self.stated.agents;
        let own = |id: &str| {
            let mut listed = stated.list.iter();
            listed.any(|it| it.id == id && it.agent.heartbeat.is_some())
        };
        let merged = self.agent(agent)?.stated.heartbeat.as_ref()?;
        let is_meant = if stated.list.iter().any(|it| it.agent.heartbeat.is_some()) {
            own(agent)
        } else {
            let named = merged.agent_id.as_deref().map(str::trim);
            named.is_none_or(|it| it.is_empty() || it.eq_ignore_ascii_case(agent))
        };
        let hours = &merged.active_hours;
        let is_readable = hours.minutes().is_some() && hours.zone().is_some();
        Some(merged).filter(|it| is_meant && is_readable && !it.every.0.is_zero())
    }

    /// Where the heartbeat of an agent is written.
    pub(crate) fn heartbeat_section(&self, agent: &str) -> String {
        let mut list = self.stated.agents.list.iter();
        let own = list.position(|it| it.id == agent && it.agent.heartbeat.is_some());
        own.map_or_else(
            || "agents.defaults.heartbeat".to_owned(),
            |at| format!("agents.list[{at}].heartbeat"),
        )
    }
}

#[cfg(test)]
mod tests {
    use openclaw_config::{Environment, Paths};
    use serde_json::{Value, json};

    use super::*;

    fn settings(document: Value) -> Result<Settings, String> {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let places: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&places).unwrap();
        let settings = Settings::assemble(paths, document, &Environment::default());
        settings.map_err(|error| error.to_string())
    }

    fn refused(document: Value) -> Option<String> {
        settings(document).err()
    }

    #[test]
    fn heartbeat_alone_is_off_at_hours_that_cannot_be_read() {
        for hours in [
            json!({"start": "10pm"}),
            json!({"end": "25:00"}),
            json!({"timezone": "Mars/X"}),
        ] {
            let document = json!({"agents": {
                "defaults": {"heartbeat": {"every": "30m"}},
                "list": [{"id": "main", "heartbeat": {"activeHours": hours}},
                    {"id": "b", "heartbeat": {}}],
            }});
            let settings = settings(document).unwrap();
            assert!(settings.heartbeat("main").is_none(), "{hours}");
            assert!(settings.heartbeat("b").is_some(), "{hours}");
            let faults: Vec<_> = settings.faults.iter().map(ToString::to_string).collect();
            assert_eq!(faults.len(), 1, "{faults:?}");
            let key = "agents.list.0.heartbeat.activeHours.";
            assert!(faults[0].starts_with(key), "{faults:?}");
        }
    }

    #[test]
    fn heartbeat_is_refused_places_that_are_none() {
        for (beat, key) in [
            (json!({"agentId": "nobody"}), "agentId"),
            (json!({"session": "with space"}), "session"),
            (json!({"session": "agent:nobody:main"}), "session"),
        ] {
            let said = refused(json!({"agents": {"defaults": {"heartbeat": beat.clone()}}}));
            let said = said.unwrap_or_default();
            let key = format!("agents.defaults.heartbeat.{key}");
            assert!(said.contains(&key), "{beat}: {said}");
        }
        let list = json!([{"id": "main"}, {"id": "b", "heartbeat": {"session": "agent:main:x"}}]);
        let said = refused(json!({"agents": {"list": list}})).unwrap_or_default();
        assert!(said.contains("a session of the agent b"), "{said}");
        for beat in [
            json!({"activeHours": {"start": "08:00", "end": "24:00", "timezone": "Europe/Berlin"}}),
            json!({"activeHours": {"start": "22:00", "end": "00:00", "timezone": "user"}}),
            json!({"agentId": "main", "session": "agent:main:work"}),
            json!({"session": "global", "every": "1s"}),
        ] {
            let said = refused(json!({"agents": {"defaults": {"heartbeat": beat.clone()}}}));
            assert_eq!(said, None, "{beat}");
        }
    }
}
