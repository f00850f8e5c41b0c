//! `messages` of the file, typed but optional, as written.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::chosen::Chosen;
use crate::section::sections;
use openclaw_config::units::milliseconds;

sections! {
    /// `messages`.
    pub struct Messages {
        /// What becomes of messages that find their session busy.
        queue: Queue,
    }

    /// `messages.queue`.
    pub struct Queue {
        /// `steer`: into the turn that runs; `followup`: answered next;
        /// `collect`: answered next, together; `interrupt`: the turn ends. Messages
        /// of the command line follow one another until it is set; requests over HTTP
        /// and jobs always do.
        mode: Chosen<QueueMode> = Chosen::by_default(QueueMode::Steer),
        /// The same for a channel.
        by_channel: BTreeMap<String, QueueMode>,
        /// Milliseconds that followups and collecting wait for another message.
        // As in OpenClaw: people who write in pieces write the next one within it.
        #[serde(rename = "debounceMs", with = "milliseconds")]
        #[cfg_attr(test, schemars(with = "Option<u64>", range(max = 60_000)))]
        debounce: Duration = Duration::from_millis(500),
        /// The same for a channel.
        debounce_ms_by_channel: BTreeMap<String, u64>,
        /// Messages that may wait in one session. Those of the command line all do
        /// until it or the mode is set.
        #[cfg_attr(test, schemars(range(min = 1, max = 10_000)))]
        // As in OpenClaw.
        cap: Chosen<u64> = Chosen::by_default(20),
        /// What becomes of messages beyond it: `summarize`, `old` or `new`.
        drop: QueueDrop = QueueDrop::Summarize,
    }
}

/// What a message does that finds its session busy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
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
