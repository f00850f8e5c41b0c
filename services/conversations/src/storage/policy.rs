//! When a conversation begins anew.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use openclaw_sessions::SessionKey;
use openclaw_sessions::store::SessionEntry;
use openclaw_settings::{ResetPolicy, SessionSettings};

/// How what begins with this begins a new conversation; all else resets the one there is.
const NEW: &str = "/new";

/// Why a conversation begins anew, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Anew {
    /// The reason that the transcript keeps.
    pub(super) reason: &'static str,
    /// The rest of the message; None: there is none.
    pub(super) text: Option<String>,
}

/// Whether `text` begins the conversation anew by what it says.
pub(super) fn asked(settings: &SessionSettings, text: &str) -> Option<Anew> {
    let (trigger, rest) = beginning_anew(settings, text)?;
    let beginning = trigger.get(..NEW.len());
    let is_new = beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(NEW));
    Some(Anew {
        reason: if is_new { "new" } else { "reset" },
        text: Some(rest.to_owned()).filter(|rest| !rest.is_empty()),
    })
}

/// What in `text` begins the conversation anew, and the words for the new one behind it;
/// None: it does not.
pub fn beginning_anew<'a>(settings: &SessionSettings, text: &'a str) -> Option<(&'a str, &'a str)> {
    let said = text.trim();
    let triggers = settings.reset_triggers.iter();
    triggers
        .map(|trigger| trigger.trim())
        .filter(|trigger| !trigger.is_empty())
        .find_map(|trigger| {
            let (beginning, rest) = said.split_at_checked(trigger.len())?;
            let whole_word = rest.is_empty() || rest.starts_with(char::is_whitespace);
            let is_it = beginning.eq_ignore_ascii_case(trigger) && whole_word;
            is_it.then(|| (beginning, rest.trim()))
        })
}

/// Whether `text` begins the conversation anew, with or without words for it.
pub fn begins_anew(settings: &SessionSettings, text: &str) -> bool {
    asked(settings, text).is_some()
}

/// Whether `text` does nothing but begin the conversation anew.
pub fn only_begins_anew(settings: &SessionSettings, text: &str) -> bool {
    asked(settings, text).is_some_and(|anew| anew.text.is_none())
}

/// Whether the conversation is over by the time that has passed.
pub(super) fn is_due(
    settings: &SessionSettings,
    key: &SessionKey,
    channel: &str,
    entry: &SessionEntry,
    now_ms: i64,
) -> Option<&'static str> {
    let policy = settings.reset.of(key.kind(), channel);
    let last = entry.last_interaction_at().unwrap_or(entry.updated_at());
    // A conversation with one message began when that was said.
    let nothing_since_reset = entry.started_at().is_some_and(|started| started > last);
    if nothing_since_reset {
        return None;
    }
    passed(policy, last, now_ms, &TimeZone::system())
}

fn passed(policy: ResetPolicy, last_ms: i64, now_ms: i64, zone: &TimeZone) -> Option<&'static str> {
    let over = policy.idle.is_some_and(|idle| {
        let silent = u64::try_from(now_ms.saturating_sub(last_ms)).unwrap_or_default();
        u128::from(silent) > idle.as_millis()
    });
    if over {
        return Some("idle");
    }
    let boundary = last_boundary(policy.daily_at?, now_ms, zone)?;
    (last_ms < boundary).then_some("daily")
}

/// The last time it was `hour` o'clock, in Unix milliseconds.
fn last_boundary(hour: u8, now_ms: i64, zone: &TimeZone) -> Option<i64> {
    let now = Timestamp::from_millisecond(now_ms)
        .ok()?
        .to_zoned(zone.clone());
    let hour = i8::try_from(hour).ok()?;
    let today = now.date().at(hour, 0, 0, 0).to_zoned(zone.clone()).ok()?;
    let boundary = if today <= now {
        today
    } else {
        let yesterday = now.date().checked_sub(1.day()).ok()?;
        yesterday.at(hour, 0, 0, 0).to_zoned(zone.clone()).ok()?
    };
    Some(boundary.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn ms(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    fn settings() -> SessionSettings {
        SessionSettings::of(
            &Default::default(),
            &Default::default(),
            &Default::default(),
        )
    }

    #[test]
    fn policy_only_a_whole_word_begins_anew() {
        let anew = |text| asked(&settings(), text).map(|anew| (anew.reason, anew.text));
        assert_eq!(anew(" /new "), Some(("new", None)));
        assert_eq!(anew("/RESET"), Some(("reset", None)));
        let hello = Some("hello there".to_owned());
        assert_eq!(anew("/new  hello there"), Some(("new", hello)));
        for text in ["/newton", "new", "say /new", "", "/ne", "ä/new"] {
            assert_eq!(anew(text), None, "{text}");
        }
    }

    #[test]
    fn policy_any_words_may_begin_anew() {
        let section = serde_json::json!({ "resetTriggers": ["新しい会話", "neu", "/newer"] });
        let section = serde_json::from_value(section).unwrap();
        let settings = SessionSettings::of(&section, &Default::default(), &Default::default());
        let anew = |text| asked(&settings, text).map(|anew| (anew.reason, anew.text));
        assert_eq!(anew("新しい会話"), Some(("reset", None)));
        assert_eq!(anew("/NEWER"), Some(("new", None)));
        // A space of more than one byte.
        let hello = Some("hello".to_owned());
        assert_eq!(anew("neu\u{3000}hello"), Some(("reset", hello)));
        assert_eq!(anew("neü"), None);
    }

    #[test]
    fn day_ends_at_its_hour_in_local_time() {
        let policy = ResetPolicy {
            daily_at: Some(4),
            idle: None,
        };
        let zone = TimeZone::get("Europe/Prague").unwrap();
        let at = |last: &str, now: &str| passed(policy, ms(last), ms(now), &zone);
        // 04:00 in Prague is 03:00 UTC in winter.
        let evening = "2026-11-20T20:00:00Z";
        assert_eq!(at(evening, "2026-11-21T02:59:00Z"), None);
        assert_eq!(at(evening, "2026-11-21T03:00:00Z"), Some("daily"));
        assert_eq!(at("2026-11-21T03:00:01Z", "2026-11-21T22:00:00Z"), None);
        assert_eq!(
            at("2026-11-01T12:00:00Z", "2026-11-21T01:00:00Z"),
            Some("daily")
        );
    }

    #[test]
    fn conversation_of_one_message_ends_and_an_empty_one_does_not() {
        let reset = serde_json::json!({ "mode": "idle", "idleMinutes": 5 });
        let section = serde_json::json!({ "reset": reset });
        let section = serde_json::from_value(section).unwrap();
        let settings = SessionSettings::of(&section, &Default::default(), &Default::default());
        let key = SessionKey::main(&"main".parse().unwrap());
        let due = |started: i64, last: i64| {
            let entry = serde_json::json!({
                "sessionId": "id", "sessionStartedAt": started, "lastInteractionAt": last
            });
            let entry: SessionEntry = serde_json::from_value(entry).unwrap();
            is_due(&settings, &key, "cli", &entry, 1_000_000)
        };
        assert_eq!(due(100, 100), Some("idle"));
        assert_eq!(due(101, 100), None);
        assert_eq!(due(100, 999_000), None);
    }

    #[test]
    fn silence_ends_a_conversation() {
        let policy = ResetPolicy {
            daily_at: None,
            idle: Some(Duration::from_secs(600)),
        };
        let zone = TimeZone::UTC;
        let last = ms("2026-11-21T10:00:00Z");
        assert_eq!(passed(policy, last, last + 600_000, &zone), None);
        assert_eq!(passed(policy, last, last + 600_001, &zone), Some("idle"));
        assert_eq!(passed(policy, last, last - 5, &zone), None);
        assert_eq!(passed(ResetPolicy::default(), 0, last, &zone), None);
    }
}
