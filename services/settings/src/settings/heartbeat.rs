//! Which agents have heartbeats.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use crate::keys::Fragment;
use crate::keys::heartbeat::{ActiveHours, Heartbeat};
use crate::settings::{AgentSettings, Settings};

/// Minutes of a day.
const DAY: u16 = 24 * 60;

/// What an hour has to be.
const NO_HOUR: &str = "must be a time of the day as HH:MM, such as 08:00 or 22:30";

impl ActiveHours {
    /// The minutes of the day at which they begin and end; what is not said is the
    /// beginning or the end of the day. None: one of them is no time.
    pub fn minutes(&self) -> Option<(u16, u16)> {
        let of = |text: &Option<String>, usual: u16| match text {
            Some(text) => minutes(text),
            None => Some(usual),
        };
        let end_of_day = |text: &String| text == "24:00";
        let (start, end) = (of(&self.start, 0)?, of(&self.end, DAY)?);
        (!self.start.as_ref().is_some_and(end_of_day)).then_some((start, end))
    }

    /// Where the clock is; None: there is no such zone.
    pub fn zone(&self) -> Option<TimeZone> {
        match self.timezone.as_deref() {
            None | Some("user" | "local" | "") => Some(TimeZone::system()),
            Some(name) => TimeZone::get(name).ok(),
        }
    }

    /// The key that is none, and why.
    fn checked(&self) -> Result<(), (&'static str, String)> {
        let alone = |start: Option<&String>, end: Option<&String>| Self {
            start: start.cloned(),
            end: end.cloned(),
            timezone: None,
        };
        if alone(self.start.as_ref(), None).minutes().is_none() {
            return Err(("start", NO_HOUR.to_owned()));
        }
        if alone(None, self.end.as_ref()).minutes().is_none() {
            return Err(("end", format!("{NO_HOUR}, or 24:00")));
        }
        match self.zone() {
            Some(_) => Ok(()),
            None => Err((
                "timezone",
                "must be an IANA time zone, such as Europe/Berlin; or user or local, the \
                 machine's"
                    .to_owned(),
            )),
        }
    }
}

/// The minute of the day of `HH:MM`.
fn minutes(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let two = |digits: &str| {
        let is_number = digits.len() == 2 && digits.bytes().all(|it| it.is_ascii_digit());
        is_number.then(|| digits.parse::<u16>().ok()).flatten()
    };
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    let all = hours * 60 + minutes;
    (minutes < 60 && all <= DAY).then_some(all)
}

/// Refuses a heartbeat that would be at other times than it says, or in a session that is
/// not its agent's; with the key.
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
        if let Err((key, problem)) = beat.active_hours.checked() {
            return invalid(&format!("activeHours.{key}"), problem);
        }
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
    /// The heartbeat of an agent, if it has one that is not switched off. Where an
    /// agent's own settings have one, those without have none, as in OpenClaw.
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
        Some(merged).filter(|it| is_meant && !it.every.0.is_zero())
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

    fn refused(document: Value) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let places: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&places).unwrap();
        let settings = Settings::assemble(paths, document, &Environment::default());
        settings.err().map(|error| error.to_string())
    }

    #[test]
    fn heartbeat_is_refused_hours_and_places_that_are_none() {
        for (beat, key) in [
            (
                json!({"activeHours": {"start": "10pm"}}),
                "activeHours.start",
            ),
            (
                json!({"activeHours": {"start": "25:00"}}),
                "activeHours.start",
            ),
            (
                json!({"activeHours": {"start": "24:00"}}),
                "activeHours.start",
            ),
            (
                json!({"activeHours": {"start": "+8:00"}}),
                "activeHours.start",
            ),
            (json!({"activeHours": {"start": ""}}), "activeHours.start"),
            (json!({"activeHours": {"end": "8am"}}), "activeHours.end"),
            (json!({"activeHours": {"end": "8:00"}}), "activeHours.end"),
            (json!({"activeHours": {"end": "24:01"}}), "activeHours.end"),
            (json!({"activeHours": {"end": "22:60"}}), "activeHours.end"),
            (
                json!({"activeHours": {"timezone": "Mars/X"}}),
                "activeHours.timezone",
            ),
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
