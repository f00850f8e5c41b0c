//! What people say of times, on a Saturday in Berlin.

use super::*;

/// 2026-11-21 09:00 UTC, a Saturday.
const NOW: i64 = 1_795_251_600_000;

fn said(text: &str) -> Option<String> {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let now = Timestamp::from_millisecond(NOW).unwrap();
    let at = coming(text, &now.to_zoned(zone.clone())).ok()?;
    Some(at.to_zoned(zone).strftime("%a %m-%d %H:%M:%S").to_string())
}

#[test]
fn coming_is_read_as_people_say_it() {
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
        ("tomorrow at nine", "Sun 11-22 09:00:00"),
        ("tomorrow morning at 8", "Sun 11-22 08:00:00"),
        ("tomorrow in the morning at 8", "Sun 11-22 08:00:00"),
        ("9 tomorrow morning", "Sun 11-22 09:00:00"),
        ("eight in the evening tomorrow", "Sun 11-22 20:00:00"),
        ("8 in the morning", "Sun 11-22 08:00:00"),
        ("friday evening at 7", "Fri 11-27 19:00:00"),
        (
            "Friday at half past seven in the evening",
            "Fri 11-27 19:30:00",
        ),
        ("friday afternoon 12:30", "Fri 11-27 12:30:00"),
        ("this morning at 8", "Sat 11-21 08:00:00"),
        ("tomorrow 9 p.m.", "Sun 11-22 21:00:00"),
        ("tomorrow, 9 A.M.", "Sun 11-22 09:00:00"),
        ("tomorrow noon", "Sun 11-22 12:00:00"),
        ("midnight", "Sun 11-22 00:00:00"),
        ("midday", "Sat 11-21 12:00:00"),
        ("half past nine", "Sun 11-22 09:30:00"),
        ("half past ten", "Sat 11-21 10:30:00"),
        ("quarter to ten", "Sun 11-22 09:45:00"),
        ("a quarter past ten", "Sat 11-21 10:15:00"),
        ("ten minutes to one pm", "Sat 11-21 12:50:00"),
        ("twenty-five past eleven", "Sat 11-21 11:25:00"),
        ("nine thirty", "Sun 11-22 09:30:00"),
        ("tomorrow at nine o'clock", "Sun 11-22 09:00:00"),
        ("tomorrow 9 o\u{2019}clock pm", "Sun 11-22 21:00:00"),
        ("the day after tomorrow at 8", "Mon 11-23 08:00:00"),
        ("next monday at nine", "Mon 11-23 09:00:00"),
        ("mon. 9:00", "Mon 11-23 09:00:00"),
        ("24 Dec 18:00", "Thu 12-24 18:00:00"),
        ("Dec 24 at 6pm", "Thu 12-24 18:00:00"),
        ("Dec. 24th, 2026 at 6 pm", "Thu 12-24 18:00:00"),
        ("24 December 2026", "Thu 12-24 09:00:00"),
        ("the 24th of December", "Thu 12-24 09:00:00"),
        ("at nine on the 24th", "Tue 11-24 09:00:00"),
        ("1 March", "Mon 03-01 09:00:00"),
        ("3 May 2028 7:15", "Wed 05-03 07:15:00"),
        ("29 Feb", "Tue 02-29 09:00:00"),
        ("20m", "Sat 11-21 10:20:00"),
        ("+20m", "Sat 11-21 10:20:00"),
        ("1h30", "Sat 11-21 11:30:00"),
        ("in two hours", "Sat 11-21 12:00:00"),
        ("in ten minutes", "Sat 11-21 10:10:00"),
        ("in one hour", "Sat 11-21 11:00:00"),
        ("in an hour and a half", "Sat 11-21 11:30:00"),
        ("in two and a half hours", "Sat 11-21 12:30:00"),
        ("in 2 hrs", "Sat 11-21 12:00:00"),
        ("in 1 hr", "Sat 11-21 11:00:00"),
        ("an hour from now", "Sat 11-21 11:00:00"),
        ("a week from now", "Sat 11-28 10:00:00"),
        ("a week from now at nine", "Sat 11-28 09:00:00"),
        ("a week from monday", "Mon 11-30 09:00:00"),
        ("in 3 days at 8:30", "Tue 11-24 08:30:00"),
        ("in two weeks, in the evening", "Sat 12-05 18:00:00"),
        ("tomorrow 9:00 Europe/Berlin", "Sun 11-22 09:00:00"),
        ("tomorrow 9:00 America/New_York", "Sun 11-22 15:00:00"),
        ("2026-12-24T18:00 UTC", "Thu 12-24 19:00:00"),
        // The clock skips it.
        ("28 March 2:30", "Sun 03-28 03:00:00"),
    ] {
        assert_eq!(said(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn coming_is_refused_what_may_mean_anything() {
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
        "half nine",
        "tomorrow morning at 15:00",
        "tomorrow morning 9pm",
        "tomorrow evening at 12",
        "tonight at 2",
        "friday night at 3",
        "evening at 09:00",
        "next month",
        "the weekend",
        "24",
        "32 Dec",
        "30 Feb",
        "31 Nov 2027",
        "Dec",
        "Dec 24 Dec 25",
        "24 Dec 25 Dec",
        "9 30",
        "tomorrow 9.30",
        "12/24",
        "a few minutes",
        "in a couple of days",
        "in two hours at nine",
        "in ten minutes to one",
        "in two",
        "an hour from tomorrow",
        "a week from soon",
        "a week ago",
        "two hours ago",
        "yesterday at nine",
        "tomorrow at ninety",
        "at",
        "in the",
        "this",
        "next",
        "o'clock",
        "quarter to",
        "zero past nine",
        "tomorrow 9:00 Mars/Olympus",
        "tomorrow 9:00 UTC Europe/Berlin",
        "in 99999 years",
        "in 9223372036854775807 hours and 9223372036854775807 hours",
    ] {
        assert_eq!(said(text), None, "{text}");
    }
}

/// What `text` may mean when it is that time in Berlin, by its words.
fn read_at(now: &str, text: &str) -> Vec<String> {
    let now: Zoned = format!("{now}[Europe/Berlin]").parse().unwrap();
    match coming(text, &now) {
        Ok(at) => {
            let there = at.to_zoned(now.time_zone().clone());
            vec![there.strftime("%a %-d %b %H:%M").to_string()]
        }
        Err(Unclear::Unknown) => Vec::new(),
        Err(Unclear::Several(words)) => {
            let said = words.split('"').skip(3).step_by(2);
            let year = |it: &str| it.replace(" 2026 ", " ").replace(" 2027 ", " ");
            said.map(year).collect()
        }
    }
}

#[test]
fn coming_names_each_time_that_may_be_meant() {
    // The first is a Friday.
    let (friday, saturday) = ("2026-11-27T10:00", "2026-11-21T10:00");
    for (now, text, expected) in [
        (friday, "this friday at 17:00", &["Fri 27 Nov 17:00"][..]),
        (friday, "this friday at 9:00", &["Fri 27 Nov 09:00"]),
        (friday, "this friday at 5", &["Fri 27 Nov 17:00"]),
        (
            friday,
            "friday 17:00",
            &["Fri 27 Nov 17:00", "Fri 4 Dec 17:00"],
        ),
        (friday, "friday 9:00", &["Fri 4 Dec 09:00"]),
        (
            friday,
            "friday at 5",
            &["Fri 27 Nov 17:00", "Fri 4 Dec 05:00", "Fri 4 Dec 17:00"],
        ),
        (friday, "next friday at nine", &["Fri 4 Dec 09:00"]),
        (
            friday,
            "next saturday",
            &["Sat 28 Nov 09:00", "Sat 5 Dec 09:00"],
        ),
        (friday, "next thursday", &["Thu 3 Dec 09:00"]),
        (friday, "next monday", &["Mon 30 Nov 09:00"]),
        (
            friday,
            "next sunday at noon",
            &["Sun 29 Nov 12:00", "Sun 6 Dec 12:00"],
        ),
        // Weeks begin on Sundays for some.
        (
            "2026-11-22T10:00",
            "next monday",
            &["Mon 23 Nov 09:00", "Mon 30 Nov 09:00"],
        ),
        (saturday, "this monday", &["Mon 23 Nov 09:00"]),
        (
            friday,
            "a week from friday",
            &["Fri 4 Dec 09:00", "Fri 11 Dec 09:00"],
        ),
        (friday, "Saturday 28 November", &["Sat 28 Nov 09:00"]),
        (friday, "on sat 5 Dec 2026 at 9", &["Sat 5 Dec 09:00"]),
        (friday, "Sunday 28 November", &[]),
        (friday, "next sat 28 Nov", &[]),
        (friday, "at 5", &["Fri 27 Nov 17:00", "Sat 28 Nov 05:00"]),
        (
            friday,
            "half past five",
            &["Fri 27 Nov 17:30", "Sat 28 Nov 05:30"],
        ),
        (
            friday,
            "tomorrow at 6",
            &["Sat 28 Nov 06:00", "Sat 28 Nov 18:00"],
        ),
        (friday, "today at 5", &["Fri 27 Nov 17:00"]),
        (friday, "tomorrow at seven", &["Sat 28 Nov 07:00"]),
        (friday, "tomorrow 05:00", &["Sat 28 Nov 05:00"]),
        (friday, "2026-11-28 5:00", &["Sat 28 Nov 05:00"]),
        (friday, "tomorrow 5:30", &["Sat 28 Nov 05:30"]),
        (friday, "5:30 tomorrow afternoon", &["Sat 28 Nov 17:30"]),
        (friday, "5 in the afternoon", &["Fri 27 Nov 17:00"]),
        (friday, "5am", &["Sat 28 Nov 05:00"]),
        (friday, "in a week at 5pm", &["Fri 4 Dec 17:00"]),
        (
            friday,
            "in a week at 5",
            &["Fri 4 Dec 05:00", "Fri 4 Dec 17:00"],
        ),
        (friday, "midnight", &["Sat 28 Nov 00:00"]),
        (friday, "midnight tonight", &["Sat 28 Nov 00:00"]),
        (friday, "today at midnight", &["Sat 28 Nov 00:00"]),
        (
            friday,
            "tomorrow midnight",
            &["Sat 28 Nov 00:00", "Sun 29 Nov 00:00"],
        ),
        (
            friday,
            "midnight on 24 Dec",
            &["Thu 24 Dec 00:00", "Fri 25 Dec 00:00"],
        ),
        (friday, "saturday night at midnight", &["Sun 29 Nov 00:00"]),
        (friday, "saturday morning at midnight", &[]),
        (friday, "tomorrow 0:00", &["Sat 28 Nov 00:00"]),
        ("2026-11-27T22:00", "in the morning", &["Sat 28 Nov 09:00"]),
        ("2026-11-27T22:00", "this morning", &["Fri 27 Nov 09:00"]),
        ("2026-11-27T19:00", "evening", &["Fri 27 Nov 18:00"]),
    ] {
        assert_eq!(read_at(now, text), expected, "{text} on {now}");
    }
}

#[test]
fn unclear_says_how_each_time_is_written() {
    let now: Zoned = "2026-11-27T10:00[Europe/Berlin]".parse().unwrap();
    let words = coming("next saturday", &now).unwrap_err().to_string();
    assert_eq!(
        words,
        "\"next saturday\" may mean several times; say \"Sat 28 Nov 2026 09:00\" \
         (2026-11-28T09:00:00+01:00) or \"Sat 5 Dec 2026 09:00\" (2026-12-05T09:00:00+01:00)"
    );
    let there = coming("tomorrow at 5 America/New_York", &now).unwrap_err();
    let there = there.to_string();
    assert!(
        there.contains("\"Sat 28 Nov 2026 05:00 America/New_York\" (2026-11-28T05:00:00-05:00)"),
        "{there}"
    );
}
