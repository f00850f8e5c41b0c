//! `session`: which messages share a conversation, and when one begins anew.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::maintenance::Maintenance;
use crate::keys::Models;
use crate::keys::cron::Cron;
use crate::keys::send_policy::SendPolicy;
use crate::keys::session::{DmScope, Interrupted, Mode, Reset, Session, SessionScope};

/// The hour of the daily reset when none is given, as OpenClaw has it.
const RESET_HOUR: u8 = 4;

/// Minutes of the idle reset when none are given.
const IDLE_MINUTES: u64 = 60;

/// Tokens that a price is for.
const PRICED_TOKENS: f64 = 1_000_000.0;

/// Which messages share a conversation, and when one begins anew.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSettings {
    /// Which chats share a conversation.
    pub scope: SessionScope,
    /// The maintenance of old sessions; `None`: there is none.
    pub maintenance: Option<Maintenance>,
    /// Which direct chats share one.
    pub dm_scope: DmScope,
    /// Who is one person on several channels: name to `<channel>:<peer>`.
    pub identity_links: BTreeMap<String, Vec<String>>,
    /// When one begins anew by itself.
    pub reset: ResetPolicies,
    /// Messages that begin one anew.
    pub reset_triggers: Vec<String>,
    /// The treatment of an answer that a crash of the machine cut off.
    pub interrupted: Interrupted,
    /// To which sessions messages may be sent.
    pub send_policy: SendPolicy,
    /// The prices of tokens, by `provider/model`.
    pub prices: BTreeMap<String, Price>,
}

/// `session.reset` and its exceptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResetPolicies {
    default: ResetPolicy,
    by_kind: BTreeMap<String, ResetPolicy>,
    by_channel: BTreeMap<String, ResetPolicy>,
}

/// When a conversation begins anew by itself; whatever comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResetPolicy {
    /// The hour of local time, 0 to 23, at which yesterday's is over.
    pub daily_at: Option<u8>,
    /// How long nobody may have said anything.
    pub idle: Option<Duration>,
}

/// The prices of a model's tokens, in US dollars each.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Price {
    /// Sent, not from a cache.
    pub input: f64,
    /// Generated.
    pub output: f64,
    /// Read from the provider's cache.
    pub cache_read: f64,
    /// Written to the provider's cache.
    pub cache_write: f64,
}

impl ResetPolicies {
    /// The policy for a kind of chat (`direct`, `group`, `thread`) on a
    /// channel: the channel's own, else the kind's, else the general one.
    pub fn of(&self, kind: &str, channel: &str) -> ResetPolicy {
        let own = self.by_channel.get(channel);
        *own.or_else(|| self.by_kind.get(kind))
            .unwrap_or(&self.default)
    }
}

impl SessionSettings {
    /// The settings of a configuration.
    pub fn of(written: &Session, models: &Models, cron: &Cron) -> Self {
        let all = |written: &BTreeMap<String, Reset>| -> BTreeMap<String, ResetPolicy> {
            let named = written.iter();
            named
                .map(|(name, reset)| (name.clone(), reset.policy()))
                .collect()
        };
        let mut by_kind = all(&written.reset_by_type);
        // OpenClaw's older word.
        if let Some(direct) = by_kind.remove("dm") {
            by_kind.entry("direct".to_owned()).or_insert(direct);
        }
        let older = Reset {
            idle_minutes: written.idle_minutes,
            ..Reset::default()
        };
        Self {
            scope: written.scope,
            maintenance: Maintenance::of(written.maintenance.as_ref(), cron.session_retention),
            dm_scope: written.dm_scope,
            identity_links: written.identity_links.clone(),
            reset: ResetPolicies {
                default: written.reset.as_ref().unwrap_or(&older).policy(),
                by_kind,
                by_channel: all(&written.reset_by_channel),
            },
            reset_triggers: written.reset_triggers.clone(),
            interrupted: written.interrupted,
            send_policy: written.send_policy.clone(),
            prices: prices(models),
        }
    }
}

impl Reset {
    fn policy(&self) -> ResetPolicy {
        let minutes = |minutes| Duration::from_secs(60 * minutes);
        let given = self.idle_minutes.map(minutes);
        match self.mode {
            Some(Mode::None) => ResetPolicy::default(),
            Some(Mode::Daily) => ResetPolicy {
                daily_at: Some(self.at_hour.unwrap_or(RESET_HOUR)),
                idle: given,
            },
            Some(Mode::Idle) => ResetPolicy {
                daily_at: None,
                idle: given.or(Some(minutes(IDLE_MINUTES))),
            },
            None => ResetPolicy {
                daily_at: self.at_hour,
                idle: given,
            },
        }
    }
}

/// `models.providers.<id>.models[].cost`, where it is (seed 003 §6.3). Prices
/// are dollars for a million tokens there.
fn prices(models: &Models) -> BTreeMap<String, Price> {
    let mut prices = BTreeMap::new();
    for (provider, section) in &models.providers {
        for model in &section.models {
            let id = model.get("id").and_then(Value::as_str);
            if let (Some(id), Some(cost)) = (id, model.get("cost")) {
                prices.insert(format!("{provider}/{id}"), Price::of(cost));
            }
        }
    }
    prices
}

impl Price {
    fn of(cost: &Value) -> Self {
        let each = |field: &str| {
            let million = cost.get(field).and_then(Value::as_f64).unwrap_or_default();
            million.max(0.0) / PRICED_TOKENS
        };
        Self {
            input: each("input"),
            output: each("output"),
            cache_read: each("cacheRead"),
            cache_write: each("cacheWrite"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::Settings;
    use openclaw_config::environment::Environment;
    use openclaw_config::error::Error;
    use openclaw_config::paths::Paths;

    fn of(document: Value) -> Result<SessionSettings, Error> {
        let paths = Paths::resolve(&[("HOME", "/h")].into_iter().collect()).unwrap();
        Settings::assemble(paths, document, &Environment::default()).map(|it| it.session)
    }

    #[test]
    fn session_nothing_written_is_openclaws_default() {
        let settings = of(json!({})).unwrap();
        assert_eq!(settings.dm_scope, DmScope::Main);
        assert_eq!(settings.scope, SessionScope::PerSender);
        let kept = settings.maintenance.unwrap();
        assert_eq!(kept.runs_after, Some(Duration::from_secs(86_400)));
        assert_eq!(kept.dashboards_after, None);
        let never = of(json!({"cron": {"sessionRetention": false}})).unwrap();
        assert_eq!(never.maintenance, None);
        assert_eq!(settings.reset.of("direct", "cli"), ResetPolicy::default());
        assert_eq!(settings.reset_triggers, ["/new", "/reset"]);
    }

    #[test]
    fn channel_comes_before_the_kind() {
        let settings = of(json!({ "session": {
            "dmScope": "per-channel-peer",
            "reset": { "mode": "daily" },
            "resetByType": { "group": { "mode": "idle", "idleMinutes": 5 }, "dm": { "mode": "none" } },
            "resetByChannel": { "discord": { "mode": "daily", "atHour": 6, "idleMinutes": 10 } },
        }}))
        .unwrap();
        assert_eq!(settings.dm_scope, DmScope::PerChannelPeer);
        let idle = |minutes: u64| Some(Duration::from_secs(60 * minutes));
        let of = |kind, channel| settings.reset.of(kind, channel);
        assert_eq!(of("thread", "cli").daily_at, Some(4));
        assert_eq!(of("direct", "cli"), ResetPolicy::default());
        assert_eq!(of("group", "telegram").idle, idle(5));
        let discord = of("group", "discord");
        assert_eq!((discord.daily_at, discord.idle), (Some(6), idle(10)));
    }

    #[test]
    fn wrong_value_is_named() {
        for (section, key) in [
            (json!({ "dmScope": "mine" }), "session.dmScope"),
            (
                json!({ "reset": { "mode": "weekly" } }),
                "session.reset.mode",
            ),
            (
                json!({ "reset": { "mode": "daily", "atHour": 24 } }),
                "session.reset.atHour",
            ),
            (json!({ "scope": "everybody" }), "session.scope"),
            (
                json!({ "maintenance": { "mode": "off" } }),
                "session.maintenance.mode",
            ),
            (
                json!({ "maintenance": { "pruneAfter": "soon" } }),
                "session.maintenance.pruneAfter",
            ),
            (
                json!({ "maintenance": { "maxEntries": 0 } }),
                "session.maintenance.maxEntries",
            ),
            (
                json!({ "maintenance": { "maxDiskBytes": "-1" } }),
                "session.maintenance.maxDiskBytes",
            ),
        ] {
            let error = of(json!({ "session": section })).unwrap_err().to_string();
            assert!(error.contains(&format!(": {key}")), "{error}");
        }
    }

    #[test]
    fn prices_are_for_one_token() {
        let settings = of(json!({ "models": { "providers": { "fake": {
            "models": [{ "id": "fake-1", "cost": { "input": 3, "output": 15.0 } }],
        }}}}))
        .unwrap();
        let price = settings.prices["fake/fake-1"];
        assert_eq!(price.input, 3e-6);
        assert_eq!(price.output, 15e-6);
    }
}
