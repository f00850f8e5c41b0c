//! Days and words as those who use this library rely on them.

use jiff::civil::date;

use crate::calendar::{Mark, asked_day, day_name, marks, mentions, says_day, told};
use crate::{Word, unaccented};

/// 2023-05-08T12:00:00Z, a Monday.
const MONDAY: i64 = 1_683_547_200_000;

/// A day of that year, as it is told.
fn day(month: i8, day: i8) -> Vec<Mark> {
    vec![
        Mark::Date(date(2023, month, day)),
        Mark::Day(day),
        Mark::Month(month),
        Mark::Year(2023),
    ]
}

fn month(year: i16, month: i8) -> Vec<Mark> {
    vec![Mark::Month(month), Mark::Year(year)]
}

#[test]
fn day_is_named_by_its_date_and_each_part_of_it() {
    assert_eq!(marks(MONDAY).unwrap().to_vec(), day(5, 8));
    assert_eq!(marks(i64::MIN), None);
    assert_eq!(told("yesterday", i64::MAX), []);
}

#[test]
fn days_are_told_by_their_names() {
    for (text, expected) in [
        ("Yesterday it rained", day(5, 7)),
        ("hier", day(5, 7)),
        ("tomorrow, perhaps", day(5, 9)),
        ("morgen", day(5, 9)),
        ("ma\u{f1}ana", day(5, 9)),
        ("vorgestern", day(5, 6)),
        ("\u{fc}bermorgen", day(5, 10)),
        ("tonight", day(5, 8)),
        ("heute", day(5, 8)),
        ("\u{660e}\u{65e5}", day(5, 9)),
    ] {
        assert_eq!(told(text, MONDAY), expected, "{text}");
    }
    let two = told("\u{4e00}\u{6628}\u{65e5}", MONDAY);
    assert!(two.contains(&Mark::Date(date(2023, 5, 6))));
    let after = told("\u{660e}\u{5f8c}\u{65e5}", MONDAY);
    assert_eq!(after, day(5, 10));
}

#[test]
fn weekdays_are_the_last_or_the_next_of_them() {
    for (text, expected) in [
        ("last Monday", day(5, 1)),
        ("last Sunday", day(5, 7)),
        ("last Tuesday", day(5, 2)),
        ("past Wednesday", day(5, 3)),
        ("letzten Donnerstag", day(5, 4)),
        ("last fri", day(5, 5)),
        ("last sat", day(5, 6)),
        ("next Monday", day(5, 15)),
        ("next Tuesday", day(5, 9)),
        ("n\u{e4}chsten Mittwoch", day(5, 10)),
        ("next Sunday", day(5, 14)),
        ("pr\u{f3}ximo viernes", day(5, 12)),
    ] {
        assert_eq!(told(text, MONDAY), expected, "{text}");
    }
    for text in ["Monday", "on Friday", "last", "next", "the last page"] {
        assert_eq!(told(text, MONDAY), [], "{text}");
    }
}

#[test]
fn spans_are_as_sure_as_they_are_short() {
    for (text, expected) in [
        ("last week", month(2023, 5)),
        ("last month", month(2023, 4)),
        ("last year", month(2022, 5)),
        ("next week", month(2023, 5)),
        ("next month", month(2023, 6)),
        ("next year", month(2024, 5)),
        ("a day ago", day(5, 7)),
        ("one day ago", day(5, 7)),
        ("three days ago", day(5, 5)),
        ("12 days ago", day(4, 26)),
        ("hace dos d\u{ed}as", day(5, 6)),
        ("il y a trois jours", day(5, 5)),
        ("vor zwei Wochen", month(2023, 4)),
        ("two weeks ago", month(2023, 4)),
        ("five months ago", month(2022, 12)),
        ("two years ago", month(2021, 5)),
        ("500 days ago", {
            let day = date(2021, 12, 24);
            vec![
                Mark::Date(day),
                Mark::Day(24),
                Mark::Month(12),
                Mark::Year(2021),
            ]
        }),
        ("\u{5148}\u{9031}", month(2023, 5)),
        ("\u{6765}\u{6708}", month(2023, 6)),
        ("\u{5148}\u{6708}", month(2023, 4)),
        ("\u{53bb}\u{5e74}", month(2022, 5)),
        ("\u{6765}\u{5e74}", month(2024, 5)),
        ("\u{6765}\u{9031}", month(2023, 5)),
    ] {
        assert_eq!(told(text, MONDAY), expected, "{text}");
    }
    for text in [
        "three days",
        "for two weeks",
        "501 days ago",
        "0 days ago",
        "days ago",
        "three ago",
    ] {
        assert_eq!(told(text, MONDAY), [], "{text}");
    }
    // "four" to "twelve".
    let counts = [
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("elf", 11),
        ("douze", 12),
    ];
    for (word, count) in counts {
        let told = told(&format!("vor {word} Tagen"), MONDAY);
        let expected = date(2023, 5, 8).saturating_sub(jiff::Span::new().days(count));
        assert_eq!(told[0], Mark::Date(expected), "{word}");
    }
}

#[test]
fn parts_of_a_date_show_each_other() {
    for (text, expected) in [
        (
            "on 7 May 2023",
            vec![
                ("7", Mark::Day(7)),
                ("May", Mark::Month(5)),
                ("2023", Mark::Year(2023)),
            ],
        ),
        ("7 and may", vec![]),
        ("May 7", vec![("May", Mark::Month(5)), ("7", Mark::Day(7))]),
        ("the 7th", vec![]),
        (
            "1st April",
            vec![("1st", Mark::Day(1)), ("April", Mark::Month(4))],
        ),
        (
            "22nd dec",
            vec![("22nd", Mark::Day(22)), ("dec", Mark::Month(12))],
        ),
        (
            "3rd jan",
            vec![("3rd", Mark::Day(3)), ("jan", Mark::Month(1))],
        ),
        (
            "1er mai",
            vec![("1er", Mark::Day(1)), ("mai", Mark::Month(5))],
        ),
        ("7up May", vec![]),
        (
            "31 August",
            vec![("31", Mark::Day(31)), ("August", Mark::Month(8))],
        ),
        ("32 August", vec![]),
        ("0 August", vec![]),
        ("in 1900", vec![("1900", Mark::Year(1900))]),
        ("in 2200", vec![("2200", Mark::Year(2200))]),
        ("in 1899", vec![]),
        ("in 2201", vec![]),
        ("2023", vec![]),
        (
            "June 2023",
            vec![("June", Mark::Month(6)), ("2023", Mark::Year(2023))],
        ),
        ("in June", vec![("June", Mark::Month(6))]),
        ("may june", vec![]),
        ("since M\u{e4}rz", vec![("M\u{e4}rz", Mark::Month(3))]),
        (
            "2023-05-08",
            vec![("2023-05-08", Mark::Date(date(2023, 5, 8)))],
        ),
        ("2023-13-08", vec![]),
    ] {
        assert_eq!(mentions(text), expected, "{text}");
    }
    let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    for (name, number) in months.into_iter().zip(1..) {
        let text = format!("in {name}");
        assert_eq!(mentions(&text), [(name, Mark::Month(number))]);
    }
}

#[test]
fn accents_are_those_that_people_leave_out() {
    for (word, plain) in [
        ("caf\u{e9}", "cafe"),
        ("plain", "plain"),
        ("sm\u{f8}rrebr\u{f8}d", "smorrebrod"),
        ("\u{142}\u{f3}d\u{17a}", "lodz"),
        ("\u{131}", "i"),
        ("\u{111}a", "da"),
        ("\u{939}\u{93f}", "\u{939}\u{93f}"),
    ] {
        assert_eq!(unaccented(word), plain, "{word}");
    }
    let words = |text: &str| {
        let mut found = Vec::new();
        crate::words(text, |word| match word {
            Word::Plain(word) | Word::Exact(word) => found.push(word.to_owned()),
        });
        found
    };
    assert_eq!(
        words("STRASSE Stra\u{df}e \u{1e9e} \u{130}"),
        ["strasse", "strasse", "ss", "i"]
    );
    assert_eq!(words(&"x".repeat(64)).len(), 1);
    assert_eq!(words(&"x".repeat(65)), [""; 0], "encoded data");
}

#[test]
fn day_that_is_asked_about_is_one_that_is_sure() {
    assert_eq!(
        asked_day("Who called yesterday?", MONDAY),
        Some(date(2023, 5, 7))
    );
    assert_eq!(asked_day("一昨日は?", MONDAY), Some(date(2023, 5, 6)));
    assert_eq!(asked_day("Who called last week?", MONDAY), None);
    assert_eq!(day_name(MONDAY).as_deref(), Some("2023-05-08"));
    assert!(says_day("yesterday") && says_day("last") && says_day("lundi") && says_day("昨日"));
    assert!(!says_day("week") && !says_day("先週"));
}
