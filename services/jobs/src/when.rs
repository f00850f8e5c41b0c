//! Times as people say them.

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use openclaw_moment::{Unclear, coming, shown};

use crate::invalid::Invalid;

/// What may be said.
const FORMS: &str = "must be a date and time (ISO 8601), or words: tomorrow 9:00, tomorrow at nine, \
                     monday at 18:30, today at 6pm, friday evening, half past nine, 24 Dec 18:00, \
                     2026-12-24 18:00, 9:00, in 20 minutes, in two hours";

/// When it is on a day without a time.
const OF_A_DAY: Time = Time::constant(9, 0, 0, 0);

/// Whether `text` is a date and time of ISO 8601 that names no zone but an offset.
pub(crate) fn is_iso(text: &str) -> bool {
    let text = text.trim();
    let is_read = text.parse::<Timestamp>().is_ok() || text.parse::<DateTime>().is_ok();
    is_read && !text.contains('[')
}

/// The time that `text` says at `now`, on the clock of `zone`; without one that
/// is the host's for words, and UTC for ISO 8601. A zone that the text names is the
/// one that is meant.
pub(crate) fn read(text: &str, zone: Option<TimeZone>, now: i64) -> Result<Timestamp, Invalid> {
    let text = text.trim();
    let refused = || Invalid::field("schedule/at", FORMS);
    if text.contains('[') {
        return annotated(text).ok_or_else(refused);
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    if let Ok(civil) = text.parse::<DateTime>() {
        let is_day = !text.contains(['T', 't', ' ', ':']);
        let time = if is_day { OF_A_DAY } else { civil.time() };
        let civil = civil.date().to_datetime(time);
        return shown(&zone.unwrap_or(TimeZone::UTC), civil).ok_or_else(refused);
    }
    let zone = zone.unwrap_or_else(TimeZone::system);
    let now = Timestamp::from_millisecond(now).map_err(|_| refused())?;
    coming(text, &now.to_zoned(zone)).map_err(|unclear| match unclear {
        Unclear::Unknown => refused(),
        Unclear::Several(words) => Invalid::field("schedule/at", &words),
    })
}

/// `2026-12-24T18:00[Europe/Berlin]`, with an offset or without one.
fn annotated(text: &str) -> Option<Timestamp> {
    let (civil, zone) = text.strip_suffix(']')?.split_once('[')?;
    let has_offset = civil.parse::<Timestamp>().is_ok();
    match civil.parse::<DateTime>() {
        Ok(civil) if !has_offset => shown(&TimeZone::get(zone).ok()?, civil),
        // An offset that the zone does not have then is no time there.
        _ => Some(text.parse::<Zoned>().ok()?.timestamp()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21 09:00 UTC, a Saturday.
    const NOW: i64 = 1_795_251_600_000;

    fn said(text: &str) -> Option<String> {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let at = read(text, Some(zone.clone()), NOW).ok()?;
        Some(at.to_zoned(zone).strftime("%a %m-%d %H:%M:%S").to_string())
    }

    #[test]
    fn when_when_is_words_or_iso_8601() {
        // It is ten there.
        for (text, expected) in [
            ("tomorrow 9:00", "Sun 11-22 09:00:00"),
            ("Tomorrow at nine", "Sun 11-22 09:00:00"),
            ("20m", "Sat 11-21 10:20:00"),
            ("2026-12-24 18:00", "Thu 12-24 18:00:00"),
            ("2026-12-24T18:00", "Thu 12-24 18:00:00"),
            ("2026-12-24T18:00:00Z", "Thu 12-24 19:00:00"),
            ("2026-12-24", "Thu 12-24 09:00:00"),
            ("20261224", "Thu 12-24 09:00:00"),
            ("2026-12-24T18:00[Europe/Berlin]", "Thu 12-24 18:00:00"),
            ("2026-12-24 18:00[America/New_York]", "Fri 12-25 00:00:00"),
            (
                "2026-12-24T18:00+01:00[Europe/Berlin]",
                "Thu 12-24 18:00:00",
            ),
            ("2026-12-24T18:00Z[UTC]", "Thu 12-24 19:00:00"),
            // The clock skips it.
            ("2027-03-28 02:30", "Sun 03-28 03:00:00"),
            ("2027-03-28T02:30[Europe/Berlin]", "Sun 03-28 03:00:00"),
        ] {
            assert_eq!(said(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn when_when_is_refused_with_what_may_be_said() {
        for text in [
            "",
            "soon",
            "2026-02-30 9:00",
            "2026-12-24T18:00[Mars/Olympus]",
            "2026-12-24T18:00+05:00[Europe/Berlin]",
            "2026-12-24T18:00[Europe/Berlin",
            "[Europe/Berlin]",
            "tomorrow 9:00[Europe/Berlin]",
        ] {
            assert_eq!(said(text), None, "{text}");
        }
        let refused = read("soon", None, NOW).unwrap_err().to_string();
        assert!(refused.contains("schedule/at") && refused.contains("tomorrow 9:00"));
        let several = read("sunday midnight", None, NOW).unwrap_err().to_string();
        let words = "at /schedule/at: \"sunday midnight\" may mean several times; say \"Sun 22 Nov";
        assert!(several.starts_with(words), "{several}");
    }

    #[test]
    fn when_when_has_the_zone_of_iso_8601_or_utc() {
        let at = |text: &str| read(text, None, NOW).unwrap().to_string();
        assert_eq!(at("2026-12-24T18:00"), "2026-12-24T18:00:00Z");
        assert_eq!(at("2026-12-24T18:00+01:00"), "2026-12-24T17:00:00Z");
    }
}
