//! The state in one file, and back, with the daemons at work.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use integration_tests::{Setup, Site, Suite, asked, transcript, until};
use scripted_model::{Scenario, Server};

/// Conversations that go on at the same time.
const SESSIONS: [&str; 3] = ["agent:main:main", "agent:main:b", "agent:main:c"];
/// Messages of each, before the backup begins and in all.
const BEFORE: usize = 3;
const ALL: usize = 10;

fn message(session: &str, number: usize) -> String {
    let name = session.rsplit(':').next().unwrap();
    format!("message {number} of {name}")
}

/// Sends the messages of a session, one after the other; counts the answers.
async fn talk(suite: Arc<Suite>, session: &'static str, answered: Arc<AtomicUsize>) {
    for number in 0..ALL {
        let text = message(session, number);
        let said = suite.ctl(&["message", "--session", session, &text]).await;
        assert!(said.ok().contains(&text));
        answered.fetch_add(1, Ordering::Relaxed);
    }
}

/// How often each text is in the transcript of `session`.
fn counted(site: &Site, session: &str) -> BTreeMap<String, usize> {
    let mut counted = BTreeMap::new();
    for message in transcript::messages(site, session) {
        let text = transcript::text(&message);
        // The echo has what was recalled for the message, too.
        let text = match text.rsplit_once("</memory>\n\n") {
            Some((_, said)) => format!("You said: {said}"),
            None => text,
        };
        *counted.entry(text).or_default() += 1;
    }
    counted
}

fn place(suite: &Suite) -> (PathBuf, String) {
    let file = suite.path("backup.tar.zst");
    let text = file.display().to_string();
    (file, text)
}

#[tokio::test]
async fn backup_while_messages_come_has_every_answer_once() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .note("MEMORY.md", "The garden is behind the house.")
        .start()
        .await;
    let suite = Arc::new(suite);
    let answered: Vec<_> = SESSIONS
        .iter()
        .map(|_| Arc::<AtomicUsize>::default())
        .collect();
    let talks: Vec<_> = SESSIONS
        .into_iter()
        .zip(&answered)
        .map(|(session, answered)| {
            tokio::spawn(talk(Arc::clone(&suite), session, Arc::clone(answered)))
        })
        .collect();
    let begun = || {
        answered
            .iter()
            .all(|it| it.load(Ordering::Relaxed) >= BEFORE)
    };
    until("some messages are answered", begun).await;
    let before: Vec<usize> = answered
        .iter()
        .map(|it| it.load(Ordering::Relaxed))
        .collect();
    let (file, path) = place(&suite);
    let said = suite.ctl(&["backup", &path]).await;
    said.says(&["read back and sound", "It holds keys"]);
    for talk in talks {
        talk.await.unwrap();
    }
    suite
        .ctl(&["restore", "--check", &path])
        .await
        .says(&["is whole"]);

    let site = Setup::anthropic(&model).site();
    site.ctl(&["restore", &path]).await.says(&["restored "]);
    let asked_before = model.turns().len();
    let restored = Suite::start(site).await;
    // A session that is new is in the index a moment after its transcript.
    let index = restored.state().join("agents/main/sessions/sessions.json");
    let are_named = || {
        let text = std::fs::read_to_string(&index).unwrap_or_default();
        SESSIONS.iter().all(|session| text.contains(session))
    };
    until("the index has every session", are_named).await;
    for (session, before) in SESSIONS.into_iter().zip(before) {
        let counted = counted(&restored, session);
        for number in 0..before {
            let text = message(session, number);
            assert_eq!(counted.get(&text), Some(&1), "{text}: {counted:?}");
            let answer = format!("You said: {text}");
            assert_eq!(counted.get(&answer), Some(&1), "{answer}: {counted:?}");
        }
        let doubled = counted
            .iter()
            .find(|(text, count)| !text.is_empty() && **count > 1);
        assert_eq!(doubled, None, "{session}");
    }
    assert!(restored.say("and now?").await.contains("and now?"));
    let turns = model.turns();
    assert_eq!(turns.len(), asked_before + 1, "nothing is asked again");
    let request = turns.last().unwrap().json().to_string();
    assert!(
        request.contains(&message(SESSIONS[0], BEFORE - 1)),
        "it remembers"
    );
    assert_eq!(
        restored.written("MEMORY.md").as_deref(),
        Some("The garden is behind the house.")
    );
    assert!(file.exists());
}

#[tokio::test]
async fn backup_of_what_is_under_way_is_not_begun_again() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("first").await;
    model.push(Scenario::held("the end", "gate"));
    let waiting = suite.begin(&["message", "send the letter"]);
    model.wait_for_turns(2).await;
    let (_, path) = place(&suite);
    suite.ctl(&["backup", &path]).await.ok();
    model.release("gate");
    waiting.end().await.ok();

    let site = Setup::anthropic(&model).site();
    site.ctl(&["restore", &path]).await.ok();
    let restored = Suite::start(site).await;
    let has_ended = || restored.messages().len() == 4;
    until("the message has its note", has_ended).await;
    let messages = restored.messages();
    assert_eq!(transcript::text(&messages[2]), "send the letter");
    let note = messages[3]["errorMessage"].as_str().unwrap_or_default();
    assert!(note.contains("restored from a backup"), "{messages:?}");
    assert!(restored.say("next").await.contains("next"));
    // Once for itself; the last request has it as what was said before.
    let asked = asked::turns(&model, 3).await;
    assert_eq!(asked.len(), 3);
    let last = asked::messages(&asked[2]);
    assert!(last.last().unwrap().1.contains("next"), "{last:?}");
}

#[tokio::test]
async fn restore_is_refused_while_the_suite_runs_and_keeps_what_was() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    suite.say("of the backup").await;
    let (file, path) = place(&suite);
    suite.ctl(&["backup", &path]).await.ok();
    suite
        .ctl(&["backup", &path])
        .await
        .ended(1)
        .complains(&["is there already", "--force"]);
    suite.say("of later").await;
    let refused = suite.ctl(&["restore", &path]).await.ended(3);
    refused.complains(&["is in use by openclaw-", "; end it with: "]);
    suite.terminate();
    assert_eq!(suite.ended().await, Some(0));

    let bytes = std::fs::read(&file).unwrap();
    let mut altered = bytes.clone();
    let middle = altered.len() / 2;
    altered[middle] ^= 1;
    std::fs::write(&file, &altered).unwrap();
    let refused = suite.ctl(&["restore", &path]).await.ended(1);
    refused.complains(&["is not a sound backup"]);
    assert_eq!(suite.messages().len(), 4);
    std::fs::write(&file, &bytes).unwrap();

    let said = suite.ctl(&["restore", "--json", &path]).await.document();
    let before = PathBuf::from(said["before"].as_str().unwrap());
    assert!(before.join("openclaw.json").exists());
    assert_eq!(suite.messages().len(), 2);
    let suite = suite.restart().await;
    suite.say("after").await;
    assert_eq!(suite.messages().len(), 4);
}
