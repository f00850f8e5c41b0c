//! What a session does with messages that find it busy.

use std::time::Duration;

use serde_json::{Value, json};

use crate::storage::Overrides;

/// How long followups and collecting wait for another message, as in OpenClaw:
/// people who write in pieces write the next one within it.
const DEBOUNCE: Duration = Duration::from_millis(500);

/// The longest that may be asked for. A user waits for the answer meanwhile.
const DEBOUNCE_LIMIT: Duration = Duration::from_secs(60);

/// Messages that may wait in one session, as in OpenClaw.
const CAP: u64 = 20;

/// What a message does that finds its session busy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Drop {
    /// The oldest get no turn, and the next turn begins with their first words.
    #[default]
    Summarize,
    /// The oldest get no turn.
    Old,
    /// The newest gets no turn.
    New,
}

/// What a session does with messages that find it busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) mode: Mode,
    pub(crate) debounce: Duration,
    /// Messages that may wait.
    pub(crate) cap: usize,
    pub(crate) drop: Drop,
}

/// A field of a session's entry and its value.
pub(crate) type Change = (&'static str, Value);

impl Mode {
    /// The mode's name on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Steer => "steer",
            Self::Followup => "followup",
            Self::Collect => "collect",
            Self::Interrupt => "interrupt",
        }
    }

    /// The mode named `name`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Self::Steer, Self::Followup, Self::Collect, Self::Interrupt]
            .into_iter()
            .find(|mode| mode.as_str() == name)
    }
}

impl Drop {
    /// Its name on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Summarize => "summarize",
            Self::Old => "old",
            Self::New => "new",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Summarize, Self::Old, Self::New]
            .into_iter()
            .find(|drop| drop.as_str() == name)
    }
}

impl Settings {
    /// What the session's entry says, and the defaults for the rest.
    pub(crate) fn of(overrides: &Overrides) -> Self {
        let queue = &overrides.queue;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Self {
            mode: Mode::parse(&text(&queue.mode)).unwrap_or_default(),
            debounce: queue.debounce_ms.map_or(DEBOUNCE, Duration::from_millis),
            cap: usize::try_from(queue.cap.unwrap_or(CAP)).unwrap_or(usize::MAX),
            drop: Drop::parse(&text(&queue.drop)).unwrap_or_default(),
        }
    }

    /// The changes that `words` ask for, such as `collect debounce:2s cap:25
    /// drop:old`; the error is the word that makes no sense.
    pub(crate) fn changes(words: &str) -> Result<Vec<Change>, String> {
        words.split_whitespace().flat_map(change).collect()
    }
}

fn change(word: &str) -> Vec<Result<Change, String>> {
    let lower = word.to_lowercase();
    let nonsense = || word.to_owned();
    let one = |change: Option<Change>| vec![change.ok_or_else(nonsense)];
    match lower.split_once(':') {
        None if matches!(&*lower, "default" | "reset") => FIELDS
            .map(|field| Ok((field, Value::Null)))
            .into_iter()
            .collect(),
        None => one(Mode::parse(&lower).map(|mode| ("queueMode", json!(mode.as_str())))),
        Some(("debounce", time)) => {
            let time = duration(time).filter(|time| *time <= DEBOUNCE_LIMIT);
            one(time.map(|time| ("queueDebounceMs", json!(time.as_millis() as u64))))
        }
        Some(("cap", cap)) => {
            let cap = cap.parse::<u64>().ok().filter(|cap| *cap > 0);
            one(cap.map(|cap| ("queueCap", json!(cap))))
        }
        Some(("drop", drop)) => one(Drop::parse(drop).map(|it| ("queueDrop", json!(it.as_str())))),
        Some(_) => one(None),
    }
}

/// What a session's entry says of its queue.
const FIELDS: [&str; 4] = ["queueMode", "queueDebounceMs", "queueCap", "queueDrop"];

/// Milliseconds, or a number with `ms`, `s` or `m`.
fn duration(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = match unit {
        "" | "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_names() {
        for name in ["steer", "followup", "collect", "interrupt"] {
            assert_eq!(Mode::parse(name).map(Mode::as_str), Some(name));
        }
        assert_eq!(Mode::parse("queue"), None);
    }

    #[test]
    fn a_command_changes_several_things_at_once() {
        assert_eq!(
            Settings::changes("Collect debounce:0.5s cap:25 drop:old").unwrap(),
            [
                ("queueMode", json!("collect")),
                ("queueDebounceMs", json!(500)),
                ("queueCap", json!(25)),
                ("queueDrop", json!("old")),
            ]
        );
        assert_eq!(Settings::changes("reset").unwrap().len(), FIELDS.len());
        for word in [
            "nonsense",
            "cap:0",
            "cap:x",
            "debounce:2d",
            "debounce:5m",
            "drop:all",
            "x:1",
        ] {
            assert_eq!(Settings::changes(word), Err(word.to_owned()));
        }
    }

    #[test]
    fn what_a_session_does_not_say_is_the_default() {
        let mut overrides = Overrides::default();
        let settings = Settings::of(&overrides);
        assert_eq!(
            (settings.mode, settings.cap, settings.drop),
            (Mode::Steer, 20, Drop::Summarize)
        );
        overrides.queue.mode = Some("collect".to_owned());
        overrides.queue.debounce_ms = Some(7);
        let settings = Settings::of(&overrides);
        assert_eq!(settings.mode, Mode::Collect);
        assert_eq!(settings.debounce, Duration::from_millis(7));
    }
}
