//! Whether what a job tells leads anywhere.

use openclaw_settings::ChannelSettings;
use openclaw_settings::recipient::Recipient;
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

/// Refuses what leads to a channel or an account that is not set up, or to nobody there.
pub(crate) fn checked(routes: &[Route], channels: &ChannelSettings) -> Result<(), Invalid> {
    for Route { path, delivery } in routes {
        for destination in delivery.destinations() {
            let Destination::Channel {
                channel,
                account,
                to,
                ..
            } = destination
            else {
                continue;
            };
            let recipient = Recipient {
                channel: &channel,
                to: &to,
                topic: None,
            };
            if let Some(nobody) = channels.nobody_at(&recipient, &account) {
                let field = format!("{path}/{}", nobody.field());
                return Err(Invalid::field(field, &nobody.to_string()));
            }
        }
    }
    Ok(())
}

/// The names of sessions where a job with `fields` tells something, and the fields
/// that have them.
pub fn sessions(fields: &Value) -> Vec<(String, String)> {
    let paths = ["delivery", "delivery/failureDestination", "failureAlert"];
    let said = |path: &str| -> Option<(String, &Map<String, Value>)> {
        let said = fields.pointer(&format!("/{path}"))?.as_object()?;
        Some((format!("{path}/to"), said))
    };
    let mut named = Vec::new();
    for (path, said) in paths.into_iter().filter_map(said) {
        for destination in Delivery::announcing(said).destinations() {
            if let Destination::Session(Some(name)) = destination {
                named.push((path.clone(), name));
            }
        }
    }
    named
}

/// The URLs that a job with `fields` tells, and the fields that have them; of a change
/// those that it names.
pub fn webhooks(fields: &Value) -> Vec<(String, String)> {
    let places = [
        "delivery/to",
        "delivery/completionDestination/to",
        "delivery/failureDestination/to",
        "failureAlert/to",
    ];
    let url = |place: &str| {
        let to = fields.pointer(&format!("/{place}"))?.as_str()?;
        let is_url = ["http://", "https://"].iter().any(|it| to.starts_with(it));
        is_url.then(|| (place.to_owned(), to.to_owned()))
    };
    places.into_iter().filter_map(url).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use openclaw_settings::keys::channels::Account;
    use serde_json::json;

    use super::*;

    /// Telegram with its default account, and one that is switched off.
    pub(crate) fn channels() -> ChannelSettings {
        let account = |enabled| Account {
            enabled,
            ..Account::default()
        };
        let accounts = [("home", account(true)), ("old", account(false))];
        let accounts = accounts.map(|(name, account)| (name.to_owned(), account));
        let mut channels = ChannelSettings::default();
        channels
            .accounts
            .insert("telegram".to_owned(), accounts.into());
        channels
            .defaults
            .insert("telegram".to_owned(), "home".to_owned());
        channels
    }

    fn refused(job: &Value, alerts: &Value) -> String {
        let delivery = job.get("delivery").cloned();
        let delivery: Option<Delivery> = delivery.map(|it| serde_json::from_value(it).unwrap());
        let alerts = Alerts::of(Some(alerts.clone()));
        let routes = of(delivery.as_ref(), job.get("failureAlert"), &alerts);
        let checked = checked(&routes, &channels());
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
            json!({"channel": "telegram", "to": "5", "accountId": "work"}),
            json!({"channel": "telegram", "to": "5", "accountId": "old"}),
        ] {
            let field = match place["channel"].as_str() {
                Some("signal" | "") => "channel",
                _ if place["accountId"].is_string() => "accountId",
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
            json!({"failureAlert": {"channel": "telegram", "to": "5", "accountId": "home"}}),
        ] {
            assert_eq!(refused(&job, &json!({})), "leads", "{job}");
        }
    }

    #[test]
    fn route_to_a_channel_that_is_not_set_up_is_refused() {
        let said = json!({"mode": "announce", "to": "telegram:5"});
        let said: Delivery = serde_json::from_value(said).unwrap();
        let routes = of(Some(&said), None, &Alerts::default());
        let refused = checked(&routes, &ChannelSettings::default()).unwrap_err();
        let expected = "at /delivery/channel: channels.telegram is not configured";
        assert!(refused.to_string().starts_with(expected), "{refused}");
    }

    #[test]
    fn webhooks_are_those_that_fields_name() {
        let url = "https://e.org/h";
        let fields = json!({
            "delivery": {"mode": "announce", "to": "telegram:5",
                "completionDestination": {"mode": "webhook", "to": url},
                "failureDestination": {"mode": "webhook", "to": url}},
            "failureAlert": {"mode": "webhook", "to": url},
        });
        let named = webhooks(&fields).into_iter().map(|(field, _)| field);
        let expected = [
            "delivery/completionDestination/to",
            "delivery/failureDestination/to",
            "failureAlert/to",
        ];
        assert_eq!(named.collect::<Vec<_>>(), expected);
        assert_eq!(webhooks(&json!({"delivery": {"to": url}})).len(), 1);
        assert_eq!(webhooks(&json!({"name": url, "delivery": null})), []);
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
        assert_eq!(sessions(&fields), expected);
        assert_eq!(sessions(&json!({"delivery": null})), []);
    }
}
