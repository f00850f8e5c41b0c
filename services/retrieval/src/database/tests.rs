use super::*;
use crate::document::{Body, Document};

fn open() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    (folder, database)
}

fn unit(text: &str, line: u32) -> Unit {
    Unit {
        text: text.to_owned(),
        context: format!("above {text}"),
        kind: Kind::Told,
        speaker: "ada".to_owned(),
        message: Some(format!("m-{text}")),
        timestamp_ms: Some(7),
        line,
        last_line: line + 1,
    }
}

fn part(texts: &[&str], line: u32) -> Part {
    Part {
        units: texts
            .iter()
            .zip(1..)
            .map(|(text, at)| unit(text, at))
            .collect(),
        line,
        language: Language::German,
        flows: true,
        hash: u128::from(line) << 100 | 5,
    }
}

fn document(path: &str, day_ms: Option<i64>) -> Document {
    Document {
        path: path.to_owned(),
        source: Source::Sessions,
        stamp: format!("stamp of {path}"),
        modified_ms: 11,
        day_ms,
        topic: "topic".to_owned(),
        body: Body::Text(String::new()),
    }
}

/// Two documents with two parts each, and the parts' numbers.
fn filled(database: &Database) -> [i64; 4] {
    let [first, second] =
        ["a.md", "b.md"].map(|path| database.put_document(&document(path, Some(3))).unwrap());
    let parts = [
        (first, 0, part(&["fox", "hen"], 10)),
        (first, 1, part(&["owl"], 20)),
        (second, 0, part(&["cat", "dog", "cow"], 30)),
        (second, 1, part(&["bee"], 40)),
    ];
    parts.map(|(document, position, part)| database.insert_part(document, position, &part).unwrap())
}

/// The texts that are there, of any part.
fn texts(database: &Database) -> String {
    let sql = "SELECT group_concat(text, ' ' ORDER BY id) FROM passages";
    let all = database
        .0
        .query_row(sql, [], |row| row.get::<_, Option<String>>(0));
    all.unwrap().unwrap_or_default()
}

fn found(database: &Database, word: &str) -> Vec<(i64, usize)> {
    let found = database.search_fallback(&[word.to_owned()], 10).unwrap();
    found.iter().map(|one| (one.part, one.ordinal)).collect()
}

#[test]
fn part_is_read_as_it_was_written() {
    let (_folder, database) = open();
    let [first, _, third, _] = filled(&database);
    let expected = (part(&["fox", "hen"], 10), Some(3));
    assert_eq!(database.part(first).unwrap(), Some(expected));
    assert_eq!(database.part(third).unwrap().unwrap().0.units.len(), 3);
    assert_eq!(database.part(99).unwrap(), None);
    let stored = database.unit(third, 1).unwrap().unwrap();
    assert_eq!(
        (stored.path.as_str(), stored.source),
        ("b.md", Source::Sessions)
    );
    assert_eq!(stored.language, Language::German);
    // Lines of the document: those of the unit behind the part's first.
    let expected = Unit {
        line: 32,
        last_line: 33,
        ..unit("dog", 2)
    };
    assert_eq!(stored.unit, expected);
    assert_eq!(database.unit(third, 3).unwrap(), None);
    assert_eq!(database.unit(99, 0).unwrap(), None);
}

#[test]
fn deleted_part_takes_its_passages_and_no_others() {
    let (_folder, database) = open();
    let [first, second, third, fourth] = filled(&database);
    assert_eq!(texts(&database), "fox hen owl cat dog cow bee");
    database.delete_part(second).unwrap();
    assert_eq!(texts(&database), "fox hen cat dog cow bee");
    database.delete_part(third).unwrap();
    assert_eq!(texts(&database), "fox hen bee");
    let left = database.parts(false).unwrap();
    assert_eq!(
        left.iter().map(|row| row.id).collect::<Vec<_>>(),
        [first, fourth]
    );
    let owner = database.document("a.md").unwrap().unwrap();
    database.delete_document(owner.id).unwrap();
    assert_eq!(texts(&database), "bee");
    assert_eq!(database.documents().unwrap().len(), 1);
    database.clear().unwrap();
    assert_eq!(texts(&database), "");
    assert!(database.documents().unwrap().is_empty() && database.parts(false).unwrap().is_empty());
}

#[test]
fn document_is_replaced_by_one_of_its_path() {
    let (_folder, database) = open();
    let first = database.put_document(&document("a.md", None)).unwrap();
    let other = database.put_document(&document("b.md", None)).unwrap();
    let newer = Document {
        stamp: "new".to_owned(),
        ..document("a.md", Some(8))
    };
    assert_eq!(database.put_document(&newer).unwrap(), first);
    assert_ne!(first, other);
    let row = database.document("a.md").unwrap().unwrap();
    assert_eq!(
        (row.id, row.stamp.as_str(), row.day_ms),
        (first, "new", Some(8))
    );
    assert_eq!((row.source, row.modified_ms), (Source::Sessions, 11));
    assert_eq!(database.document("c.md").unwrap(), None);
    assert_eq!(database.documents().unwrap().len(), 2);
}

#[test]
fn parts_of_a_document_have_their_order_and_are_moved() {
    let (_folder, database) = open();
    let [first, second, third, _] = filled(&database);
    let owner = database.document("a.md").unwrap().unwrap().id;
    let order = || -> Vec<i64> {
        let parts = database.parts_of(owner).unwrap();
        assert!(parts.iter().all(|row| row.document == owner));
        parts.iter().map(|row| row.id).collect()
    };
    assert_eq!(order(), [first, second]);
    database.move_part(first, 5, 77).unwrap();
    assert_eq!(order(), [second, first]);
    assert_eq!(database.part(first).unwrap().unwrap().0.line, 77);
    database.move_part(first, 5, 78).unwrap();
    assert_eq!(database.part(first).unwrap().unwrap().0.line, 78);
    database.move_part(first, 0, 78).unwrap();
    assert_eq!(order(), [first, second]);
    assert_eq!(database.part(third).unwrap().unwrap().0.line, 30);
    assert_eq!(
        database.parts_of(owner).unwrap()[0].hash,
        part(&[], 10).hash
    );
}

#[test]
fn parts_without_a_segment_are_homeless() {
    let (_folder, database) = open();
    let [first, second, third, fourth] = filled(&database);
    let homeless = || -> Vec<i64> {
        let rows = database.parts(true).unwrap();
        rows.iter().map(|row| row.id).collect()
    };
    assert_eq!(database.homeless_passages().unwrap(), 7);
    let segments = [(); 2].map(|()| database.insert_segment().unwrap());
    assert_ne!(segments[0], segments[1]);
    for (part, segment) in [
        (first, segments[0]),
        (third, segments[0]),
        (fourth, segments[1]),
    ] {
        database.settle_part(part, Some(segment)).unwrap();
    }
    assert_eq!(
        (homeless(), database.homeless_passages().unwrap()),
        (vec![second], 1)
    );
    database.delete_segment(segments[0]).unwrap();
    assert_eq!(homeless(), [first, second, third]);
    assert_eq!(database.homeless_passages().unwrap(), 6);
    assert_eq!(database.segments().unwrap(), [segments[1]]);
    database.settle_part(fourth, None).unwrap();
    assert_eq!(homeless(), [first, second, third, fourth]);
}

#[test]
fn fallback_has_what_no_segment_has() {
    let (_folder, database) = open();
    let [first, second, third, fourth] = filled(&database);
    let segment = database.insert_segment().unwrap();
    database.settle_part(fourth, Some(segment)).unwrap();
    assert_eq!(database.fill_fallback().unwrap(), 6);
    assert_eq!(database.fill_fallback().unwrap(), 6, "anew");
    assert_eq!(found(&database, "hen"), [(first, 1)]);
    assert_eq!(
        found(&database, "do"),
        [(third, 1)],
        "the beginning of a word"
    );
    assert!(found(&database, "bee").is_empty());
    assert_eq!(found(&database, "ada").len(), 6, "who said it");
    let best = database
        .search_fallback(&["owl".to_owned(), "cow".to_owned()], 10)
        .unwrap();
    assert_eq!(best.len(), 2);
    assert!(best.iter().all(|one| one.bm25 > 0.0) && best[0].bm25 >= best[1].bm25);
    assert_eq!(
        database
            .search_fallback(&["ada".to_owned()], 2)
            .unwrap()
            .len(),
        2
    );
    database.leave_fallback(third).unwrap();
    let left = (found(&database, "do").len(), found(&database, "owl").len());
    assert_eq!(left, (0, 1), "that part alone");
    database.fill_fallback().unwrap();
    database.leave_fallback(second).unwrap();
    assert!(found(&database, "owl").is_empty());
    assert_eq!(
        (found(&database, "hen").len(), found(&database, "cat").len()),
        (1, 1)
    );
    database.empty_fallback().unwrap();
    assert!(found(&database, "ada").is_empty());
}

#[test]
fn transaction_is_whole_or_leaves_nothing() {
    let (folder, mut database) = open();
    let put = |database: &mut Database, path: &str| database.put_document(&document(path, None));
    let failed: Result<u32, Error> = database.transaction(|database| {
        put(database, "a.md")?;
        Err(Error::database("try")(rusqlite::Error::InvalidQuery))
    });
    assert!(failed.is_err());
    assert!(database.documents().unwrap().is_empty());
    database
        .transaction(|database| put(database, "b.md"))
        .unwrap();
    let other = Database::open(folder.path()).unwrap();
    let seen = other.together(|other| other.document("b.md")).unwrap();
    assert!(seen.is_some() && other.is_sound().unwrap());
    other.together(|other| other.documents()).unwrap();
}

#[test]
fn database_what_is_gone_is_not_in_the_file_when_it_was_written_anew() {
    let (folder, database) = open();
    let parts = filled(&database);
    let owner = database.put_document(&document("c.md", None)).unwrap();
    let secret = database
        .insert_part(owner, 0, &part(&["quetzalcoatl"], 1))
        .unwrap();
    let has_it = || {
        database.overwrite().unwrap();
        let bytes = std::fs::read(folder.path().join(FILE)).unwrap();
        bytes.windows(12).any(|part| part == b"quetzalcoatl")
    };
    assert!(has_it());
    database.delete_part(secret).unwrap();
    assert!(!has_it());
    assert!(database.part(parts[0]).unwrap().is_some());
}
