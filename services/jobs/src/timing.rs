//! When a schedule is due.

use std::collections::VecDeque;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::calendar;
use crate::invalid::Invalid;
use crate::when;

/// Times that are told apart of those that have come.
const APART: usize = 50;

/// The shortest time between two runs, in milliseconds: a calendar has nothing
/// shorter than its second, and each time that comes is a row on the disk.
pub(super) const SHORTEST_MS: i64 = 1000;

/// Times to come of a calendar that are looked at for two that are close: those of two
/// whole days, where one comes every five minutes, and of more where it comes more
/// seldom. The times of the day are the same on each day of an expression.
const LOOKED_AT: usize = 600;

/// When a job runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "lowercase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Timing {
    /// Once.
    At {
        /// ISO 8601, as which it is kept; or words, such as `tomorrow 9:00`.
        at: String,
        /// Where the clock is that words and times without an offset are of: the
        /// host's for words, UTC for ISO 8601, as in OpenClaw. Not kept.
        #[serde(skip_serializing_if = "Option::is_none")]
        tz: Option<String>,
    },
    /// Again and again.
    Every {
        /// Milliseconds.
        every_ms: i64,
        /// Counted from here.
        #[serde(skip_serializing_if = "Option::is_none")]
        anchor_ms: Option<i64>,
    },
    /// By the calendar.
    Cron {
        /// Five fields, or six with seconds first.
        expr: String,
        /// IANA; the host's when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        tz: Option<String>,
        /// Kept for OpenClaw; runs are not spread here.
        #[serde(skip_serializing_if = "Option::is_none")]
        stagger_ms: Option<i64>,
    },
}

impl Timing {
    /// Fills in what follows from `now`, after a check.
    pub(super) fn checked(mut self, now: i64) -> Result<Self, Invalid> {
        match &mut self {
            Self::At { at, tz } => {
                let zone = zone_of(tz.take().as_deref())?;
                let is_kept = zone.is_none() && when::is_iso(at);
                let read = when::read(at, zone, now)?;
                if !is_kept {
                    *at = read.to_string();
                }
            }
            Self::Every {
                every_ms,
                anchor_ms,
            } => {
                if *every_ms < 1 {
                    return Err(Invalid::field("schedule/everyMs", "must be >= 1"));
                }
                anchor_ms.get_or_insert(now);
            }
            Self::Cron { expr, tz, .. } => {
                calendar::check(expr)?;
                zone(tz.as_deref())?;
            }
        }
        Ok(self)
    }

    /// The first time after `now`; None when there is none.
    pub(super) fn next(&self, now: i64) -> Option<i64> {
        match self {
            Self::At { at, .. } => {
                let at = when::read(at, None, now).ok()?.as_millisecond();
                Some(at).filter(|at| *at > now)
            }
            Self::Every {
                every_ms,
                anchor_ms,
            } => {
                let every = (*every_ms).max(1);
                let anchor = anchor_ms.unwrap_or(now);
                let passed = now.saturating_sub(anchor).div_euclid(every);
                let next = anchor.checked_add(passed.checked_add(1)?.checked_mul(every)?)?;
                // No calendar has what is later.
                Timestamp::from_millisecond(next).ok().map(|_| next)
            }
            Self::Cron { expr, tz, .. } => calendar::next(expr, &zone(tz.as_deref()).ok()?, now),
        }
    }

    /// The last times until `now` of those that have come, `first` and what is
    /// after it; the first one first.
    pub(super) fn due(&self, first: i64, now: i64) -> VecDeque<i64> {
        let mut times = VecDeque::from([first]);
        while let Some(next) = self.next(*times.back().unwrap_or(&first)) {
            if next > now {
                return times;
            }
            times.push_back(next);
            if times.len() > APART {
                return self.last(first, now);
            }
        }
        times
    }

    /// The last times from `first` until `now`, when there are many.
    fn last(&self, first: i64, now: i64) -> VecDeque<i64> {
        let mut times = VecDeque::new();
        let mut until = now;
        while times.len() < APART {
            let Some(before) = self.before(first, until) else {
                break;
            };
            times.push_front(before);
            until = before - 1;
        }
        times
    }

    /// The last time until `until`, which is not before `first`.
    fn before(&self, first: i64, until: i64) -> Option<i64> {
        let is_until = |at: i64| self.next(at).is_some_and(|next| next <= until);
        let (mut low, mut high) = (first - 1, until);
        if !is_until(low) {
            return None;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_until(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.next(low)
    }

    /// Refuses what would come again sooner than may be.
    pub(super) fn spaced(&self) -> Result<(), Invalid> {
        match self {
            Self::Every { every_ms, .. } if *every_ms < SHORTEST_MS => {
                let problem = format!("must be >= {SHORTEST_MS}: no job runs more often");
                Err(Invalid::field("schedule/everyMs", &problem))
            }
            _ => Ok(()),
        }
    }

    /// Whether two of the next [`LOOKED_AT`] times are less than `period_ms` apart.
    pub(super) fn comes_within(&self, period_ms: i64, now: i64) -> bool {
        if let Some(every) = self.every_ms() {
            return every < period_ms;
        }
        let mut times = std::iter::successors(self.next(now), |at| self.next(*at));
        let Some(mut before) = times.next() else {
            return false;
        };
        times.take(LOOKED_AT).any(|at| {
            let between = at - before;
            before = at;
            between < period_ms
        })
    }

    /// The milliseconds between two times, where they are counted.
    pub fn every_ms(&self) -> Option<i64> {
        match self {
            Self::Every { every_ms, .. } => Some(*every_ms),
            Self::At { .. } | Self::Cron { .. } => None,
        }
    }

    /// That it has no time any more.
    pub(super) fn is_over(&self) -> Invalid {
        match self {
            Self::At { at, .. } => {
                let there = at.parse::<Timestamp>().map(|at| {
                    let there = at.to_zoned(TimeZone::system());
                    there.strftime("%a %-d %b %Y %H:%M:%S %Z").to_string()
                });
                let at = there.unwrap_or_else(|_| at.clone());
                Invalid::field("schedule/at", &format!("must be to come; {at} is past"))
            }
            Self::Every { .. } => Invalid::field("schedule/everyMs", "is longer than calendars"),
            Self::Cron { .. } => Invalid::field("schedule/expr", "never comes"),
        }
    }

    /// Whether it is due only once.
    pub(super) fn is_once(&self) -> bool {
        matches!(self, Self::At { .. })
    }

    /// The kind's name.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::At { .. } => "at",
            Self::Every { .. } => "every",
            Self::Cron { .. } => "cron",
        }
    }
}

fn zone(name: Option<&str>) -> Result<TimeZone, Invalid> {
    Ok(zone_of(name)?.unwrap_or_else(TimeZone::system))
}

/// The zone that is named, if one is.
fn zone_of(name: Option<&str>) -> Result<Option<TimeZone>, Invalid> {
    let named = name.filter(|name| !name.is_empty()).map(TimeZone::get);
    let unknown = |_| Invalid::field("schedule/tz", "must be an IANA time zone");
    named.transpose().map_err(unknown)
}

#[cfg(test)]
mod tests;
