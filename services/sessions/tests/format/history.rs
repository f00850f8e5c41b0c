//! What a prompt gets of a conversation.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use openclaw_sessions::history::{self, History, HistoryMessage, Tail};
use openclaw_sessions::transcript::{
    AssistantMessage, Block, Compaction, Content, Draft, Marker, Message, ToolResultMessage,
    UserMessage,
};
use serde_json::json;

use crate::{NOW, open};

fn ask(run: &str, text: &str) -> Message {
    Message::User(UserMessage::of_run(run, text, NOW))
}

fn answer(run: &str, blocks: Vec<Block>) -> Message {
    let mut message = Message::Assistant(AssistantMessage {
        content: Content::Blocks(blocks),
        ..AssistantMessage::default()
    });
    message.set_run_id(run);
    message
}

fn say(run: &str, text: &str) -> Message {
    answer(run, vec![Block::text(text)])
}

fn call(run: &str, id: &str) -> Message {
    answer(
        run,
        vec![Block::tool_call(id, "read_file", json!({ "path": "a" }))],
    )
}

fn result(run: &str, id: &str, output: &str) -> Message {
    let mut message = Message::ToolResult(ToolResultMessage {
        tool_call_id: id.to_owned(),
        content: Content::Blocks(vec![Block::text(output)]),
        ..ToolResultMessage::default()
    });
    message.set_run_id(run);
    message
}

fn written(messages: Vec<Message>) -> (tempfile::TempDir, std::path::PathBuf, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let ids = open(&path).transcript.append(messages, NOW).unwrap();
    (dir, path, ids)
}

fn load(path: &Path, tokens: usize) -> History {
    history::load(path, tokens, &HashSet::new()).unwrap()
}

fn words(history: &History) -> Vec<String> {
    let words = history.messages.iter().map(|past| match &past.said {
        HistoryMessage::Tool { call_id, .. } => format!("<{call_id}"),
        HistoryMessage::Assistant { calls, .. } if !calls.is_empty() => format!(">{}", calls[0].id),
        HistoryMessage::User { text } | HistoryMessage::Assistant { text, .. } => text.clone(),
    });
    words.collect()
}

#[test]
fn turn_with_tools_that_costs_exactly_what_there_is_is_kept_whole() {
    let cost = |words: &str| {
        let messages = vec![
            ask("1", words),
            call("1", "c1"),
            result("1", "c1", "fe fe"),
            say("1", "ba"),
        ];
        let (dir, path, _) = written(messages);
        let tail = Tail::read(&path, 10_000, &HashSet::new()).unwrap();
        (dir, path, tail.characters())
    };
    // A token is four characters: one of these fits to the last one.
    let tried = (1..40).map(|length| cost(&"a".repeat(length)));
    let mut exact = tried.filter(|(_, _, cost)| cost % 4 == 0);
    let (_dir, path, cost) = exact.next().unwrap();
    let exact = load(&path, cost / 4);
    assert!(!exact.cut && exact.messages.len() == 4, "{exact:?}");
    let less = load(&path, cost / 4 - 1);
    assert!(less.cut && less.messages.len() < 4, "{less:?}");
}

/// A conversation is read no further back than a prompt needs.
#[test]
fn old_turns_are_not_read() {
    let turn = |number: usize| {
        let run = number.to_string();
        [ask(&run, &"ab ".repeat(100)), say(&run, &"ba ".repeat(100))]
    };
    let (_dir, path, _) = written((0..50).flat_map(turn).collect());
    let whole = Tail::read(&path, 1 << 20, &HashSet::new()).unwrap();
    let turn = whole.characters() / 50;
    let tail = Tail::read(&path, turn / 2, &HashSet::new()).unwrap();
    let budget = turn / 2 * 4;
    assert!(tail.characters() > budget);
    assert!(tail.characters() <= budget + turn, "one turn more at most");
}

#[test]
fn newest_whole_turns_that_fit_are_kept() {
    let (_dir, path, _) = written(vec![
        ask("1", &"ab ".repeat(10)),
        say("1", &"ba ".repeat(10)),
        ask("2", "ef ef"),
        say("2", "fe fe"),
        ask("3", "ab"),
        say("3", "ba"),
    ]);
    let all = load(&path, 1000);
    assert_eq!(all.messages.len(), 6);
    assert!(!all.cut);
    // A short word is a token.
    assert_eq!(words(&load(&path, 2)), ["ab", "ba"]);
    assert_eq!(words(&load(&path, 5)), ["ab", "ba"]);
    let two = load(&path, 6);
    assert_eq!(words(&two), ["ef ef", "fe fe", "ab", "ba"]);
    assert!(two.cut);
}

/// A message that is there already says what its line does.
#[test]
fn message_says_what_its_line_says() {
    let messages = vec![
        ask("r", "do it"),
        call("r", "c1"),
        result("r", "c1", "done"),
        say("r", "so"),
    ];
    let said: Vec<_> = messages
        .iter()
        .map(|message| HistoryMessage::of(message).unwrap())
        .collect();
    let (_folder, path, _) = written(messages);
    let read = load(&path, 10_000);
    let read: Vec<_> = read
        .messages
        .into_iter()
        .map(|it| (it.run_id, it.said))
        .collect();
    assert_eq!(said, read);
    let HistoryMessage::Assistant { calls, .. } = &said[1].1 else {
        panic!("{said:?}");
    };
    assert_eq!(calls.len(), 1);
}

#[test]
fn several_texts_of_a_message_are_told_line_by_line() {
    let picture = Block::Other(json!({ "type": "image", "data": "" }));
    let texts = vec![Block::text("first"), picture, Block::text("second")];
    let (_dir, path, _) = written(vec![ask("r1", "hello"), answer("r1", texts)]);
    assert_eq!(words(&load(&path, 1000)), ["hello", "first\nsecond"]);
}

#[test]
fn results_have_their_calls_and_calls_that_were_cut_off_are_told() {
    let (_dir, path, _) = written(vec![
        ask("1", "look"),
        call("1", "c1"),
        result("1", "c1", &"x".repeat(400)),
        call("1", "c2"),
        ask("2", "again"),
        result("2", "c9", "of nothing"),
        say("2", "done"),
    ]);
    assert_eq!(
        words(&load(&path, 1000)),
        ["look", ">c1", "<c1", ">c2", "again", "done"]
    );
    let tight = load(&path, 50);
    assert_eq!(words(&tight), ["again", "done"]);
    assert!(tight.cut);
}

#[test]
fn turn_too_long_by_its_tools_is_kept_in_words() {
    let (_dir, path, _) = written(vec![
        ask("1", "look"),
        call("1", "c1"),
        result("1", "c1", &"ab ".repeat(1000)),
        say("1", "seen"),
    ]);
    assert_eq!(words(&load(&path, 1100)), ["look", ">c1", "<c1", "seen"]);
    let tight = load(&path, 1003);
    assert_eq!(words(&tight), ["look", "seen"]);
    assert!(tight.cut);
    assert!(load(&path, 1).messages.is_empty());
}

#[test]
fn message_that_came_during_a_turn_stands_after_its_answer() {
    let (_dir, path, ids) = written(vec![
        ask("1", "first"),
        ask("2", "second"),
        ask("3", "waiting"),
        say("1", "to the first"),
        say("2", "to the second"),
    ]);
    let waiting = HashSet::from(["3".to_owned()]);
    let history = history::load(&path, 1000, &waiting).unwrap();
    assert_eq!(
        words(&history),
        ["first", "to the first", "second", "to the second"]
    );
    assert_eq!(history.messages[3].entry_id, ids[4]);
    // A backend that answered the first has not seen the second message,
    // although it stands before that answer in the file.
    assert_eq!(history.after(&ids[3]), 2);
    assert_eq!(history.after(&ids[4]), 0);
    assert_eq!(history.after("elsewhere"), 4);
}

/// Else it is asked again with the next message, and done twice.
#[test]
fn message_that_was_answered_with_another_stands_in_that_turn() {
    let both = |run: &str, text: &str, meanwhile: &[&str]| {
        let mut message = say(run, text);
        message.set_also_answers(meanwhile.iter().map(|run| (*run).to_owned()).collect());
        message
    };
    let (_dir, path, _) = written(vec![
        ask("1", "book the flight"),
        ask("2", "and pay Bob"),
        // Its run has its end before it is answered.
        say("2", ""),
        ask("3", "and Ann"),
        call("1", "c"),
        result("1", "c", "booked"),
        both("1", "booked, and paid both", &["2", "3", "unknown"]),
        ask("4", "thanks"),
    ]);
    let expected = [
        "book the flight",
        ">c",
        "<c",
        "and pay Bob",
        "and Ann",
        "booked, and paid both",
        "thanks",
    ];
    assert_eq!(words(&load(&path, 10_000)), expected);
    let tail = Tail::read(&path, 10_000, &HashSet::new()).unwrap();
    let kept = tail.history(10_000, &HashSet::new()).unwrap();
    assert_eq!(words(&kept), expected);

    // What has an answer of its own stays where it is, and so does what nobody names.
    let (_dir, path, _) = written(vec![
        ask("1", "one"),
        ask("2", "two"),
        say("2", "2"),
        both("1", "1", &["2", "1"]),
        both("elsewhere", "3", &["2"]),
    ]);
    assert_eq!(words(&load(&path, 10_000)), ["one", "1", "two", "2", "3"]);
}

#[test]
fn history_nothing_before_a_reset_is_remembered() {
    use std::io::Write as _;
    let (_dir, path, _) = written(vec![ask("1", "old"), say("1", "old answer")]);
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    writeln!(
        file,
        r#"{{"type":"reset","id":"7ef8df3a","parentId":null,"reason":"reset"}}"#
    )
    .unwrap();
    open(&path)
        .transcript
        .append(vec![ask("2", "new")], NOW)
        .unwrap();
    assert_eq!(words(&load(&path, 1000)), ["new"]);
}

#[test]
fn history_no_file_is_no_history_and_broken_lines_are_counted() {
    use std::io::Write as _;
    let (dir, path, _) = written(vec![ask("1", "hello")]);
    assert_eq!(load(&dir.path().join("none.jsonl"), 10), History::default());
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    file.write_all(b"{broken}\n").unwrap();
    let history = load(&path, 1000);
    assert_eq!(history.corrupt.len(), 1);
    assert_eq!(words(&history), ["hello"]);
}

fn lines(lines: &[&str]) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let header = r#"{"type":"session","version":3,"id":"s","timestamp":"","cwd":""}"#;
    std::fs::write(&path, format!("{header}\n{}\n", lines.join("\n"))).unwrap();
    (dir, path)
}

fn user_line(id: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_owned()
    } else {
        format!("{parent:?}")
    };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"user","content":"{text}"}}}}"#
    )
}

#[test]
fn history_only_the_branch_of_the_last_entry_is_told() {
    let (_dir, path) = lines(&[
        &user_line("a", "", "root"),
        &user_line("b", "a", "left"),
        &user_line("c", "b", "left too"),
        r#"{"type":"branch_summary","id":"d","parentId":"a","fromId":"c","summary":"went left"}"#,
        &user_line("e", "d", "right"),
        r#"{"type":"custom_message","id":"f","parentId":"e","customType":"x","content":"note","display":true}"#,
        r#"{"type":"label","id":"g","parentId":"f","targetId":"a","label":"start"}"#,
    ]);
    let told = words(&load(&path, 1000));
    assert_eq!(told.len(), 4, "{told:?}");
    assert_eq!(
        (told[0].as_str(), told[2].as_str(), told[3].as_str()),
        ("root", "right", "note")
    );
    assert!(told[1].ends_with("went left"));
}

#[test]
fn parents_that_are_nowhere_lose_nothing() {
    let (_dir, path) = lines(&[&user_line("a", "x", "one"), &user_line("b", "y", "two")]);
    assert_eq!(words(&load(&path, 1000)), ["one", "two"]);
    let (_dir, path) = lines(&[&user_line("a", "", "one"), &user_line("b", "", "two")]);
    assert_eq!(words(&load(&path, 1000)), ["one", "two"]);
    let (_dir, path) = lines(&[
        &user_line("a", "", "one"),
        "{broken",
        &user_line("c", "b", "three"),
    ]);
    assert_eq!(words(&load(&path, 1000)), ["one", "three"]);
}

#[test]
fn history_what_is_kept_in_memory_says_what_the_file_says() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let mut transcript = open(&path).transcript;
    let none = HashSet::new();
    let mut kept = Tail::read(&path, 1000, &none).unwrap();
    let compaction = |first: String| {
        Draft::from(Marker::Compaction(Compaction {
            summary: "short".to_owned(),
            first_kept_entry_id: first,
            ..Compaction::default()
        }))
    };
    let mut ids: Vec<String> = Vec::new();
    for step in 0..12 {
        let draft = match step {
            5 => compaction(ids[3usize].clone()),
            9 => Draft::from(Marker::Reset {
                reason: "new".to_owned(),
            }),
            step if step % 2 == 0 => ask(&step.to_string(), "question").into(),
            step => say(&(step - 1).to_string(), "answer").into(),
        };
        let appended = transcript.append([draft.clone()], NOW).unwrap();
        kept = kept.caught_up(&path).unwrap().unwrap_or_else(|| {
            assert_eq!(step, 0, "only a file that is new is read anew");
            Tail::read(&path, 1000, &none).unwrap()
        });
        assert_eq!(kept.length(), transcript.length());
        ids.extend(appended);
        let told = kept.history(1000, &none).unwrap();
        assert_eq!(
            told.messages,
            load(&path, 1000).messages,
            "after step {step}"
        );
    }
    kept.trim(8);
    assert_eq!(kept.history(1000, &none), None);
}

#[test]
fn message_that_was_taken_back_is_in_no_prompt() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let mut transcript = open(&path).transcript;
    let none = HashSet::new();
    let mut kept = Tail::read(&path, 1000, &none).unwrap();
    let mut withdrawn = say("b", "");
    withdrawn.set_withdrawn();
    let steps: [(Draft, &[&str]); 5] = [
        (ask("a", "first").into(), &["first"]),
        (ask("b", "taken back").into(), &["first", "taken back"]),
        (withdrawn.into(), &["first"]),
        (say("a", "answer").into(), &["first", "answer"]),
        (ask("c", "next").into(), &["first", "answer", "next"]),
    ];
    let mut ids = Vec::new();
    for (draft, expected) in steps {
        ids.extend(transcript.append([draft], NOW).unwrap());
        kept = match kept.caught_up(&path).unwrap() {
            Some(kept) => kept,
            None => Tail::read(&path, 1000, &none).unwrap(),
        };
        let read = load(&path, 1000);
        assert_eq!(words(&read), expected);
        assert_eq!(kept.history(1000, &none).unwrap().messages, read.messages);
    }
    for history in [load(&path, 1000), kept.history(1000, &none).unwrap()] {
        assert!(history.is_withdrawn(&ids[1]));
        assert!(!history.is_withdrawn(&ids[0]));
    }
}

#[test]
fn newest_messages_are_left_with_their_answers_and_the_summary() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let mut transcript = open(&path).transcript;
    for run in ["a", "b", "c"] {
        let drafts = [Draft::from(ask(run, run)), say(run, "answer").into()];
        transcript.append(drafts, NOW).unwrap();
    }
    let left = |turns: usize| {
        let mut history = load(&path, 1000);
        history.keep_turns(turns);
        words(&history)
    };
    let all = ["a", "answer", "b", "answer", "c", "answer"];
    for (turns, expected) in [
        (4, &all[..]),
        (3, &all),
        (2, &all[2..]),
        (1, &all[4..]),
        (0, &[]),
    ] {
        assert_eq!(left(turns), expected, "{turns}");
    }
    let compaction = Marker::Compaction(Compaction {
        summary: "short".to_owned(),
        ..Compaction::default()
    });
    let drafts = [
        Draft::from(compaction),
        ask("d", "d").into(),
        ask("e", "e").into(),
    ];
    transcript.append(drafts, NOW).unwrap();
    let told = left(1);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].ends_with("short") && told[1] == "e", "{told:?}");
}

#[test]
fn history_what_is_kept_in_memory_is_given_up_when_the_file_is_another() {
    let first = user_line("a", "", "one");
    let (dir, path) = lines(&[&first]);
    let none = HashSet::new();
    let kept = Tail::read(&path, 1000, &none).unwrap();
    let caught_up = |kept: &Tail| kept.clone().caught_up(&path).unwrap();
    assert!(caught_up(&kept).is_some());
    let append = |line: &str| {
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    };
    append(&user_line("b", "a", "two"));
    assert_eq!(
        caught_up(&kept).unwrap().length(),
        kept.length(),
        "no line end"
    );
    append("\n");
    assert!(caught_up(&kept).unwrap().length() > kept.length());
    append(&format!("{}\n", user_line("c", "a", "another branch")));
    assert!(caught_up(&kept).is_none());
    fs::write(&path, "\n").unwrap();
    assert!(caught_up(&kept).is_none(), "shorter");
    let other = dir.path().join("other");
    fs::write(&other, format!("{first}\n{first}\n")).unwrap();
    fs::rename(&other, &path).unwrap();
    assert!(caught_up(&kept).is_none(), "another file");
    fs::remove_file(&path).unwrap();
    assert!(caught_up(&kept).is_none());
}

#[test]
fn message_without_an_id_is_no_part_of_the_conversation() {
    let nameless = r#"{"type":"message","message":{"role":"user","content":"nameless"}}"#;
    let (_dir, path) = lines(&[
        &user_line("a", "", "one"),
        nameless,
        &user_line("b", "a", "two"),
    ]);
    assert_eq!(words(&load(&path, 1000)), ["one", "two"]);
}

#[test]
fn history_what_waits_is_not_counted_among_what_is_kept_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let mut transcript = open(&path).transcript;
    let runs: Vec<String> = (0..6).map(|run| run.to_string()).collect();
    for run in &runs {
        let long = "x".repeat(400);
        transcript
            .append([Draft::from(ask(run, &long))], NOW)
            .unwrap();
    }
    let none = HashSet::new();
    let kept = Tail::read(&path, 100, &none).unwrap();
    let told = kept.history(100, &none).unwrap();
    assert_eq!(told.messages, load(&path, 100).messages);
    // All that is kept waits: what came before is to be read.
    let all = runs.into_iter().collect();
    assert_eq!(kept.history(100, &all), None);
}
