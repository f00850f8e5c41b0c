//! `messages.queue`: what becomes of messages that find their session busy.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::fragment::messages::Queue;

/// How long followups and collecting wait for another message, as in OpenClaw:
/// people who write in pieces write the next one within it.
const DEBOUNCE: Duration = Duration::from_millis(500);

/// The longest that may be asked for. A user waits for the answer meanwhile.
pub const DEBOUNCE_LIMIT: Duration = Duration::from_secs(60);

/// Messages that may wait in one session, as in OpenClaw.
const CAP: u64 = 20;

/// What a message does that finds its session busy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum QueueMode {
    /// Goes into the turn that runs, before its next question to the model.
    /// Where a backend takes nothing in between it is answered next.
    #[default]
    Steer,
    /// Is answered next, by itself.
    Followup,
    /// Is answered next, together with all others that wait like this.
    Collect,
    /// Ends the turns that run and wait.
    Interrupt,
}

/// What becomes of messages beyond the cap. All of them stay in the
/// transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum QueueDrop {
    /// The oldest get no turn, and the next turn begins with their first words.
    #[default]
    Summarize,
    /// The oldest get no turn.
    Old,
    /// The newest gets no turn.
    New,
}

impl QueueMode {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steer => "steer",
            Self::Followup => "followup",
            Self::Collect => "collect",
            Self::Interrupt => "interrupt",
        }
    }

    /// The mode named `name`.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Steer, Self::Followup, Self::Collect, Self::Interrupt]
            .into_iter()
            .find(|mode| mode.name() == name)
    }
}

impl QueueDrop {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Summarize => "summarize",
            Self::Old => "old",
            Self::New => "new",
        }
    }

    /// What is named `name`.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Summarize, Self::Old, Self::New]
            .into_iter()
            .find(|drop| drop.name() == name)
    }
}

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
            mode: fragment.mode.unwrap_or_default(),
            mode_by_channel: fragment.by_channel.clone(),
            debounce: fragment.debounce_ms.map_or(DEBOUNCE, time),
            debounce_by_channel: of_channels
                .map(|(name, ms)| (name.clone(), time(*ms)))
                .collect(),
            cap: fragment.cap.unwrap_or(CAP),
            drop: fragment.drop.unwrap_or_default(),
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
        assert_eq!((queue.cap, queue.drop), (CAP, QueueDrop::New));
    }
}
