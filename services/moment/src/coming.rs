//! Times to come, as people say them.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan as _, Zoned};

use crate::said::{digits, number, words};
use crate::span;
use crate::unclear::Unclear;

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

/// Months by their names, in their order.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Letters of a name that are enough.
const NAME_LETTERS: usize = 3;

/// What makes a number one of a day.
const ORDINALS: [&str; 4] = ["st", "nd", "rd", "th"];

/// When it is when only the day is said: its morning.
const OF_A_DAY: Time = Time::constant(9, 0, 0, 0);

const NOON: Time = Time::constant(12, 0, 0, 0);

/// How far ahead a date without a year is looked for: leap days skip a century.
const YEARS_AHEAD: i16 = 8;

/// Part of a day: its time where no other is said, and the hours that are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    usual: i8,
    first: i8,
    end: i8,
}

/// By their names.
const PARTS: [(&str, Part); 4] = [
    ("morning", Part::of(9, 0, 12)),
    ("afternoon", Part::of(15, 12, 19)),
    ("evening", Part::of(18, 16, 24)),
    ("night", NIGHT),
];

/// What is said of the hours after midnight may be either night's.
const NIGHT: Part = Part::of(20, 17, 24);

impl Part {
    const fn of(usual: i8, first: i8, end: i8) -> Self {
        Self { usual, first, end }
    }

    fn named(word: &str) -> Option<Self> {
        let found = PARTS.iter().find(|(name, _)| *name == word);
        found.map(|(_, part)| *part)
    }
}

/// What a clock is said to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Clock {
    time: Time,
    /// The hour may be one of the afternoon, too.
    is_open: bool,
    /// It is written as clocks show it, which is with 24 hours: `5:30`.
    is_shown: bool,
    /// It is where one day ends and another begins.
    is_midnight: bool,
}

/// Hours before which somebody who names one without its half of the day may as well mean
/// that of the afternoon.
const UNUSUAL: i8 = 7;

impl Clock {
    fn exact(time: Time) -> Self {
        Self {
            time,
            is_open: false,
            is_shown: false,
            is_midnight: false,
        }
    }

    /// The hour of a clock with `half`, the hours before its own, where that is said.
    fn of((hour, minute, second): (i64, i64, i64), half: Option<i64>) -> Option<Self> {
        let (hour, is_open) = match half {
            Some(half) if (1..=12).contains(&hour) => (hour % 12 + half, false),
            Some(_) => return None,
            None => (hour, (1..12).contains(&hour)),
        };
        let part = |number: i64| i8::try_from(number).ok();
        let time = Time::new(part(hour)?, part(minute)?, part(second)?, 0).ok()?;
        Some(Self {
            is_open,
            ..Self::exact(time)
        })
    }

    /// The time in `part` of the day; None: it is none of it.
    fn within(self, part: Part) -> Option<Time> {
        let hours = part.first..part.end;
        if hours.contains(&self.time.hour()) {
            return Some(self.time);
        }
        let later = self.later().filter(|later| hours.contains(&later.hour()));
        later.filter(|_| self.is_open)
    }

    /// What it may show: at five somebody may get up or go home.
    fn readings(self) -> Vec<Time> {
        let is_either = self.is_open && !self.is_shown && self.time.hour() < UNUSUAL;
        let later = self.later().filter(|_| is_either);
        [self.time].into_iter().chain(later).collect()
    }

    fn later(self) -> Option<Time> {
        let later = self.time.hour().checked_add(12)?;
        self.time.with().hour(later).build().ok()
    }
}

/// Which one of a day of the week is said to be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Unsaid,
    This,
    Next,
}

/// What was said of a time.
#[derive(Debug, Default)]
struct Said {
    date: Option<Date>,
    weekday: Option<(Weekday, Which)>,
    part: Option<Part>,
    clock: Option<Clock>,
    /// It is of today, whether or not that is past.
    is_this: bool,
}

/// The time that `text` says when it is `now`, on the clock there unless it names a zone:
/// `tomorrow at nine`, `friday evening`, `24 Dec 18:00`, `in two hours`, `20m`. It may be
/// past, as `today 8:00` may.
///
/// # Errors
/// It cannot be understood, or may mean several times.
pub fn coming(text: &str, now: &Zoned) -> Result<Timestamp, Unclear> {
    let (mut readings, zone) = read(text.trim(), now).ok_or(Unclear::Unknown)?;
    readings.sort_unstable();
    readings.dedup();
    match *readings.as_slice() {
        [] => Err(Unclear::Unknown),
        [only] => Ok(only),
        _ => Err(Unclear::several(text.trim(), &readings, zone, now)),
    }
}

/// All times that may be meant, and the zone that is named.
fn read(text: &str, now: &Zoned) -> Option<(Vec<Timestamp>, Option<TimeZone>)> {
    let words = words(text.strip_prefix('+').unwrap_or(text));
    let is_zone = |word: &&str| word.contains('/') || matches!(*word, "utc" | "gmt");
    let (zones, words): (Vec<&str>, Vec<&str>) =
        words.iter().map(String::as_str).partition(is_zone);
    let zone = match *zones.as_slice() {
        [] => None,
        [name] => Some(TimeZone::get(name).ok()?),
        _ => return None,
    };
    let now = match &zone {
        Some(zone) => now.with_time_zone(zone.clone()),
        None => now.clone(),
    };
    let (is_span, words) = match words.as_slice() {
        ["in", rest @ ..] if span::read(rest).is_some() => (true, rest),
        words => (false, words),
    };
    // `ten minutes to nine`
    let is_beside = !is_span && beside(words).is_some();
    let readings = match span::read(words).filter(|_| !is_beside) {
        Some((length, taken)) => after(&length, &words[taken..], &now),
        None => Said::default().all(words, &now)?.readings(&now),
    };
    Some((readings?, zone))
}

/// The times so long after now, or after the day that `rest` says.
fn after(length: &span::Said, rest: &[&str], now: &Zoned) -> Option<Vec<Timestamp>> {
    let span = length.span()?;
    let then = now.checked_add(span).ok()?;
    let (said, rest) = match rest {
        [] | ["from", "now"] => return (then > *now).then(|| vec![then.timestamp()]),
        _ if !length.is_of_days() => return None,
        ["from", "now", rest @ ..] => (Said::of_day(then.date()), rest),
        ["from", rest @ ..] => {
            let said = Said::default().all(rest, now)?;
            let mut readings = Vec::new();
            for day in said.days(now)? {
                let date = Some(day.checked_add(span).ok()?);
                readings.extend(said.on(date, now)?);
            }
            return Some(readings);
        }
        rest => (Said::of_day(then.date()), rest),
    };
    said.all(rest, now)?.readings(now)
}

impl Said {
    fn of_day(date: Date) -> Self {
        Self {
            date: Some(date),
            ..Self::default()
        }
    }

    /// The same with all that `words` say.
    fn all(mut self, words: &[&str], now: &Zoned) -> Option<Self> {
        let mut rest = words;
        while !rest.is_empty() {
            let taken = self.take(rest, now)?;
            rest = &rest[taken..];
        }
        Some(self)
    }

    /// Takes what `words` begin with; how many of them that is.
    fn take(&mut self, words: &[&str], now: &Zoned) -> Option<usize> {
        let first = *words.first()?;
        let second = words.get(1).copied().unwrap_or_default();
        match first {
            "at" | "on" if !second.is_empty() => return Some(1),
            "in" if Part::named(second).is_some() => return Some(1),
            "this" if Part::named(second).is_some() => {
                self.is_this = true;
                return Some(1);
            }
            "tonight" => {
                set(&mut self.date, now.date())?;
                set(&mut self.part, NIGHT)?;
                return Some(1);
            }
            _ => {}
        }
        if let Some((meant, taken)) = day_of_week(first, second) {
            set(&mut self.weekday, meant)?;
            return Some(taken);
        }
        if let Some(part) = Part::named(first) {
            set(&mut self.part, part)?;
            return Some(1);
        }
        if let Some((date, taken)) = date(words, now) {
            set(&mut self.date, date)?;
            return Some(taken);
        }
        if let Ok(both) = first.parse::<DateTime>()
            && first.contains(':')
        {
            set(&mut self.date, both.date())?;
            set(&mut self.clock, Clock::exact(both.time()))?;
            return Some(1);
        }
        let (clock, taken) = clock(words)?;
        set(&mut self.clock, clock)?;
        Some(taken)
    }

    /// The days that may be meant; none: none is said. Outer None: no day is what is said.
    fn days(&self, now: &Zoned) -> Option<Vec<Date>> {
        let today = now.date();
        let in_days = |days: i64| today.checked_add(days.days()).ok();
        let Some((day, which)) = self.weekday else {
            return Some(self.date.into_iter().collect());
        };
        if let Some(date) = self.date {
            // `Saturday 28 November`, which is to be one.
            let is_one = date.weekday() == day && which == Which::Unsaid;
            return is_one.then(|| vec![date]);
        }
        let ahead = i64::from(today.weekday().until(day));
        let in_a_week = in_days(ahead + 7)?;
        let days = match which {
            Which::This => vec![in_days(ahead)?],
            // Today, which has that name, or a week after.
            Which::Unsaid if ahead == 0 => vec![today, in_a_week],
            Which::Unsaid => vec![in_days(ahead)?],
            Which::Next if ahead == 0 => vec![in_a_week],
            Which::Next => {
                let of_next_week = [Weekday::Monday, Weekday::Sunday].map(|first| {
                    let is_this_week = first.until(day) > first.until(today.weekday());
                    if is_this_week { ahead + 7 } else { ahead }
                });
                let days = [ahead].into_iter().chain(of_next_week);
                let mut days: Vec<Date> = days.filter_map(in_days).collect();
                days.sort_unstable();
                days.dedup();
                days
            }
        };
        Some(days)
    }

    /// The times that may be meant.
    fn readings(&self, now: &Zoned) -> Option<Vec<Timestamp>> {
        let days = self.days(now)?;
        let mut readings = match days.as_slice() {
            [] => self.on(None, now)?,
            days => {
                let on = days.iter().map(|day| self.on(Some(*day), now));
                on.collect::<Option<Vec<_>>>()?.concat()
            }
        };
        // Of today nobody means what is past, where there is something to come.
        let is_to_come = |at: &Timestamp| *at > now.timestamp();
        if readings.iter().any(is_to_come) {
            readings.retain(is_to_come);
        }
        Some(readings)
    }

    /// The times that may be meant on that day, or on no day that is named.
    fn on(&self, date: Option<Date>, now: &Zoned) -> Option<Vec<Timestamp>> {
        if self.clock.is_some_and(|clock| clock.is_midnight) {
            return self.midnights(date, now);
        }
        let times = match (self.clock, self.part) {
            (None, None) => date.map(|_| vec![OF_A_DAY])?,
            (None, Some(part)) => vec![Time::new(part.usual, 0, 0, 0).ok()?],
            (Some(clock), None) => clock.readings(),
            (Some(clock), Some(part)) => vec![clock.within(part)?],
        };
        let zone = now.time_zone();
        let moment = |time: Time| match date {
            Some(date) => shown(zone, date.to_datetime(time)),
            None => self.unnamed(time, now),
        };
        times.into_iter().map(moment).collect()
    }

    /// When it is `time` next where no day is named.
    fn unnamed(&self, time: Time, now: &Zoned) -> Option<Timestamp> {
        let zone = now.time_zone();
        let today = shown(zone, now.date().to_datetime(time))?;
        // A part of the day alone is today's, until that is over.
        let is_todays = match (self.clock, self.part) {
            (None, Some(part)) => now.hour() < part.end,
            _ => today > now.timestamp(),
        };
        if self.is_this || is_todays {
            return Some(today);
        }
        shown(zone, now.date().tomorrow().ok()?.to_datetime(time))
    }

    /// The midnights that may be meant: that with which a day begins, and its end. Of
    /// today and of a night it is the end.
    fn midnights(&self, date: Option<Date>, now: &Zoned) -> Option<Vec<Timestamp>> {
        let day = date.unwrap_or(now.date());
        let is_end = match self.part {
            None => day == now.date(),
            Some(part) if part == NIGHT => true,
            Some(_) => return None,
        };
        let begin = (!is_end).then_some(day);
        let days = begin.into_iter().chain(day.tomorrow().ok());
        let zone = now.time_zone();
        days.map(|day| shown(zone, day.to_datetime(Time::midnight())))
            .collect()
    }
}

/// The day of the week that `first` is, or `second` after a word that says which one, and
/// how many words that takes.
fn day_of_week(first: &str, second: &str) -> Option<((Weekday, Which), usize)> {
    let which = match first {
        "this" => Which::This,
        "next" => Which::Next,
        _ => return weekday(first).map(|day| ((day, Which::Unsaid), 1)),
    };
    weekday(second).map(|day| ((day, which), 2))
}

/// Says something that has not been said before.
fn set<T>(what: &mut Option<T>, value: T) -> Option<()> {
    what.replace(value).is_none().then_some(())
}

/// When the clock of `zone` shows that first; where it never does, when it shows what
/// comes after.
pub fn shown(zone: &TimeZone, civil: DateTime) -> Option<Timestamp> {
    let ambiguous = zone.to_ambiguous_zoned(civil);
    match ambiguous.offset() {
        AmbiguousOffset::Gap { before, .. } => {
            // What is meant is past the gap by that offset: the gap is what lies
            // just before it.
            let past = before.to_timestamp(civil).ok()?;
            let past = past.checked_add(SignedDuration::from_nanos(1)).ok()?;
            Some(zone.preceding(past).next()?.timestamp())
        }
        _ => Some(ambiguous.earlier().ok()?.timestamp()),
    }
}

/// The place of the name that `word` is the beginning of.
fn named<'a>(word: &str, mut names: impl Iterator<Item = &'a str>) -> Option<usize> {
    let is_long = word.len() >= NAME_LETTERS;
    is_long.then(|| names.position(|name| name.starts_with(word)))?
}

fn weekday(word: &str) -> Option<Weekday> {
    let place = named(word, DAYS.iter().map(|(name, _)| *name))?;
    DAYS.get(place).map(|(_, day)| *day)
}

fn month(word: &str) -> Option<i8> {
    let place = named(word, MONTHS.into_iter())?;
    i8::try_from(place + 1).ok()
}

/// The day that `words` begin with, and how many of them it takes.
fn date(words: &[&str], now: &Zoned) -> Option<(Date, usize)> {
    let today = now.date();
    let in_days = |days: i64| today.checked_add(days.days()).ok();
    match words {
        ["today", ..] => return Some((today, 1)),
        ["tomorrow", ..] => return Some((in_days(1)?, 1)),
        ["day", "after", "tomorrow", ..] => return Some((in_days(2)?, 3)),
        _ => {}
    }
    let first = words.first()?;
    if first.contains('-') && !first.contains(':') {
        return Some((first.parse().ok()?, 1));
    }
    let (month_first, mut taken) = match month(first) {
        Some(month) => (Some(month), 1),
        None => (None, 0),
    };
    let (day, count) = of_month(&words[taken..])?;
    taken += count;
    let of = usize::from(words.get(taken) == Some(&"of"));
    let after = words.get(taken + of).and_then(|word| month(word));
    let month = match (month_first, after) {
        (Some(month), _) => month,
        (None, Some(month)) => {
            taken += of + 1;
            month
        }
        // The next day of that number, where it is said to be one.
        (None, None) if count > 1 => {
            let mut days = (0..62).filter_map(in_days);
            return Some((days.find(|date| date.day() == day)?, taken));
        }
        (None, None) => return None,
    };
    let year = words.get(taken).filter(|word| word.len() == 4);
    if let Some(year) = year.and_then(|word| digits(word)) {
        let date = Date::new(i16::try_from(year).ok()?, month, day).ok()?;
        return Some((date, taken + 1));
    }
    let years = today.year()..=today.year().saturating_add(YEARS_AHEAD);
    let mut dates = years.filter_map(|year| Date::new(year, month, day).ok());
    Some((dates.find(|date| *date >= today)?, taken))
}

/// The number of a day in a month, and how many of `words` it takes.
fn of_month(words: &[&str]) -> Option<(i8, usize)> {
    let first = words.first().filter(|word| word.len() <= 2)?;
    let day = i8::try_from(digits(first)?).ok()?;
    let is_ordinal = words.get(1).is_some_and(|word| ORDINALS.contains(word));
    (1..=31)
        .contains(&day)
        .then_some((day, 1 + usize::from(is_ordinal)))
}

/// The time that `words` begin with, and how many of them it takes.
fn clock(words: &[&str]) -> Option<(Clock, usize)> {
    match words {
        ["noon" | "midday", ..] => return Some((Clock::exact(NOON), 1)),
        ["midnight", ..] => {
            let midnight = Clock {
                is_midnight: true,
                ..Clock::exact(Time::midnight())
            };
            return Some((midnight, 1));
        }
        _ => {}
    }
    let (minutes, skipped) = beside(words).unwrap_or((0, 0));
    let rest = &words[skipped..];
    let (shown, mut taken) = if skipped > 0 {
        let (hour, taken) = number(rest)?;
        let past = hour.checked_mul(60)?.checked_add(minutes)?;
        // Ten to one is of the hour before it, which is twelve.
        let past = if past < 60 { past + 12 * 60 } else { past };
        ((past / 60, past % 60, 0), taken)
    } else {
        face(rest)?
    };
    taken += usize::from(rest.get(taken) == Some(&"oclock"));
    let half = match rest.get(taken) {
        Some(&"am") => Some(0),
        Some(&"pm") => Some(12),
        _ => None,
    };
    taken += usize::from(half.is_some());
    let is_exact = rest.first().is_some_and(|word| word.starts_with('0'));
    let clock = Clock::of(shown, half)?;
    let clock = Clock {
        is_open: clock.is_open && !is_exact,
        is_shown: rest.first().is_some_and(|word| word.contains(':')),
        ..clock
    };
    Some((clock, skipped + taken))
}

/// How many minutes beside an hour are said before it, as in `quarter to`, and how many of
/// `words` that takes.
fn beside(words: &[&str]) -> Option<(i64, usize)> {
    let article = usize::from(words.first() == Some(&"a"));
    let (minutes, taken) = match *words.get(article)? {
        "half" if words.get(article + 1) == Some(&"past") => (30, 1),
        "quarter" => (15, 1),
        _ if article == 0 => number(words)?,
        _ => return None,
    };
    let taken = article + taken;
    let unit = usize::from(words.get(taken).is_some_and(|it| it.starts_with("minute")));
    let sign = match *words.get(taken + unit)? {
        "past" | "after" => 1,
        "to" | "before" => -1,
        _ => return None,
    };
    (1..60)
        .contains(&minutes)
        .then_some((sign * minutes, taken + unit + 1))
}

/// Hour, minute and second, as a clock shows or somebody reads them.
fn face(words: &[&str]) -> Option<((i64, i64, i64), usize)> {
    let first = words.first()?;
    if first.starts_with(|it: char| it.is_ascii_digit()) {
        let parts: Vec<&str> = first.split(':').collect();
        let is_short = |part: &&str| part.len() <= 2;
        let number = |place: usize| parts.get(place).map_or(Some(0), |part| digits(part));
        let is_time = parts.len() <= 3 && parts.iter().all(is_short);
        return is_time.then_some(((number(0)?, number(1)?, number(2)?), 1));
    }
    let (hour, taken) = number(words)?;
    let minute = number(&words[taken..]).filter(|(minute, _)| (10..60).contains(minute));
    let is_word = words.get(taken).is_some_and(|word| digits(word).is_none());
    match minute {
        Some((minute, more)) if is_word => Some(((hour, minute, 0), taken + more)),
        _ => Some(((hour, 0, 0), taken)),
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
