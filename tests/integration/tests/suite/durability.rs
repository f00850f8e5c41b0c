//! What was acknowledged is on the disk, whatever becomes of the machine.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use integration_tests::{Setup, Site, Suite, asked, log, processes, transcript, until};
use rusqlite::{Connection, OpenFlags};
use scripted_model::Server;

/// The head of a journal whose transcripts have followed names no boot.
const EMPTY: &[u8] = b"openclaw transcripts 2  ";

/// The transcripts follow their journal after a second; a machine that is busy
/// elsewhere may take longer to kill them.
const TRIES: usize = 10;

fn journals(site: &Site) -> Vec<PathBuf> {
    let files = fs::read_dir(site.state().join("state")).expect("read the folder");
    let files = files.map(|file| file.expect("read the folder").path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "journal"))
        .collect()
}

fn path_of(site: &Site) -> PathBuf {
    let folder = site.state().join("agents/main/sessions");
    let files = fs::read_dir(folder).expect("read the folder");
    let mut files = files.map(|file| file.expect("read the folder").path());
    let found = files.find(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    found.expect("a transcript")
}

/// Whether a record of the journal `bytes` has `said`: after the last one there may be those of
/// an earlier generation, whose transcripts have followed, and whose sums are wrong.
fn is_still_held(bytes: &[u8], said: &[u8]) -> bool {
    const HEAD: usize = 512;
    const PREFIX: usize = 8;
    let line = bytes.split(|byte| *byte == b'\n').next();
    let line = std::str::from_utf8(line.expect("a head")).expect("a line");
    let generation = line.split_whitespace().rev().nth(1);
    let generation: u64 = generation.and_then(|it| it.parse().ok()).expect("a number");
    let mut rest = &bytes[HEAD..];
    while let Some((prefix, after)) = rest.split_at_checked(PREFIX) {
        let number = |at: usize| u32::from_le_bytes(prefix[at..at + 4].try_into().expect("four"));
        let Some((body, next)) = after.split_at_checked(number(0) as usize) else {
            return false;
        };
        let mut sum = crc32fast::Hasher::new();
        sum.update(&generation.to_le_bytes());
        sum.update(body);
        if sum.finalize() != number(4) {
            return false;
        }
        if body.windows(said.len()).any(|part| part == said) {
            return true;
        }
        rest = next;
    }
    false
}

/// Kills everything right after a message was answered, when the journal still
/// has what came in; where that begins in the transcript.
async fn killed_at_once(mut suite: Suite) -> (Suite, u64) {
    for n in 0..TRIES {
        suite.say(&format!("message {n}")).await;
        processes::end_all(&suite.path(""));
        let said = format!("message {n}");
        let has = |path: PathBuf| {
            let bytes = fs::read(path).expect("read a journal");
            !bytes.starts_with(EMPTY) && is_still_held(&bytes, said.as_bytes())
        };
        if journals(&suite).into_iter().any(has) {
            let text = fs::read_to_string(path_of(&suite)).expect("read it");
            let at = text.find(&said).expect("the message");
            let line = text[..at].rfind('\n').expect("a header") + 1;
            return (suite, line as u64);
        }
        suite = suite.restart().await;
    }
    panic!("the transcripts were always faster");
}

fn words(suite: &Suite) -> Vec<String> {
    let messages = transcript::messages_of(&path_of(suite));
    messages.iter().map(transcript::text).collect()
}

#[tokio::test]
async fn durability_what_only_the_journal_has_is_put_into_the_transcript() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("first").await;
    let (suite, before) = killed_at_once(suite).await;
    let said = words(&suite);
    assert!(said.len() >= 4, "{said:?}");
    // As if the page cache were lost.
    let file = OpenOptions::new().write(true).open(path_of(&suite));
    file.unwrap().set_len(before).unwrap();
    let asked = model.turns().len();
    let suite = suite.restart().await;
    suite.log.message("brought up to date").await;
    assert!(suite.say("after").await.contains("after"));
    let mut expected = said;
    expected.extend(["after".to_owned(), "You said: after".to_owned()]);
    assert_eq!(words(&suite), expected);
    assert_eq!(model.turns().len(), asked + 1, "nothing is asked again");
}

#[tokio::test]
async fn clean_end_leaves_whole_transcripts_and_no_journal() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    suite.say("first").await;
    assert!(!journals(&suite).is_empty());
    suite.terminate();
    assert_eq!(suite.ended().await, Some(0));
    assert_eq!(journals(&suite), Vec::<PathBuf>::new());
    let suite = suite.restart().await;
    assert!(suite.say("after").await.contains("after"));
    assert_eq!(suite.messages().len(), 4);
}

/// Puts a line between the entries of the first turn and those of the second.
fn damage(path: &Path, rubbish: &str) {
    let text = fs::read_to_string(path).expect("read a transcript");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(lines.len() - 2, rubbish);
    fs::write(path, format!("{}\n", lines.join("\n"))).expect("write a transcript");
}

#[tokio::test]
async fn broken_line_is_skipped_kept_aside_and_told() {
    const RUBBISH: &str = "{\"type\":\"message\",\"id\":\"x\", and then the disk broke";
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    suite.say("first").await;
    suite.say("second").await;
    suite.terminate();
    assert_eq!(suite.ended().await, Some(0));
    let path = path_of(&suite);
    damage(&path, RUBBISH);
    let before = fs::read(&path).unwrap();
    let suite = suite.restart().await;
    suite.say("third").await;
    let record = suite.log.message("lines that are no entries").await;
    assert_eq!(record["level"], "warn", "{record}");
    let copy = format!("{}.corrupt-lines", path.display());
    assert_eq!(fs::read_to_string(&copy).unwrap(), format!("{RUBBISH}\n"));
    let asked = asked::turns(&model, 3).await.pop().unwrap();
    let words = asked::words(&asked);
    assert!(
        words.contains("first") && words.contains("second"),
        "{words}"
    );
    suite.say("fourth").await;
    assert!(
        fs::read(&path).unwrap().starts_with(&before),
        "it stays in the transcript"
    );
    let shown = suite
        .ctl(&["sessions", "show", "main", "--transcript"])
        .await;
    shown.says(&[
        "first",
        "fourth",
        "1 line of the transcript is no entry",
        &copy,
    ]);
    let shown = suite
        .ctl(&["sessions", "show", "main", "--transcript", "--json"])
        .await;
    assert_eq!(shown.document()["transcript"]["corruptLines"], 1);
    suite.ctl(&["doctor"]).await.says(&["transcripts", &copy]);
    assert_eq!(fs::read_to_string(&copy).unwrap(), format!("{RUBBISH}\n"));
    let told = suite.log.records();
    let told = told
        .iter()
        .filter(|record| log::message_of(record).contains("no entries"));
    assert_eq!(told.count(), 1, "it is told once");
}

#[tokio::test]
async fn torn_last_line_is_cut_off_and_told() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    suite.say("first").await;
    suite.terminate();
    assert_eq!(suite.ended().await, Some(0));
    let path = path_of(&suite);
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"type\":\"message\",\"id\":\"torn")
        .unwrap();
    let suite = suite.restart().await;
    suite.say("second").await;
    let record = suite.log.message("torn line").await;
    assert_eq!(record["level"], "warn", "{record}");
    assert_eq!(words(&suite).len(), 4);
}

/// So many that a message is noted in the ledger: the index's file is large beside one entry.
const SESSIONS: usize = 20;

fn index(site: &Site) -> serde_json::Value {
    let path = site.state().join("agents/main/sessions/sessions.json");
    serde_json::from_slice(&fs::read(path).expect("read the index")).expect("an index")
}

/// The entry of the index that the ledger has noted of the session `key`.
fn note_of(site: &Site, key: &str) -> Option<serde_json::Value> {
    let ledger = Connection::open_with_flags(
        site.state().join("state/ledger.sqlite"),
        OpenFlags::SQLITE_OPEN_READ_ONLY,
    );
    let sql = "SELECT entry FROM session_notes WHERE session_key = ?1";
    let entry = ledger
        .expect("open the ledger")
        .query_row(sql, [key], |row| row.get::<_, String>(0));
    serde_json::from_str(&entry.ok()?).ok()
}

#[tokio::test]
async fn index_of_a_killed_gateway_is_brought_up_to_date_from_the_ledger() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    for n in 0..SESSIONS {
        let session = format!("s{n}");
        suite.ctl(&["message", "--session", &session, "hi"]).await;
    }
    until("the index names all", || {
        index(&suite)
            .as_object()
            .is_some_and(|all| all.len() == SESSIONS)
    })
    .await;
    // A clean end, so that the file is not behind.
    suite.terminate();
    assert_eq!(suite.ended().await, Some(0));
    let suite = suite.restart().await;
    let before = index(&suite);
    suite.ctl(&["message", "--session", "s7", "again"]).await;
    let ended = before["agent:main:s7"]["endedAt"].as_i64();
    // The turn's beginning is noted, too, and says nothing of its end.
    until("the ledger has the change", || {
        note_of(&suite, "agent:main:s7").is_some_and(|note| note["endedAt"].as_i64() > ended)
    })
    .await;
    processes::end_all(&suite.path(""));
    assert_eq!(
        index(&suite),
        before,
        "the file was written for one message"
    );
    let suite = suite.restart().await;
    suite
        .log
        .message("brought up to date from the ledger")
        .await;
    until("the file has it too", || {
        index(&suite)["agent:main:s7"]["endedAt"].as_i64() > ended
    })
    .await;
}

/// Somebody gave two sessions one id while nothing ran.
#[tokio::test]
async fn sessions_with_one_conversation_are_told_and_lose_nothing() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    suite
        .ctl(&["message", "--session", "first", "hello"])
        .await
        .ok();
    until("the index names it", || {
        index(&suite).get("agent:main:first").is_some()
    })
    .await;
    suite.terminate();
    assert_eq!(suite.ended().await, Some(0));
    let mut edited = index(&suite);
    edited["agent:main:second"] = edited["agent:main:first"].clone();
    let path = suite.state().join("agents/main/sessions/sessions.json");
    fs::write(&path, edited.to_string()).unwrap();
    let suite = suite.restart().await;
    suite
        .ctl(&["message", "--session", "second", "and more"])
        .await
        .ok();
    let told = "agent:main:first and agent:main:second have one conversation";
    assert_eq!(suite.log.message(told).await["level"], "warn");
    let doctor = suite.ctl(&["doctor"]).await;
    assert!(doctor.stdout.contains(told), "{doctor}");

    suite
        .ctl(&["sessions", "delete", "agent:main:second"])
        .await
        .ok();
    let shown = suite
        .ctl(&["sessions", "show", "first", "--transcript"])
        .await;
    for words in ["hello", "and more"] {
        assert!(shown.stdout.contains(words), "{words}: {shown}");
    }
}
