//! `messages.queue`: what becomes of messages that find their session busy.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::chosen::Chosen;
use crate::keys::messages::{Queue, QueueDrop, QueueMode};

/// The longest that may be asked for. A user waits for the answer meanwhile.
pub const DEBOUNCE_LIMIT: Duration = Duration::from_secs(60);

/// What becomes of messages that find their session busy, where the session does not say otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSettings {
    mode: Chosen<QueueMode>,
    mode_by_channel: BTreeMap<String, QueueMode>,
    debounce: Duration,
    debounce_by_channel: BTreeMap<String, Duration>,
    cap: Chosen<u64>,
    /// What becomes of those beyond it.
    pub drop: QueueDrop,
}

impl QueueSettings {
    pub(super) fn of(fragment: &Queue) -> Self {
        // The schema has refused what is longer, but for channels, whose names it does not know.
        let time = |ms: u64| Duration::from_millis(ms).min(DEBOUNCE_LIMIT);
        let of_channels = fragment.debounce_ms_by_channel.iter();
        Self {
            mode: fragment.mode.clone(),
            mode_by_channel: fragment.by_channel.clone(),
            debounce: fragment.debounce,
            debounce_by_channel: of_channels
                .map(|(name, ms)| (name.clone(), time(*ms)))
                .collect(),
            cap: fragment.cap.clone(),
            drop: fragment.drop,
        }
    }

    /// The mode of messages over `channel`.
    pub fn mode(&self, channel: &str) -> QueueMode {
        let said = self.said_mode(channel);
        said.unwrap_or(*self.mode.value())
    }

    /// The same where the configuration says it.
    pub fn said_mode(&self, channel: &str) -> Option<QueueMode> {
        let own = self.mode_by_channel.get(channel);
        own.or(self.mode.chosen()).copied()
    }

    /// Messages that may wait in one session.
    pub fn cap(&self) -> u64 {
        *self.cap.value()
    }

    #[cfg(test)]
    pub(crate) fn forget_choices(&mut self) {
        self.mode = Chosen::by_default(*self.mode.value());
        self.cap = Chosen::by_default(self.cap());
    }

    /// Whether the configuration says how many.
    pub fn is_cap_said(&self) -> bool {
        self.cap.is_chosen()
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
    fn channel_may_have_its_own() {
        let fragment = serde_json::json!({
            "mode": "followup", "byChannel": {"telegram": "collect"}, "debounceMs": 100,
            "debounceMsByChannel": {"telegram": 900_000}, "drop": "new",
        });
        let queue = QueueSettings::of(&serde_json::from_value(fragment).unwrap());
        assert_eq!(queue.mode("webchat"), QueueMode::Followup);
        assert_eq!(queue.mode("telegram"), QueueMode::Collect);
        assert_eq!(queue.debounce("webchat"), Duration::from_millis(100));
        assert_eq!(queue.debounce("telegram"), DEBOUNCE_LIMIT);
        assert_eq!((queue.cap(), queue.drop), (20, QueueDrop::New));
        assert!(!queue.is_cap_said());
        assert_eq!(queue.said_mode("x"), Some(QueueMode::Followup));
        let plain = QueueSettings::default();
        assert_eq!(plain.mode("x"), QueueMode::Steer);
        assert_eq!(plain.said_mode("x"), None);
    }
}
