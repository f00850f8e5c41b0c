//! Channels: who may talk to agents there.

use serde_json::Value;

use crate::check::{Check, Severity};
use crate::scene::{Scene, at, texts};

use Severity::{Critical, Warn};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "channels.dm_open",
        severity: Critical,
        remedy: "set dmPolicy to pairing: strangers get a code, and you approve them",
        find: |it| {
            each(it, |key, account| {
                (account["dmPolicy"] == "open")
                    .then(|| format!("{key}.dmPolicy is open: everybody may talk to the agent"))
            })
        },
    },
    Check {
        id: "channels.allow_from_wildcard",
        severity: Critical,
        remedy: "name people in allowFrom, by their ids",
        find: |it| {
            each(it, |key, account| {
                wildcard(account, "allowFrom").then(|| format!("{key}.allowFrom has *"))
            })
        },
    },
    Check {
        id: "channels.group_open",
        severity: Warn,
        remedy: "set groupPolicy to allowlist, with groups",
        find: |it| {
            each(it, |key, account| {
                (account["groupPolicy"] == "open").then(|| format!("{key}.groupPolicy is open: whoever adds the bot to a group may talk to the agent"))
            })
        },
    },
    Check {
        id: "channels.group_allow_from_wildcard",
        severity: Warn,
        remedy: "name people in groupAllowFrom, by their ids",
        find: |it| {
            each(it, |key, account| {
                wildcard(account, "groupAllowFrom").then(|| format!("{key}.groupAllowFrom has *"))
            })
        },
    },
    Check {
        id: "channels.groups_wildcard",
        severity: Warn,
        remedy: "name the groups in groups, by their ids",
        find: |it| {
            each(it, |key, account| {
                account["groups"]
                    .get("*")
                    .map(|_| format!("{key}.groups has *"))
            })
        },
    },
    Check {
        id: "security.exposure.open_channels_with_exec",
        severity: Critical,
        remedy: "close the channel, or set tools.exec.ask to always and tools.deny to group:runtime for its agent",
        find: |it| {
            let runs =
                it.text("tools.exec.ask") == "off" || it.text("tools.exec.security") == "full";
            each(it, |key, account| {
                let is_open = account["dmPolicy"] == "open" || account["groupPolicy"] == "open";
                (runs && is_open).then(|| format!("{key} is open, and commands run unasked"))
            })
        },
    },
    Check {
        id: "config.secrets.bot_token_in_config",
        severity: Warn,
        remedy: "openclawctl channels login NAME keeps it in a file for you alone; then take botToken out",
        find: |it| {
            let channels = it.written["channels"].as_object().into_iter().flatten();
            let mut found = Vec::new();
            for (name, channel) in channels {
                for (key, account) in accounts(name, channel) {
                    let token = account["botToken"].as_str().unwrap_or_default();
                    if !token.is_empty() && !token.contains("${") {
                        found.push(format!("{key}.botToken stands in the file"));
                    }
                }
            }
            found
        },
    },
];

fn wildcard(account: &Value, key: &str) -> bool {
    texts(&account[key]).contains(&"*")
}

/// A channel's settings, and those of its accounts.
fn accounts<'a>(name: &str, channel: &'a Value) -> Vec<(String, &'a Value)> {
    let mut all = vec![(format!("channels.{name}"), channel)];
    let accounts = at(channel, "accounts").as_object().into_iter().flatten();
    all.extend(accounts.map(|(id, account)| (format!("channels.{name}.accounts.{id}"), account)));
    all
}

fn each(scene: &Scene, find: impl Fn(&str, &Value) -> Option<String>) -> Vec<String> {
    let channels = scene.at("channels").as_object().into_iter().flatten();
    let all = channels.flat_map(|(name, channel)| accounts(name, channel));
    let on = all.filter(|(_, account)| account["enabled"] != false);
    on.filter_map(|(key, account)| find(&key, account))
        .collect()
}
