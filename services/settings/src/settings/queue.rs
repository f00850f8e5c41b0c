//! `messages.queue`: what becomes of messages that find their session busy.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::keys::messages::{Queue, QueueDrop, QueueMode};

/// The longest that may be asked for. A user waits for the answer meanwhile.
pub const DEBOUNCE_LIMIT: Duration = Duration::from_secs(60);

/// What becomes of messages that find their session busy, where the session
/// does not say otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSettings {
    mode: QueueMode,
    mode_by_channel: BTreeMap<String, QueueMode>,
    debounce: Duration,
    debounce_by_channel: BTreeMap<String, Duration>,
    /// Messages that may wait in one session.
    pub cap: u64,
    /// What becomes of those beyond it.
    pub drop: QueueDrop,
}

impl QueueSettings {
    pub(super) fn of(fragment: &Queue) -> Self {
        // The schema has refused what is longer, but for channels, whose names
        // it does not know.
        let time = |ms: u64| Duration::from_millis(ms).min(DEBOUNCE_LIMIT);
        let of_channels = fragment.debounce_ms_by_channel.iter();
        Self {
            mode: fragment.mode,
            mode_by_channel: fragment.by_channel.clone(),
            debounce: fragment.debounce,
            debounce_by_channel: of_channels
                .map(|(name, ms)| (name.clone(), time(*ms)))
                .collect(),
            cap: fragment.cap,
            drop: fragment.drop,
        }
    }

    /// The mode of messages over `channel`.
    pub fn mode(&self, channel: &str) -> QueueMode {
        let own = self.mode_by_channel.get(channel);
        own.copied().unwrap_or(self.mode)
    }

    /// How long messages over `channel` are waited for.
    pub fn debounce(&self, channel: &str) -> Duration {
        let own = self.debounce_by_channel.get(channel);
        own.copied().unwrap_or(self.debounce)
    }
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self::of(&Queue::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_names() {
        for name in ["steer", "followup", "collect", "interrupt"] {
            assert_eq!(QueueMode::parse(name).map(QueueMode::name), Some(name));
        }
        assert_eq!(QueueMode::parse("queue"), None);
    }

    #[test]
    fn a_channel_may_have_its_own() {
        let fragment = serde_json::json!({
            "mode": "followup", "byChannel": {"telegram": "collect"}, "debounceMs": 100,
            "debounceMsByChannel": {"telegram": 900_000}, "drop": "new",
        });
        let queue = QueueSettings::of(&serde_json::from_value(fragment).unwrap());
        assert_eq!(queue.mode("webchat"), QueueMode::Followup);
        assert_eq!(queue.mode("telegram"), QueueMode::Collect);
        assert_eq!(queue.debounce("webchat"), Duration::from_millis(100));
        assert_eq!(queue.debounce("telegram"), DEBOUNCE_LIMIT);
        assert_eq!((queue.cap, queue.drop), (20, QueueDrop::New));
    }
}
