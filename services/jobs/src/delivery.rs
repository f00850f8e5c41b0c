//! Where a job's result goes beside the session it was made in, and what
//! became of it.

use openclaw_settings::recipient::{LAST, Recipient};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::invalid::Invalid;
use crate::place;

/// What clients show of jobs whose results go nowhere, as in OpenClaw.
pub(crate) const NOT_REQUESTED: &str = "not requested";

/// What clients ask for, in OpenClaw's fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    mode: Mode,
    /// A channel; none: the sessions themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    /// A session's key, a recipient of another channel, or a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account_id: Option<String>,
    /// A text or a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<Value>,
    /// A result that cannot be delivered is not a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    best_effort: Option<bool>,
    /// A webhook that is told too.
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_destination: Option<Box<Delivery>>,
    /// Where failures are told instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_destination: Option<Map<String, Value>>,
    /// What earlier jobs may have.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    None,
    Announce,
    Webhook,
}

/// One place where something is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A session, and the channel it is on; None: the main one.
    Session(Option<String>),
    /// Somebody on a channel.
    Channel {
        /// The channel.
        channel: String,
        /// Empty: the default one.
        account: String,
        /// Whom.
        to: String,
        /// In which thread.
        thread: Option<String>,
    },
    /// A URL.
    Webhook(String),
}

impl Delivery {
    /// An announcement as the fields of `said` have it.
    pub(crate) fn announcing(said: &Map<String, Value>) -> Self {
        let word = |name: &str| Some(said.get(name)?.as_str()?.to_owned());
        let is_webhook = said.get("mode").is_some_and(|mode| mode == "webhook");
        Self {
            mode: if is_webhook {
                Mode::Webhook
            } else {
                Mode::Announce
            },
            channel: word("channel"),
            to: word("to"),
            account_id: word("accountId"),
            thread_id: said.get("threadId").cloned(),
            best_effort: None,
            completion_destination: None,
            failure_destination: None,
            rest: Map::new(),
        }
    }

    /// Whether it can be done at all; `path` is the field that has it.
    pub(crate) fn checked(&self, path: &str) -> Result<(), Invalid> {
        if let Some(name) = self.rest.keys().next() {
            let problem = format!("at /{path}: unexpected property '{name}'");
            return Err(Invalid::Shape(problem));
        }
        place::thread(path, self.thread_id.as_ref())?;
        if let Some(completion) = &self.completion_destination {
            let path = format!("{path}/completionDestination");
            if completion.mode != Mode::Webhook || self.mode != Mode::Announce {
                let problem = "must be a webhook beside an announcement";
                return Err(Invalid::field(path, problem));
            }
            let has_more = completion.completion_destination.is_some()
                || completion.failure_destination.is_some();
            if has_more {
                let problem = "may not have destinations of its own";
                return Err(Invalid::field(path, problem));
            }
            completion.checked(&path)?;
        }
        if let Some(said) = &self.failure_destination {
            place::checked(&format!("{path}/failureDestination"), said, &[])?;
        }
        match self.mode {
            Mode::Webhook => place::webhook(path, self.to.as_deref()),
            Mode::None | Mode::Announce => Ok(()),
        }
    }

    /// Whether a result is announced.
    pub(crate) fn announces(&self) -> bool {
        self.mode == Mode::Announce
    }

    /// Whether a result goes anywhere.
    pub(crate) fn is_requested(&self) -> bool {
        self.mode != Mode::None
    }

    /// Everywhere where a result goes.
    pub fn destinations(&self) -> Vec<Destination> {
        let first = match self.mode {
            Mode::None => None,
            Mode::Webhook => self.to.clone().map(Destination::Webhook),
            Mode::Announce => Some(self.announced_at()),
        };
        let second = self.completion_destination.iter();
        let second = second.flat_map(|it| it.destinations());
        first.into_iter().chain(second).collect()
    }

    fn announced_at(&self) -> Destination {
        let to = self.to.as_deref().unwrap_or_default();
        let channel = self.channel.as_deref().unwrap_or(LAST);
        let Some(Recipient { channel, to, topic }) = Recipient::of(channel, to) else {
            return Destination::Session(self.to.clone());
        };
        let thread = match &self.thread_id {
            Some(Value::String(thread)) => Some(thread.clone()),
            Some(Value::Number(thread)) => Some(thread.to_string()),
            _ => topic.map(str::to_owned),
        };
        Destination::Channel {
            channel: channel.to_owned(),
            account: self.account_id.clone().unwrap_or_default(),
            to: to.to_owned(),
            thread,
        }
    }

    /// Where failures are told, if it says so.
    pub(crate) fn of_failures(&self) -> Option<&Map<String, Value>> {
        self.failure_destination.as_ref()
    }

    /// What clients show of it.
    pub(crate) fn words(&self) -> &'static str {
        match self.mode {
            Mode::Announce => "announce",
            Mode::Webhook => "webhook",
            Mode::None => NOT_REQUESTED,
        }
    }

    /// Whether a result that cannot be announced is not a failure.
    pub(crate) fn is_best_effort(&self) -> bool {
        self.best_effort.unwrap_or(false)
    }
}

/// What became of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    /// Nobody wants it.
    NotRequested,
    /// It was told.
    Yes,
    /// It waits to be told on a channel: nobody knows yet.
    Waiting,
    /// There was nothing to tell, and why.
    Suppressed(&'static str),
    /// It was not told, and why.
    Failed(String),
}

impl Delivered {
    /// OpenClaw's word for it.
    pub fn status(&self) -> &'static str {
        match self {
            Self::NotRequested => "not-requested",
            Self::Yes => "delivered",
            Self::Waiting => "unknown",
            Self::Suppressed(_) | Self::Failed(_) => "not-delivered",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn delivery(value: Value) -> Delivery {
        serde_json::from_value(value).unwrap()
    }

    fn channel(to: &str, thread: Option<&str>) -> Vec<Destination> {
        vec![Destination::Channel {
            channel: "telegram".to_owned(),
            account: String::new(),
            to: to.to_owned(),
            thread: thread.map(str::to_owned),
        }]
    }

    #[test]
    fn destinations_are_sessions_people_and_urls() {
        let at = |value| delivery(value).destinations();
        let session = |key: Option<&str>| vec![Destination::Session(key.map(str::to_owned))];
        assert_eq!(at(json!({"mode": "none", "to": "x"})), []);
        assert_eq!(at(json!({"mode": "announce"})), session(None));
        let keyed = json!({"mode": "announce", "channel": "last", "to": "agent:main:x"});
        assert_eq!(at(keyed), session(Some("agent:main:x")));
        let person = json!({"mode": "announce", "channel": "telegram", "to": "12"});
        assert_eq!(at(person), channel("12", None));
        let prefixed = json!({"mode": "announce", "to": "telegram:-100:topic:7"});
        assert_eq!(at(prefixed), channel("-100", Some("7")));
        let threaded =
            json!({"mode": "announce", "channel": "telegram", "to": "12", "threadId": 9});
        assert_eq!(at(threaded), channel("12", Some("9")));
        let both = json!({"mode": "announce",
            "completionDestination": {"mode": "webhook", "to": "https://e.org/h"}});
        let mut expected = session(None);
        expected.push(Destination::Webhook("https://e.org/h".to_owned()));
        assert_eq!(at(both), expected);
    }

    #[test]
    fn delivery_is_refused_what_leads_nowhere() {
        for (value, expected) in [
            (json!({"mode": "webhook"}), "delivery/to"),
            (json!({"mode": "webhook", "to": "ftp://e.org"}), "http"),
            (
                json!({"mode": "webhook", "to": "https://u:p@e.org/"}),
                "password",
            ),
            (json!({"mode": "webhook", "to": "https:///x"}), "http"),
            (json!({"mode": "webhook", "to": "https://e .org"}), "http"),
            (json!({"mode": "announce", "room": "x"}), "room"),
            (
                json!({"mode": "none", "completionDestination": {"mode": "webhook", "to": "http://e"}}),
                "completionDestination",
            ),
            (
                json!({"mode": "announce", "failureDestination": {"mode": "webhook", "to": "no"}}),
                "delivery/failureDestination/to: must be an http",
            ),
            (
                json!({"mode": "announce", "completionDestination": {"mode": "webhook"}}),
                "delivery/completionDestination/to: ",
            ),
            (
                json!({"mode": "announce", "completionDestination": {"mode": "webhook",
                    "to": "https://e.org", "failureDestination": {"to": "x"}}}),
                "delivery/completionDestination: ",
            ),
            (
                json!({"mode": "announce", "completionDestination": {"mode": "webhook",
                    "to": "https://e.org", "room": "x"}}),
                "'room'",
            ),
            (
                json!({"mode": "announce", "completionDestination": {"mode": "announce"}}),
                "delivery/completionDestination: ",
            ),
            (
                json!({"mode": "announce", "threadId": [1]}),
                "delivery/threadId",
            ),
        ] {
            let refused = delivery(value.clone())
                .checked("delivery")
                .unwrap_err()
                .to_string();
            assert!(refused.contains(expected), "{value}: {refused}");
        }
        let good = json!({"mode": "webhook", "to": "https://example.org:8443/hook?a=b"});
        delivery(good).checked("delivery").unwrap();
    }
}
