//! When a schedule is due.

use std::str::FromStr as _;

use croner::Cron;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::invalid::Invalid;

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
        /// ISO 8601; without an offset UTC, as in OpenClaw.
        at: String,
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
            Self::At { at } => {
                parse_at(at)?;
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
                checked_cron(expr)?;
                zone(tz.as_deref())?;
            }
        }
        Ok(self)
    }

    /// The first time after `now`; None when there is none.
    pub(super) fn next(&self, now: i64) -> Option<i64> {
        match self {
            Self::At { at } => parse_at(at).ok().filter(|at| *at > now),
            Self::Every {
                every_ms,
                anchor_ms,
            } => {
                let every = (*every_ms).max(1);
                let anchor = anchor_ms.unwrap_or(now);
                let passed = now.saturating_sub(anchor).div_euclid(every);
                anchor.checked_add(passed.checked_add(1)?.checked_mul(every)?)
            }
            Self::Cron { expr, tz, .. } => {
                let zone = zone(tz.as_deref()).ok()?;
                let at = Timestamp::from_millisecond(now).ok()?.to_zoned(zone);
                let cron = parse_cron(&within(expr, at.year())).ok()?;
                let next = cron.find_next_occurrence(&at, false).ok()?;
                Some(next.timestamp().as_millisecond())
            }
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

fn parse_at(at: &str) -> Result<i64, Invalid> {
    let at = at.trim();
    if let Ok(at) = at.parse::<Timestamp>() {
        return Ok(at.as_millisecond());
    }
    let civil = at.parse::<jiff::civil::DateTime>();
    let utc = civil.ok().and_then(|at| at.to_zoned(TimeZone::UTC).ok());
    utc.map(|at| at.timestamp().as_millisecond())
        .ok_or_else(|| Invalid::field("schedule/at", "must be a date and time (ISO 8601)"))
}

/// Fields without seconds.
const FIELDS: usize = 5;
/// Fields with seconds first.
const WITH_SECONDS: usize = 6;

/// What a person may write.
fn checked_cron(expr: &str) -> Result<(), Invalid> {
    let fields = expr.split_whitespace().count();
    if !expr.trim().starts_with('@') && !(FIELDS..=WITH_SECONDS).contains(&fields) {
        let problem = "must have five fields, or six with seconds first";
        return Err(Invalid::field("schedule/expr", problem));
    }
    parse_cron(expr).map(drop)
}

fn parse_cron(expr: &str) -> Result<Cron, Invalid> {
    Cron::from_str(expr).map_err(|error| Invalid::Field {
        path: "schedule/expr",
        problem: error.to_string(),
    })
}

/// How far ahead a time is looked for: leap days on a given weekday come every
/// 28 years, and every 40 where a century has none.
const YEARS_AHEAD: i16 = 40;

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

fn zone(name: Option<&str>) -> Result<TimeZone, Invalid> {
    match name.filter(|name| !name.is_empty()) {
        None => Ok(TimeZone::system()),
        Some(name) => TimeZone::get(name)
            .map_err(|_| Invalid::field("schedule/tz", "must be an IANA time zone")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// 2026-11-21 09:00 UTC, a Saturday.
    const NOW: i64 = 1_795_251_600_000;
    const HOUR: i64 = 3_600_000;

    fn next(timing: serde_json::Value) -> Option<i64> {
        let timing: Timing = serde_json::from_value(timing).unwrap();
        timing.checked(NOW).unwrap().next(NOW)
    }

    #[test]
    fn the_next_time_is_after_now() {
        assert_eq!(
            next(json!({"kind": "at", "at": "2026-11-21T10:00:00Z"})),
            Some(NOW + HOUR)
        );
        assert_eq!(
            next(json!({"kind": "at", "at": "2026-11-21T10:00"})),
            Some(NOW + HOUR)
        );
        assert_eq!(
            next(json!({"kind": "at", "at": "2026-11-21T08:00:00Z"})),
            None
        );
        assert_eq!(
            next(json!({"kind": "every", "everyMs": HOUR})),
            Some(NOW + HOUR)
        );
        assert_eq!(
            next(json!({"kind": "every", "everyMs": HOUR, "anchorMs": NOW - 10})),
            Some(NOW - 10 + HOUR)
        );
        assert_eq!(
            next(json!({"kind": "cron", "expr": "30 9 * * *", "tz": "UTC"})),
            Some(NOW + HOUR / 2)
        );
        // Berlin is an hour ahead in winter.
        assert_eq!(
            next(json!({"kind": "cron", "expr": "0 11 * * *", "tz": "Europe/Berlin"})),
            Some(NOW + HOUR)
        );
    }

    #[test]
    fn next_looks_as_far_as_calendars_need() {
        let next = |expr: &str| {
            let timing = json!({"kind": "cron", "expr": expr, "tz": "UTC"});
            let timing: Timing = serde_json::from_value(timing).unwrap();
            let next = timing.checked(NOW).unwrap().next(NOW);
            next.map(|at| Timestamp::from_millisecond(at).unwrap().to_string())
        };
        for (expr, expected) in [
            ("15 30 9 * * *", Some("2026-11-21T09:30:15Z")),
            ("@daily", Some("2026-11-22T00:00:00Z")),
            ("0 0 29 2 *", Some("2028-02-29T00:00:00Z")),
            ("0 0 1 1 *", Some("2027-01-01T00:00:00Z")),
            // No such day, and no second at all: not until the year 5000.
            ("0 0 30 2 *", None),
            (", 0 12 L * 5#2", None),
        ] {
            assert_eq!(next(expr).as_deref(), expected, "{expr}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (timing, words) in [
            (json!({"kind": "at", "at": "tomorrow"}), "schedule/at"),
            (json!({"kind": "every", "everyMs": 0}), "schedule/everyMs"),
            (json!({"kind": "cron", "expr": "x"}), "schedule/expr"),
            (
                json!({"kind": "cron", "expr": "0 0 0 1 1 * 2030"}),
                "five fields, or six",
            ),
            (
                json!({"kind": "cron", "expr": "* * * * *", "tz": "Mars"}),
                "schedule/tz",
            ),
        ] {
            let timing: Timing = serde_json::from_value(timing).unwrap();
            let error = timing.checked(NOW).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
