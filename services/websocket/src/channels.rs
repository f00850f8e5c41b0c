//! The accounts of channels, as clients are shown them.

use std::collections::BTreeSet;

use openclaw_proto::channel::{Connection, Health};
use openclaw_proto::channel_admin::AccountState;
use openclaw_settings::channels::{ChannelSettings, start, unit};
use serde_json::{Map, Value, json};

/// The state of an account, in OpenClaw's fields.
pub(crate) fn account(state: &AccountState, settings: &ChannelSettings) -> Value {
    let running = state.attended_since_ms.is_some();
    let name = &state.account;
    // A token that the configuration does not name is its daemon's own.
    let is_let_in = |health: &Health| health.state != Connection::Refused;
    let is_configured = settings.has_token(&name.channel, &name.account)
        || running && state.health.as_ref().is_some_and(is_let_in);
    let mut shown = json!({
        "accountId": state.account.account,
        "configured": is_configured,
        "enabled": state.is_enabled,
        "running": running,
        "connected": false,
    });
    if let Some(since) = state.attended_since_ms {
        shown["lastStartAt"] = json!(since);
    }
    if let Some(health) = &state.health {
        shown["connected"] = json!(running && health.state == Connection::Connected);
        shown["healthState"] = json!(health.state.as_str());
        shown["backlog"] = json!(health.backlog);
        if health.last_contact_ms > 0 {
            shown["lastTransportActivityAt"] = json!(health.last_contact_ms);
        }
        if health.waiting_until_ms > 0 {
            shown["waitingUntil"] = json!(health.waiting_until_ms);
        }
        if !health.last_error.is_empty() {
            shown["lastError"] = json!(health.last_error);
        }
        if !health.identity.is_empty() {
            shown["name"] = json!(health.identity);
        }
    } else if state.is_enabled && !running {
        let name = &state.account;
        let unit = unit(&name.channel, &name.account, state.is_default);
        shown["lastError"] = json!(format!("no daemon attends this account; {}", start(&unit)));
    }
    shown
}

/// The state of a channel without a daemon.
pub(crate) fn unsupported() -> Value {
    json!({
        "accountId": "default",
        "configured": true,
        "running": false,
        "lastError": "not supported yet: there is no daemon for this channel",
    })
}

/// A line for each account that is on.
pub(crate) fn lines(states: &[AccountState]) -> Vec<String> {
    let is_on = states.iter().filter(|state| state.is_enabled);
    let line = |state: &AccountState| {
        let name = &state.account;
        let health = state.health.as_ref();
        let said = match health.filter(|_| state.attended_since_ms.is_some()) {
            Some(health) => health.state.as_str(),
            None => "no daemon attends it",
        };
        format!("{}/{}: {said}", name.channel, name.account)
    };
    is_on.map(line).collect()
}

/// The channels that have an account that is on, each once.
pub(crate) fn on(states: &[AccountState]) -> Vec<&str> {
    let is_on = states.iter().filter(|state| state.is_enabled);
    let channels: BTreeSet<&str> = is_on.map(|state| state.account.channel.as_str()).collect();
    channels.into_iter().collect()
}

/// Each channel with its accounts: what is known of its default one, and of all.
pub(crate) fn summaries(states: &[AccountState], settings: &ChannelSettings) -> Map<String, Value> {
    let mut all = Map::new();
    for state in states {
        let shown = account(state, settings);
        let channel = all
            .entry(state.account.channel.clone())
            .or_insert_with(|| json!({ "accounts": {} }));
        channel["accounts"][&state.account.account] = shown.clone();
        if state.is_default
            && let (Value::Object(channel), Value::Object(shown)) = (channel, shown)
        {
            channel.extend(shown);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use openclaw_proto::channel::{AccountName, Health};

    use super::*;

    fn state(name: &str, health: Option<Health>) -> AccountState {
        AccountState {
            account: AccountName {
                channel: "telegram".to_owned(),
                account: name.to_owned(),
            },
            is_default: name == "default",
            is_enabled: true,
            attended_since_ms: health.as_ref().map(|_| 1),
            health,
            missing_token: String::new(),
            unanswered_groups: Vec::new(),
        }
    }

    #[test]
    fn channels_that_are_on_are_named_once_whatever_accounts_they_have() {
        let mut states = vec![state("default", None), state("work", None)];
        assert_eq!(on(&states), ["telegram"]);
        states.iter_mut().for_each(|state| state.is_enabled = false);
        assert_eq!(on(&states), [""; 0]);
    }

    #[test]
    fn summary_of_a_channel_is_its_default_account_and_all() {
        let refused = Health {
            state: Connection::Refused,
            last_error: "no token".to_owned(),
            last_contact_ms: 7,
            backlog: 2,
            ..Health::default()
        };
        let settings = ChannelSettings {
            with_token: [("telegram".to_owned(), "work".to_owned())].into(),
            ..ChannelSettings::default()
        };
        let states = [state("default", Some(refused)), state("work", None)];
        let all = summaries(&states, &settings);
        let telegram = &all["telegram"];
        assert_eq!(telegram["accountId"], "default");
        assert_eq!(telegram["running"], true);
        assert_eq!(telegram["connected"], false);
        assert_eq!(telegram["healthState"], "refused");
        assert_eq!(telegram["lastError"], "no token");
        assert_eq!(telegram["lastTransportActivityAt"], 7);
        assert_eq!(telegram["backlog"], 2);
        assert_eq!(telegram["configured"], false, "it has no token");
        let work = &telegram["accounts"]["work"];
        assert_eq!(work["configured"], true);
        let error = work["lastError"].as_str().unwrap();
        assert!(error.contains("openclaw-telegram@work.service"), "{error}");
        assert!(summaries(&[], &settings).is_empty());
        let connected = Health {
            state: Connection::Connected,
            ..Health::default()
        };
        let shown = account(&state("default", Some(connected)), &settings);
        assert_eq!(shown["configured"], true, "by a token of its daemon's own");
    }
}
