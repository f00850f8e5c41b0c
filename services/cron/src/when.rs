//! Times and spans, as people read and write them.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A time on the clock here, with the zone.
pub(crate) fn local(at_ms: i64) -> String {
    shown(at_ms, &TimeZone::system())
}

fn shown(at_ms: i64, zone: &TimeZone) -> String {
    let Ok(at) = Timestamp::from_millisecond(at_ms) else {
        return "-".to_owned();
    };
    at.to_zoned(zone.clone())
        .strftime("%a %-d %b %Y %H:%M:%S %Z")
        .to_string()
}

/// The time that jobs are kept with, in Unix milliseconds; one without an offset is UTC's.
pub(crate) fn instant(at: &str) -> Option<i64> {
    let local = || {
        let civil = at.contains(':').then(|| at.parse::<DateTime>().ok())??;
        Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    let at = at.parse::<Timestamp>().ok().or_else(local)?;
    Some(at.as_millisecond())
}

/// Milliseconds of `15m`, `1h30m`, `two hours`.
pub(crate) fn span(text: &str) -> Result<i64, String> {
    let misfit = "give a span, such as 15m, 1h30m, 2d, \"two hours\" or daily";
    openclaw_moment::span(text).ok_or_else(|| misfit.to_owned())
}

/// A span in words.
pub(crate) fn in_words(ms: i64) -> String {
    format!("{:#}", SignedDuration::from_millis(ms))
}

/// The name of the zone here, where it has one.
pub(crate) fn zone() -> Option<String> {
    let zone = TimeZone::system();
    zone.iana_name().map(str::to_owned)
}

/// The name of an existing time zone.
pub(crate) fn named_zone(name: &str) -> Result<String, String> {
    TimeZone::get(name)
        .map(|_| name.to_owned())
        .map_err(|_| "give an IANA time zone, such as Europe/Berlin".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_is_read_in_its_parts() {
        for (text, expected) in [
            ("15m", 900_000),
            ("1h30m", 5_400_000),
            ("2d", 172_800_000),
            ("1w", 604_800_000),
            ("90s", 90_000),
            ("250ms", 250),
            ("15 minutes", 900_000),
            ("hour", 3_600_000),
            ("daily", 86_400_000),
            ("1h30", 5_400_000),
        ] {
            assert_eq!(span(text), Ok(expected), "{text}");
        }
        for text in ["", "0m", "15", "m", "5y", "-5m", "99999999999999999999w"] {
            span(text).unwrap_err();
        }
    }

    #[test]
    fn shown_is_the_local_time_with_its_zone() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        assert_eq!(
            shown(1_795_251_600_000, &berlin),
            "Sat 21 Nov 2026 10:00:00 CET"
        );
    }

    #[test]
    fn instant_is_the_time_that_jobs_are_kept_with() {
        for at in [
            "2026-11-21T09:00:00Z",
            "2026-11-21T10:00+01:00",
            "2026-11-21T09:00",
        ] {
            assert_eq!(instant(at), Some(1_795_251_600_000), "{at}");
        }
        assert_eq!(instant("soon"), None);
    }

    #[test]
    fn named_zone_is_one_that_there_is() {
        assert!(named_zone("Europe/Berlin").is_ok());
        assert!(named_zone("Mars/Olympus").is_err());
    }
}
