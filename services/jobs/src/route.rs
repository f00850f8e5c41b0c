//! Whether what a job tells leads anywhere.

use serde_json::{Map, Value};

use crate::alert::{self, Alerts};
use crate::delivery::{Delivery, Destination};
use crate::invalid::Invalid;

/// Where something is told, and the field that says so.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Route {
    path: &'static str,
    delivery: Delivery,
}

/// Where the results of a job are told, and its failures.
pub(crate) fn of(
    delivery: Option<&Delivery>,
    failure_alert: Option<&Value>,
    alerts: &Alerts,
) -> Vec<Route> {
    let results = delivery.map(|it| ("delivery", it.clone()));
    let failures = delivery
        .and_then(Delivery::of_failures)
        .and_then(|said| alerts.route(Some(said)))
        .map(|it| ("delivery/failureDestination", it));
    let alert = failure_alert
        .and_then(Value::as_object)
        .filter(|said| alert::says_where(said))
        .map(|said| ("failureAlert", Delivery::announcing(said)));
    let all = [results, failures, alert].into_iter().flatten();
    all.map(|(path, delivery)| Route { path, delivery })
        .collect()
}

/// Refuses what leads to a channel that is not among `channels`, or to nobody on one
/// that is.
pub(crate) fn checked(routes: &[Route], channels: &[&str]) -> Result<(), Invalid> {
    for Route { path, delivery } in routes {
        for destination in delivery.destinations(channels) {
            let Destination::Channel { channel, to, .. } = destination else {
                continue;
            };
            if !channels.contains(&channel.as_str()) {
                let problem = no_channel(&channel, channels);
                return Err(Invalid::field(format!("{path}/channel"), &problem));
            }
            if to.trim().is_empty() {
                let problem = format!(
                    "must say whom on {channel}: an id there, such as \"12345\" (with \
                     openclawctl: {channel}:12345)"
                );
                return Err(Invalid::field(format!("{path}/to"), &problem));
            }
        }
    }
    Ok(())
}

/// That nothing can be told on `channel`.
pub fn no_channel(channel: &str, channels: &[&str]) -> String {
    format!(
        "there is no channel {channel} here; there are {} and webchat (sessions)",
        channels.join(", ")
    )
}

/// The names of sessions where a job with `fields` tells something, and the fields
/// that have them.
pub fn sessions(fields: &Value, channels: &[&str]) -> Vec<(String, String)> {
    let paths = ["delivery", "delivery/failureDestination", "failureAlert"];
    let said = |path: &str| -> Option<(String, &Map<String, Value>)> {
        let said = fields.pointer(&format!("/{path}"))?.as_object()?;
        Some((format!("{path}/to"), said))
    };
    let mut named = Vec::new();
    for (path, said) in paths.into_iter().filter_map(said) {
        for destination in Delivery::announcing(said).destinations(channels) {
            if let Destination::Session(Some(name)) = destination {
                named.push((path.clone(), name));
            }
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(job: &Value, alerts: &Value) -> String {
        let delivery = job.get("delivery").cloned();
        let delivery: Option<Delivery> = delivery.map(|it| serde_json::from_value(it).unwrap());
        let alerts = Alerts::of(Some(alerts.clone()));
        let routes = of(delivery.as_ref(), job.get("failureAlert"), &alerts);
        let checked = checked(&routes, &["telegram"]);
        checked.map_or_else(|invalid| invalid.to_string(), |()| "leads".to_owned())
    }

    #[test]
    fn route_is_refused_that_leads_to_no_channel_or_to_nobody() {
        for place in [
            json!({"channel": "signal", "to": "5"}),
            json!({"channel": "telegram"}),
            json!({"channel": "telegram", "to": ""}),
            json!({"channel": "telegram", "to": " "}),
            json!({"channel": "telegram", "to": "telegram:"}),
            json!({"channel": "telegram", "to": ":topic:4"}),
            json!({"channel": "last", "to": "telegram:"}),
            json!({"to": "telegram::topic:4"}),
            json!({"channel": "", "to": "5"}),
        ] {
            let field = match place["channel"].as_str() {
                Some("signal" | "") => "channel",
                _ => "to",
            };
            let mut results = place.clone();
            results["mode"] = json!("announce");
            let mut beside = json!({"mode": "none"});
            beside["failureDestination"] = place.clone();
            for (job, path) in [
                (json!({"delivery": results}), "delivery"),
                (json!({"delivery": beside}), "delivery/failureDestination"),
                (json!({"failureAlert": place}), "failureAlert"),
            ] {
                let refused = refused(&job, &json!({}));
                let expected = format!("at /{path}/{field}: ");
                assert!(refused.starts_with(&expected), "{job}: {refused}");
            }
        }
    }

    #[test]
    fn route_leads_where_the_configuration_completes_it() {
        let job = json!({"delivery": {"mode": "none",
            "failureDestination": {"channel": "telegram"}}});
        assert!(refused(&job, &json!({})).contains("whom"));
        assert_eq!(refused(&job, &json!({"to": "5"})), "leads");
        for job in [
            json!({}),
            json!({"delivery": {"mode": "none", "channel": "signal"}}),
            json!({"delivery": {"mode": "announce"}}),
            json!({"delivery": {"mode": "announce", "channel": "last"}}),
            json!({"delivery": {"mode": "announce", "to": "telegram:5"},
                "failureAlert": {"after": 3}}),
            json!({"delivery": {"mode": "announce", "channel": "webchat", "to": "agent:main:x"}}),
            json!({"failureAlert": {"channel": "telegram", "to": "-5:topic:1"}}),
        ] {
            assert_eq!(refused(&job, &json!({})), "leads", "{job}");
        }
    }

    #[test]
    fn sessions_are_those_that_fields_name() {
        let fields = json!({
            "delivery": {"mode": "announce", "to": "signal:5",
                "failureDestination": {"to": "agent:main:x"}},
            "failureAlert": {"channel": "last", "to": "other:1"},
        });
        let named = |path: &str, name: &str| (path.to_owned(), name.to_owned());
        let expected = [
            named("delivery/to", "signal:5"),
            named("delivery/failureDestination/to", "agent:main:x"),
            named("failureAlert/to", "other:1"),
        ];
        assert_eq!(sessions(&fields, &["telegram"]), expected);
        assert_eq!(sessions(&json!({"delivery": null}), &["telegram"]), []);
    }
}
