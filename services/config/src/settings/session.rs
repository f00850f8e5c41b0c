//! `session`: which messages share a conversation, and when one begins anew.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::SendPolicy;
use super::maintenance::Maintenance;
use crate::fragment::session::{Mode, Reset, Session};

/// Messages that begin a conversation anew, as OpenClaw has them.
const RESET_TRIGGERS: [&str; 2] = ["/new", "/reset"];

/// The hour of the daily reset when none is given, as OpenClaw has it.
const RESET_HOUR: u8 = 4;

/// Minutes of the idle reset when none are given.
const IDLE_MINUTES: u64 = 60;

/// Tokens that a price is for.
const PRICED_TOKENS: f64 = 1_000_000.0;

/// Which messages share a conversation, and when one begins anew.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSettings {
    /// Who shares one at all.
    pub scope: SessionScope,
    /// What becomes of old ones; `None`: nothing.
    pub maintenance: Option<Maintenance>,
    /// Which direct chats share one.
    pub dm_scope: DmScope,
    /// Who is one person on several channels: name to `<channel>:<peer>`.
    pub identity_links: BTreeMap<String, Vec<String>>,
    /// When one begins anew by itself.
    pub reset: ResetPolicies,
    /// Messages that begin one anew.
    pub reset_triggers: Vec<String>,
    /// What becomes of an answer that the end of the machine cut off.
    pub interrupted: Interrupted,
    /// To which sessions messages may be sent.
    pub send_policy: SendPolicy,
    /// What tokens cost, by `provider/model`.
    pub prices: BTreeMap<String, Price>,
}

/// `session.interrupted`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Interrupted {
    /// The user is told and decides: what was done may not bear doing twice.
    #[default]
    Ask,
    /// It goes on by itself, unless a tool was running.
    Resume,
}

impl Interrupted {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Resume => "resume",
        }
    }
}

/// `session.scope`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SessionScope {
    /// Chats have conversations of their own, as `dmScope` says.
    #[default]
    PerSender,
    /// All chats share one, `global`, and so does who names no session.
    Global,
}

impl SessionScope {
    /// As it is written in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::PerSender => "per-sender",
            Self::Global => "global",
        }
    }
}

/// `session.dmScope`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DmScope {
    /// All direct chats and the CLI share the main session.
    #[default]
    Main,
    /// One for each person.
    PerPeer,
    /// One for each person on each channel.
    PerChannelPeer,
    /// One for each person on each account of each channel.
    PerAccountChannelPeer,
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

/// What a model's tokens cost, in US dollars each.
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

impl DmScope {
    /// As it is written in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::PerPeer => "per-peer",
            Self::PerChannelPeer => "per-channel-peer",
            Self::PerAccountChannelPeer => "per-account-channel-peer",
        }
    }
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
    /// The settings of a configuration; an error has the key and the problem.
    pub fn of(document: &Value) -> Result<Self, (String, String)> {
        let written = match document.get("session") {
            None | Some(Value::Null) => Session::default(),
            Some(section) => serde_path_to_error::deserialize(section).map_err(|error| {
                (
                    format!("session.{}", error.path()),
                    error.inner().to_string(),
                )
            })?,
        };
        if written.maintenance.as_ref().and_then(|it| it.max_entries) == Some(0) {
            let key = "session.maintenance.maxEntries".to_owned();
            return Err((key, "is 0; allowed are 1 and more".to_owned()));
        }
        let policy = |key: &str, written: Reset| {
            written
                .policy()
                .map_err(|problem| (format!("session.{key}"), problem))
        };
        let all = |key: &str, written: BTreeMap<String, Reset>| {
            let named = |(name, reset)| {
                let policy = policy(&format!("{key}.{name}"), reset)?;
                Ok::<_, (String, String)>((name, policy))
            };
            written
                .into_iter()
                .map(named)
                .collect::<Result<BTreeMap<String, _>, _>>()
        };
        let mut by_kind = all("resetByType", written.reset_by_type)?;
        // OpenClaw's older word.
        if let Some(direct) = by_kind.remove("dm") {
            by_kind.entry("direct".to_owned()).or_insert(direct);
        }
        let general = written.reset.unwrap_or(Reset {
            idle_minutes: written.idle_minutes,
            ..Reset::default()
        });
        Ok(Self {
            scope: written.scope.unwrap_or_default(),
            maintenance: written.maintenance.as_ref().map(Maintenance::of),
            dm_scope: written.dm_scope.unwrap_or_default(),
            identity_links: written.identity_links,
            reset: ResetPolicies {
                default: policy("reset", general)?,
                by_kind,
                by_channel: all("resetByChannel", written.reset_by_channel)?,
            },
            reset_triggers: written
                .reset_triggers
                .unwrap_or_else(|| RESET_TRIGGERS.map(str::to_owned).to_vec()),
            interrupted: written.interrupted.unwrap_or_default(),
            send_policy: written.send_policy,
            prices: prices(document),
        })
    }
}

impl Reset {
    fn policy(&self) -> Result<ResetPolicy, String> {
        if let Some(hour) = self.at_hour.filter(|hour| *hour > 23) {
            return Err(format!("has atHour {hour}; allowed are 0 to 23"));
        }
        if self.idle_minutes == Some(0) {
            return Err("has idleMinutes 0; allowed are 1 and more".to_owned());
        }
        let minutes = |minutes| Duration::from_secs(60 * minutes);
        let given = self.idle_minutes.map(minutes);
        Ok(match self.mode {
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
        })
    }
}

/// `models.providers.<id>.models[].cost`, where it is (seed 003 §6.3). Prices
/// are dollars for a million tokens there.
fn prices(document: &Value) -> BTreeMap<String, Price> {
    let mut prices = BTreeMap::new();
    let providers = document.pointer("/models/providers");
    for (provider, section) in providers.and_then(Value::as_object).into_iter().flatten() {
        let models = section.get("models").and_then(Value::as_array);
        for model in models.into_iter().flatten() {
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
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_written_is_openclaws_default() {
        let settings = SessionSettings::of(&json!({})).unwrap();
        assert_eq!(settings.dm_scope, DmScope::Main);
        assert_eq!(settings.scope, SessionScope::PerSender);
        assert_eq!(settings.maintenance, None);
        assert_eq!(settings.reset.of("direct", "cli"), ResetPolicy::default());
        assert_eq!(settings.reset_triggers, ["/new", "/reset"]);
    }

    #[test]
    fn the_channel_comes_before_the_kind() {
        let settings = SessionSettings::of(&json!({ "session": {
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
    fn a_wrong_value_is_named() {
        for (section, key) in [
            (json!({ "dmScope": "mine" }), "session.dmScope"),
            (
                json!({ "reset": { "mode": "weekly" } }),
                "session.reset.mode",
            ),
            (
                json!({ "reset": { "mode": "daily", "atHour": 24 } }),
                "session.reset",
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
            let (named, _) = SessionSettings::of(&json!({ "session": section })).unwrap_err();
            assert_eq!(named, key);
        }
    }

    #[test]
    fn prices_are_for_one_token() {
        let settings = SessionSettings::of(&json!({ "models": { "providers": { "fake": {
            "models": [{ "id": "fake-1", "cost": { "input": 3, "output": 15.0 } }],
        }}}}))
        .unwrap();
        let price = settings.prices["fake/fake-1"];
        assert_eq!(price.input, 3e-6);
        assert_eq!(price.output, 15e-6);
    }
}
