//! Where the gateway tells something by itself, and whether somebody is there.

use openclaw_config::key::KeyPath;

use crate::keys::cron::AlertMode;
use crate::settings::Settings;
use crate::settings::recipient::{LAST, Nobody, Recipient};

/// Targets of heartbeats that name nobody.
const OF_NOBODY: [&str; 2] = ["owner", "none"];

/// The key of mappings of hooks.
const MAPPINGS: &str = "hooks.mappings";

/// A place as the file says it.
struct Told {
    /// The section that says it, and its key for the channel.
    section: String,
    channel_key: &'static str,
    channel: String,
    to: String,
    account: String,
}

fn text(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}

impl Settings {
    /// Keys that say where the gateway tells something, and name nobody who is there;
    /// with the reason. A channel may be set up later, so that makes no file invalid.
    pub fn told_nowhere(&self) -> Vec<(KeyPath, String)> {
        let places = self.alert().into_iter();
        let places = places.chain(self.beats()).chain(self.mappings());
        let mut found: Vec<(KeyPath, String)> = Vec::new();
        for place in places {
            let Some((key, problem)) = self.nobody_at(&place) else {
                continue;
            };
            // To whom there is said by whoever calls.
            if place.section.starts_with(MAPPINGS) && key != place.channel_key {
                continue;
            }
            let key = KeyPath::parse(&format!("{}.{key}", place.section)).unwrap_or_default();
            if !found.iter().any(|(known, _)| *known == key) {
                found.push((key, problem.to_string()));
            }
        }
        found
    }

    /// Where is told of jobs that fail.
    fn alert(&self) -> Option<Told> {
        let alert = self.stated.cron.failure_alert.as_ref()?;
        if alert.enabled == Some(false) || alert.mode == Some(AlertMode::Webhook) {
            return None;
        }
        Some(Told {
            section: "cron.failureAlert".to_owned(),
            channel_key: "channel",
            channel: text(alert.channel.as_deref()),
            to: text(alert.to.as_deref()),
            account: text(alert.account_id.as_deref()),
        })
    }

    /// Where heartbeats are told.
    fn beats(&self) -> impl Iterator<Item = Told> {
        self.agents.keys().filter_map(|id| {
            let beat = self.heartbeat(id)?;
            (!OF_NOBODY.contains(&beat.target.as_str())).then(|| Told {
                section: self.heartbeat_section(id),
                channel_key: "target",
                channel: beat.target.clone(),
                to: text(beat.to.as_deref()),
                account: text(beat.account_id.as_deref()),
            })
        })
    }

    /// Where mappings of hooks tell something that do not go by what comes in.
    fn mappings(&self) -> impl Iterator<Item = Told> {
        let mappings = self.gateway.hooks.mappings.iter().enumerate();
        let named = mappings.filter_map(|(at, it)| Some((at, it.channel.clone()?)));
        let fixed = named.filter(|(_, channel)| !channel.contains("{{"));
        fixed.map(|(at, channel)| Told {
            section: format!("{MAPPINGS}.{at}"),
            channel_key: "channel",
            channel,
            to: String::new(),
            account: String::new(),
        })
    }

    /// The key that is at fault, and why nobody is told there.
    fn nobody_at(&self, place: &Told) -> Option<(&'static str, Nobody)> {
        let channel = match place.channel.as_str() {
            "" => LAST,
            channel => channel,
        };
        let recipient = Recipient::of(channel, &place.to)?;
        let nobody = self.channels.nobody_at(&recipient, &place.account)?;
        let key = match nobody.field() {
            "channel" => place.channel_key,
            other => other,
        };
        Some((key, nobody))
    }
}

#[cfg(test)]
mod tests {
    use openclaw_config::{Environment, Paths};
    use serde_json::{Value, json};

    use super::*;

    fn found(document: Value) -> Vec<String> {
        let environment = Environment::default();
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let places: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&places).unwrap();
        let settings = Settings::assemble(paths, document, &environment).unwrap();
        let found = settings.told_nowhere().into_iter();
        found.map(|(key, why)| format!("{key}: {why}")).collect()
    }

    #[test]
    fn places_where_nobody_is_are_found() {
        let accounts = json!({"work": {}, "off": {"enabled": false}});
        let telegram = json!({"telegram": {"tokenFile": "/t", "defaultAccount": "work", "accounts": accounts}});
        let alert =
            |alert: Value| found(json!({"channels": telegram, "cron": {"failureAlert": alert}}));
        for (said, expected) in [
            (
                json!({"channel": "signal", "to": "5"}),
                "cron.failureAlert.channel: there is no",
            ),
            (
                json!({"channel": "telegram"}),
                "cron.failureAlert.to: must say whom",
            ),
            (
                json!({"to": "telegram:"}),
                "cron.failureAlert.to: must say whom",
            ),
            (
                json!({"channel": "telegram", "to": ":topic:3"}),
                "cron.failureAlert.to: must say whom",
            ),
            (
                json!({"channel": "none", "to": "5"}),
                "cron.failureAlert.channel: there is no channel none",
            ),
            (
                json!({"channel": "telegram", "to": "5", "accountId": "off"}),
                "cron.failureAlert.accountId: the account off of channels.telegram is switched off",
            ),
            (
                json!({"channel": "telegram", "to": "5", "accountId": "home"}),
                "cron.failureAlert.accountId: channels.telegram has no account",
            ),
        ] {
            let found = alert(said.clone());
            assert!(
                found.len() == 1 && found[0].starts_with(expected),
                "{said}: {found:?}"
            );
        }
        for said in [
            json!({}),
            json!({"channel": "last"}),
            json!({"channel": "webchat", "to": "agent:main:x"}),
            json!({"channel": "telegram", "to": "5", "accountId": "work"}),
            json!({"to": "telegram:5"}),
            json!({"enabled": false, "channel": "signal"}),
            json!({"mode": "webhook", "to": "https://e.org", "channel": "signal"}),
        ] {
            assert_eq!(alert(said.clone()), Vec::<String>::new(), "{said}");
        }
        let unset = json!({"cron": {"failureAlert": {"channel": "telegram", "to": "5"}}});
        assert!(found(unset)[0].contains("channels.telegram is not configured"));
    }

    #[test]
    fn mappings_of_hooks_that_are_told_on_no_channel_are_found() {
        let mapping = |channel: &str| json!({"match": {"path": "x"}, "messageTemplate": "y", "channel": channel});
        let document = json!({"hooks": {"enabled": true, "token": "t", "mappings": [
            mapping("last"), mapping("whatsapp"), mapping("{{channel}}")]}});
        let found = found(document);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("mappings") && found[0].contains("whatsapp"),
            "{found:?}"
        );
    }

    #[test]
    fn heartbeats_that_are_told_nobody_are_found_by_their_key() {
        let document = json!({"agents": {"list": [{"id": "main"},
            {"id": "b", "heartbeat": {"target": "slack", "to": "c"}}]}});
        let expected = "agents.list.1.heartbeat.target: there is no channel slack here";
        let found_all = found(document);
        assert_eq!(found_all.len(), 1);
        let one = found_all[0].replace(['[', ']'], ".").replace("..", ".");
        assert!(one.starts_with(expected), "{one}");
        for target in ["owner", "last", "none"] {
            let beat = json!({"agents": {"defaults": {"heartbeat": {"target": target}}}});
            assert_eq!(found(beat), Vec::<String>::new(), "{target}");
        }
        let two = json!({"agents": {"defaults": {"heartbeat": {"target": "telegram"}},
            "list": [{"id": "a"}, {"id": "b"}]}});
        let found = found(two);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("agents.defaults.heartbeat.to: must say whom"));
    }
}
