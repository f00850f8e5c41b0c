//! `messages` of the file, typed but optional, as written.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::settings::{QueueDrop, QueueMode};

/// `messages`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Messages {
    /// What becomes of messages that find their session busy.
    pub queue: Queue,
}

/// `messages.queue`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Queue {
    /// `steer`: into the turn that runs; `followup`: answered next;
    /// `collect`: answered next, together; `interrupt`: the turn ends.
    pub mode: Option<QueueMode>,
    /// The same for a channel.
    pub by_channel: BTreeMap<String, QueueMode>,
    /// Milliseconds that followups and collecting wait for another message.
    #[cfg_attr(test, schemars(range(max = 60_000)))]
    pub debounce_ms: Option<u64>,
    /// The same for a channel.
    pub debounce_ms_by_channel: BTreeMap<String, u64>,
    /// Messages that may wait in one session.
    #[cfg_attr(test, schemars(range(min = 1, max = 10_000)))]
    pub cap: Option<u64>,
    /// What becomes of messages beyond it: `summarize`, `old` or `new`.
    pub drop: Option<QueueDrop>,
}
