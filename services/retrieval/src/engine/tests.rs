use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::document::{Body, Document, Message, Source};
use crate::query::{Choice, Query, SearchResult};

const DAY_MS: i64 = 86_400_000;
/// 2026-03-04T12:00:00Z.
const NOW_MS: i64 = 1_772_625_600_000;

fn options() -> Options {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/share/embedding");
    Options {
        table: Some(folder),
    }
}

fn open(folder: &Path) -> (Engine, Opened) {
    Engine::open(folder, options()).unwrap()
}

fn note(path: &str, text: &str, age_days: i64) -> Document {
    Document {
        path: path.to_owned(),
        source: Source::Memory,
        stamp: format!("{}", text.len()),
        modified_ms: NOW_MS - age_days * DAY_MS,
        day_ms: Some(NOW_MS - age_days * DAY_MS),
        topic: String::new(),
        body: Body::Text(text.to_owned()),
    }
}

fn conversation(path: &str, said: &[(&str, &str)]) -> Document {
    let messages = said
        .iter()
        .zip(0..)
        .map(|((speaker, text), number)| Message {
            id: format!("m{number}"),
            speaker: (*speaker).to_owned(),
            text: (*text).to_owned(),
            timestamp_ms: NOW_MS + number * 1000,
            line: number as u32 + 1,
            is_echo: false,
        });
    Document {
        source: Source::Sessions,
        day_ms: None,
        body: Body::Messages(messages.collect()),
        ..note(path, "", 0)
    }
}

fn find(engine: &Engine, question: &str) -> SearchResult {
    engine.search(&Query::new(question, NOW_MS)).unwrap()
}

fn paths(engine: &Engine, question: &str) -> Vec<String> {
    find(engine, question)
        .hits
        .into_iter()
        .map(|hit| hit.path)
        .collect()
}

#[test]
fn documents_are_found_replaced_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, opened) = open(folder.path());
    assert_eq!(opened, Opened::New);
    let fox = note("a.md", "# Animals\n\nThe red fox lives in the forest.", 3);
    engine
        .put(&[fox, note("b.md", "The tax office opens at nine.", 5)])
        .unwrap();
    let hit = &find(&engine, "where do foxes live?").hits[0];
    assert_eq!(
        (hit.path.as_str(), hit.start_line, hit.end_line),
        ("a.md", 3, 3)
    );
    assert_eq!(hit.snippet, "The red fox lives in the forest.");
    assert!(hit.parts.text == 1.0 && hit.parts.coverage > 0.4 && hit.parts.decay < 1.0);
    engine.put(&[note("a.md", "A blue whale.", 3)]).unwrap();
    assert!(!paths(&engine, "fox").contains(&"a.md".to_owned()));
    assert_eq!(paths(&engine, "whale")[0], "a.md");
    assert_eq!(engine.remove(&["a.md", "zebra.md"]).unwrap(), 1);
    assert!(!paths(&engine, "whale").contains(&"a.md".to_owned()));
    engine.clear().unwrap();
    assert!(paths(&engine, "tax").is_empty());
    assert_eq!(engine.status().documents, 0);
}

#[test]
fn messages_are_found_by_what_is_around_them_and_who_said_them() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    let said = [
        ("Ada", "Did you ever learn an instrument?"),
        ("Bob", "Yes, for six years."),
        ("Ada", "I am going to paint the kitchen."),
        ("Bob", "Which colour?"),
        ("Ada", "Green, like the garden door."),
    ];
    engine.put(&[conversation("s.jsonl", &said)]).unwrap();
    let hits = find(
        &engine,
        "What instrument did Bob learn, and for how many years?",
    )
    .hits;
    assert!(
        hits.iter()
            .take(2)
            .any(|hit| hit.message.as_deref() == Some("m1")),
        "{hits:?}"
    );
    let bob = hits
        .iter()
        .find(|hit| hit.message.as_deref() == Some("m1"))
        .unwrap();
    assert_eq!(
        (bob.speaker.as_str(), bob.parts.speaker, bob.start_line),
        ("Bob", 1.0, 2)
    );
    assert_eq!(bob.timestamp_ms, NOW_MS + 1000);
}

#[test]
fn engine_only_what_changed_is_indexed_again() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    let mut said: Vec<(&str, &str)> = vec![("Ada", "something about boats"); 200];
    engine.put(&[conversation("s.jsonl", &said)]).unwrap();
    said.push(("Ada", "a zeppelin!"));
    let change = engine.put(&[conversation("s.jsonl", &said)]).unwrap();
    assert_eq!((change.added, change.kept, change.removed), (9, 192, 1));
    let change = engine.put(&[conversation("s.jsonl", &said)]).unwrap();
    assert_eq!((change.added, change.kept), (0, 201));
    assert_eq!(
        find(&engine, "zeppelin").hits[0].message.as_deref(),
        Some("m200")
    );
    assert_eq!(engine.passages("s.jsonl").unwrap().unwrap().len(), 201);
    assert_eq!(engine.passages("t.jsonl").unwrap(), None);
}

fn many(count: usize) -> Vec<Document> {
    let text = |n: usize| format!("entry{n} is about subject{} and colour{}", n % 50, n % 7);
    (0..count)
        .map(|n| note(&format!("{n}.md"), &text(n), n as i64 % 90))
        .collect()
}

#[test]
fn index_is_as_it_was_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let before = {
        let (engine, _) = open(folder.path());
        for batch in many(5000).chunks(500) {
            engine.put(batch).unwrap();
        }
        engine.put(&[note("last.md", "only in memory", 0)]).unwrap();
        engine.remove(&["7.md"]).unwrap();
        find(&engine, "subject7 colour3")
    };
    let (engine, opened) = open(folder.path());
    assert_eq!(opened, Opened::Kept);
    assert_eq!(engine.status().passages, 5000);
    assert_eq!(find(&engine, "subject7 colour3").hits, before.hits);
    assert_eq!(paths(&engine, "only in memory")[0], "last.md");
    assert!(!paths(&engine, "entry7").contains(&"7.md".to_owned()));
    engine.flush().unwrap();
    engine.release();
    assert_eq!(find(&engine, "subject7 colour3").hits, before.hits);
}

fn segment_files(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|e| e == "idx"))
        .collect()
}

#[test]
fn damaged_segment_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    engine.put(&many(300)).unwrap();
    engine.flush().unwrap();
    let before = find(&engine, "subject7 colour3").hits;
    drop(engine);
    let file = &segment_files(folder.path())[0];
    let mut bytes = fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(file, bytes).unwrap();
    let (engine, opened) = open(folder.path());
    assert_eq!(opened, Opened::Kept);
    while engine.maintain().unwrap() {}
    assert_eq!(engine.status().passages, 300);
    assert_eq!(find(&engine, "subject7 colour3").hits, before);
}

#[test]
fn engine_what_a_large_damaged_segment_had_is_found_all_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    let told = note("told.md", "The foxes' den is behind the mill.", 3);
    engine.put(&[many(5000), vec![told]].concat()).unwrap();
    engine.flush().unwrap();
    let question = "where does the fox live? at the mill?";
    let before = find(&engine, question);
    assert_eq!(before.hits[0].path, "told.md");
    drop(engine);
    for file in segment_files(folder.path()) {
        fs::write(file, "no segment").unwrap();
    }
    let (engine, opened) = open(folder.path());
    assert_eq!((opened, engine.status().waiting), (Opened::Kept, 5001));
    let found = find(&engine, question);
    assert_eq!(found.hits[0].path, "told.md");
    assert!(found.hits[0].parts.bm25 > 0.0 && found.hits[0].parts.decay < 1.0);
    assert!(found.warnings[0].contains("5001 passages"), "{found:?}");
    // Nothing of it is an operator.
    let path = &paths(&engine, "\"quoted\" AND (NEAR* OR ^entry77:")[0];
    assert!(path.starts_with("77"), "{path}");
    let mut query = Query::new("entry77", NOW_MS);
    query.without = vec!["77.md".to_owned()];
    let others = engine.search(&query).unwrap().hits;
    assert!(others.iter().all(|hit| hit.path != "77.md"), "{others:?}");
    assert!(engine.maintain().unwrap());
    let between = engine.status().waiting;
    assert!(between > 0 && between < 5001, "{between}");
    assert_eq!(paths(&engine, "entry4")[0], "4.md");
    assert_eq!(paths(&engine, "entry4999")[0], "4999.md");
    while engine.maintain().unwrap() {}
    assert_eq!(engine.status().waiting, 0);
    assert_eq!(find(&engine, question), before);
}

#[test]
fn damaged_database_is_made_anew_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    engine.put(&many(100)).unwrap();
    engine.flush().unwrap();
    drop(engine);
    let garbage = "not a database ".repeat(2000);
    fs::write(folder.path().join("index.sqlite"), garbage).unwrap();
    fs::write(folder.path().join("mine.txt"), "kept").unwrap();
    let (engine, opened) = open(folder.path());
    assert!(matches!(opened, Opened::Rebuilt { .. }), "{opened:?}");
    assert_eq!(engine.status().passages, 0);
    assert!(folder.path().join("mine.txt").exists());
    engine.put(&many(10)).unwrap();
    assert_eq!(paths(&engine, "entry4")[0], "4.md");
}

#[test]
fn engine_without_a_table_keywords_are_searched_and_vectors_come_later() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(folder.path(), Options::default()).unwrap();
    engine.put(&many(20)).unwrap();
    let found = find(&engine, "entry4");
    assert_eq!(found.hits[0].path, "4.md");
    assert!(found.warnings[0].contains("only keywords"), "{found:?}");
    drop(engine);
    let (engine, _) = open(folder.path());
    engine.flush().unwrap();
    while engine.maintain().unwrap() {}
    assert_eq!(engine.status().stale, 0);
    let found = find(&engine, "entry4");
    assert!(
        found.warnings.is_empty() && found.hits[0].parts.cosine > 0.0,
        "{found:?}"
    );
}

#[test]
fn vectors_made_elsewhere_score_the_best_again() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    let notes = ["a tall tree", "a small tree", "a tree house"];
    let documents: Vec<Document> = notes
        .iter()
        .map(|text| note(&format!("{text}.md"), text, 0))
        .collect();
    engine.put(&documents).unwrap();
    let mut query = Query::new("tree", NOW_MS);
    query.embedder = Choice::Remote {
        model: "far".to_owned(),
        vector: Some(vec![0.0, 1.0]),
    };
    assert!(engine.search(&query).unwrap().warnings[0].contains("no vectors"));
    let missing = engine.missing_vectors("far", 10).unwrap();
    assert_eq!(missing.len(), 3);
    let like = |text: &str| {
        if text.contains("house") {
            vec![0.1, 0.9]
        } else {
            vec![0.9, 0.1]
        }
    };
    let vectors: Vec<(Hash, Vec<f32>)> = missing.iter().map(|m| (m.hash, like(&m.text))).collect();
    engine.store_vectors("far", &vectors).unwrap();
    assert!(engine.missing_vectors("far", 10).unwrap().is_empty());
    let found = engine.search(&query).unwrap();
    assert!(found.warnings.is_empty(), "{found:?}");
    assert_eq!(found.hits[0].path, "a tree house.md");
    query.embedder = Choice::Remote {
        model: "far".to_owned(),
        vector: None,
    };
    let found = engine.search(&query).unwrap();
    assert_eq!((found.hits.len(), found.warnings.len()), (3, 1));
}

#[test]
fn searches_can_be_limited_and_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    engine.put(&[note("n.md", "the tall tree", 0)]).unwrap();
    engine
        .put(&[conversation("s.jsonl", &[("Ada", "the small tree")])])
        .unwrap();
    let mut query = Query::new("tree", NOW_MS);
    query.sources = vec![Source::Sessions];
    let found = engine.search(&query).unwrap().hits;
    assert!(found.len() == 1 && found[0].path == "s.jsonl", "{found:?}");
    query.sources.clear();
    query.without = vec!["s.jsonl".to_owned()];
    let found = engine.search(&query).unwrap().hits;
    assert!(found.len() == 1 && found[0].path == "n.md", "{found:?}");
    query.without.clear();
    query.min_score = 1.1;
    assert!(engine.search(&query).unwrap().hits.is_empty());
    query.min_score = 0.0;
    query.deadline = Some(std::time::Instant::now());
    assert!(!engine.search(&query).unwrap().complete);
}

#[test]
fn search_does_not_wait_for_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    engine.put(&many(50)).unwrap();
    let writer = engine.writer();
    // The writer's lock is held: this would never return if it waited.
    assert_eq!(paths(&engine, "entry4")[0], "4.md");
    drop(writer);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for batch in many(6000).chunks(100) {
                engine.put(batch).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            assert_eq!(paths(&engine, "entry4")[0], "4.md");
        }
    });
    assert_eq!(engine.status().passages, 6000);
}

#[test]
fn engine_of_equals_the_newer_is_first_whatever_the_question() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    for (question, text) in [("april", "april"), ("march 4", "march or 4")] {
        engine.clear().unwrap();
        let both = [note("old.md", text, 570), note("new.md", text, 312)];
        engine.put(&both).unwrap();
        assert_eq!(paths(&engine, question), ["new.md"], "{question}");
    }
}

#[test]
fn recall_puts_notes_before_questions_and_repeats() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    let mut asked = conversation(
        "s.jsonl",
        &[
            ("user", "Where is the spare key?"),
            ("assistant", "The spare key is at the neighbour's."),
            ("user", "spare key where"),
        ],
    );
    if let Body::Messages(messages) = &mut asked.body {
        messages[1].is_echo = true;
    }
    let others =
        (0..20).map(|number| note(&format!("o{number}.md"), "Something else entirely.", 9));
    let mut documents: Vec<Document> = others.collect();
    documents.push(asked);
    documents.push(note(
        "k.md",
        "# Things\n- bread\n- the spare key is under the blue flowerpot\n- milk\n",
        40,
    ));
    engine.put(&documents).unwrap();
    let query = Query::new("Where is the spare key?", NOW_MS);
    let hits = engine.search(&query).unwrap().hits;
    assert_eq!(
        (hits[0].path.as_str(), hits[0].start_line),
        ("k.md", 3),
        "{hits:#?}"
    );
    let hits = engine.recall(&query, |_| true).unwrap().hits;
    assert_eq!(hits.len(), 1, "{hits:#?}");
    assert!(hits[0].answer.contains("flowerpot") && !hits[0].answer.contains("milk"));
    let nothing = Query::new("Who painted the garden fence?", NOW_MS);
    assert!(engine.recall(&nothing, |_| true).unwrap().hits.is_empty());
}

#[test]
fn recall_puts_a_newer_note_before_the_one_it_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    engine
        .put(&[
            note("a.md", "- The wifi password is kestrel", 30),
            note(
                "b.md",
                "- The wifi password is barrow now, since they changed it",
                1,
            ),
            note("c.md", "- Bread", 3),
            note("d.md", "- Milk", 3),
        ])
        .unwrap();
    let query = Query::new("What is the wifi password?", NOW_MS);
    let hits = engine.recall(&query, |_| true).unwrap().hits;
    let paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(paths, ["b.md", "a.md"]);
    assert!(hits[0].score >= hits[1].score);
}

#[test]
fn recall_answers_each_of_several_questions() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    engine
        .put(&[
            note("a.md", "- My physician is Doctor Holm", 3),
            note("b.md", "- The plumber costs 80 € an hour", 3),
            note("c.md", "- 家賃は8万円", 3),
            note("d.md", "- 大家さんは森田さん", 3),
            note("e.md", "- Something else", 3),
        ])
        .unwrap();
    for (text, expected) in [
        (
            "Who is my doctor and what does the plumber cost?",
            ["a.md", "b.md"],
        ),
        ("家賃はいくらで、大家は誰ですか？", ["c.md", "d.md"]),
    ] {
        let hits = engine
            .recall(&Query::new(text, NOW_MS), |_| true)
            .unwrap()
            .hits;
        let paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
        assert_eq!(paths, expected, "{text}");
    }
}

#[test]
fn compounds_are_found_by_their_parts_and_parts_in_compounds() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    engine
        .put(&[
            note(
                "a.md",
                "Der Termin beim Zahnarzt ist am Montag und nicht am Freitag.",
                3,
            ),
            note(
                "b.md",
                "Die Versicherungsnummer für das Haus ist mir nicht bekannt.",
                3,
            ),
            note(
                "c.md",
                "Ich habe heute mit den Kindern einen Kuchen gebacken.",
                3,
            ),
        ])
        .unwrap();
    for (question, path) in [
        ("Wann ist mein Zahnarzttermin?", "a.md"),
        ("Wie heißt meine Versicherung?", "b.md"),
    ] {
        assert_eq!(find(&engine, question).hits[0].path, path, "{question}");
    }
}

#[test]
fn best_are_the_same_however_many_are_wanted() {
    const WORDS: [&str; 12] = [
        "harbour", "lantern", "orchard", "Berlin", "violin", "winter", "bicycle", "recipe",
        "doctor", "meeting", "garden", "1984",
    ];
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    let mut state: u32 = 7;
    let mut next = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    for number in 0..12 {
        let texts: Vec<(&str, String)> = (0..100)
            .map(|_| {
                let speaker = ["Ada", "Grace"][next(2)];
                let words: Vec<_> = (0..3 + next(9)).map(|_| WORDS[next(WORDS.len())]).collect();
                (speaker, format!("I saw the {}.", words.join(" ")))
            })
            .collect();
        let said: Vec<(&str, &str)> = texts
            .iter()
            .map(|(who, text)| (*who, text.as_str()))
            .collect();
        let path = format!("{number}.jsonl");
        engine.put(&[conversation(&path, &said)]).unwrap();
    }
    let snapshot = engine.snapshot();
    let table = engine.table.get().unwrap();
    for text in [
        "violin winter",
        "When did Ada go to Berlin?",
        "What did Grace say of the doctor and the meeting in the garden?",
        "music",
    ] {
        for table in [None, Some(&*table)] {
            let question = crate::search::Question::new(text, &snapshot, table);
            let query = Query::new(text, NOW_MS);
            let of = |limit| crate::search::best(&snapshot, &question, &query, limit);
            let all = of(usize::MAX / 8);
            for limit in [1, 10, 50] {
                let expected = &all[..limit.min(all.len())];
                assert_eq!(of(limit), expected, "{text} {}", table.is_some());
            }
            if text != "music" {
                assert!(
                    all.len() > 400,
                    "{text}: {} are too few to leave any out",
                    all.len()
                );
            }
        }
    }
}

#[test]
fn engine_what_replies_to_a_question_is_found_by_it() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open(folder.path());
    let mut said = vec![("Ada", "Nice weather in the mountains today, is it not so?"); 1];
    said.extend((0..150).map(|_| ("Bob", "Well, so it is, and we went along the road.")));
    said.extend([
        ("Ada", "What do you do when you are tired of the office?"),
        ("Bob", "Mostly I take my violin and close the door."),
        ("Ada", "I am tired of the office too."),
    ]);
    let texts: Vec<String> = said
        .iter()
        .enumerate()
        .map(|(number, (_, text))| format!("({number}) {text}"))
        .collect();
    let said: Vec<(&str, &str)> = said
        .iter()
        .zip(&texts)
        .map(|((who, _), text)| (*who, text.as_str()))
        .collect();
    engine.put(&[conversation("s.jsonl", &said)]).unwrap();
    let first = |question: &str| {
        let query = Query {
            limit: 50,
            ..Query::new(question, NOW_MS)
        };
        let hits = engine.search(&query).unwrap().hits;
        // Those that are looked at closely, and the others behind them.
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{hits:?}");
        assert!(hits.iter().any(|hit| hit.parts.words > 0.0), "{hits:?}");
        hits[0].clone()
    };
    let hit = first("Which instrument does Bob play?");
    assert!(
        hit.snippet.contains("violin") && hit.parts.words > 0.9,
        "{hit:?}"
    );
    let hit = first("What does Bob do when he is tired of the office?");
    assert!(
        hit.snippet.contains("violin") && hit.parts.reply > 0.5,
        "{hit:?}"
    );
}
