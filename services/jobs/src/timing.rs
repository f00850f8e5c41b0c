//! When a schedule is due.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::calendar;
use crate::invalid::Invalid;
use crate::when;

/// The shortest time between two runs, in milliseconds: a calendar has nothing
/// shorter than its second, and each time that comes is a row on the disk.
pub(super) const SHORTEST_MS: i64 = 1000;

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
        /// How much later than that it may be, in milliseconds: by how much, the job's id
        /// says. Nothing is where that is not said, as for 0.
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

    /// The milliseconds in which its times are spread.
    pub(super) fn stagger_ms(&self) -> i64 {
        match self {
            Self::Cron { stagger_ms, .. } => stagger_ms.unwrap_or_default(),
            Self::At { .. } | Self::Every { .. } => 0,
        }
    }

    /// The first time after `now`, as if it were not spread; None when there is none.
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

    /// Refuses what would come again sooner than may be, or otherwise than it says. Jobs
    /// that are kept may have it.
    pub(super) fn spaced(&self) -> Result<(), Invalid> {
        match self {
            Self::Every { every_ms, .. } if *every_ms < SHORTEST_MS => {
                let problem = format!("must be >= {SHORTEST_MS}: no job runs more often");
                Err(Invalid::field("schedule/everyMs", &problem))
            }
            Self::Cron {
                stagger_ms: Some(..0),
                ..
            } => {
                let problem = "must be 0 or more milliseconds; 0 is exactly on time";
                Err(Invalid::field("schedule/staggerMs", problem))
            }
            Self::Cron { expr, .. } => calendar::check_steps(expr),
            _ => Ok(()),
        }
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
                let problem = format!("must be to come; {at} is past: give it another time");
                Invalid::field("schedule/at", &problem)
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
