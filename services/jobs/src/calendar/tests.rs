use proptest::prelude::*;

use jiff::tz::AmbiguousOffset;

use super::*;

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

/// The next times from a moment on, on the clock there.
fn times(expr: &str, name: &str, from: &str, count: usize) -> Vec<String> {
    let zone = zone(name);
    let mut now = from.parse::<Timestamp>().unwrap().as_millisecond();
    let mut times = Vec::new();
    for _ in 0..count {
        now = next(expr, &zone, now).unwrap();
        let at = Timestamp::from_millisecond(now).unwrap();
        let there = at.to_zoned(zone.clone());
        times.push(there.strftime("%m-%d %H:%M%:::z").to_string());
    }
    times
}

#[test]
fn next_runs_a_skipped_time_once_after() {
    let night = "2026-03-28T12:00:00Z";
    assert_eq!(
        times("30 2 * * *", "Europe/Berlin", night, 2),
        ["03-29 03:00+02", "03-30 02:30+02"]
    );
    assert_eq!(
        times("*/20 2,3 * * *", "Europe/Berlin", night, 4),
        [
            "03-29 03:00+02",
            "03-29 03:20+02",
            "03-29 03:40+02",
            "03-30 02:00+02"
        ]
    );
    // A whole day that was left out.
    assert_eq!(
        times("0 9 30 12 *", "Pacific/Apia", "2011-12-29T12:00:00Z", 1),
        ["12-31 00:00+14"]
    );
}

#[test]
fn next_runs_a_doubled_time_once() {
    let night = "2026-10-24T12:00:00Z";
    assert_eq!(
        times("30 2 * * *", "Europe/Berlin", night, 2),
        ["10-25 02:30+02", "10-26 02:30+01"]
    );
    assert_eq!(
        times("*/30 2 * * *", "Europe/Berlin", night, 3),
        ["10-25 02:00+02", "10-25 02:30+02", "10-26 02:00+01"]
    );
    // In the hour that comes again, that it has been is known.
    let again = "2026-10-25T01:10:00Z";
    assert_eq!(
        times("* * 2,3 * * *", "Europe/Berlin", again, 1),
        ["10-25 03:00+01"]
    );
}

#[test]
fn next_goes_on_by_hours_where_every_hour_is_meant() {
    assert_eq!(
        times("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 3),
        ["10-25 02:00+02", "10-25 02:00+01", "10-25 03:00+01"]
    );
    assert_eq!(
        times("0 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", 2),
        ["03-29 03:00+02", "03-29 04:00+02"]
    );
}

#[test]
fn check_refuses_a_step_out_of_its_field_by_its_name() {
    for (expr, words) in [
        ("*/90 * * * *", "*/90 in the minutes"),
        ("*/60 * * * *", "*/60 in the minutes"),
        ("0 */24 * * *", "*/24 in the hours"),
        ("0 0 */31 * *", "*/31 in the days"),
        ("0 0 1 */12 *", "*/12 in the months"),
        ("0 0 * * */7", "*/7 in the weekdays"),
        ("*/61 0 0 * * *", "*/61 in the seconds"),
        ("0 */99 0 * * *", "*/99 in the minutes"),
        ("0,30-59/40 * * * *", "30-59/40 in the minutes"),
        ("0-10/20 * * * *", "0-10/20 in the minutes"),
        // As is a number that it does not have.
        ("60 * * * *", "has 60 in the minutes, which are 0 to 59"),
        ("0 9 32 * *", "has 32 in the days, which are 1 to 31"),
        ("0 9 0 * *", "has 0 in the days"),
        ("0 9-24 * * *", "has 24 in the hours"),
        ("0 9 * 1,13 *", "has 13 in the months"),
        ("0 9 * * 8", "has 8 in the weekdays, which are 0 to 7"),
        ("61 0 9 * * *", "has 61 in the seconds"),
    ] {
        let refused = check(expr).and_then(|()| check_steps(expr));
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(words), "{expr}: {refused}");
        assert!(refused.contains("schedule/expr"), "{expr}: {refused}");
    }
    for expr in [
        "*/59 * * * *",
        "*/15 */2 */5 */3 */2",
        "0-30/10 8-18/2 * * MON-FRI",
        "*/30 */5 * * * *",
        "@daily",
        "0 9 L * *",
        "0 9 * * 7",
        "0 9 * * 5-7",
        "0 9 * * MON#1",
        "0 9 15W * *",
    ] {
        let checked = check(expr).and_then(|()| check_steps(expr));
        assert_eq!(checked, Ok(()), "{expr}");
    }
}

/// All minutes of some days on the clock there, each when it is shown first, or
/// after it was skipped: the slow and obvious way.
fn by_hand(zone: &TimeZone, from: i64, days: i64, fits: impl Fn(DateTime) -> bool) -> Vec<i64> {
    let start = Timestamp::from_millisecond(from).unwrap();
    let first = start.to_zoned(zone.clone()).date().yesterday().unwrap();
    let mut times = Vec::new();
    let mut civil = first.to_datetime(jiff::civil::Time::midnight());
    for _ in 0..(days + 2) * 1440 {
        if fits(civil) {
            let mut shown = civil;
            // What is skipped is what comes next.
            let at = loop {
                let ambiguous = zone.to_ambiguous_zoned(shown);
                if !matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. }) {
                    break ambiguous.earlier().unwrap().timestamp();
                }
                shown = shown.checked_add(jiff::Span::new().minutes(1)).unwrap();
            };
            times.push(at.as_millisecond());
        }
        civil = civil.checked_add(jiff::Span::new().minutes(1)).unwrap();
    }
    times.sort_unstable();
    times.dedup();
    times.retain(|at| *at > from);
    times
}

/// Zones with their own ways, and days about which their clocks are set.
const CHANGES: [(&str, &str); 8] = [
    ("Europe/Berlin", "2026-03-28T20:00:00Z"),
    ("Europe/Berlin", "2026-10-24T20:00:00Z"),
    ("America/New_York", "2026-03-07T20:00:00Z"),
    ("America/New_York", "2026-10-31T20:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T06:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T06:00:00Z"),
    ("America/Santiago", "2026-09-05T20:00:00Z"),
    ("Asia/Kathmandu", "2026-06-01T00:00:00Z"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn next_is_what_a_slow_look_finds(
        change in 0..CHANGES.len(),
        offset in 0_i64..36 * 60,
        minute in 0_i8..60,
        step in prop_oneof![Just(0_i8), Just(7), Just(15), Just(30)],
        hours in (0_i8..24, 0_i8..24),
    ) {
        let (name, near) = CHANGES[change];
        let zone = zone(name);
        let from = near.parse::<Timestamp>().unwrap().as_millisecond() + offset * 60_000;
        let minutes = if step == 0 { minute.to_string() } else { format!("*/{step}") };
        let expr = format!("{minutes} {},{} * * *", hours.0, hours.1);
        let fits = |at: DateTime| {
            let minute_fits = if step == 0 { at.minute() == minute } else { at.minute() % step == 0 };
            minute_fits && (at.hour() == hours.0 || at.hour() == hours.1)
        };
        let expected = by_hand(&zone, from, 4, fits);
        let mut now = from;
        for at in expected.iter().take(12) {
            now = next(&expr, &zone, now).unwrap();
            prop_assert_eq!(now, *at, "{} in {} from {}", expr, name, from);
        }
    }
}
