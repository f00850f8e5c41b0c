//! `session` of the file, typed but optional, as written.
//!
//! The names are OpenClaw's (reference §3.5). What we do not use is left alone.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::maintenance::Maintenance;
use crate::settings::{DmScope, Interrupted, SendPolicy, SessionScope};

/// `session`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Session {
    /// `per-sender` (the default), or `global`: all that say nothing else share
    /// one conversation.
    pub scope: Option<SessionScope>,
    /// What becomes of old sessions and of their files. Nothing, without this
    /// section.
    pub maintenance: Option<Maintenance>,
    /// Which direct chats share a conversation: `main`, `per-peer`,
    /// `per-channel-peer` or `per-account-channel-peer`.
    pub dm_scope: Option<DmScope>,
    /// Who is one person on several channels: name to `channel:peer`.
    pub identity_links: BTreeMap<String, Vec<String>>,
    /// When a conversation begins anew by itself.
    pub reset: Option<Reset>,
    /// The same for `direct`, `group` or `thread`.
    pub reset_by_type: BTreeMap<String, Reset>,
    /// The same for a channel.
    pub reset_by_channel: BTreeMap<String, Reset>,
    /// Messages that begin a conversation anew.
    pub reset_triggers: Option<Vec<String>>,
    /// What becomes of an answer that the end of the machine cut off: `ask`
    /// waits for the user, `resume` goes on by itself unless a tool was running
    /// then, whose effect nobody knows.
    pub interrupted: Option<Interrupted>,
    /// To which sessions messages may be sent; a session's own `sendPolicy`
    /// comes before it.
    pub send_policy: SendPolicy,
    /// OpenClaw's older place for `reset.idleMinutes`.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub idle_minutes: Option<u64>,
}

/// `session.reset`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Reset {
    /// `none`, `daily` or `idle`.
    pub mode: Option<Mode>,
    /// The hour of local time at which yesterday's conversation is over.
    #[cfg_attr(test, schemars(range(max = 23)))]
    pub at_hour: Option<u8>,
    /// How long nobody may have said anything.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub idle_minutes: Option<u64>,
}

/// `session.reset.mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Never.
    None,
    /// Every day at `atHour`.
    Daily,
    /// When nobody has said anything for `idleMinutes`.
    Idle,
}
