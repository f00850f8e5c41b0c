//! Files are the truth: what changes in them is found.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::time::Duration;

use crate::harness::{Running, WORDS, state, write};

/// Longer than a change is to take until it is found.
const LONG: Duration = Duration::from_secs(3);

#[tokio::test]
async fn changes_deletions_and_renames_are_seen() {
    let running = Running::start_in(state(WORDS, &[]));
    running.finds("fox", &[]).await;
    running.write("memory/animals/fox.md", "a red fox");
    running.finds("fox", &["memory/animals/fox.md"]).await;
    // Of the same size, and within one tick of the file system's clock.
    running.write("memory/animals/fox.md", "a red hen");
    let hit = running.finds("hen", &["memory/animals/fox.md"]).await;
    assert!(hit[0].snippet.contains("hen"));
    let workspace = running.workspace();
    let hen = workspace.join("memory/hen.md");
    fs::rename(workspace.join("memory/animals/fox.md"), &hen).unwrap();
    running.finds("hen", &["memory/hen.md"]).await;
    fs::remove_file(hen).unwrap();
    running.finds("hen", &[]).await;
    running.write("memory/new/folder/hen.md", "hen");
    running.finds("hen", &["memory/new/folder/hen.md"]).await;
    fs::rename(workspace.join("memory/new"), workspace.join("memory/old")).unwrap();
    running.finds("hen", &["memory/old/folder/hen.md"]).await;
    fs::remove_dir_all(&workspace).unwrap();
    running.finds("hen", &[]).await;
    running.write("MEMORY.md", "a hen again");
    running.finds("hen", &["MEMORY.md"]).await;
    running.stop().await;
}

#[tokio::test]
async fn file_that_is_half_written_is_not_found_until_it_is_closed() {
    let running = Running::start_in(state(WORDS, &[]));
    running.write("memory/first.md", "something else");
    running.finds("else", &["memory/first.md"]).await;
    let path = running.workspace().join("memory/letter.md");
    let mut file = File::create(path).unwrap();
    file.write_all(b"The secret word is zebra, and the ")
        .unwrap();
    file.sync_all().unwrap();
    tokio::time::sleep(LONG).await;
    assert_eq!(
        running.paths("zebra").await,
        ["memory/first.md"; 0],
        "half of it"
    );
    file.write_all(b"other one is okapi.").unwrap();
    drop(file);
    running.finds("zebra okapi", &["memory/letter.md"]).await;
    running.stop().await;
}

#[tokio::test]
async fn nor_is_one_that_somebody_has_open_when_the_daemon_starts() {
    let folder = state(WORDS, &[("memory/whole.md", "a zebra")]);
    let path = folder.path().join("workspace/memory/letter.md");
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .unwrap();
    file.write_all(b"half a zebra").unwrap();
    let running = Running::start_in(folder);
    running.finds("zebra", &["memory/whole.md"]).await;
    running.index(false).await;
    assert_eq!(running.paths("zebra").await, ["memory/whole.md"]);
    drop(file);
    let paths = ["memory/letter.md", "memory/whole.md"];
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        let mut found = running.paths("zebra").await;
        found.sort();
        if found == paths {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{found:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    running.stop().await;
}

#[tokio::test]
async fn links_are_not_followed_and_one_is_told_of() {
    let outside = tempfile::tempdir().unwrap();
    write(&outside.path().join("secret.md"), "fox");
    let running = Running::start_in(state(
        WORDS,
        &[("notes.md", "fox"), ("memory/.hidden.md", "fox")],
    ));
    let memory = running.workspace().join("memory");
    symlink(outside.path(), memory.join("folder")).unwrap();
    symlink(outside.path().join("secret.md"), memory.join("out.md")).unwrap();
    running.index(false).await;
    assert!(running.paths("fox").await.is_empty());
    symlink("../notes.md", memory.join("in.md")).unwrap();
    running.index(false).await;
    assert!(running.paths("fox").await.is_empty());
    let status = running.client.status().await.unwrap();
    let problems = &status.agents[0].problems;
    let told = problems.iter().filter(|one| one.contains("symbolic link"));
    assert_eq!(told.count(), 1, "{problems:?}");
    running.stop().await;
}

#[tokio::test]
async fn extra_folders_are_searched_and_new_ones_after_a_reload() {
    let outside = tempfile::tempdir().unwrap();
    write(
        &outside.path().join("wiki/pumps.md"),
        "The pump is a Grundfos.",
    );
    let path = outside.path().join("wiki").display().to_string();
    let configuration =
        format!("{{memory: {{search: {{provider: 'none', extraPaths: ['{path}']}}}}}}");
    let running = Running::start_in(state(&configuration, &[]));
    let name = format!("{path}/pumps.md");
    let hits = running.finds("Grundfos", &[&name]).await;
    assert_eq!(hits[0].source, "extra");
    write(&outside.path().join("wiki/deep/er.md"), "A Grundfos too.");
    let deep = format!("{path}/deep/er.md");
    running.finds("Grundfos too", &[&deep, &name]).await;
    running.configure(WORDS);
    running.finds("Grundfos", &[]).await;
    running.stop().await;
}

#[tokio::test]
async fn index_that_is_broken_or_gone_is_made_anew() {
    let running = Running::start_in(state(WORDS, &[("memory/a.md", "the fox")]));
    running.finds("fox", &["memory/a.md"]).await;
    let index = running.index_folder();
    let folder = running.stop().await;
    for entry in fs::read_dir(&index).unwrap() {
        fs::write(entry.unwrap().path(), "rubbish").unwrap();
    }
    let running = Running::start_in(folder);
    running.finds("fox", &["memory/a.md"]).await;
    let folder = running.stop().await;
    fs::remove_dir_all(&index).unwrap();
    let running = Running::start_in(folder);
    running.finds("fox", &["memory/a.md"]).await;
    assert_eq!(running.index(true).await.files_total, 1);
    running.finds("fox", &["memory/a.md"]).await;
    running.stop().await;
}

#[tokio::test]
async fn question_right_after_the_start_waits_for_the_files() {
    let filler: String = (0..1500)
        .map(|n| format!("Item{n} is word{n}.\n"))
        .collect();
    let notes: Vec<(String, String)> = (0..40)
        .map(|number| (format!("memory/{number}.md"), format!("fox\n\n{filler}")))
        .collect();
    let notes: Vec<(&str, &str)> = notes.iter().map(|(n, t)| (&**n, &**t)).collect();
    let running = Running::start_in(state(WORDS, &notes));
    assert!(!running.search("fox").await.is_empty());
    running.stop().await;
}

#[tokio::test]
async fn folder_that_is_not_there_yet_is_nothing_wrong() {
    let running = Running::start_in(state(WORDS, &[("MEMORY.md", "fox")]));
    running.index(false).await;
    let status = running.client.status().await.unwrap();
    assert_eq!(status.agents[0].problems, [""; 0]);
    assert!(
        status.agents[0].watching,
        "it would be looked at every two seconds"
    );
    running.write("memory/hen.md", "a hen");
    running.finds("hen", &["memory/hen.md"]).await;
    running.stop().await;
}

#[tokio::test]
async fn sources_only_what_has_changed_is_read_again() {
    let running = Running::start_in(state(
        WORDS,
        &[("memory/a.md", "fox"), ("memory/b.md", "hen")],
    ));
    running.index(false).await;
    let folder = running.stop().await;
    let before = fs::read(folder.path().join("memory/main/index.sqlite"));
    let running = Running::start_in(folder);
    let progress = running.index(false).await;
    assert_eq!((progress.files_done, progress.files_total), (2, 2));
    let folder = running.stop().await;
    let after = fs::read(folder.path().join("memory/main/index.sqlite"));
    assert_eq!(before.ok(), after.ok(), "nothing had changed");
}

#[tokio::test]
async fn files_that_cannot_be_read_are_told_and_stop_nothing() {
    let running = Running::start_in(state(WORDS, &[("memory/small.md", "fox")]));
    let large = File::create(running.workspace().join("memory/large.md")).unwrap();
    large.set_len(3 << 20).unwrap();
    drop(large);
    let progress = running.index(false).await;
    assert_eq!((progress.failed, progress.files_done), (1, 2));
    running.finds("fox", &["memory/small.md"]).await;
    let status = running.client.status().await.unwrap();
    let problems = &status.agents[0].problems;
    assert!(
        problems.iter().any(|problem| problem.contains("large.md")),
        "{problems:?}"
    );
    running.stop().await;
}
