use super::*;
use crate::document::Source;
use crate::query::{ANSWERS, Parts};

/// A note that answers; `number` is its score, in tenths.
fn hit(path: &str, number: u32, timestamp_ms: i64, snippet: &str) -> Hit {
    Hit {
        path: path.to_owned(),
        source: Source::Memory,
        start_line: 1,
        end_line: 1,
        message: None,
        kind: Kind::Note,
        context: Vec::new(),
        speaker: String::new(),
        timestamp_ms,
        score: f64::from(number) / 10.0,
        parts: Parts {
            evidence: 1.0,
            decay: 0.9,
            ..Parts::default()
        },
        snippet: snippet.to_owned(),
        answer: String::new(),
    }
}

/// The paths and scores of hits in their order.
fn settled(mut hits: Vec<Hit>, ages: bool) -> Vec<(String, f64)> {
    settle(&mut hits, ages);
    hits.into_iter().map(|hit| (hit.path, hit.score)).collect()
}

fn paths(hits: Vec<Hit>, ages: bool) -> String {
    let settled = settled(hits, ages).into_iter();
    settled.map(|(path, _)| path).collect()
}

/// The older of two notes is the better: whether the newer comes first all the
/// same.
fn replaced(change: impl Fn(&mut Hit, &mut Hit)) -> bool {
    let mut older = hit("a", 9, 0, "the code is 1234");
    let mut newer = hit("b", 8, 100_000, "the code is 5678");
    change(&mut newer, &mut older);
    let both = settled(vec![older, newer], true);
    both[0].0 == "b"
}

#[test]
fn newer_note_of_a_change_answers_what_the_older_answers() {
    let moved = |change: &dyn Fn(&mut Hit, &mut Hit)| {
        let mut older = hit("memory/climbing.md", 9, 500_000, "training on Wednesdays");
        let mut newer = hit(
            "memory/2026-10-25.md",
            7,
            100_000,
            "training moved to Monday",
        );
        newer.parts.evidence = CHANGED;
        newer.parts.told = 1.0;
        change(&mut newer, &mut older);
        let mut hits = vec![older, newer];
        settle(&mut hits, true);
        // As it is when what was searched is given unasked.
        settle(&mut hits, true);
        hits[0].path == "memory/2026-10-25.md" && hits[0].answers()
    };
    // Though the file without a day was written later.
    assert!(moved(&|_, _| {}));
    assert!(!moved(&|newer, _| newer.parts.evidence = CHANGED - 0.01));
    assert!(!moved(
        &|newer, _| newer.snippet = "training on Mondays".to_owned()
    ));
    assert!(!moved(
        &|newer, _| newer.snippet = "the dentist moved".to_owned()
    ));
    // What both have in common is to be what they are about.
    assert!(!moved(&|newer, older| {
        older.snippet = "number of the licence: 7".to_owned();
        newer.snippet = "moved to a new number: 8".to_owned();
    }));
    assert!(!moved(&|newer, _| newer.parts.told = 0.0));
    assert!(!moved(&|newer, _| newer.kind = Kind::Told));
    assert!(!moved(&|_, older| older.kind = Kind::Told));
    assert!(!moved(&|_, older| older.parts.evidence = ANSWERS - 0.01));
    // A later day's note is not replaced by an earlier one's.
    assert!(!moved(
        &|_, older| older.path = "memory/2026-10-30.md".to_owned()
    ));
}

#[test]
fn newer_note_that_says_the_same_anew_comes_first() {
    assert!(replaced(|_, _| {}));
    assert!(
        !replaced(|newer, _| newer.timestamp_ms = 60_000),
        "a moment apart"
    );
    assert!(replaced(|newer, _| newer.timestamp_ms = 60_001));
    assert!(!replaced(
        |newer, _| newer.snippet = "my bike is red".to_owned()
    ));
    assert!(
        !replaced(|newer, _| newer.snippet = "the is 5678 or so".to_owned()),
        "short words"
    );
    assert!(!replaced(
        |_, older| older.path = "memory/2026-10-25.md".to_owned()
    ));
    assert!(replaced(|newer, older| {
        newer.snippet = "Proben mittwochs".to_owned();
        older.snippet = "Probe montags".to_owned();
    }));
    assert!(!replaced(|newer, _| newer.parts.evidence = 0.89));
    assert!(replaced(|newer, _| newer.parts.evidence = 0.9));
    assert!(!replaced(|newer, older| {
        newer.parts.evidence = ANSWERS - 0.01;
        older.parts.evidence = ANSWERS;
    }));
    assert!(!replaced(|_, older| older.parts.evidence = ANSWERS - 0.01));
    let notes = vec![
        hit("a", 9, 0, "the code is 1"),
        hit("b", 8, 100_000, "the code is 2"),
    ];
    assert_eq!(paths(notes, false), "ab", "age does not count");
}

#[test]
fn order_only_notes_and_what_the_user_said_replace_others_of_their_kind() {
    for (newer, older, speaker, expected) in [
        (Kind::Note, Kind::Note, "", true),
        (Kind::Told, Kind::Told, "user", true),
        (Kind::Told, Kind::Told, "Ada", false),
        (Kind::Note, Kind::Told, "user", false),
        (Kind::Told, Kind::Note, "user", false),
        (Kind::Answered, Kind::Answered, "user", false),
    ] {
        let is_replaced = replaced(|new, old| {
            (new.kind, old.kind) = (newer, older);
            new.speaker = speaker.to_owned();
        });
        assert_eq!(is_replaced, expected, "{newer:?} {older:?} {speaker}");
    }
}

#[test]
fn order_what_is_appended_to_a_note_of_a_day_is_newer() {
    let in_one = |line: u32, decay: f64| {
        let mut older = hit("a", 9, 0, "the code is 1");
        let mut newer = hit("a", 8, 0, "the code is 2");
        older.start_line = 5;
        newer.start_line = line;
        newer.parts.decay = decay;
        let mut both = vec![older, newer];
        settle(&mut both, true);
        both[0].snippet.ends_with('2')
    };
    assert!(in_one(6, 0.9));
    assert!(!in_one(5, 0.9) && !in_one(4, 0.9));
    assert!(!in_one(6, 1.0), "what does not age stays");
}

#[test]
fn order_of_many_the_newest_comes_first_and_others_stay() {
    let notes = |times: &[i64]| {
        let notes = times.iter().zip(["a", "b", "c", "d"]).zip(0..);
        let note = |((time, path), number): ((&i64, &str), u32)| {
            hit(path, 9 - number, time * 100_000, "the code is new")
        };
        notes.map(note).collect::<Vec<_>>()
    };
    assert_eq!(paths(notes(&[1, 2, 3, 4]), true), "dcba");
    assert_eq!(paths(notes(&[4, 3, 2, 1]), true), "abcd");
    assert_eq!(paths(notes(&[2, 4, 1, 3]), true), "bdac");
    let mut others = notes(&[1, 2, 3]);
    others[1].snippet = "my bike is red".to_owned();
    assert_eq!(paths(others, true), "abc");
    assert_eq!(paths(Vec::new(), true), "");
}

#[test]
fn questions_and_quotes_stand_behind_what_answers() {
    let of_kinds = |kinds: &[(Kind, f64)]| {
        let hits = kinds.iter().zip(["a", "b", "c", "d"]).zip(0..);
        let hit = |(((kind, evidence), path), number): ((&(Kind, f64), &str), u32)| {
            let mut hit = hit(path, 9 - number, 0, path);
            hit.kind = *kind;
            hit.parts.evidence = *evidence;
            hit
        };
        paths(hits.map(hit).collect(), true)
    };
    let (answers, asks) = ((Kind::Told, 1.0), (Kind::Asked, 1.0));
    assert_eq!(of_kinds(&[asks, (Kind::Echo, 1.0), answers]), "cab");
    // Behind the last that answers the order is that of the scores.
    assert_eq!(of_kinds(&[asks, answers, asks, (Kind::Told, 0.1)]), "bacd");
    assert_eq!(of_kinds(&[asks, (Kind::Told, 0.1)]), "ab");
}

#[test]
fn scores_stay_in_order() {
    let hits = vec![
        hit("a", 5, 0, "the code is 1"),
        hit("b", 3, 100_000, "the code is 2"),
    ];
    let expected = [("b".to_owned(), 0.5), ("a".to_owned(), 0.5)];
    assert_eq!(settled(hits, true), expected);
    let hits = vec![hit("a", 5, 0, "x"), hit("b", 3, 0, "y")];
    let expected = [("a".to_owned(), 0.5), ("b".to_owned(), 0.3)];
    assert_eq!(settled(hits, true), expected);
}

#[test]
fn words_of_three_letters_and_signs_are_common() {
    for (a, b, expected) in [
        ("code one", "Code two", true),
        ("xy ab", "ab xy", false),
        ("the ftp", "The FTP", true),
        ("the fox", "the hen", false),
        ("gr\u{fc}n", "GR\u{dc}N", true),
        ("\u{6771}\u{4eac}\u{90fd}", "\u{6771}\u{4eac}", true),
        ("", "", false),
    ] {
        assert_eq!(common_words(a, b, |_| true) > 0, expected, "{a} {b}");
    }
}

#[test]
fn change_of_something_untold_has_more_in_common() {
    let fewest = |told: (f64, f64), newer: &str, older: &str| {
        let mut newer = hit("b", 8, 100_000, newer);
        let mut older = hit("a", 9, 0, older);
        (newer.parts.told, older.parts.told) = told;
        fewest_common(&newer, &older)
    };
    let (number, none) = ("the code is 1234", "the garden is green");
    assert_eq!(fewest((1.0, 0.0), none, none), Some(1));
    assert_eq!(fewest((1.0, 1.0), number, number), Some(1));
    assert_eq!(fewest((0.0, 0.0), number, number), Some(2));
    // A number in one alone, or one that was asked for in the older alone.
    assert_eq!(fewest((0.0, 0.0), number, none), None);
    assert_eq!(fewest((0.0, 0.0), none, number), None);
    assert_eq!(fewest((0.0, 1.0), number, number), None);
    assert_eq!(fewest((0.0, 1.0), none, none), None);
}

/// The paths and the evidence of what is left of a note and of what was told.
fn left(note: &str, told: &str) -> Vec<(String, f64)> {
    let mut kept = hit("note", 7, 0, note);
    kept.parts.evidence = ANSWERS;
    let mut said = hit("told", 9, 0, told);
    said.kind = Kind::Told;
    let mut hits = vec![said, kept];
    leave_notes(&mut hits);
    let left = hits.into_iter();
    left.map(|hit| (hit.path, hit.parts.evidence)).collect()
}

#[test]
fn note_stands_for_what_was_told_to_be_kept() {
    let note = [("note".to_owned(), 1.0)];
    let key = "- 09:05 the spare key is under the blue flowerpot";
    let order = "Remember that the spare key is under the blue flowerpot!";
    assert_eq!(left(key, order), note);
    assert_eq!(
        left(
            "- 09:05 Zahnarzt am 3. Mai",
            "Notiere bitte: Zahnarzt am 3. Mai"
        ),
        note
    );
    let both = |note, told| left(note, told).len() == 2;
    assert!(
        both(key, "The spare key is on the hook"),
        "it tells something else"
    );
    assert!(both(
        "key",
        "The spare key is under the blue flowerpot, said my aunt Vera"
    ));
}

#[test]
fn note_that_stands_for_what_was_told_is_as_good_as_it() {
    let mut said = hit("told", 9, 0, "Remember that the key is under the pot!");
    (said.kind, said.parts.told) = (Kind::Told, 1.0);
    let kept = hit("note", 7, 0, "- 09:05 the key is under the pot");
    let mut hits = vec![kept, said];
    leave_notes(&mut hits);
    let left: Vec<(&str, f64, f64)> = hits
        .iter()
        .map(|hit| (hit.path.as_str(), hit.score, hit.parts.told))
        .collect();
    assert_eq!(left, [("note", 0.9, 1.0)]);
    // What is better stays so.
    let mut said = hit("told", 3, 0, "Remember that the key is under the pot!");
    (said.kind, said.parts.evidence) = (Kind::Told, ANSWERS);
    let mut kept = hit("note", 7, 0, "- 09:05 the key is under the pot");
    kept.parts.told = 1.0;
    let mut hits = vec![kept, said];
    leave_notes(&mut hits);
    let Hit { score, parts, .. } = &hits[0];
    assert_eq!((*score, parts.evidence, parts.told), (0.7, 1.0, 1.0));
}

#[test]
fn note_stands_for_an_order_of_few_words_and_for_nothing_else() {
    let is_left = |note: &str, told: &str| left(note, told).len() == 2;
    for (note, told, both) in [
        // Three words beside what is kept are an order, four are more.
        (
            "- 09:05 spare key, blue pot",
            "please remember today: spare key, blue pot",
            false,
        ),
        (
            "- 09:05 spare key, blue pot",
            "please remember today always: spare key, blue pot",
            true,
        ),
        // The time is when it was noted, and no part of it; what was told had its own.
        ("* 09:05 spare key", "remember: spare key", false),
        ("+ 09:05 spare key", "remember: spare key", false),
        ("- 9:05 spare key", "remember: spare key", true),
        ("- 09:5 spare key", "remember: spare key", true),
        ("- ab:cd spare key", "remember: spare key", true),
        ("- 10:30 09:05 dentist", "09:05 dentist", false),
        // A note without words stands for nothing.
        ("- 09:05 the", "spare key", true),
    ] {
        assert_eq!(is_left(note, told), both, "{note:?} and {told:?}");
    }
}

#[test]
fn words_of_anything_tell_of_no_thing() {
    for word in ["7", "monday", "name", "moved", "price", "telefon"] {
        assert!(is_general(word), "{word}");
    }
    assert!(!is_general("garden") && !is_general("jardin"));
    for word in ["und", "dans", "para", "with"] {
        assert!(!says_something(word), "{word}");
    }
    assert!(says_something("garden"));
}

#[test]
fn note_of_a_day_begins_with_it() {
    for (path, day) in [
        ("memory/2026-11-22.md", Some("2026-11-22")),
        ("2026-11-22-trip.md", Some("2026-11-22")),
        ("2026-11-22/trip.md", None),
        ("memory/2026_11_22.md", None),
        ("memory/2026-11.22.md", None),
        ("memory/2026-11-2x.md", None),
        ("memory/x026-11-22.md", None),
        ("memory/note.md", None),
        ("a.md", None),
    ] {
        assert_eq!(day_of_note(path), day, "{path}");
    }
}
