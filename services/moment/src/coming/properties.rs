//! Times that people say, against a slow look at each day to come.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const ZONES: [&str; 5] = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "UTC",
];

/// Words of a clock, and the hours and minutes that they may mean.
const CLOCKS: [(&str, &[(i8, i8)]); 12] = [
    ("", &[(9, 0)]),
    ("at 5", &[(5, 0), (17, 0)]),
    ("at six", &[(6, 0), (18, 0)]),
    ("at 9", &[(9, 0)]),
    ("at 05:30", &[(5, 30)]),
    ("at 3:15", &[(3, 15)]),
    ("at noon", &[(12, 0)]),
    ("at 17:45", &[(17, 45)]),
    ("half past one", &[(1, 30), (13, 30)]),
    ("in the evening", &[(18, 0)]),
    ("at 4 in the afternoon", &[(16, 0)]),
    ("5pm", &[(17, 0)]),
];

/// Whether the week of `day` is another than that of `today`, where weeks begin on `first`.
fn is_other_week(today: Date, day: Date, first: Weekday) -> bool {
    let mut passing = today;
    while passing < day {
        passing = passing.tomorrow().unwrap();
        if passing.weekday() == first {
            return true;
        }
    }
    false
}

/// The days of that name that may be meant.
fn days(today: Date, day: Weekday, which: &str) -> Vec<Date> {
    let mut coming = Vec::new();
    let mut passing = today;
    while coming.len() < 3 {
        if passing.weekday() == day {
            coming.push(passing);
        }
        passing = passing.tomorrow().unwrap();
    }
    let later = coming.iter().copied().find(|it| *it > today).unwrap();
    match which {
        "this " => vec![coming[0]],
        "next " => {
            let after = |first: Weekday| {
                let mut days = coming.iter().copied();
                days.find(|it| is_other_week(today, *it, first)).unwrap()
            };
            vec![later, after(Weekday::Monday), after(Weekday::Sunday)]
        }
        _ if coming[0] == today => coming[..2].to_vec(),
        _ => vec![coming[0]],
    }
}

/// When the clock shows it first; where it is skipped, the moment after.
fn slowly(zone: &TimeZone, day: Date, (hour, minute): (i8, i8)) -> Timestamp {
    let mut civil = day.at(hour, minute, 0, 0);
    loop {
        let ambiguous = zone.to_ambiguous_zoned(civil);
        if !matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. }) {
            return ambiguous.earlier().unwrap().timestamp();
        }
        civil = civil.checked_add(1.minutes()).unwrap();
    }
}

/// The times that are written in what is wrong with a text.
fn named(words: &str) -> BTreeSet<Timestamp> {
    let isos = words.split('(').skip(1);
    let isos = isos.map(|it| it.split(')').next().unwrap().parse().unwrap());
    isos.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn coming_is_the_one_time_that_a_slow_look_finds(
        minutes in 0_i64..3 * 366 * 24 * 60,
        zone in prop::sample::select(&ZONES[..]),
        day in prop::sample::select(&DAYS[..]),
        which in prop::sample::select(&["", "this ", "next "][..]),
        clock in prop::sample::select(&CLOCKS[..]),
    ) {
        let zone = TimeZone::get(zone).unwrap();
        let now: Timestamp = "2026-01-01T00:00:30Z".parse().unwrap();
        let now = (now + SignedDuration::from_mins(minutes)).to_zoned(zone.clone());
        let (words, faces) = clock;
        let text = format!("{which}{} {words}", day.0);
        let days = days(now.date(), day.1, which);
        let each = days.iter().flat_map(|day| faces.iter().map(|face| slowly(&zone, *day, *face)));
        let mut expected: BTreeSet<Timestamp> = each.collect();
        if expected.iter().any(|at| *at > now.timestamp()) {
            expected.retain(|at| *at > now.timestamp());
        }
        match coming(&text, &now) {
            Ok(at) => prop_assert_eq!(expected, BTreeSet::from([at]), "{} at {}", text, now),
            Err(unclear) => {
                let said = unclear.to_string();
                prop_assert_eq!(&named(&said), &expected, "{} at {}: {}", text, now, said);
                prop_assert!(expected.len() > 1, "{} at {}: {}", text, now, said);
                // What it says to say is understood as that.
                let again = said.split('"').skip(3).step_by(2);
                for (words, at) in again.zip(expected) {
                    prop_assert_eq!(coming(words, &now), Ok(at), "{} at {}", words, now);
                }
            }
        }
    }

    #[test]
    fn coming_takes_whatever_is_said(text in "[a-z0-9: ,.-]{0,40}") {
        let now: Zoned = "2026-11-27T10:00[Europe/Berlin]".parse().unwrap();
        let _ = coming(&text, &now);
    }
}
