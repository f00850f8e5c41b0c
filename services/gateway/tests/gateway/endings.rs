//! Ends of runs that are no replies.

#![expect(clippy::disallowed_types, reason = "it stands in for a server")]

use openclaw_proto::event::{Code, Kind};
use tonic::Status;

use crate::doubles::Reading;
use crate::suite::{Suite, done, next, rest, soon, text};

fn failed(kinds: &[Kind]) -> (Code, &str) {
    match kinds.last() {
        Some(Kind::Failed(failed)) => (failed.code, &failed.message),
        other => panic!("not failed: {other:?}"),
    }
}

#[tokio::test]
async fn cancelling_ends_the_turn_and_keeps_what_was_said() {
    let suite = Suite::start().await;
    let (accepted, mut replies) = suite.say("a long story").await;
    suite.runner.started().await;
    suite.runner.say(&accepted.run_id, text("Once upon"));
    next(&mut replies).await;
    assert!(
        soon(suite.client.cancel_run(&accepted.run_id, "Ctrl-C"))
            .await
            .unwrap()
    );
    let asked = suite.runner.cancelled().await;
    assert_eq!(asked, (accepted.run_id.clone(), "Ctrl-C".to_owned()));
    let kinds = rest(replies).await;
    assert!(matches!(&kinds[0], Kind::Aborted { reason, .. } if reason == "Ctrl-C"));
    let reply = &suite.messages(&accepted)[1];
    assert_eq!(reply["content"][0]["text"], "Once upon");
    assert_eq!(reply["stopReason"], "aborted");
    assert!(
        !soon(suite.client.cancel_run(&accepted.run_id, ""))
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn waiting_message_can_be_cancelled_before_it_runs() {
    let suite = Suite::start().await;
    let (first, first_replies) = suite.say("first").await;
    suite.runner.started().await;
    let (second, second_replies) = suite.say("never mind").await;
    assert!(
        soon(suite.client.cancel_run(&second.run_id, ""))
            .await
            .unwrap()
    );
    assert!(matches!(
        &rest(second_replies).await[..],
        [Kind::Aborted { .. }]
    ));
    suite.runner.say(&first.run_id, done());
    rest(first_replies).await;
    assert!(!suite.runner.has_started().await, "it ran all the same");
    let (third, replies) = suite.say("third").await;
    let turn = suite.runner.started().await;
    let told = format!("{:?}", turn.history);
    assert!(
        told.contains("first") && !told.contains("never mind"),
        "{told}"
    );
    suite.runner.say(&third.run_id, done());
    rest(replies).await;
}

#[tokio::test]
async fn message_that_stop_dropped_is_put_to_no_model() {
    let suite = Suite::start().await;
    let (_, first_replies) = suite.say("first").await;
    suite.runner.started().await;
    let (second, second_replies) = suite.say("write to the bank").await;
    let (_, stopped) = suite.say("/stop").await;
    let said = format!("{:?}", rest(stopped).await);
    assert!(said.contains("1 message that waited was dropped"), "{said}");
    for replies in [first_replies, second_replies] {
        let kinds = rest(replies).await;
        assert!(
            matches!(kinds.last(), Some(Kind::Aborted { .. })),
            "{kinds:?}"
        );
    }
    for words in ["next", "and then"] {
        let (accepted, replies) = suite.say(words).await;
        let turn = suite.runner.started().await;
        assert_eq!(turn.text, words);
        // The turn that ran was heard.
        let told = format!("{:?}", turn.history);
        assert!(told.contains("first") && !told.contains("bank"), "{told}");
        suite.runner.say(&accepted.run_id, done());
        rest(replies).await;
    }
    let kept = suite.messages(&second);
    let says = |words: &str| kept.iter().any(|it| it["content"] == words);
    assert!(says("write to the bank"), "{kept:?}");
}

#[tokio::test]
async fn runner_that_loses_the_turn_is_said_so() {
    let suite = Suite::start().await;
    let (accepted, mut replies) = suite.say("hello").await;
    suite.runner.started().await;
    suite.runner.say(&accepted.run_id, text("half a sen"));
    next(&mut replies).await;
    suite.runner.forget();
    let kinds = rest(replies).await;
    let (code, message) = failed(&kinds);
    assert_eq!(code, Code::Interrupted);
    assert!(
        message.contains("openclaw-agent-runner.service"),
        "{message}"
    );
    let reply = &suite.messages(&accepted)[1];
    assert_eq!(reply["content"][0]["text"], "half a sen");
    assert_eq!(reply["stopReason"], "error");
    suite.exchange("again", "now it works").await;
}

#[tokio::test]
async fn runner_that_is_not_there_is_named() {
    let suite = Suite::start().await;
    suite.runner.leave();
    std::fs::remove_file(suite.paths().runner_socket()).unwrap();
    let (accepted, replies) = suite.say("anybody?").await;
    let kinds = rest(replies).await;
    let (code, message) = failed(&kinds);
    assert_eq!(code, Code::Interrupted);
    assert!(
        message.contains("openclaw-agent-runner.service"),
        "{message}"
    );
    assert!(message.contains("No such file"), "{message}");
    assert_eq!(suite.messages(&accepted)[0]["content"], "anybody?");
    let status = soon(suite.client.status()).await.unwrap();
    assert!(status.runner.is_none());
    assert!(
        status.runner_problem.contains("No such file"),
        "{}",
        status.runner_problem
    );
}

#[tokio::test]
async fn starting_is_tried_once_more() {
    let suite = Suite::start().await;
    suite.runner.refuse_once(Status::unavailable("restarting"));
    suite.exchange("hello", "hi").await;
    suite
        .runner
        .refuse_once(Status::resource_exhausted("8 turns are running"));
    let (_, replies) = suite.say("too much").await;
    let kinds = rest(replies).await;
    let (code, message) = failed(&kinds);
    assert_eq!(code, Code::Overloaded);
    assert!(message.contains("8 turns are running"), "{message}");
}

#[tokio::test]
async fn endings_without_memory_the_reply_comes_with_a_note() {
    let suite = Suite::start().await;
    suite.memory.leave();
    std::fs::remove_file(suite.paths().memory_socket()).unwrap();
    let (accepted, replies) = suite.say("who am I?").await;
    let turn = suite.runner.started().await;
    assert!(turn.bootstrap.is_empty() && turn.passages.is_empty());
    // The runner tells it as the turn's first event, where it survives a
    // restart of the gateway.
    let [note] = turn.notes.as_slice() else {
        panic!("said not once: {:?}", turn.notes);
    };
    assert!(note.contains("openclaw-memory.service"), "{note}");
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;
}

#[tokio::test]
async fn files_of_the_workspace_that_cannot_be_given_are_told_of() {
    let suite = Suite::start().await;
    for problems in [1, 3] {
        let told = (0..problems).map(|number| format!("made without {number}.md: busy\n"));
        *suite.memory.problems.lock().unwrap() = told.collect();
        let (accepted, replies) = suite.say("who am I?").await;
        let turn = suite.runner.started().await;
        assert_eq!(turn.bootstrap.len(), 1, "the others are given");
        assert_eq!(turn.notes.len(), problems);
        let note = &turn.notes[0];
        assert!(
            note.contains("made without") && note.contains("0.md"),
            "{note}"
        );
        assert!(!note.contains('\n'), "{note}");
        suite.runner.say(&accepted.run_id, done());
        rest(replies).await;
    }
}

#[tokio::test]
async fn notes_that_are_not_read_yet_are_waited_for_where_memory_alone_answers() {
    for (backend, reading, passages, notes) in [
        ("offline", Reading::ForAWhile, 1, 0),
        ("offline", Reading::Long, 0, 1),
        ("native", Reading::ForAWhile, 0, 0),
    ] {
        let suite = Suite::start().await;
        suite.runner.answer_with(backend);
        suite.memory.read(reading);
        let (accepted, replies) = suite.say("who is my cat?").await;
        let turn = suite.runner.started().await;
        let given = (turn.passages.len(), turn.notes.len());
        assert_eq!(given, (passages, notes), "{backend}, {reading:?}");
        for note in &turn.notes {
            assert!(note.contains("still reading your notes"), "{note}");
        }
        suite.runner.say(&accepted.run_id, done());
        rest(replies).await;
    }
}
