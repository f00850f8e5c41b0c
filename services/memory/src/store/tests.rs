use std::fs;
use std::time::{Duration, Instant};

use super::*;

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("workspace"));
    (folder, store)
}

/// Waits for the time after which a change must be seen, on a machine however
/// busy; commonly the first search sees it.
fn assert_finds(store: &Store, question: &str, paths: &[&str]) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while find(store, question) != paths {
        assert!(Instant::now() < deadline, "{:?}", find(store, question));
    }
}

fn find(store: &Store, question: &str) -> Vec<String> {
    let question = Question {
        text: question,
        limit: 6,
        now_ms: jiff::Timestamp::now().as_millisecond(),
        half_life_days: 7.0,
    };
    let found = store.search(&question).unwrap();
    assert!(found.complete);
    found.hits.into_iter().map(|hit| hit.path).collect()
}

#[test]
fn changes_deletions_and_renames_are_seen_at_once() {
    let (folder, store) = store();
    assert_finds(&store, "fox", &[]);
    let memory = folder.path().join("workspace/memory");
    fs::create_dir_all(memory.join("animals")).unwrap();
    fs::write(memory.join("animals/fox.md"), "a red fox").unwrap();
    assert_finds(&store, "fox", &["memory/animals/fox.md"]);
    // Of the same size, and within one tick of the file system's clock.
    fs::write(memory.join("animals/fox.md"), "a red hen").unwrap();
    assert_finds(&store, "hen", &["memory/animals/fox.md"]);
    fs::rename(memory.join("animals/fox.md"), memory.join("hen.md")).unwrap();
    assert_finds(&store, "hen", &["memory/hen.md"]);
    fs::remove_file(memory.join("hen.md")).unwrap();
    assert_finds(&store, "hen", &[]);
    fs::write(memory.join("new.md"), "hen").unwrap();
    fs::remove_dir_all(folder.path().join("workspace")).unwrap();
    assert_finds(&store, "hen", &[]);
    assert_eq!(store.size(), (0, 0));
}

#[test]
fn a_note_is_found_by_the_next_search() {
    let (_folder, store) = store();
    for round in 0..20 {
        let text = format!("remember codeword{round}");
        let remembered = store.remember(&text, &Zoned::now()).unwrap();
        assert_eq!(find(&store, &format!("codeword{round}")), [remembered.path]);
    }
}

#[test]
fn a_fresh_workspace_is_filled_and_its_templates_are_not_found() {
    let (folder, store) = store();
    let files = store.bootstrap(&Zoned::now()).unwrap();
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["SOUL.md", "IDENTITY.md", "USER.md", "AGENTS.md"]);
    assert!(find(&store, "assistant user memory files").is_empty());
    assert_eq!(store.size(), (4, 0));
    let user = folder.path().join("workspace/USER.md");
    fs::write(user, "# User profile\nName: Ada\n").unwrap();
    assert_finds(&store, "Ada", &["USER.md"]);
}

#[test]
fn other_files_hidden_ones_and_links_are_not_searched() {
    let (folder, store) = store();
    let root = folder.path().join("workspace");
    fs::create_dir_all(root.join("memory/.git")).unwrap();
    for path in [
        "notes.md",
        "memory/data.json",
        "memory/.git/a.md",
        "memory/.hidden.md",
    ] {
        fs::write(root.join(path), "fox").unwrap();
    }
    fs::write(folder.path().join("outside.md"), "fox").unwrap();
    std::os::unix::fs::symlink(folder.path(), root.join("memory/link")).unwrap();
    std::os::unix::fs::symlink("../../outside.md", root.join("memory/out.md")).unwrap();
    assert!(find(&store, "fox").is_empty());
    std::os::unix::fs::symlink("../notes.md", root.join("memory/in.md")).unwrap();
    assert_finds(&store, "fox", &["memory/in.md"]);
}

#[test]
fn files_too_large_are_left_out() {
    let (folder, store) = store();
    let memory = folder.path().join("workspace/memory");
    fs::create_dir_all(&memory).unwrap();
    let large = fs::File::create(memory.join("large.md")).unwrap();
    large.set_len(crate::workspace::FILE_LIMIT + 1).unwrap();
    fs::write(memory.join("small.md"), "fox").unwrap();
    assert_finds(&store, "fox", &["memory/small.md"]);
}
