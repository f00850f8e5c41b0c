//! Questions of everyday life over notes as people write them, in five
//! languages: how often the line that answers comes first, and that nothing is
//! said where nothing answers.
//!
//! `notes/questions.txt` names two halves: mechanisms were developed on `dev`,
//! and `held` was only reported.
#![allow(clippy::unwrap_used, reason = "only #[test] functions are excepted")]

use std::path::PathBuf;

use openclaw_retrieval::{Body, Document, Engine, Hit, Options, Query, Source};

const NOTES: &str = include_str!("../notes/notes.txt");
const QUESTIONS: &str = include_str!("../notes/questions.txt");
const UNANSWERABLE: &str = include_str!("../notes/unanswerable.txt");
/// 2026-11-22T12:00:00Z.
const NOW_MS: i64 = 1_795_348_800_000;
/// The fewest of the answerable questions, in percent, whose line comes first.
const ENOUGH: usize = 90;

fn document(note: &str) -> Document {
    let (path, text) = note.split_once('\n').unwrap();
    let name = path.rsplit('/').next().unwrap();
    let day: Option<jiff::civil::Date> = name.get(..10).and_then(|date| date.parse().ok());
    let day_ms = day.map(|day| {
        let begin = day.to_zoned(jiff::tz::TimeZone::UTC).unwrap();
        begin.timestamp().as_millisecond()
    });
    let topic = path.strip_prefix("memory/").unwrap_or_default();
    Document {
        path: path.to_owned(),
        source: Source::Memory,
        stamp: String::new(),
        modified_ms: NOW_MS,
        day_ms,
        topic: topic.trim_end_matches(".md").to_owned(),
        body: Body::Text(text.to_owned()),
    }
}

/// Half, question and, where there is one, what the answer has.
fn lines(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split('|').map(str::trim).collect())
        .collect()
}

struct Notes {
    engine: Engine,
    _folder: tempfile::TempDir,
}

impl Notes {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let table =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../packaging/share/embedding");
        let options = Options { table: Some(table) };
        let (engine, _) = Engine::open(folder.path(), options).unwrap();
        let notes = NOTES.split("=== ").filter(|note| !note.is_empty());
        let documents: Vec<Document> = notes.map(document).collect();
        assert_eq!(documents.len(), 60);
        engine.put(&documents).unwrap();
        Self {
            engine,
            _folder: folder,
        }
    }

    fn answers(&self, question: &str) -> Vec<Hit> {
        let query = Query::new(question, NOW_MS);
        self.engine.recall(&query).unwrap().hits
    }
}

fn told(hits: &[Hit]) -> String {
    let tell = |hit: &Hit| {
        format!(
            "      {:.2} {:.2} {}:{} {:?}\n",
            hit.score, hit.parts.evidence, hit.path, hit.start_line, hit.answer
        )
    };
    hits.iter().take(3).map(tell).collect()
}

#[test]
fn answers_of_notes_come_with_their_line_first() {
    let notes = Notes::new();
    let mut report = String::new();
    let (mut right, mut all) = ([0, 0], [0, 0]);
    for line in lines(QUESTIONS) {
        let half = usize::from(line[0] == "held");
        let hits = notes.answers(line[1]);
        all[half] += 1;
        if hits.first().is_some_and(|hit| hit.answer.contains(line[2])) {
            right[half] += 1;
        } else {
            report.push_str(&format!(
                "{} {} ({})\n{}",
                line[0],
                line[1],
                line[2],
                told(&hits)
            ));
            if std::env::var_os("EXPLAIN").is_some() {
                let query = Query::new(line[1], NOW_MS);
                report.push_str("   search:\n");
                report.push_str(&told(&notes.engine.search(&query).unwrap().hits));
            }
        }
    }
    println!(
        "developed on: {} of {}, held back: {} of {}",
        right[0], all[0], right[1], all[1]
    );
    println!("{report}");
    assert_eq!(all, [30, 30]);
    let share = 100 * (right[0] + right[1]) / (all[0] + all[1]);
    assert!(share >= ENOUGH, "{share} %\n{report}");
}

#[test]
fn answers_are_not_made_up() {
    let notes = Notes::new();
    let questions = lines(UNANSWERABLE);
    assert_eq!(questions.len(), 30);
    let mut wrong = String::new();
    for line in questions {
        let hits = notes.answers(line[1]);
        if !hits.is_empty() {
            wrong.push_str(&format!("{} {}\n{}", line[0], line[1], told(&hits)));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
