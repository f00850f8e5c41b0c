//! What was acknowledged is on the disk, whatever becomes of the machine.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;

use integration_tests::{Setup, Site, Suite, processes, transcript};
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

/// Kills everything right after a message was answered, when the journal still
/// has what came in; how long the transcript was before that.
async fn killed_at_once(mut suite: Suite) -> (Suite, u64) {
    for n in 0..TRIES {
        let before = fs::metadata(path_of(&suite)).expect("look at it").len();
        suite.say(&format!("message {n}")).await;
        processes::end_all(&suite.path(""));
        let mut files = journals(&suite).into_iter();
        if files.any(|path| !fs::read(path).expect("read a journal").starts_with(EMPTY)) {
            return (suite, before);
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
async fn what_only_the_journal_has_is_put_into_the_transcript() {
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
async fn a_clean_end_leaves_whole_transcripts_and_no_journal() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    suite.say("first").await;
    assert_eq!(journals(&suite).len(), 1);
    suite.terminate();
    assert_eq!(suite.ended().await, Some(0));
    assert_eq!(journals(&suite), Vec::<PathBuf>::new());
    let suite = suite.restart().await;
    assert!(suite.say("after").await.contains("after"));
    assert_eq!(suite.messages().len(), 4);
}
