use jiff::Timestamp;

use super::*;
use crate::times::Times;
use serde_json::json;

/// 2026-11-21 09:00 UTC, a Saturday.
const NOW: i64 = 1_795_251_600_000;
const HOUR: i64 = 3_600_000;

fn next(timing: serde_json::Value) -> Option<i64> {
    let timing: Timing = serde_json::from_value(timing).unwrap();
    timing.checked(NOW).unwrap().next(NOW)
}

#[test]
fn next_time_is_after_now() {
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
fn timing_what_is_wrong_is_named() {
    for (timing, words) in [
        (json!({"kind": "at", "at": "soon"}), "schedule/at"),
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
        (
            json!({"kind": "cron", "expr": "* * * * *", "staggerMs": -1}),
            "schedule/staggerMs: must be 0 or more",
        ),
        (
            json!({"kind": "cron", "expr": "*/90 * * * *"}),
            "*/90 in the minutes",
        ),
    ] {
        let timing: Timing = serde_json::from_value(timing).unwrap();
        let checked = timing.checked(NOW).and_then(|it| it.spaced());
        let error = checked.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn comes_within_looks_at_the_whole_of_a_days_times() {
    for (expr, expected) in [
        ("*/5 * * * *", false),
        ("0 9 * * *", false),
        ("0 9 29 2 *", false),
        ("59 23 31 12 *", false),
        ("4,11,12,13,50 * * * *", true),
        ("0,9,18,27,56,59 * * * *", true),
        ("*/7 * * * *", true),
        ("* 3 29 2 *", true),
        // The last time of a day and the first one of the next.
        ("0,58 0,23 * * 1,2", true),
        ("0 0/10 * * * *", false),
        ("0,30 0 9 * * *", true),
    ] {
        let timing = json!({"kind": "cron", "expr": expr, "tz": "UTC"});
        let timing: Timing = serde_json::from_value(timing).unwrap();
        let times = Times::of(&timing, "j");
        assert_eq!(times.comes_within(300_000, NOW), expected, "{expr}");
    }
    let every = |ms: i64| Timing::Every {
        every_ms: ms,
        anchor_ms: None,
    };
    assert!(Times::of(&every(299_999), "j").comes_within(300_000, NOW));
    assert!(!Times::of(&every(300_000), "j").comes_within(300_000, NOW));
}
