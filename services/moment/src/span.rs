//! How long, as people say it.

use jiff::{Span, SpanRelativeTo};

use crate::said::{digits, number, words};

/// Units of spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// What they are called.
const NAMES: [(Unit, &[&str]); 8] = [
    (
        Unit::Millisecond,
        &["ms", "msec", "msecs", "millisecond", "milliseconds"],
    ),
    (Unit::Second, &["s", "sec", "secs", "second", "seconds"]),
    (Unit::Minute, &["m", "min", "mins", "minute", "minutes"]),
    (Unit::Hour, &["h", "hr", "hrs", "hour", "hours"]),
    (Unit::Day, &["d", "day", "days"]),
    (Unit::Week, &["w", "wk", "wks", "week", "weeks"]),
    (Unit::Month, &["mo", "mos", "month", "months"]),
    (Unit::Year, &["y", "yr", "yrs", "year", "years"]),
];

/// Spans that are said as how often something is.
const OFTEN: [(&str, Unit); 3] = [
    ("hourly", Unit::Hour),
    ("daily", Unit::Day),
    ("weekly", Unit::Week),
];

/// A time without a date has units no longer than that.
const OF_CLOCKS: [Unit; 4] = [Unit::Millisecond, Unit::Second, Unit::Minute, Unit::Hour];

impl Unit {
    fn named(word: &str) -> Option<Self> {
        let found = NAMES.iter().find(|(_, names)| names.contains(&word));
        found.map(|(unit, _)| *unit)
    }

    /// So many quarters of it.
    fn quarters(self, count: i64) -> Option<Part> {
        let (each, unit) = match self {
            Self::Minute => (15, Self::Second),
            Self::Hour => (15, Self::Minute),
            Self::Day => (6, Self::Hour),
            Self::Week => (42, Self::Hour),
            Self::Year => (3, Self::Month),
            Self::Millisecond | Self::Second | Self::Month => return None,
        };
        Some((each * count, unit))
    }

    /// What a number after it is one of, as in `1h30`.
    fn below(self) -> Option<Self> {
        match self {
            Self::Hour => Some(Self::Minute),
            Self::Minute => Some(Self::Second),
            _ => None,
        }
    }
}

/// So many of a unit.
type Part = (i64, Unit);

/// A span as it was said.
#[derive(Debug, Default)]
pub(crate) struct Said(Vec<Part>);

impl Said {
    /// Whether it counts days or what is longer, so that a time of the day may follow.
    pub(crate) fn is_of_days(&self) -> bool {
        !self.0.iter().any(|(_, unit)| OF_CLOCKS.contains(unit))
    }

    /// The span; None: it is longer than calendars.
    pub(crate) fn span(&self) -> Option<Span> {
        let mut span = Span::new();
        for (_, unit) in &self.0 {
            let mut parts = self.0.iter().filter(|(_, other)| other == unit);
            let sum = parts.try_fold(0, |sum: i64, (count, _)| sum.checked_add(*count))?;
            let with = match unit {
                Unit::Millisecond => span.try_milliseconds(sum),
                Unit::Second => span.try_seconds(sum),
                Unit::Minute => span.try_minutes(sum),
                Unit::Hour => span.try_hours(sum),
                Unit::Day => span.try_days(sum),
                Unit::Week => span.try_weeks(sum),
                Unit::Month => span.try_months(sum),
                Unit::Year => span.try_years(sum),
            };
            span = with.ok()?;
        }
        Some(span)
    }
}

/// The span that `words` begin with, and how many of them it takes.
pub(crate) fn read(words: &[&str]) -> Option<(Said, usize)> {
    let mut parts: Vec<Part> = Vec::new();
    let mut taken = 0;
    loop {
        let rest = &words[taken..];
        let last = parts.last().map(|(_, unit)| *unit);
        let (more, count) = match (last, rest) {
            (Some(unit), ["and", "a", "half", ..]) => (unit.quarters(2)?, 3),
            (Some(unit), [count]) if digits(count).is_some() && unit.below().is_some() => {
                ((digits(count)?, unit.below()?), 1)
            }
            (Some(_), ["and", rest @ ..]) => {
                let (part, count) = part(rest)?;
                (part, count + 1)
            }
            (_, rest) => match part(rest) {
                Some(found) => found,
                None => break,
            },
        };
        parts.push(more);
        taken += count;
    }
    (!parts.is_empty()).then_some((Said(parts), taken))
}

/// A number and its unit.
fn part(words: &[&str]) -> Option<(Part, usize)> {
    let unit = |word: &&str| Unit::named(word);
    match words {
        ["half", "a" | "an", name, ..] => return Some((unit(name)?.quarters(2)?, 3)),
        ["a", "half", name, ..] => return Some((unit(name)?.quarters(2)?, 3)),
        ["quarter", "of", "a" | "an", name, ..] => return Some((unit(name)?.quarters(1)?, 4)),
        ["a", "quarter", "of", "a" | "an", name, ..] => {
            return Some((unit(name)?.quarters(1)?, 5));
        }
        ["three", "quarters", "of", "a" | "an", name, ..] => {
            return Some((unit(name)?.quarters(3)?, 5));
        }
        ["a" | "an", name, ..] => return Some(((1, unit(name)?), 2)),
        _ => {}
    }
    let (count, taken) = number(words)?;
    match &words[taken..] {
        ["and", "a", "half", name, ..] => {
            let (half, below) = unit(name)?.quarters(2)?;
            let (quarter, _) = unit(name)?.quarters(4)?;
            let all = count.checked_mul(quarter)?.checked_add(half)?;
            Some(((all, below), taken + 4))
        }
        [name, ..] => Some(((count, unit(name)?), taken + 1)),
        [] => None,
    }
}

/// Milliseconds of `15m`, `1h30`, `two hours`; also of `hour`, `daily`, `every 2 days`. A
/// day has 24 hours, and months and years have no length.
pub fn span(text: &str) -> Option<i64> {
    let words = words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = match words.as_slice() {
        ["every", rest @ ..] => rest,
        words => words,
    };
    let often = |word: &str| OFTEN.iter().find(|(name, _)| *name == word);
    let one = match words {
        // One letter is part of a number that is missing.
        [word] if word.len() > 1 => often(word).map_or_else(|| Unit::named(word), |it| Some(it.1)),
        _ => None,
    };
    let said = match (one, read(words)) {
        (Some(unit), _) => Said(vec![(1, unit)]),
        (None, Some((said, taken))) if taken == words.len() => said,
        _ => return None,
    };
    let span = said.span()?;
    let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    i64::try_from(length.as_millis()).ok().filter(|ms| *ms > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_is_read_as_it_is_written_and_said() {
        let minutes = |count: i64| Some(count * 60_000);
        for (text, expected) in [
            ("15m", minutes(15)),
            ("15 minutes", minutes(15)),
            ("1h30m", minutes(90)),
            ("1h30", minutes(90)),
            ("2m30", Some(150_000)),
            ("1h 30 min", minutes(90)),
            ("2 hrs", minutes(120)),
            ("two hours", minutes(120)),
            ("twenty-five minutes", minutes(25)),
            ("an hour and a half", minutes(90)),
            ("one and a half hours", minutes(90)),
            ("two and a half days", minutes(3600)),
            ("half an hour", minutes(30)),
            ("a quarter of an hour", minutes(15)),
            ("three quarters of an hour", minutes(45)),
            ("1 hour and 5 minutes", minutes(65)),
            ("1 hour, 5 minutes", minutes(65)),
            ("hour", minutes(60)),
            ("every day", minutes(1440)),
            ("daily", minutes(1440)),
            ("Weekly", minutes(7 * 1440)),
            ("2d", minutes(2880)),
            ("250ms", Some(250)),
            ("", None),
            ("0m", None),
            ("15", None),
            ("m", None),
            ("s", None),
            ("5y", None),
            ("a month", None),
            ("-5m", None),
            ("1h30 2", None),
            ("1h and", None),
            ("often", None),
            ("half", None),
            ("a half", None),
            ("every", None),
            ("every other day", None),
            ("99999999999999999999w", None),
            ("9223372036854775807h", None),
            ("9223372036854775807 and a half hours", None),
        ] {
            assert_eq!(span(text), expected, "{text}");
        }
    }
}
