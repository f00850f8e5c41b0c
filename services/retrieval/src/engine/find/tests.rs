use super::*;
use crate::document::{Body, Document, Message};

const NOW_MS: i64 = 1_772_625_600_000;

/// A conversation in which each of these is said, by somebody of that name.
fn conversation(path: &str, said: &[(&str, &str)]) -> Document {
    let messages = said
        .iter()
        .zip(1..)
        .map(|((speaker, text), number)| Message {
            id: format!("m{number}"),
            speaker: (*speaker).to_owned(),
            text: (*text).to_owned(),
            timestamp_ms: NOW_MS + i64::from(number),
            line: number,
            is_echo: false,
        });
    Document {
        path: path.to_owned(),
        source: Source::Sessions,
        stamp: String::new(),
        modified_ms: NOW_MS,
        day_ms: None,
        topic: String::new(),
        body: Body::Messages(messages.collect()),
    }
}

/// The hits of a question, over three conversations.
fn hits(question: &str) -> Vec<Hit> {
    let folder = tempfile::tempdir().unwrap();
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/share/embedding");
    let (engine, _) = Engine::open(folder.path(), Options { table: Some(table) }).unwrap();
    let documents = [
        conversation(
            "boiler",
            &[
                ("ada", "The boiler costs 300 euros."),
                ("bob", "The boiler is blue."),
                ("ada", "I went home."),
            ],
        ),
        conversation(
            "garden",
            &[
                ("bob", "A fox sleeps in the garden."),
                ("ada", "So it does."),
            ],
        ),
        conversation("train", &[("carla", "The train to Berlin is late.")]),
    ];
    engine.put(&documents).unwrap();
    engine.search(&Query::new(question, NOW_MS)).unwrap().hits
}

fn saying<'a>(hits: &'a [Hit], words: &str) -> &'a Parts {
    let hit = hits.iter().find(|hit| hit.snippet.contains(words));
    &hit.unwrap_or_else(|| panic!("{words:?} is not in {hits:?}"))
        .parts
}

#[test]
fn parts_of_a_hit_say_what_its_score_is_made_of() {
    let found = hits("how much did Ada say the boiler costs?");
    let best = saying(&found, "300");
    // In each list the best has all, and what has no such word has less.
    assert_eq!((best.text, best.window), (1.0, 1.0));
    assert_eq!((best.speaker, best.fact), (1.0, 1.0));
    assert!(best.session > 0.0 && best.bm25 > 0.0 && best.coverage > 0.0);
    assert!(best.vector > 0.0 && best.cosine > 0.3, "{best:?}");
    let blue = saying(&found, "blue");
    assert_eq!(
        (blue.speaker, blue.fact),
        (0.0, 0.0),
        "Bob says it, and no amount"
    );
    assert!(blue.text < best.text, "{blue:?}");
    assert_eq!(blue.session, best.session, "of the same conversation");
    assert_eq!(found[0].snippet, "The boiler costs 300 euros.");
}

#[test]
fn thing_of_the_kind_that_is_asked_for_is_told_apart() {
    let found = hits("which animal is in the garden?");
    assert_eq!(saying(&found, "fox").kind, 1.0, "{found:?}");
    let other = hits("who is in the garden?");
    assert_eq!(saying(&other, "fox").kind, 0.0);
}

#[test]
fn find_what_nobody_said_is_not_found() {
    let found = hits("quetzalcoatl");
    assert!(found.iter().all(|hit| hit.parts.text == 0.0), "{found:?}");
}

#[test]
fn hits_say_whether_the_kind_of_thing_is_told() {
    let found = hits("How much does the boiler cost?");
    let told = |words: &str| saying(&found, words).told;
    assert_eq!((told("300 euros"), told("is blue")), (1.0, 0.0));
}

/// The question asks nothing but who spoke, so no word is left that could be near.
#[test]
fn name_of_who_speaks_is_not_compared_with_what_is_said() {
    let words = |question: &str| -> f64 { hits(question).iter().map(|hit| hit.parts.words).sum() };
    assert_eq!(words("Ada?"), 0.0);
    assert!(words("Is the boiler blue?") > 0.0);
}

/// A note of so many days ago.
fn note(path: &str, day: i64, text: &str) -> Document {
    Document {
        source: Source::Memory,
        day_ms: Some(NOW_MS - day * 86_400_000),
        body: Body::Text(text.to_owned()),
        ..conversation(path, &[])
    }
}

#[test]
fn newer_note_is_first_where_age_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(folder.path(), Options::default()).unwrap();
    let older = note("older", 9, "The alarm code of the garage is 4711.");
    let newer = "The alarm code of the garage behind the house by the river is 0815.";
    engine.put(&[older, note("newer", 2, newer)]).unwrap();
    let mut query = Query::new("What is the alarm code of the garage?", NOW_MS);
    for (decay_floor, first) in [(0.9, "newer"), (1.0, "older")] {
        query.ranking.decay_floor = decay_floor;
        let hits = engine.search(&query).unwrap().hits;
        assert_eq!(hits[0].path, first, "{hits:?}");
    }
}

/// The hits of a question among these documents.
fn found_in(documents: &[Document], question: &str) -> Vec<Hit> {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(folder.path(), Options::default()).unwrap();
    engine.put(documents).unwrap();
    engine.search(&Query::new(question, NOW_MS)).unwrap().hits
}

#[test]
fn find_who_is_asked_answers() {
    let asked = "Where do the boat and the oars sleep?";
    let reply = |before: &str, path: &str| {
        let answer = ("ada", "The boat? In the shed by the mill.");
        let documents = match path {
            "" => vec![conversation("lake", &[("bob", before), answer])],
            other => vec![
                conversation("lake", &[("bob", before)]),
                conversation(other, &[answer]),
            ],
        };
        let found = found_in(&documents, "where does the boat sleep?");
        saying(&found, "shed").reply
    };
    assert!(reply(asked, "") > 0.5);
    assert_eq!(
        reply("The boat and the oars sleep.", ""),
        0.0,
        "nothing was asked"
    );
    assert_eq!(reply(asked, "mill"), 0.0, "in another conversation");
    assert_eq!(
        saying(
            &found_in(&[conversation("lake", &[("bob", asked)])], "boat"),
            "oars"
        )
        .reply,
        0.0
    );
}

/// What only repeats the question was asked; a note was kept, whatever it says.
#[test]
fn message_that_only_repeats_is_a_question_and_a_note_stays_one() {
    let said = [
        ("user", "Spare key"),
        ("user", "The spare key hangs behind the clock"),
    ];
    let found = found_in(&[conversation("talk", &said)], "spare key");
    let kinds = said.map(|(_, text)| {
        let hit = found.iter().find(|hit| hit.snippet == text);
        hit.unwrap_or_else(|| panic!("{text}: {found:?}")).kind
    });
    assert_eq!(kinds, [Kind::Asked, Kind::Told]);
    let found = found_in(&[note("keys", 2, "Spare key")], "spare key");
    assert_eq!(found[0].kind, Kind::Note);
}

#[test]
fn find_what_says_the_same_keeps_nothing_else_away() {
    let same = (0..150).map(|number| note(&format!("same{number}"), 1, "the boiler is old"));
    let other = |number| format!("house number {number} has some boiler or other that was put in");
    let others = (0..45).map(|number| note(&format!("other{number}"), 1, &other(number)));
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(folder.path(), Options::default()).unwrap();
    engine.put(&same.chain(others).collect::<Vec<_>>()).unwrap();
    let query = Query {
        limit: 40,
        ..Query::new("old boiler", NOW_MS)
    };
    let hits = engine.search(&query).unwrap().hits;
    let repeats = hits.iter().filter(|hit| hit.path.starts_with("same"));
    assert_eq!((hits.len(), repeats.count()), (40, 1));
}

#[test]
fn search_without_meaning_compares_words_alone_and_says_when_it_was_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/share/embedding");
    let (engine, _) = Engine::open(folder.path(), Options { table: Some(table) }).unwrap();
    engine
        .put(&[note("boiler", 1, "The boiler is old.")])
        .unwrap();
    let mut query = Query::new("boiler", NOW_MS);
    let cosine = |query: &Query| engine.search(query).unwrap().hits[0].parts.cosine;
    assert!(cosine(&query) > 0.0);
    query.embedder = Choice::None;
    assert_eq!(cosine(&query), 0.0);
    assert!(engine.search(&query).unwrap().complete);
    query.deadline = Some(std::time::Instant::now());
    assert!(!engine.search(&query).unwrap().complete);
}

#[test]
fn lines_of_a_hit_are_those_that_it_shows() {
    let filler = "Nothing of all this has to do with what anybody asked for.";
    let lines: Vec<String> = (0..40)
        .map(|number| match number {
            0 => "# Garden".to_owned(),
            30 => "The spare key hangs behind the clock.".to_owned(),
            _ => format!("{filler} {number}"),
        })
        .collect();
    let found = found_in(
        &[note("long", 1, &lines.join("\n"))],
        "Where is the spare key?",
    );
    let hit = &found[0];
    let (start, end) = (hit.start_line as usize, hit.end_line as usize);
    assert_eq!(
        hit.snippet,
        lines[start - 1..end].join("\n"),
        "{start} to {end}"
    );
    assert!(start > 3 && end < 40 && hit.snippet.contains("spare key"));
}

#[test]
fn find_what_is_near_to_a_hit_comes_after_what_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/share/embedding");
    let (engine, _) = Engine::open(folder.path(), Options { table: Some(table) }).unwrap();
    let texts = [
        ("a", "The boiler makes hot water."),
        ("b", "The boiler makes warm water."),
        ("c", "Ada keeps the papers of the boiler in a green folder."),
    ];
    engine
        .put(&texts.map(|(path, text)| note(path, 1, text)))
        .unwrap();
    let order = |mmr_lambda: f64| -> String {
        let mut query = Query::new("boiler makes hot water", NOW_MS);
        query.ranking.mmr_lambda = mmr_lambda;
        // Hits have the order of their scores; those that are not chosen are left out.
        query.limit = 2;
        let hits = engine.search(&query).unwrap().hits;
        hits.iter().map(|hit| hit.path.as_str()).collect()
    };
    assert_eq!((order(1.0).as_str(), order(0.1).as_str()), ("ab", "ac"));
}
