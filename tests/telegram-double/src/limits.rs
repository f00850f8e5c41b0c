//! Refusals with 429: some calls are refused though nobody was too fast, and until
//! the time that was named is over, everything to that chat is.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

/// How many calls are refused, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Storm {
    /// Of so many calls that say something, one.
    pub one_of: usize,
    /// The longest wait; each is a part of it, at least a second.
    pub seconds: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Limits {
    pub(crate) storm: Option<Storm>,
    calls: usize,
    refused: usize,
    /// When a chat may be written to again.
    blocked: BTreeMap<String, Instant>,
    /// Calls before that.
    early: usize,
}

impl Limits {
    /// Refusals, and calls that came before the time that one had named.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.refused, self.early)
    }

    /// The seconds to wait, if a call that says something is refused.
    pub(crate) fn refuse(&mut self, method: &str, asked: &Value) -> Option<u64> {
        let is_counted = method.starts_with("send") || method.starts_with("edit");
        let storm = self
            .storm
            .filter(|_| is_counted && method != "sendChatAction")?;
        let chat = asked["chat_id"].to_string();
        let now = Instant::now();
        if let Some(until) = self.blocked.get(&chat).filter(|until| **until > now) {
            self.early += 1;
            // Whole seconds, upwards, as Telegram says them.
            return Some((*until - now).as_secs() + 1);
        }
        self.calls += 1;
        if !self.calls.is_multiple_of(storm.one_of) {
            return None;
        }
        self.refused += 1;
        let seconds = 1 + self.refused as u64 % storm.seconds.max(1);
        self.blocked
            .insert(chat, now + Duration::from_secs(seconds));
        Some(seconds)
    }
}
