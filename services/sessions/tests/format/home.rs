//! The home session's view, made of a transcript.

use openclaw_sessions::home::{self, Document, NewExchange, View};
use openclaw_sessions::silence;
use openclaw_sessions::transcript::{
    AssistantMessage, Block, Content, Message, StopReason, UserMessage,
};

use crate::{NOW, open};

fn asked(run: &str, text: &str, at: i64) -> Message {
    Message::User(UserMessage::of_run(run, text, at))
}

fn answered(run: &str, text: &str, at: i64, stop_reason: StopReason) -> Message {
    let mut message = Message::Assistant(AssistantMessage {
        content: Content::Blocks(vec![Block::text(text)]),
        timestamp: at,
        stop_reason,
        ..AssistantMessage::default()
    });
    if !run.is_empty() {
        message.set_run_id(run);
    }
    message
}

/// What was asked and answered, and when.
fn exchanges(messages: Vec<Message>) -> Vec<(String, String, i64, i64)> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    open(&path).transcript.append(messages, NOW).unwrap();
    let all = home::exchanges(&path, |_| false).unwrap().into_iter();
    all.map(|one| (one.user_text, one.bot_text, one.sent_ms, one.replied_ms))
        .collect()
}

fn exchange(user: &str, bot: &str, sent: i64, replied: i64) -> (String, String, i64, i64) {
    (user.to_owned(), bot.to_owned(), sent, replied)
}

#[test]
fn home_what_was_answered_with_another_is_one_exchange_with_it() {
    let mut both = answered("1", "to both", 5, StopReason::Stop);
    both.set_also_answers(vec!["2".to_owned()]);
    let said = exchanges(vec![
        asked("1", "first", 1),
        asked("2", "second", 2),
        answered("2", "", 3, StopReason::Stop),
        both,
    ]);
    assert_eq!(said, [exchange("first\n\nsecond", "to both", 1, 5)]);
}

#[test]
fn answers_are_those_of_their_runs() {
    let said = exchanges(vec![
        asked("1", "first", 1),
        asked("2", "second", 2),
        answered("1", "to the first", 3, StopReason::Stop),
        answered("2", "to the", 4, StopReason::ToolUse),
        answered("2", "second", 5, StopReason::Stop),
        answered("other", "to nobody", 6, StopReason::Stop),
        asked("3", "third", 7),
        answered("", "to the last", 8, StopReason::Stop),
        asked("4", "fourth", 9),
    ]);
    let expected = [
        exchange("first", "to the first", 1, 3),
        exchange("second", "to the\n\nsecond", 2, 5),
        exchange("third", "to the last", 7, 8),
        exchange("fourth", "", 9, 9),
    ];
    assert_eq!(said, expected);
}

#[test]
fn answers_that_broke_off_or_said_nothing_are_empty() {
    for (text, reason, expected) in [
        ("half an", StopReason::Error, ""),
        ("half an", StopReason::Aborted, ""),
        (
            "all there was room for",
            StopReason::Length,
            "all there was room for",
        ),
        ("NO_REPLY", StopReason::Stop, ""),
        ("NO_REPLY is a word", StopReason::Stop, "NO_REPLY is a word"),
    ] {
        let said = exchanges(vec![asked("1", "ask", 1), answered("1", text, 2, reason)]);
        assert_eq!(said, [exchange("ask", expected, 1, 2)]);
    }
}

#[test]
fn home_what_nobody_said_to_a_model_is_no_exchange() {
    let mut command = asked("1", "/status", 1);
    command.set_command("status");
    let event = Message::User(UserMessage::of_event("2", "a job ended", 2));
    let said = exchanges(vec![
        command,
        event,
        asked("3", " \n", 3),
        asked("4", "hi", 4),
    ]);
    assert_eq!(said, [exchange("hi", "", 4, 4)]);
}

#[test]
fn time_of_the_entry_stands_for_one_that_is_not_said() {
    let said = exchanges(vec![
        asked("1", "hi", 0),
        answered("1", "ho", 0, StopReason::Stop),
    ]);
    assert_eq!(said, [exchange("hi", "ho", NOW, NOW)]);
}

#[test]
fn channel_is_the_messages_or_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let mut remote = asked("1", "hi", 1);
    remote.set_channel("telegram");
    open(&path)
        .transcript
        .append([remote, asked("2", "ho", 2)], NOW)
        .unwrap();
    let all = home::exchanges(&path, |_| false).unwrap();
    let channels: Vec<_> = all.iter().map(|one| one.channel.as_str()).collect();
    assert_eq!(channels, ["telegram", "cli"]);
}

#[test]
fn stop_reason_of_silence_is_told_in_openclaws_word() {
    assert_eq!(silence::told(silence::STOP_REASON), "stop");
    assert_eq!(silence::told("length"), "length");
    let words = |bot_text: &str| {
        let exchange = NewExchange {
            user_text: "hi".to_owned(),
            bot_text: bot_text.to_owned(),
            channel: "cli".to_owned(),
            sent_ms: 1,
            replied_ms: 2,
        };
        exchange.without_silence().numbered(3)
    };
    assert_eq!(
        (words("**NO_REPLY**").bot_text, words("yes").bot_text),
        (String::new(), "yes".to_owned())
    );
    assert_eq!(words("yes").id, "3");
}

#[test]
fn view_that_is_something_else_is_told_and_left() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("default.json");
    std::fs::write(&path, "[]").unwrap();
    let error = Document::read(&path).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("{} is not what it should be", path.display())
    );
    let mut view = View::new(path.clone());
    assert_eq!(view.path(), path);
    assert!(!view.is_known(), "it is not as it is written here");
    let all = home::exchanges(&path, |_| false).unwrap();
    view.add(NewExchange {
        user_text: "hi".to_owned(),
        bot_text: String::new(),
        channel: "cli".to_owned(),
        sent_ms: 1,
        replied_ms: 1,
    })
    .unwrap();
    assert_eq!(
        std::fs::read(&path).unwrap(),
        b"[]",
        "nothing is added to it"
    );
    assert!(Document::of(all).is_none());
    view.forget().unwrap();
    assert!(!path.exists());
    view.forget().unwrap();
}
