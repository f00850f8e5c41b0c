//! Cron expressions on the clock of a place.

use std::str::FromStr as _;

use croner::Cron;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use openclaw_moment::shown;

use crate::invalid::Invalid;

/// Fields without seconds.
const FIELDS: usize = 5;
/// Fields with seconds first.
const WITH_SECONDS: usize = 6;

/// What may be written.
const FORM: &str = "must be minute, hour, day, month and weekday, as in 0 9 * * 1-5";

/// How far ahead a time is looked for: leap days on a given weekday come every
/// 28 years, and every 40 where a century has none.
const YEARS_AHEAD: i16 = 40;

/// What a person may write.
pub(crate) fn check(expr: &str) -> Result<(), Invalid> {
    let fields = expr.split_whitespace().count();
    if !expr.trim().starts_with('@') && !(FIELDS..=WITH_SECONDS).contains(&fields) {
        let problem = "must have five fields, or six with seconds first";
        return Err(Invalid::field("schedule/expr", problem));
    }
    if let Some((number, (field, least, greatest))) = out_of_range(expr) {
        return Err(Invalid::Field {
            path: "schedule/expr".into(),
            problem: format!(
                "{FORM}: this one has {number} in the {field}, which are {least} to {greatest}"
            ),
        });
    }
    parse(expr).map(drop)
}

/// What a person may not write any more: a step that leads out of its field.
pub(crate) fn check_steps(expr: &str) -> Result<(), Invalid> {
    match far_step(expr) {
        Some((step, field, most)) => Err(Invalid::Field {
            path: "schedule/expr".into(),
            problem: format!(
                "has the step {step} in the {field}, which is further than to the last of them, \
                 and would count from the first anew: at most {most} fits there; for longer \
                 spans say a schedule of kind every"
            ),
        }),
        None => Ok(()),
    }
}

const WEEKDAYS: &str = "weekdays";

/// Fields by their names.
const RANGES: [Range; WITH_SECONDS] = [
    ("seconds", 0, 59),
    ("minutes", 0, 59),
    ("hours", 0, 23),
    ("days", 1, 31),
    ("months", 1, 12),
    (WEEKDAYS, 0, 6),
];

/// A field's name, with the least and the greatest that it may be.
type Range = (&'static str, u32, u32);

/// The fields of the expression with what each may be; none where it is a word like
/// `@daily`.
fn ranges(expr: &str) -> impl Iterator<Item = (&str, &'static Range)> {
    let count = expr.split_whitespace().count();
    let skipped = WITH_SECONDS.checked_sub(count);
    let ranges = RANGES.iter().skip(skipped.unwrap_or(WITH_SECONDS));
    expr.split_whitespace().zip(ranges)
}

/// The first number that its field does not have.
fn out_of_range(expr: &str) -> Option<(&str, Range)> {
    for (field, (name, least, greatest)) in ranges(expr) {
        // Sunday is the seventh day, too.
        let most = if *name == WEEKDAYS { 7 } else { *greatest };
        for part in field.split(',') {
            let range = part.split('/').next().unwrap_or_default();
            let mut ends = range.split('-');
            let is_out = |end: &&str| end.parse::<u32>().is_ok_and(|it| it < *least || it > most);
            if let Some(number) = ends.find(is_out) {
                return Some((number, (name, *least, most)));
            }
        }
    }
    None
}

/// The first step that leads out of what it steps through, the field that it is in, and
/// the longest that would not.
fn far_step(expr: &str) -> Option<(&str, &'static str, u32)> {
    for (field, (name, least, greatest)) in ranges(expr) {
        for part in field.split(',') {
            let Some((range, step)) = part.split_once('/') else {
                continue;
            };
            let (from, to) = range.split_once('-').unwrap_or((range, ""));
            // Names of days and months are within the whole.
            let from = from.parse().unwrap_or(*least);
            let to = to.parse().unwrap_or(*greatest);
            let most = to.saturating_sub(from);
            if step.parse::<u32>().is_ok_and(|step| step > most) {
                return Some((part, name, most));
            }
        }
    }
    None
}

/// The first time after `now`, in Unix milliseconds.
///
/// An expression for every hour goes on as the hours do, whatever the clock
/// says of them. Any other names times on the clock: one that the clock skips is
/// the moment after, and of one that it shows twice only the first counts.
pub(crate) fn next(expr: &str, zone: &TimeZone, now: i64) -> Option<i64> {
    let at = Timestamp::from_millisecond(now).ok()?;
    let there = at.to_zoned(zone.clone());
    let cron = parse(&within(expr, there.year())).ok()?;
    if is_hourly(expr) {
        let next = cron.find_next_occurrence(&there, false).ok()?;
        return Some(next.timestamp().as_millisecond());
    }
    let mut from = there.datetime();
    let mut inclusive = false;
    // The second round begins after an hour that the clock shows again.
    for _ in 0..2 {
        let civil = on_the_clock(&cron, from, inclusive)?;
        let moment = shown(zone, civil)?;
        if moment > at {
            return Some(moment.as_millisecond());
        }
        from = end_of_repetition(zone, at)?;
        inclusive = true;
    }
    None
}

/// The expression's next time as if there were no zones.
fn on_the_clock(cron: &Cron, from: DateTime, inclusive: bool) -> Option<DateTime> {
    let from = from.to_zoned(TimeZone::UTC).ok()?;
    let next: Zoned = cron.find_next_occurrence(&from, inclusive).ok()?;
    Some(next.datetime())
}

/// What the clock shows at the end of the times that it shows twice, the second
/// of which is `at`.
fn end_of_repetition(zone: &TimeZone, at: Timestamp) -> Option<DateTime> {
    let change = zone
        .preceding(at + jiff::SignedDuration::from_nanos(1))
        .next()?
        .timestamp();
    let before = zone.to_offset(change - jiff::SignedDuration::from_nanos(1));
    Some(before.to_datetime(change))
}

/// Whether the field of hours is a star.
fn is_hourly(expr: &str) -> bool {
    let fields: Vec<&str> = expr.split_whitespace().collect();
    let hours = fields.len().checked_sub(FIELDS - 1);
    hours.and_then(|place| fields.get(place)) == Some(&"*") || expr.trim() == "@hourly"
}

fn parse(expr: &str) -> Result<Cron, Invalid> {
    Cron::from_str(expr).map_err(|error| Invalid::Field {
        path: "schedule/expr".into(),
        problem: format!("{FORM}: {error}"),
    })
}

/// The expression for the years in which a time is looked for. One that fits no
/// day at all would be tried up to the year 5000, which takes seconds.
fn within(expr: &str, year: i16) -> String {
    let expr = expr.trim();
    let years = format!("{year}-{}", year.saturating_add(YEARS_AHEAD));
    match expr.split_whitespace().count() {
        FIELDS => format!("0 {expr} {years}"),
        WITH_SECONDS => format!("{expr} {years}"),
        _ => expr.to_owned(),
    }
}

#[cfg(test)]
mod tests;
