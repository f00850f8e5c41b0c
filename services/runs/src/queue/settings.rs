//! The settings for messages that arrive while a session is busy.

use std::time::Duration;

use openclaw_conversations::storage::Overrides;
pub(super) use openclaw_settings::QueueDrop as Drop;
pub use openclaw_settings::QueueMode as Mode;
use openclaw_settings::{DEBOUNCE_LIMIT, QueueSettings};
use serde_json::{Value, json};

/// The settings for messages that arrive while a session is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How they are handled.
    pub mode: Mode,
    /// How long is waited for more of them.
    pub debounce: Duration,
    /// Messages that may wait.
    pub cap: usize,
    /// Which of them go when there are more than `cap`.
    pub drop: Drop,
}

/// A field of a session's entry and its value.
pub type Change = (&'static str, Value);

impl Settings {
    /// What the session's entry says, and what is configured for the rest of
    /// messages over a channel. Of those who wait for the answer, messages follow one
    /// another, all of them, until somebody says otherwise.
    pub fn of(
        overrides: &Overrides,
        configured: &QueueSettings,
        (channel, waits): (&str, bool),
    ) -> Self {
        let queue = &overrides.queue;
        let own = queue.mode.as_deref().and_then(Mode::parse);
        let said = own.or_else(|| configured.said_mode(channel));
        let is_patient = waits && said.is_none();
        let mode = if is_patient {
            Mode::Followup
        } else {
            said.unwrap_or_else(|| configured.mode(channel))
        };
        let drop = queue.drop.as_deref().and_then(Drop::parse);
        let debounce = queue.debounce_ms.map(Duration::from_millis);
        let cap = match queue.cap {
            None if is_patient && !configured.is_cap_said() => u64::MAX,
            own => own.unwrap_or_else(|| configured.cap()),
        };
        Self {
            mode,
            debounce: debounce.unwrap_or_else(|| configured.debounce(channel)),
            cap: usize::try_from(cap).unwrap_or(usize::MAX),
            drop: drop.unwrap_or(configured.drop),
        }
    }

    /// The changes that `words` ask for, such as `collect debounce:2s cap:25
    /// drop:old`; the error is the word that makes no sense.
    pub fn changes(words: &str) -> Result<Vec<Change>, String> {
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
        None => one(Mode::parse(&lower).map(|mode| ("queueMode", json!(mode.name())))),
        Some(("debounce", time)) => {
            let time = duration(time).filter(|time| *time <= DEBOUNCE_LIMIT);
            one(time.map(|time| ("queueDebounceMs", json!(time.as_millis() as u64))))
        }
        Some(("cap", cap)) => {
            let cap = cap.parse::<u64>().ok().filter(|cap| *cap > 0);
            one(cap.map(|cap| ("queueCap", json!(cap))))
        }
        Some(("drop", drop)) => one(Drop::parse(drop).map(|it| ("queueDrop", json!(it.name())))),
        Some(_) => one(None),
    }
}

/// The queue settings of a session's entry.
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
    use openclaw_config::{Environment, Paths};

    use super::*;

    #[test]
    fn command_changes_several_things_at_once() {
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
    fn settings_what_a_session_does_not_say_is_configured_or_the_default() {
        let mut overrides = Overrides::default();
        let configured = QueueSettings::default();
        let settings = Settings::of(&overrides, &configured, ("webchat", false));
        assert_eq!(
            (settings.mode, settings.cap, settings.drop),
            (Mode::Steer, 20, Drop::Summarize)
        );
        overrides.queue.mode = Some("collect".to_owned());
        overrides.queue.debounce_ms = Some(7);
        let settings = Settings::of(&overrides, &configured, ("webchat", false));
        assert_eq!(settings.mode, Mode::Collect);
        assert_eq!(settings.debounce, Duration::from_millis(7));
    }

    #[test]
    fn command_line_has_every_message_answered_until_somebody_says_otherwise() {
        let of = |overrides: &Overrides, configured: Value| {
            let environment: Environment = [("HOME", "/h")].into_iter().collect();
            let paths = Paths::resolve(&environment).unwrap();
            let document = json!({"messages": {"queue": configured}});
            let settings = openclaw_settings::Settings::assemble(paths, document, &environment);
            let settings = Settings::of(overrides, &settings.unwrap().queue, ("cli", true));
            (settings.mode, settings.cap)
        };
        let mut overrides = Overrides::default();
        assert_eq!(of(&overrides, json!({})), (Mode::Followup, usize::MAX));
        assert_eq!(of(&overrides, json!({"cap": 3})), (Mode::Followup, 3));
        let steer = json!({"mode": "steer"});
        assert_eq!(of(&overrides, steer), (Mode::Steer, 20));
        let by_channel = json!({"byChannel": {"cli": "interrupt", "telegram": "collect"}});
        assert_eq!(of(&overrides, by_channel), (Mode::Interrupt, 20));
        overrides.queue.mode = Some("collect".to_owned());
        assert_eq!(of(&overrides, json!({})), (Mode::Collect, 20));
    }
}
