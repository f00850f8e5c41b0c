//! `session` of the file, typed but optional, as written.
//!
//! The names are OpenClaw's (reference §3.5). What we do not use is left alone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::maintenance::Maintenance;
use super::send_policy::SendPolicy;
use crate::section::sections;

sections! {
    /// `session`.
    pub struct Session {
        /// `per-sender` (the default), or `global`: all that say nothing else share
        /// one conversation.
        scope: SessionScope = SessionScope::PerSender,
        /// What becomes of old sessions and of their files. Nothing, without this
        /// section.
        maintenance: Option<Maintenance>,
        /// Which direct chats share a conversation: `main`, `per-peer`,
        /// `per-channel-peer` or `per-account-channel-peer`.
        dm_scope: DmScope = DmScope::Main,
        /// Who is one person on several channels: name to `channel:peer`.
        identity_links: BTreeMap<String, Vec<String>>,
        /// When a conversation begins anew by itself.
        reset: Option<Reset>,
        /// The same for `direct`, `group` or `thread`.
        reset_by_type: BTreeMap<String, Reset>,
        /// The same for a channel.
        reset_by_channel: BTreeMap<String, Reset>,
        /// Messages that begin a conversation anew.
        // As in OpenClaw.
        reset_triggers: Vec<String> = vec!["/new".to_owned(), "/reset".to_owned()],
        /// What becomes of an answer that the end of the machine cut off: `ask`
        /// waits for the user, `resume` goes on by itself unless a tool was running
        /// then, whose effect nobody knows.
        interrupted: Interrupted = Interrupted::Ask,
        /// To which sessions messages may be sent; a session's own `sendPolicy`
        /// comes before it.
        send_policy: SendPolicy,
        /// OpenClaw's older place for `reset.idleMinutes`.
        #[cfg_attr(test, schemars(range(min = 1)))]
        idle_minutes: Option<u64>,
    }

    /// `session.reset`.
    pub struct Reset {
        /// `none`, `daily` or `idle`.
        mode: Option<Mode>,
        /// The hour of local time at which yesterday's conversation is over.
        #[cfg_attr(test, schemars(range(max = 23)))]
        at_hour: Option<u8>,
        /// How long nobody may have said anything.
        #[cfg_attr(test, schemars(range(min = 1)))]
        idle_minutes: Option<u64>,
    }
}

/// `session.reset.mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
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

/// `session.interrupted`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
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
