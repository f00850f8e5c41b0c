//! When somebody is told that a job fails, and where.

use serde_json::{Map, Value};

use crate::delivery::Delivery;
use crate::invalid::Invalid;
use crate::place;

/// Failures in a row of which somebody is told when the job does not say how
/// many, as in OpenClaw.
const AFTER: u64 = 2;

/// How long nobody is told once more of failures that go on, as in OpenClaw.
const COOLDOWN_MS: i64 = 60 * 60 * 1000;

/// The fields that say where.
const ROUTE: [&str; 4] = ["mode", "channel", "to", "accountId"];

/// The fields that say when.
const WHEN: [&str; 3] = ["after", "cooldownMs", "includeSkipped"];

/// Whether it can be obeyed.
pub(crate) fn checked(alert: Option<&Value>) -> Result<(), Invalid> {
    let said = match alert {
        None | Some(Value::Bool(_)) => return Ok(()),
        Some(Value::Object(said)) => said,
        Some(_) => {
            let problem = "must be false or an object";
            return Err(Invalid::field("failureAlert", problem));
        }
    };
    if said.get("includeSkipped").is_some_and(|it| *it == true) {
        let problem = "is not offered: a time that was skipped is no failure";
        return Err(Invalid::field("failureAlert/includeSkipped", problem));
    }
    if said
        .get("after")
        .is_some_and(|it| it.as_u64().unwrap_or(0) == 0)
    {
        return Err(Invalid::field("failureAlert/after", "must be >= 1"));
    }
    if said.get("cooldownMs").is_some_and(|it| !it.is_u64()) {
        return Err(Invalid::field("failureAlert/cooldownMs", "must be >= 0"));
    }
    place::checked("failureAlert", said, &WHEN)
}

/// Whether an alert says where, rather than when alone.
pub(crate) fn says_where(said: &Map<String, Value>) -> bool {
    ["channel", "to", "mode"]
        .iter()
        .any(|name| said.contains_key(*name))
}

/// What holds for jobs that do not say it themselves: `cron.failureAlert` in
/// OpenClaw's fields. One that is there is for all jobs whose results are not told
/// at best.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Alerts(Option<Map<String, Value>>);

impl Alerts {
    /// What `said` says; a field that is null says nothing.
    pub fn of(said: Option<Value>) -> Self {
        Self(said.and_then(|said| match said {
            Value::Object(mut said) => {
                said.retain(|_, value| !value.is_null());
                Some(said)
            }
            _ => None,
        }))
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_ref()?.get(name)
    }

    fn hold_for(&self, delivery: Option<&Delivery>) -> bool {
        if self.get("enabled") == Some(&Value::Bool(false)) {
            return false;
        }
        let is_told = |it: &Delivery| it.is_requested() || it.of_failures().is_some();
        !delivery.is_some_and(Delivery::is_best_effort)
            && (self.0.is_some() || delivery.is_some_and(is_told))
    }

    /// The fields that say where, with those of `said` instead.
    pub(crate) fn route(&self, said: Option<&Map<String, Value>>) -> Option<Delivery> {
        let mut fields = Map::new();
        for name in ROUTE {
            let value = said.and_then(|said| said.get(name));
            if let Some(value) = value.or_else(|| self.get(name)) {
                fields.insert(name.to_owned(), value.clone());
            }
        }
        let leads_somewhere = fields.contains_key("channel") || fields.contains_key("to");
        leads_somewhere.then(|| Delivery::announcing(&fields))
    }
}

/// When somebody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Policy {
    /// After so many failures in a row,
    pub(crate) after: u64,
    /// and of those that go on once in so many milliseconds.
    pub(crate) cooldown_ms: i64,
}

/// When somebody is told of failures; None: never.
pub(crate) fn policy(
    alert: Option<&Value>,
    delivery: Option<&Delivery>,
    alerts: &Alerts,
) -> Option<Policy> {
    let is_told = match alert {
        Some(alert) => alert.is_object() || *alert == Value::Bool(true),
        None => alerts.hold_for(delivery),
    };
    let number = |name: &str| {
        let own = alert.and_then(|said| said.get(name));
        own.or_else(|| alerts.get(name)).and_then(Value::as_u64)
    };
    let cooldown = number("cooldownMs").map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
    is_told.then(|| Policy {
        after: number("after").unwrap_or(AFTER),
        cooldown_ms: cooldown.unwrap_or(COOLDOWN_MS),
    })
}

/// Where: as the alert says, else as the delivery says of failures, else as
/// `alerts` do, else where results go.
pub(crate) fn route(
    alert: Option<&Value>,
    delivery: Option<&Delivery>,
    alerts: &Alerts,
) -> Delivery {
    let nothing = Map::new();
    let said = alert.and_then(Value::as_object).unwrap_or(&nothing);
    if says_where(said) {
        return Delivery::announcing(said);
    }
    let of_results = || delivery.filter(|it| it.is_requested()).cloned();
    alerts
        .route(delivery.and_then(Delivery::of_failures))
        .or_else(of_results)
        .unwrap_or_else(|| Delivery::announcing(said))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Destination;

    fn delivery(value: Value) -> Delivery {
        serde_json::from_value(value).unwrap()
    }

    fn alerts(value: Value) -> Alerts {
        Alerts::of(Some(value))
    }

    #[test]
    fn policy_is_two_in_a_row_where_results_are_told() {
        let told = delivery(json!({"mode": "announce"}));
        let light = delivery(json!({"mode": "announce", "bestEffort": true}));
        let nobody = delivery(json!({"mode": "none"}));
        let unset = Alerts::default();
        let after = |alert: Option<Value>, delivery: Option<&Delivery>| {
            policy(alert.as_ref(), delivery, &unset).map(|it| it.after)
        };
        assert_eq!(after(None, Some(&told)), Some(2));
        assert_eq!(after(None, Some(&light)), None);
        assert_eq!(after(None, Some(&nobody)), None);
        assert_eq!(after(None, None), None);
        assert_eq!(after(Some(json!({"after": 5})), Some(&nobody)), Some(5));
        assert_eq!(after(Some(json!(false)), Some(&told)), None);
    }

    #[test]
    fn policy_takes_from_the_configuration_what_the_job_does_not_say() {
        let told = delivery(json!({"mode": "announce"}));
        let light = delivery(json!({"mode": "announce", "bestEffort": true}));
        let set = alerts(json!({"after": 3, "cooldownMs": 5, "channel": null}));
        let both = |after, cooldown_ms| Some(Policy { after, cooldown_ms });
        assert_eq!(policy(None, None, &set), both(3, 5));
        assert_eq!(policy(None, Some(&light), &set), None);
        let own = json!({"after": 1});
        assert_eq!(policy(Some(&own), Some(&light), &set), both(1, 5));
        assert_eq!(policy(Some(&json!(false)), Some(&told), &set), None);
        let off = alerts(json!({"enabled": false, "after": 4}));
        assert_eq!(policy(None, Some(&told), &off), None);
        assert_eq!(policy(Some(&own), None, &off), both(1, COOLDOWN_MS));
    }

    #[test]
    fn route_goes_by_alert_then_delivery_then_configuration() {
        let job = delivery(json!({"mode": "announce", "to": "agent:main:x",
            "failureDestination": {"mode": "webhook", "to": "https://e.org/f"}}));
        let unset = Alerts::default();
        let at = |alert: Value| route(Some(&alert), Some(&job), &unset).destinations();
        let webhook = Destination::Webhook("https://e.org/f".to_owned());
        assert_eq!(at(json!({"after": 3})), [webhook]);
        let person = at(json!({"channel": "telegram", "to": "7"}));
        assert!(matches!(&person[0], Destination::Channel { to, .. } if to == "7"));
        let plain = delivery(json!({"mode": "announce", "to": "agent:main:x"}));
        let session = Destination::Session(Some("agent:main:x".to_owned()));
        assert_eq!(
            route(None, Some(&plain), &unset).destinations(),
            std::slice::from_ref(&session)
        );

        let set = alerts(json!({"channel": "telegram", "to": "9", "after": 2}));
        let at = |delivery: Option<&Delivery>| route(None, delivery, &set).destinations();
        assert!(matches!(&at(Some(&plain))[0], Destination::Channel { to, .. } if to == "9"));
        assert!(matches!(&at(None)[0], Destination::Channel { to, .. } if to == "9"));
        let elsewhere = delivery(json!({"mode": "announce", "failureDestination": {"to": "8"}}));
        assert!(matches!(&at(Some(&elsewhere))[0], Destination::Channel { to, .. } if to == "8"));
        let only_when = alerts(json!({"after": 2, "mode": "announce"}));
        assert_eq!(
            route(None, Some(&plain), &only_when).destinations(),
            [session]
        );
    }

    #[test]
    fn alert_is_refused_what_nobody_obeys() {
        for (alert, expected) in [
            (json!({"includeSkipped": true}), "includeSkipped"),
            (json!({"after": 0}), "after"),
            (json!({"cooldownMs": -1}), "cooldownMs"),
            (json!({"loud": 1}), "loud"),
            (json!("yes"), "false"),
            (
                json!({"mode": "webhook", "to": "x"}),
                "at /failureAlert/to: must be an http",
            ),
            (json!({"mode": "loud"}), "at /failureAlert/mode: "),
            (json!({"channel": 5}), "at /failureAlert/channel: "),
        ] {
            let refused = checked(Some(&alert)).unwrap_err().to_string();
            assert!(refused.contains(expected), "{alert}: {refused}");
        }
        checked(Some(&json!({"after": 3, "cooldownMs": 5}))).unwrap();
    }
}
