//! When somebody is told that a job fails, and where.

use serde_json::{Map, Value};

use crate::delivery::Delivery;
use crate::invalid::Invalid;

/// Failures in a row of which somebody is told when the job does not say how
/// many, as in OpenClaw.
const AFTER: u64 = 2;

/// What may be said. A failure that goes on is told once, and once when it is
/// over: no time has to pass between two.
const FIELDS: [&str; 7] = [
    "after",
    "channel",
    "to",
    "mode",
    "accountId",
    "cooldownMs",
    "includeSkipped",
];

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
    if let Some(name) = said.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        let problem = format!("at /failureAlert: unexpected property '{name}'");
        return Err(Invalid::Shape(problem));
    }
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
    let checked = Delivery::announcing(said).checked();
    checked.map_err(|invalid| Invalid::field("failureAlert", &invalid.to_string()))
}

/// Failures in a row of which somebody is told; None: of none.
pub(crate) fn after(alert: Option<&Value>, delivery: Option<&Delivery>) -> Option<u64> {
    match alert {
        Some(Value::Object(said)) => {
            Some(said.get("after").and_then(Value::as_u64).unwrap_or(AFTER))
        }
        Some(Value::Bool(true)) => Some(AFTER),
        Some(_) => None,
        None => {
            let is_told = |it: &Delivery| {
                (it.is_requested() && !it.is_best_effort()) || it.of_failures().is_some()
            };
            delivery.is_some_and(is_told).then_some(AFTER)
        }
    }
}

/// Where: as the alert says, else as the delivery says of failures, else where
/// results go.
pub(crate) fn route(alert: Option<&Value>, delivery: Option<&Delivery>) -> Delivery {
    let nothing = Map::new();
    let said = alert.and_then(Value::as_object).unwrap_or(&nothing);
    if ["channel", "to", "mode"]
        .iter()
        .any(|name| said.contains_key(*name))
    {
        return Delivery::announcing(said);
    }
    let of_failures = delivery.and_then(Delivery::of_failures);
    let of_results = || delivery.filter(|it| it.is_requested()).cloned();
    of_failures
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

    #[test]
    fn after_is_two_where_results_are_told() {
        let told = delivery(json!({"mode": "announce"}));
        let light = delivery(json!({"mode": "announce", "bestEffort": true}));
        let nobody = delivery(json!({"mode": "none"}));
        assert_eq!(after(None, Some(&told)), Some(2));
        assert_eq!(after(None, Some(&light)), None);
        assert_eq!(after(None, Some(&nobody)), None);
        assert_eq!(after(None, None), None);
        assert_eq!(after(Some(&json!({"after": 5})), Some(&nobody)), Some(5));
        assert_eq!(after(Some(&json!(false)), Some(&told)), None);
    }

    #[test]
    fn route_goes_by_alert_then_delivery() {
        let job = delivery(json!({"mode": "announce", "to": "agent:main:x",
            "failureDestination": {"mode": "webhook", "to": "https://e.org/f"}}));
        let at = |alert: Value| route(Some(&alert), Some(&job)).destinations(&["telegram"]);
        let webhook = Destination::Webhook("https://e.org/f".to_owned());
        assert_eq!(at(json!({"after": 3})), [webhook]);
        let person = at(json!({"channel": "telegram", "to": "7"}));
        assert!(matches!(&person[0], Destination::Channel { to, .. } if to == "7"));
        let plain = delivery(json!({"mode": "announce", "to": "agent:main:x"}));
        let session = Destination::Session(Some("agent:main:x".to_owned()));
        assert_eq!(route(None, Some(&plain)).destinations(&[]), [session]);
    }

    #[test]
    fn alert_is_refused_what_nobody_obeys() {
        for (alert, expected) in [
            (json!({"includeSkipped": true}), "includeSkipped"),
            (json!({"after": 0}), "after"),
            (json!({"loud": 1}), "loud"),
            (json!("yes"), "false"),
            (json!({"mode": "webhook", "to": "x"}), "http"),
        ] {
            let refused = checked(Some(&alert)).unwrap_err().to_string();
            assert!(refused.contains(expected), "{alert}: {refused}");
        }
        checked(Some(&json!({"after": 3, "cooldownMs": 5}))).unwrap();
    }
}
