//! `agents.*.heartbeat` of the file, typed but optional, as written.

use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::maintenance::milliseconds;
use crate::section::sections;

/// The shortest time between two, in milliseconds: no job runs more often.
const SHORTEST_MS: u64 = 1000;

sections! {
    /// `agents.*.heartbeat`: looking after an agent now and then, whether there is
    /// something for it to do.
    pub struct Heartbeat {
        /// How often: `30m` unless set; a number is one of minutes, 0 is never.
        every: Every = Every(Duration::from_secs(30 * 60)),
        /// When of a day; always unless set.
        active_hours: ActiveHours,
        /// The agent that `agents.defaults.heartbeat` is for; all of them unless set.
        agent_id: Option<String>,
        /// `provider/model`, instead of the agent's.
        model: Option<String>,
        /// The session: `main` unless set.
        session: Option<String>,
        /// Each in a session of its own, without what was said before; always where a group
        /// is told whose session it is not.
        isolated_session: bool = false,
        /// Without the files that a conversation begins with.
        light_context: bool = false,
        /// Who is told what the agent has to say: `owner` (the default), `last` (where
        /// the session was last), `none`, or a channel.
        target: String = "owner".to_owned(),
        /// Whom on that channel.
        to: Option<String>,
        /// As which account of the channel.
        account_id: Option<String>,
        /// `block`: nobody is told in a direct chat.
        direct_policy: DirectPolicy = DirectPolicy::Allow,
        /// What the agent is asked, instead of our own words.
        prompt: Option<String>,
        /// Characters beside `HEARTBEAT_OK` with which an answer still says nothing.
        ack_max_chars: usize = 300,
        /// The longest that it may take; `every`, at most ten minutes, unless set.
        #[cfg_attr(test, schemars(range(min = 1)))]
        timeout_seconds: Option<u64>,
        /// A line for the shell of the sandbox, which is run first: no model is asked
        /// unless it ends with 0. What it prints is told to the agent.
        gate: Option<String>,
        /// What heartbeats of one day may cost, in US dollars.
        #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
        // A cheap model's every half hour; a dear one is seen before it is a bill.
        cost_per_day: f64 = 0.5,
        /// How many of one day may ask the model.
        // Every half hour; what has no price has a bound too.
        runs_per_day: u32 = 48,
    }

    /// `activeHours` of a heartbeat, which is off while they cannot be read.
    pub struct ActiveHours {
        /// From then on, as `HH:MM`.
        start: Option<String>,
        /// Until then, as `HH:MM`; `24:00` is the end of the day.
        end: Option<String>,
        /// An IANA time zone; `user` and `local`, as when it is not set: the machine's.
        timezone: Option<String>,
    }
}

/// Whether something is said in direct chats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DirectPolicy {
    /// It is.
    #[default]
    Allow,
    /// It is not.
    Block,
}

/// A time between two heartbeats; zero: there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Every(#[cfg_attr(test, schemars(with = "written::Minutes"))] pub Duration);

impl Serialize for Every {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{}ms", self.0.as_millis()))
    }
}

impl<'de> Deserialize<'de> for Every {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let text = match &value {
            Value::String(text) => text.trim().to_lowercase(),
            other => other.to_string(),
        };
        let is_number = text.parse::<f64>().is_ok();
        let with_unit = if is_number { format!("{text}m") } else { text };
        match milliseconds(&with_unit) {
            Some(ms @ 1..SHORTEST_MS) => Err(D::Error::custom(format!(
                "is {value} ({ms} ms); allowed is 1s and more, or \"0m\", which is never"
            ))),
            Some(milliseconds) => Ok(Self(Duration::from_millis(milliseconds))),
            None => Err(D::Error::custom(format!(
                "is {value}; allowed is a time such as \"30m\" or \"1h30m\" (ms, s, m, h, d), or \
                 minutes; \"0m\" is never"
            ))),
        }
    }
}

/// What the schema says of them.
#[cfg(test)]
mod written {
    #[derive(schemars::JsonSchema)]
    #[schemars(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub(super) enum Minutes {
        /// So many minutes.
        Number(#[schemars(range(min = 0.0))] f64),
        /// With units, such as `30m` or `1h30m`.
        Text(String),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn heartbeat_every_is_a_time_or_minutes() {
        for (written, expected) in [
            (json!("30m"), Some(1800)),
            (json!("1h30m"), Some(5400)),
            (json!(15), Some(900)),
            (json!("15"), Some(900)),
            (json!("0m"), Some(0)),
            (json!(0), Some(0)),
            (json!("1s"), Some(1)),
            (json!("500ms"), None),
            (json!(0.001), None),
            (json!("often"), None),
            (json!(-1), None),
            (json!(true), None),
        ] {
            let read = serde_json::from_value::<Every>(written.clone()).ok();
            let expected = expected.map(|it| Every(Duration::from_secs(it)));
            assert_eq!(read, expected, "{written}");
        }
    }
}
