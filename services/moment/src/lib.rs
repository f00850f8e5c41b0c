//! Points in time and spans, as people give them: those that have been, those to come,
//! and how long something takes.

mod coming;
mod said;
mod span;
mod unclear;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

pub use coming::{coming, shown};
pub use span::span;
pub use unclear::Unclear;

/// Characters of a date alone.
const DATE_LENGTH: usize = "2026-11-21".len();

/// From then on: a day from its beginning. Unix milliseconds.
pub fn since(text: &str) -> Result<i64, String> {
    moment(text, &Zoned::now(), false)
}

/// Until then: a day to its end. Unix milliseconds.
pub fn until(text: &str) -> Result<i64, String> {
    moment(text, &Zoned::now(), true)
}

fn moment(text: &str, now: &Zoned, to_the_end: bool) -> Result<i64, String> {
    let text = text.trim();
    let misfit = || {
        "give a day (2026-11-21), a time (\"2026-11-21 18:30\"), today, yesterday, or how long \
         ago (90m, 12h, 3d, 2w, -5m, \"1 hour ago\")"
            .to_owned()
    };
    if let Some(ago) = ago(text) {
        let then = now.timestamp().checked_sub(ago).map_err(|_| misfit())?;
        return Ok(then.as_millisecond());
    }
    let day = match text.to_lowercase().as_str() {
        "now" => return Ok(now.timestamp().as_millisecond()),
        "today" => Some(now.date()),
        "yesterday" => now.date().yesterday().ok(),
        _ if text.len() == DATE_LENGTH => text.parse::<Date>().ok(),
        _ => None,
    };
    let zone = now.time_zone();
    match day {
        Some(day) if to_the_end => begin(day.tomorrow().ok(), zone),
        Some(day) => begin(Some(day), zone),
        None => exact(text, zone),
    }
    .ok_or_else(misfit)
}

fn begin(day: Option<Date>, zone: &TimeZone) -> Option<i64> {
    let day = day?.to_zoned(zone.clone()).ok()?;
    Some(day.timestamp().as_millisecond())
}

/// With an offset, or in local time.
fn exact(text: &str, zone: &TimeZone) -> Option<i64> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.as_millisecond());
    }
    let local = text.parse::<DateTime>().ok()?;
    let at = local.to_zoned(zone.clone()).ok()?;
    Some(at.timestamp().as_millisecond())
}

/// `90m`, `12h`, `3d`, `2w`, and as journalctl(1) has it `-5m` and `1 hour ago`: a day has 24
/// hours.
fn ago(text: &str) -> Option<SignedDuration> {
    let text = text.to_lowercase();
    let text = match (text.strip_suffix("ago"), text.strip_prefix('-')) {
        (Some(text), _) | (None, Some(text)) => text.trim(),
        (None, None) => text.as_str(),
    };
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (count, unit) = text.split_at(digits);
    let count: i64 = count.parse().ok()?;
    let seconds = match unit.trim() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "h" | "hr" | "hour" | "hours" => 60 * 60,
        "d" | "day" | "days" => 24 * 60 * 60,
        "w" | "week" | "weeks" => 7 * 24 * 60 * 60,
        _ => return None,
    };
    let seconds = count.checked_mul(seconds)?;
    // No clock knows more.
    (seconds < 366 * 1000 * 24 * 60 * 60).then(|| SignedDuration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_days_times_and_how_long_ago() {
        let now: Zoned = "2026-11-22T14:00:00+01:00[+01:00]".parse().unwrap();
        for (text, since, until) in [
            ("2026-11-21", "2026-11-20T23:00:00Z", "2026-11-21T23:00:00Z"),
            ("today", "2026-11-21T23:00:00Z", "2026-11-22T23:00:00Z"),
            ("Yesterday", "2026-11-20T23:00:00Z", "2026-11-21T23:00:00Z"),
            (
                "2026-11-21 18:30",
                "2026-11-21T17:30:00Z",
                "2026-11-21T17:30:00Z",
            ),
            (
                "2026-11-21T18:30:00Z",
                "2026-11-21T18:30:00Z",
                "2026-11-21T18:30:00Z",
            ),
            ("90m", "2026-11-22T11:30:00Z", "2026-11-22T11:30:00Z"),
            ("2d", "2026-11-20T13:00:00Z", "2026-11-20T13:00:00Z"),
            ("1w", "2026-11-15T13:00:00Z", "2026-11-15T13:00:00Z"),
            ("-5m", "2026-11-22T12:55:00Z", "2026-11-22T12:55:00Z"),
            ("1 hour ago", "2026-11-22T12:00:00Z", "2026-11-22T12:00:00Z"),
            ("30 Min ago", "2026-11-22T12:30:00Z", "2026-11-22T12:30:00Z"),
            ("2 days ago", "2026-11-20T13:00:00Z", "2026-11-20T13:00:00Z"),
        ] {
            let expected = |at: &str| at.parse::<Timestamp>().unwrap().as_millisecond();
            assert_eq!(moment(text, &now, false), Ok(expected(since)), "{text}");
            assert_eq!(moment(text, &now, true), Ok(expected(until)), "{text}");
        }
        for text in [
            "",
            "soon",
            "2026-13-01",
            "--3d",
            "+3d",
            "ago",
            "-",
            "1 hours from now",
            "d",
            "99999999999999999h",
            "é",
        ] {
            assert!(moment(text, &now, false).is_err(), "{text}");
        }
    }
}
