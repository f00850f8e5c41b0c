use std::collections::HashSet;
use std::fs;

use jiff::Zoned;
use jiff::civil::date;
use jiff::tz::TimeZone;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::*;
use crate::source;

fn now() -> Zoned {
    date(2026, 3, 4)
        .at(12, 0, 0, 0)
        .to_zoned(TimeZone::system())
        .unwrap()
}

fn find(files: &[(String, String)], question: &str, limit: usize) -> Vec<Hit> {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("memory")).unwrap();
    for (path, text) in files {
        fs::write(folder.path().join(path), text).unwrap();
    }
    let workspace = Workspace::open(folder.path()).unwrap().unwrap();
    let mut index = Index::default();
    for (path, stamp) in source::scan(&workspace).unwrap().files {
        let (text, _) = workspace.read(&path).unwrap().unwrap();
        index.put(&path, stamp, &text);
    }
    let question = Question {
        text: question,
        limit,
        now_ms: now().timestamp().as_millisecond(),
        half_life_days: 7.0,
    };
    search(&index, &workspace, &question)
}

fn file(path: &str, text: &str) -> (String, String) {
    (path.to_owned(), text.to_owned())
}

#[test]
fn hits_say_where_they_are_and_why() {
    let files = [
        file("MEMORY.md", "# Keys\n\nThe spare key is under the mat.\n"),
        file(
            "memory/2026-03-04.md",
            "# 2026-03-04\n\n- 09:00 bought milk\n",
        ),
        file("memory/2026-03-01.md", "- painted the door\n"),
    ];
    let hits = find(&files, "Where are my spare keys?", 6);
    assert_eq!(hits.len(), 1);
    let hit = &hits[0];
    assert_eq!(
        (hit.path.as_str(), hit.start_line, hit.end_line),
        ("MEMORY.md", 1, 3)
    );
    assert_eq!(hit.snippet, "# Keys\n\nThe spare key is under the mat.");
    assert!(hit.text_score > 0.0 && hit.text_score < 1.0);
    assert_eq!(hit.score, hit.text_score);
    assert!(hit.timestamp_ms > 1_500_000_000_000);

    let dated = find(&files, "milk", 6);
    let midnight = date(2026, 3, 4).to_zoned(TimeZone::system()).unwrap();
    assert_eq!(dated[0].timestamp_ms, midnight.timestamp().as_millisecond());
    assert!(dated[0].score < dated[0].text_score);
}

#[test]
fn any_word_of_the_question_may_match_in_any_language() {
    let files = [
        file(
            "memory/a.md",
            "Die Wohnungen in der Stadt sind nicht zu haben",
        ),
        file("memory/b.md", "The flat is in the city and it is to let"),
    ];
    assert_eq!(find(&files, "Wohnung", 6)[0].path, "memory/a.md");
    assert_eq!(find(&files, "flats nobody zebra", 6)[0].path, "memory/b.md");
    assert!(find(&files, "hi", 6).is_empty());
    assert!(find(&files, "the", 6).is_empty());
    assert!(find(&files, "", 6).is_empty());
    assert!(find(&files, "Wohnung", 0).is_empty());
}

#[test]
fn a_file_changed_since_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("MEMORY.md"), "red fox").unwrap();
    let workspace = Workspace::open(folder.path()).unwrap().unwrap();
    let mut index = Index::default();
    let (text, stamp) = workspace.read("MEMORY.md").unwrap().unwrap();
    index.put("MEMORY.md", stamp, &text);
    fs::write(folder.path().join("MEMORY.md"), "something else").unwrap();
    let question = Question {
        text: "fox",
        limit: 6,
        now_ms: now().timestamp().as_millisecond(),
        half_life_days: 7.0,
    };
    assert!(search(&index, &workspace, &question).is_empty());
}

/// Words that repeat between files, so that searches find many.
const WORDS: [&str; 10] = [
    "fox", "hen", "river", "house", "garden", "letter", "engine", "winter", "copper", "violin",
];

fn sentence(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    vec(proptest::sample::select(&WORDS[..]), words).prop_map(|words| words.join(" "))
}

fn notes() -> impl Strategy<Value = Vec<(String, String)>> {
    let lead = proptest::sample::select(vec!["", "- ", "# "]);
    let line = (lead, sentence(1..40)).prop_map(|(lead, text)| format!("{lead}{text}"));
    btree_map(0i32..900, vec(line, 1..12), 1..25).prop_map(|notes| {
        let note = |(days, lines): (i32, Vec<String>)| {
            let day = date(2026, 3, 4) - jiff::Span::new().days(days);
            (format!("memory/{day}.md"), lines.join("\n"))
        };
        notes.into_iter().map(note).collect()
    })
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Feature: openclaw-mvp, Property 11: results are ordered by score,
    /// highest first, and limited to the requested count.
    #[test]
    fn results_are_ordered_and_limited(
        files in notes(),
        question in sentence(1..4),
        limit in 1usize..20,
    ) {
        let hits = find(&files, &question, limit);
        let asked = words(&question);
        let none_matches = files.iter().all(|(_, text)| words(text).is_disjoint(&asked));
        prop_assert_eq!(hits.is_empty(), none_matches);
        prop_assert!(hits.len() <= limit);
        prop_assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
        for hit in &hits {
            prop_assert!(hit.score > 0.0 && hit.score <= hit.text_score && hit.text_score < 1.0);
            prop_assert!(hit.snippet.chars().count() <= 700);
            let text = &files.iter().find(|(path, _)| *path == hit.path).unwrap().1;
            let lines: Vec<&str> = text.lines().collect();
            let shown = lines[hit.start_line as usize - 1..hit.end_line as usize].join("\n");
            prop_assert_eq!(&shown, &hit.snippet);
        }
    }

    /// Feature: openclaw-mvp, Property 12: of two documents with identical
    /// content, the more recent has the higher score.
    #[test]
    fn the_more_recent_of_equals_scores_higher(
        text in sentence(1..20),
        newer in 0i32..2000,
        apart in 1i32..2000,
    ) {
        let path = |days: i32| {
            let day = date(2026, 3, 4) - jiff::Span::new().days(days);
            format!("memory/{day}.md")
        };
        // A line of its own each, or the two would be shown as one.
        let files = [
            (path(newer), format!("{text} alpha")),
            (path(newer + apart), format!("{text} omega")),
        ];
        let hits = find(&files, &text, 2);
        prop_assert_eq!(hits.len(), 2);
        prop_assert_eq!(&hits[0].path, &files[0].0);
        prop_assert_eq!(hits[0].text_score, hits[1].text_score);
        prop_assert!(hits[0].score > hits[1].score);

        let same = [(files[0].0.clone(), text.clone()), (files[1].0.clone(), text.clone())];
        let hits = find(&same, &text, 2);
        prop_assert_eq!(hits.len(), 1);
        prop_assert_eq!(&hits[0].path, &files[0].0);
    }

    /// Feature: openclaw-mvp, Property 13: no two consecutive results have a
    /// similarity above 0.95.
    #[test]
    fn consecutive_results_differ(
        files in notes(),
        copies in 0usize..5,
        question in sentence(1..4),
    ) {
        let mut files = files;
        let copy = files[0].1.clone();
        files.extend((0..copies).map(|n| (format!("memory/copy{n}.md"), copy.clone())));
        let hits = find(&files, &question, 20);
        for pair in hits.windows(2) {
            let (a, b) = (words(&pair[0].snippet), words(&pair[1].snippet));
            let common = a.intersection(&b).count() as f64;
            let all = a.union(&b).count() as f64;
            prop_assert!(common / all <= 0.95, "{a:?} {b:?}");
        }
    }
}
