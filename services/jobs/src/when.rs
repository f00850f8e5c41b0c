//! Times as people say them.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};

use crate::invalid::Invalid;

/// What may be said.
const FORMS: &str = "must be a date and time (ISO 8601), or words: tomorrow 9:00, monday at 18:30, \
                     today at 6pm, 2026-12-24 18:00, 9:00, in 20 minutes";

/// Days of a week by their names.
const DAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// The night of today.
const TONIGHT: &str = "tonight";

/// Letters of a day's name that are enough.
const DAY_LETTERS: usize = 3;

/// Whether `text` is a date and time of ISO 8601.
pub(crate) fn is_iso(text: &str) -> bool {
    let text = text.trim();
    text.parse::<Timestamp>().is_ok() || text.parse::<DateTime>().is_ok()
}

/// The time that `text` says at `now`, on the clock of `zone`; without one that
/// is the host's for words, and UTC for ISO 8601.
pub(crate) fn read(text: &str, zone: Option<TimeZone>, now: i64) -> Result<Timestamp, Invalid> {
    let text = text.trim();
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    let refused = || Invalid::field("schedule/at", FORMS);
    if let Ok(civil) = text.parse::<DateTime>() {
        let at = civil.to_zoned(zone.unwrap_or(TimeZone::UTC));
        return Ok(at.map_err(|_| refused())?.timestamp());
    }
    let zone = zone.unwrap_or_else(TimeZone::system);
    let now = Timestamp::from_millisecond(now).map_err(|_| refused())?;
    let at = in_words(&text.to_lowercase(), &now.to_zoned(zone));
    at.map(|at| at.timestamp()).ok_or_else(refused)
}

fn in_words(text: &str, now: &Zoned) -> Option<Zoned> {
    let words: Vec<&str> = text
        .split([' ', ','])
        .filter(|word| !matches!(*word, "" | "at" | "on" | "next" | "this"))
        .collect();
    if let ["in", rest @ ..] = words.as_slice() {
        return after(&rest.concat(), now);
    }
    // The day may come last: `9:00 tomorrow`.
    for first in 0..words.len() {
        let (time, day) = words.split_at(first);
        let Some((date, taken)) = date(day, now) else {
            continue;
        };
        let rest = &day[taken..];
        if first == 0 || rest.is_empty() || rest == [TONIGHT] {
            return on(date, &[rest, time].concat().concat(), now);
        }
    }
    next_at(clock(&words.concat())?, now)
}

/// The day that `words` begin with, and how many of them it takes. Those that say
/// when on that day are left.
fn date(words: &[&str], now: &Zoned) -> Option<(Date, usize)> {
    let (days, taken) = match words {
        ["day", "after", "tomorrow", ..] => (2, 3),
        [TONIGHT | "morning" | "afternoon" | "evening", ..] => (0, 0),
        [first, ..] => match days_until(first, now) {
            Some(days) => (days, 1),
            None => return Some((first.parse().ok()?, 1)),
        },
        [] => return None,
    };
    Some((now.date().checked_add(days.days()).ok()?, taken))
}

/// How many days it is until the day that is named.
fn days_until(word: &str, now: &Zoned) -> Option<i64> {
    match word {
        "today" => return Some(0),
        "tomorrow" => return Some(1),
        _ => {}
    }
    let word = word.strip_suffix('.').unwrap_or(word);
    let is_named = |name: &str| word.len() >= DAY_LETTERS && name.starts_with(word);
    let (_, day) = DAYS.into_iter().find(|(name, _)| is_named(name))?;
    let days = i64::from(now.weekday().until(day));
    // The one that is today is meant by "today".
    Some(if days == 0 { 7 } else { days })
}

fn on(date: Date, time: &str, now: &Zoned) -> Option<Zoned> {
    let time = match time {
        // A day without a time is its morning.
        "" | "morning" => Time::constant(9, 0, 0, 0),
        "afternoon" => Time::constant(15, 0, 0, 0),
        "evening" => Time::constant(18, 0, 0, 0),
        "night" | TONIGHT => Time::constant(20, 0, 0, 0),
        time => match time.strip_prefix(TONIGHT) {
            Some(time) => at_night(clock(time)?)?,
            None => clock(time)?,
        },
    };
    date.to_datetime(time)
        .to_zoned(now.time_zone().clone())
        .ok()
}

/// What is meant by the hour of a night: nine is not the morning's. Twelve may be
/// either.
fn at_night(time: Time) -> Option<Time> {
    match time.hour() {
        0 | 12 => None,
        hour @ 1..=11 => time.with().hour(hour + 12).build().ok(),
        _ => Some(time),
    }
}

/// The next time that the clock shows this.
fn next_at(time: Time, now: &Zoned) -> Option<Zoned> {
    let at = |days: i64| {
        let date = now.date().checked_add(days.days()).ok()?;
        date.to_datetime(time)
            .to_zoned(now.time_zone().clone())
            .ok()
    };
    at(0).filter(|at| at > now).or_else(|| at(1))
}

/// `9`, `9:30`, `9am`, `9:30pm`, `noon`.
fn clock(text: &str) -> Option<Time> {
    match text {
        "noon" => return Some(Time::constant(12, 0, 0, 0)),
        "midnight" => return Some(Time::midnight()),
        _ => {}
    }
    let text = text.trim_end_matches("o'clock");
    let (text, afternoon) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(text), _) => (text, Some(0)),
        (_, Some(text)) => (text, Some(12)),
        _ => (text, None),
    };
    let mut parts = text.split(':');
    let mut number = || -> Option<Option<i8>> {
        match parts.next() {
            None => Some(None),
            Some(part) if part.len() <= 2 => Some(Some(part.parse().ok()?)),
            Some(_) => None,
        }
    };
    let (hour, minute, second) = (number()??, number()?, number()?);
    if parts.next().is_some() {
        return None;
    }
    let hour = match afternoon {
        None => hour,
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
    };
    Time::new(hour, minute.unwrap_or(0), second.unwrap_or(0), 0).ok()
}

/// `20minutes`, `2h30m`, `aday`.
fn after(text: &str, now: &Zoned) -> Option<Zoned> {
    let text = match text {
        "halfanhour" => "30m".to_owned(),
        text => text.replace("and", ""),
    };
    let mut rest = text.as_str();
    let mut at = now.clone();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, unit) = rest.split_at(end);
        let (number, unit): (i64, &str) = match number {
            "" => (1, unit.strip_prefix("an").or(unit.strip_prefix('a'))?),
            number => (number.parse().ok()?, unit),
        };
        let end = unit.find(|c: char| c.is_ascii_digit());
        let (unit, more) = unit.split_at(end.unwrap_or(unit.len()));
        let span = match unit {
            "s" | "sec" | "secs" | "second" | "seconds" => jiff::Span::new().try_seconds(number),
            "m" | "min" | "mins" | "minute" | "minutes" => jiff::Span::new().try_minutes(number),
            "h" | "hour" | "hours" => jiff::Span::new().try_hours(number),
            "d" | "day" | "days" => jiff::Span::new().try_days(number),
            "w" | "week" | "weeks" => jiff::Span::new().try_weeks(number),
            "month" | "months" => jiff::Span::new().try_months(number),
            "year" | "years" => jiff::Span::new().try_years(number),
            _ => return None,
        };
        at = at.checked_add(span.ok()?).ok()?;
        rest = more;
    }
    (at > *now).then_some(at)
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
    fn when_is_read_as_people_say_it() {
        // It is ten there.
        for (text, expected) in [
            ("tomorrow 9:00", "Sun 11-22 09:00:00"),
            ("Tomorrow at 9", "Sun 11-22 09:00:00"),
            ("tomorrow", "Sun 11-22 09:00:00"),
            ("tomorrow evening", "Sun 11-22 18:00:00"),
            ("today at 6pm", "Sat 11-21 18:00:00"),
            ("9:00", "Sun 11-22 09:00:00"),
            ("11:30", "Sat 11-21 11:30:00"),
            ("12am", "Sun 11-22 00:00:00"),
            ("noon", "Sat 11-21 12:00:00"),
            ("monday 18:30", "Mon 11-23 18:30:00"),
            ("next sat at 8 am", "Sat 11-28 08:00:00"),
            ("2026-12-24 18:00", "Thu 12-24 18:00:00"),
            ("2026-12-24T18:00", "Thu 12-24 18:00:00"),
            ("2026-12-24T18:00:00Z", "Thu 12-24 19:00:00"),
            ("in 20 minutes", "Sat 11-21 10:20:00"),
            ("in 2h30m", "Sat 11-21 12:30:00"),
            ("in an hour", "Sat 11-21 11:00:00"),
            ("in 1 hour and 5 minutes", "Sat 11-21 11:05:00"),
            ("in 3 days", "Tue 11-24 10:00:00"),
            ("in half an hour", "Sat 11-21 10:30:00"),
            ("in a week", "Sat 11-28 10:00:00"),
            ("in 1 year", "Sun 11-21 10:00:00"),
            ("9:00 tomorrow", "Sun 11-22 09:00:00"),
            ("at 6 pm on friday", "Fri 11-27 18:00:00"),
            ("noon tomorrow", "Sun 11-22 12:00:00"),
            ("9:00 2026-12-24", "Thu 12-24 09:00:00"),
            ("day after tomorrow", "Mon 11-23 09:00:00"),
            ("8:00 day after tomorrow", "Mon 11-23 08:00:00"),
            ("tonight", "Sat 11-21 20:00:00"),
            ("tonight at 9", "Sat 11-21 21:00:00"),
            ("10:30 tonight", "Sat 11-21 22:30:00"),
            ("9 pm tonight", "Sat 11-21 21:00:00"),
            ("this evening", "Sat 11-21 18:00:00"),
            ("tomorrow afternoon", "Sun 11-22 15:00:00"),
            ("tomorrow night", "Sun 11-22 20:00:00"),
        ] {
            assert_eq!(said(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn when_is_refused_with_what_may_be_said() {
        for text in [
            "",
            "soon",
            "25:00",
            "tomorrow 9:61",
            "in",
            "in 0 minutes",
            "in x days",
            "13pm",
            "tomorrow 9:00 9:00",
            "9:00 tomorrow 9:00",
            "tomorrow friday",
            "tonight tomorrow",
            "tonight at 12",
            "tomorrow 9:00pmpm",
            "next week",
            "in 1.5 hours",
            "in 20",
            "in in 5 minutes",
            "24:00",
            "...",
            "mo.",
            "24.12.2026 9:00",
            "2026-02-30 9:00",
            "morgen 9:00",
            "1799999999",
            "\u{1f4a5}",
            "in 99999999999 days",
            "9:",
            "-1:00",
        ] {
            assert_eq!(said(text), None, "{text}");
        }
        let refused = read("soon", None, NOW).unwrap_err().to_string();
        assert!(refused.contains("schedule/at") && refused.contains("tomorrow 9:00"));
    }

    #[test]
    fn when_has_the_zone_of_iso_8601_or_utc() {
        let at = |text: &str| read(text, None, NOW).unwrap().to_string();
        assert_eq!(at("2026-12-24T18:00"), "2026-12-24T18:00:00Z");
        assert_eq!(at("2026-12-24T18:00+01:00"), "2026-12-24T17:00:00Z");
    }
}
