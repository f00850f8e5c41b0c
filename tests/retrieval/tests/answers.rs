//! Questions of everyday life over notes as people write them, in five
//! languages: how often the line that answers comes first, and that nothing is
//! said where nothing answers.
//!
//! There are twenty-five sets, of other people and other topics. In the second, some
//! questions were asked before, and what was answered then says nothing; from the
//! third on, facts are replaced, denied, and asked for two at a time. The fourth and
//! those after it were written before the program was tried on them: of the seventh to
//! the tenth 82, 80, 80 and more than 90 % were answered then, of the twentieth and the
//! twenty-first 80 and 81 %, of the twenty-second and the twenty-third 58 %, and of the
//! twenty-fourth and the twenty-fifth 65 and 62 %. The last was not worked with. The sixth
//! is what somebody told within three days to be remembered, a line each.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "only #[test] functions are excepted"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use openclaw_retrieval::{Body, Document, Engine, Hit, Message, Options, Query, Source};

/// Notes, what is asked of them, what is asked for nothing, and what was asked
/// before: a question and its answer a line.
struct Set {
    /// How many files of notes it has,
    files: usize,
    /// and questions; half as many are unanswerable.
    size: usize,
    notes: &'static str,
    questions: &'static str,
    unanswerable: &'static str,
    asked: &'static str,
    /// Of the unanswerable, those that are known to be answered with what is near.
    known_wrong: usize,
    /// The fewest of the answerable questions, in percent, whose line comes first.
    share: usize,
}

/// The set in a folder: so many files, so many questions, and of those that nothing
/// answers so many that are known to be answered all the same.
macro_rules! set {
    ($folder:literal, $files:literal, $size:literal, $known_wrong:literal, $asked:expr) => {
        set!($folder, $files, $size, $known_wrong, $asked, ENOUGH)
    };
    ($folder:literal, $files:literal, $size:literal, $known_wrong:literal, $asked:expr, $share:expr) => {
        Set {
            files: $files,
            size: $size,
            notes: include_str!(concat!("../notes/", $folder, "/notes.txt")),
            questions: include_str!(concat!("../notes/", $folder, "/questions.txt")),
            unanswerable: include_str!(concat!("../notes/", $folder, "/unanswerable.txt")),
            asked: $asked,
            known_wrong: $known_wrong,
            share: $share,
        }
    };
}

const FIRST: Set = set!("first", 60, 60, 0, "");
const SECOND: Set = set!(
    "second",
    60,
    60,
    0,
    include_str!("../notes/second/asked.txt")
);
const THIRD: Set = set!("third", 30, 30, 0, "");
const FOURTH: Set = set!("fourth", 60, 60, 0, "");
const FIFTH: Set = set!("fifth", 30, 30, 2, "");
const SIXTH: Set = set!("sixth", 3, 33, 0, "");
const SEVENTH: Set = set!("seventh", 30, 60, 0, "");
const EIGHTH: Set = set!("eighth", 30, 60, 0, "");
const NINTH: Set = set!("ninth", 30, 56, 0, "");
const TENTH: Set = set!("tenth", 17, 34, 0, "");
// Of authors who had seen neither the program nor the sets before: what is known of them is stated
// with each.
const ELEVENTH: Set = set!("eleventh", 60, 60, 1, "", 86);
const TWELFTH: Set = set!("twelfth", 60, 60, 0, "", 88);
const THIRTEENTH: Set = set!("thirteenth", 60, 60, 1, "", 85);
const FOURTEENTH: Set = set!("fourteenth", 60, 60, 0, "", 88);
const FIFTEENTH: Set = set!("fifteenth", 60, 60, 2, "");
const SIXTEENTH: Set = set!("sixteenth", 60, 60, 3, "");
// Of questions in other words than the notes have. What the first (36 of 60 at first sight) and the
// second (41 of 60) lacked was looked at while what answers was changed, the third was not asked
// before the end.
const SEVENTEENTH: Set = set!("seventeenth", 60, 60, 1, "");
const EIGHTEENTH: Set = set!("eighteenth", 60, 60, 3, "", 86);
const NINETEENTH: Set = set!("nineteenth", 60, 60, 1, "", 81);
const TWENTIETH: Set = set!("twentieth", 60, 60, 2, "");
const TWENTY_FIRST: Set = set!("twenty-first", 60, 60, 3, "");
// Of an author who knew nothing of the program: of the 35 questions of each in words of the note 31 and
// 33 were answered at first sight, of the 25 in others 6 and 4.
const TWENTY_SECOND: Set = set!("twenty-second", 60, 60, 8, "", 73);
const TWENTY_THIRD: Set = set!("twenty-third", 60, 60, 4, "", 68);
// Of an author who had not seen the words that the program knows. At first sight 39 and 37 of 60 were
// answered, and 3 and 4 of 30 that nothing answers. The second of them was not worked with.
const TWENTY_FOURTH: Set = set!("twenty-fourth", 60, 60, 2, "", 78);
const TWENTY_FIFTH: Set = set!("twenty-fifth", 60, 60, 4, "", 61);
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

/// The conversation in which `asked` was asked and answered, yesterday.
fn conversation(asked: &str) -> Document {
    let mut messages = Vec::new();
    for line in lines(asked) {
        for (speaker, text) in [("user", line[0]), ("assistant", line[1])] {
            let number = messages.len();
            messages.push(Message {
                id: format!("m{number}"),
                speaker: speaker.to_owned(),
                text: text.to_owned(),
                timestamp_ms: NOW_MS - 86_400_000 + number as i64 * 20_000,
                line: number as u32 + 1,
                is_echo: speaker == "assistant",
            });
        }
    }
    Document {
        path: "sessions/yesterday.jsonl".to_owned(),
        source: Source::Sessions,
        stamp: String::new(),
        modified_ms: NOW_MS,
        day_ms: None,
        topic: String::new(),
        body: Body::Messages(messages),
    }
}

/// What stands between bars in each line.
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
    fn new(set: &Set) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let table =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../packaging/share/embedding");
        let options = Options { table: Some(table) };
        let (engine, _) = Engine::open(folder.path(), options).unwrap();
        let notes = set.notes.split("=== ").filter(|note| !note.is_empty());
        let mut documents: Vec<Document> = notes.map(document).collect();
        assert_eq!(documents.len(), set.files);
        documents.push(conversation(set.asked));
        engine.put(&documents).unwrap();
        Self {
            engine,
            _folder: folder,
        }
    }

    fn answers(&self, question: &str) -> Vec<Hit> {
        let query = Query::new(question, NOW_MS);
        self.engine.recall(&query, |_| true).unwrap().hits
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

/// Answers that are shown.
const SHOWN: usize = 3;

/// Whether the first hit answers; of several facts, between `&`, it is one of
/// them and all are shown.
fn is_answered(hits: &[Hit], facts: &str) -> bool {
    let facts: Vec<&str> = facts.split(" & ").collect();
    let has = |hit: &Hit| facts.iter().any(|fact| hit.answer.contains(fact));
    let shown = &hits[..hits.len().min(SHOWN)];
    let is_shown = |fact: &&str| shown.iter().any(|hit| hit.answer.contains(fact));
    hits.first().is_some_and(has) && facts.iter().all(is_shown)
}

/// How many questions of a language or a kind were answered.
#[derive(Default, Clone, Copy)]
struct Tally {
    right: usize,
    all: usize,
}

impl Tally {
    fn count(&mut self, is_right: bool) {
        self.right += usize::from(is_right);
        self.all += 1;
    }
}

fn ask(set: &Set) {
    let notes = Notes::new(set);
    let mut report = String::new();
    let mut kinds: BTreeMap<&str, Tally> = BTreeMap::new();
    for line in lines(set.questions) {
        let hits = notes.answers(line[1]);
        let is_right = is_answered(&hits, line[2]);
        for kind in [line[0], line[0].get(..2).unwrap(), "all"] {
            kinds.entry(kind).or_default().count(is_right);
        }
        if is_right {
            continue;
        }
        report.push_str(&format!("{}: {} ({})\n", line[0], line[1], line[2]));
        report.push_str(&told(&hits));
        if std::env::var_os("EXPLAIN").is_some() {
            let query = Query::new(line[1], NOW_MS);
            report.push_str("   search:\n");
            report.push_str(&told(&notes.engine.search(&query).unwrap().hits));
        }
    }
    for (kind, tally) in &kinds {
        println!("{kind}: {} of {}", tally.right, tally.all);
    }
    println!("{report}");
    let Tally { right, all } = kinds["all"];
    assert_eq!(all, set.size);
    let share = 100 * right / all;
    assert!(share >= set.share, "{share} %\n{report}");
}

fn ask_for_nothing(set: &Set) {
    let notes = Notes::new(set);
    let questions = lines(set.unanswerable);
    assert_eq!(questions.len(), set.size / 2);
    let mut wrong = String::new();
    let mut count = 0;
    for line in questions {
        let hits = notes.answers(line[1]);
        if std::env::var_os("EXPLAIN").is_some() {
            let found = notes.engine.search(&Query::new(line[1], NOW_MS)).unwrap();
            println!(
                "{}\n{}",
                line[1],
                told(&found.hits[..found.hits.len().min(1)])
            );
        }
        if !hits.is_empty() {
            count += 1;
            wrong.push_str(&format!("{} {}\n{}", line[0], line[1], told(&hits)));
        }
    }
    println!("made up: {count}\n{wrong}");
    assert!(count <= set.known_wrong, "{count}\n{wrong}");
}

#[test]
fn answers_of_notes_come_with_their_line_first() {
    ask(&FIRST);
}

#[test]
fn answers_of_other_notes_come_with_their_line_first() {
    ask(&SECOND);
}

#[test]
fn answers_are_not_made_up() {
    ask_for_nothing(&FIRST);
}

#[test]
fn answers_are_not_made_up_of_other_notes() {
    ask_for_nothing(&SECOND);
}

#[test]
fn answers_of_replaced_and_denied_facts_come_with_their_line_first() {
    ask(&THIRD);
}

#[test]
fn answers_are_not_made_up_of_replaced_and_denied_facts() {
    ask_for_nothing(&THIRD);
}

#[test]
fn answers_of_a_fourth_persons_notes_come_with_their_line_first() {
    ask(&FOURTH);
}

#[test]
fn answers_are_not_made_up_of_a_fourth_persons_notes() {
    ask_for_nothing(&FOURTH);
}

#[test]
fn answers_of_a_fifth_persons_notes_come_with_their_line_first() {
    ask(&FIFTH);
}

#[test]
fn answers_are_not_made_up_of_a_fifth_persons_notes() {
    ask_for_nothing(&FIFTH);
}

#[test]
fn answers_of_what_was_to_be_remembered_come_with_their_line_first() {
    ask(&SIXTH);
}

#[test]
fn answers_are_not_made_up_of_what_was_to_be_remembered() {
    ask_for_nothing(&SIXTH);
}

#[test]
fn answers_of_a_seventh_persons_notes_come_with_their_line_first() {
    ask(&SEVENTH);
}

#[test]
fn answers_are_not_made_up_of_a_seventh_persons_notes() {
    ask_for_nothing(&SEVENTH);
}

#[test]
fn answers_of_an_eighth_persons_notes_come_with_their_line_first() {
    ask(&EIGHTH);
}

#[test]
fn answers_are_not_made_up_of_an_eighth_persons_notes() {
    ask_for_nothing(&EIGHTH);
}

#[test]
fn answers_of_a_ninth_persons_notes_come_with_their_line_first() {
    ask(&NINTH);
}

#[test]
fn answers_are_not_made_up_of_a_ninth_persons_notes() {
    ask_for_nothing(&NINTH);
}

#[test]
fn answers_of_a_tenth_persons_notes_come_with_their_line_first() {
    ask(&TENTH);
}

#[test]
fn answers_are_not_made_up_of_a_tenth_persons_notes() {
    ask_for_nothing(&TENTH);
}

#[test]
fn answers_of_an_eleventh_persons_notes_come_with_their_line_first() {
    ask(&ELEVENTH);
}

#[test]
fn answers_are_not_made_up_of_an_eleventh_persons_notes() {
    ask_for_nothing(&ELEVENTH);
}

#[test]
fn answers_of_a_twelfth_persons_notes_come_with_their_line_first() {
    ask(&TWELFTH);
}

#[test]
fn answers_are_not_made_up_of_a_twelfth_persons_notes() {
    ask_for_nothing(&TWELFTH);
}

#[test]
fn answers_of_a_thirteenth_persons_notes_come_with_their_line_first() {
    ask(&THIRTEENTH);
}

#[test]
fn answers_are_not_made_up_of_a_thirteenth_persons_notes() {
    ask_for_nothing(&THIRTEENTH);
}

#[test]
fn answers_of_a_fourteenth_persons_notes_come_with_their_line_first() {
    ask(&FOURTEENTH);
}

#[test]
fn answers_are_not_made_up_of_a_fourteenth_persons_notes() {
    ask_for_nothing(&FOURTEENTH);
}

#[test]
fn answers_of_a_sixteenth_persons_notes_come_with_their_line_first() {
    ask(&SIXTEENTH);
}

#[test]
fn answers_are_not_made_up_of_a_sixteenth_persons_notes() {
    ask_for_nothing(&SIXTEENTH);
}

#[test]
fn answers_of_a_fifteenth_persons_notes_come_with_their_line_first() {
    ask(&FIFTEENTH);
}

#[test]
fn answers_are_not_made_up_of_a_fifteenth_persons_notes() {
    ask_for_nothing(&FIFTEENTH);
}

#[test]
fn answers_of_a_seventeenth_persons_notes_come_with_their_line_first() {
    ask(&SEVENTEENTH);
}

#[test]
fn answers_are_not_made_up_of_a_seventeenth_persons_notes() {
    ask_for_nothing(&SEVENTEENTH);
}

#[test]
fn answers_of_an_eighteenth_persons_notes_come_with_their_line_first() {
    ask(&EIGHTEENTH);
}

#[test]
fn answers_are_not_made_up_of_an_eighteenth_persons_notes() {
    ask_for_nothing(&EIGHTEENTH);
}

#[test]
fn answers_of_a_nineteenth_persons_notes_come_with_their_line_first() {
    ask(&NINETEENTH);
}

#[test]
fn answers_are_not_made_up_of_a_nineteenth_persons_notes() {
    ask_for_nothing(&NINETEENTH);
}

#[test]
fn answers_of_a_twentieth_persons_notes_come_with_their_line_first() {
    ask(&TWENTIETH);
}

#[test]
fn answers_are_not_made_up_of_a_twentieth_persons_notes() {
    ask_for_nothing(&TWENTIETH);
}

#[test]
fn answers_of_a_twenty_first_persons_notes_come_with_their_line_first() {
    ask(&TWENTY_FIRST);
}

#[test]
fn answers_are_not_made_up_of_a_twenty_first_persons_notes() {
    ask_for_nothing(&TWENTY_FIRST);
}

#[test]
fn answers_of_a_twenty_second_persons_notes_come_with_their_line_first() {
    ask(&TWENTY_SECOND);
}

#[test]
fn answers_are_not_made_up_of_a_twenty_second_persons_notes() {
    ask_for_nothing(&TWENTY_SECOND);
}

#[test]
fn answers_of_a_twenty_third_persons_notes_come_with_their_line_first() {
    ask(&TWENTY_THIRD);
}

#[test]
fn answers_are_not_made_up_of_a_twenty_third_persons_notes() {
    ask_for_nothing(&TWENTY_THIRD);
}

#[test]
fn answers_of_a_twenty_fourth_persons_notes_come_with_their_line_first() {
    ask(&TWENTY_FOURTH);
}

#[test]
fn answers_are_not_made_up_of_a_twenty_fourth_persons_notes() {
    ask_for_nothing(&TWENTY_FOURTH);
}

#[test]
fn answers_of_a_twenty_fifth_persons_notes_come_with_their_line_first() {
    ask(&TWENTY_FIFTH);
}

#[test]
fn answers_are_not_made_up_of_a_twenty_fifth_persons_notes() {
    ask_for_nothing(&TWENTY_FIFTH);
}
