//! A conversation as people read it, and projects by their names.

use std::fs;

use openclaw_sessions::discovery::Project;
use openclaw_sessions::reading::{self, Item, Paged, Wanted, items};
use openclaw_sessions::transcript::{
    AssistantMessage, Block, Compaction, Content, Draft, Line, Marker, Message, ToolResultMessage,
    UserMessage, head,
};
use serde_json::{Value, json};

use crate::{NOW, open, user};

fn result(output: &str, is_error: bool) -> Vec<Item> {
    items(&Message::ToolResult(ToolResultMessage {
        tool_name: "exec".to_owned(),
        content: Content::Text(output.to_owned()),
        is_error,
        ..ToolResultMessage::default()
    }))
}

#[test]
fn result_of_a_tool_tells_whether_it_failed() {
    for (output, is_error, expected) in [
        ("done", false, false),
        ("done", true, true),
        ("an error", false, true),
        ("Error: no", false, true),
        ("it failed", false, true),
        ("FAILED", false, true),
    ] {
        let item = Item::Result {
            name: "exec".to_owned(),
            is_error: expected,
        };
        assert_eq!(result(output, is_error), [item], "{output}");
    }
}

fn answer(blocks: Vec<Block>) -> Vec<Item> {
    items(&Message::Assistant(AssistantMessage {
        content: Content::Blocks(blocks),
        ..AssistantMessage::default()
    }))
}

#[test]
fn words_come_before_the_tools_and_none_where_nothing_was_said() {
    let call = |arguments: Value| Block::tool_call("c", "read", arguments);
    let tool = |argument: Option<&str>| Item::Tool {
        name: "read".to_owned(),
        argument: argument.map(str::to_owned),
    };
    let blocks = vec![
        call(json!({ "path": "a" })),
        Block::text("look"),
        call(json!({})),
    ];
    let expected = [
        Item::Assistant("look".to_owned()),
        tool(Some("a")),
        tool(None),
    ];
    assert_eq!(answer(blocks), expected);
    assert_eq!(answer(vec![Block::text(" \n"), Block::thinking("hm")]), []);
    let said = |text: &str| items(&Message::User(UserMessage::of_run("1", text, 1)));
    assert_eq!(said("hi"), [Item::User("hi".to_owned())]);
    assert_eq!(said(" "), []);
    for (length, marked) in [(200, false), (201, true)] {
        let argument = "ä".repeat(length);
        let mut shown = "ä".repeat(200);
        if marked {
            shown.push('…');
        }
        let items = answer(vec![call(json!({ "command": argument }))]);
        assert_eq!(items, [tool(Some(shown.as_str()))], "{length}");
    }
}

#[test]
fn page_has_what_stands_between_the_messages() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let mut transcript = open(&path).transcript;
    let compaction = Marker::Compaction(Compaction {
        summary: "short".to_owned(),
        ..Compaction::default()
    });
    let reset = Marker::Reset {
        reason: "new".to_owned(),
    };
    let named = Marker::SessionInfo {
        name: "Trip".to_owned(),
    };
    let drafts = [
        Draft::from(user("one")),
        reset.into(),
        user("two").into(),
        compaction.into(),
        named.into(),
        user("three").into(),
    ];
    transcript.append(drafts, NOW).unwrap();
    let rubbish = b"rubbish\n\n".as_slice();
    fs::write(&path, [&fs::read(&path).unwrap(), rubbish].concat()).unwrap();
    let page = |skip: usize, limit: usize, all: bool| {
        let page = reading::page(&path, Wanted { skip, limit, all }).unwrap();
        let shown = page.entries.iter().map(|entry| match entry {
            Paged::Message(entry) => entry.message.content().to_text(),
            Paged::Reset => "-".to_owned(),
            Paged::Compaction(summary) => format!("({summary})"),
        });
        (shown.collect::<Vec<_>>().join(" "), page.has_more)
    };
    for (skip, limit, all, shown, has_more) in [
        (0, 9, false, "two (short) three", false),
        (0, 9, true, "one - two (short) three", false),
        (0, 1, false, "(short) three", true),
        (1, 1, false, "two (short)", false),
        (1, 1, true, "- two (short)", true),
        (2, 1, true, "one -", false),
        (0, 2, false, "two (short) three", false),
        (3, 1, true, "", false),
    ] {
        let expected = (shown.to_owned(), has_more);
        assert_eq!(page(skip, limit, all), expected, "{skip} {limit} {all}");
    }
    let wanted = Wanted {
        skip: 0,
        limit: 9,
        all: true,
    };
    let corrupt = reading::page(&path, wanted).unwrap().corrupt;
    let at = fs::read(&path).unwrap().len() - rubbish.len();
    assert_eq!(corrupt, [at as u64], "an empty line is none");
}

#[test]
fn head_is_the_header_and_what_follows_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    head(&path).unwrap_err();
    fs::write(&path, "").unwrap();
    assert_eq!(head(&path).unwrap(), (None, None));
    fs::remove_file(&path).unwrap();
    open(&path).transcript.append([user("hi")], NOW).unwrap();
    let (header, next) = head(&path).unwrap();
    assert_eq!(header.unwrap().id, crate::origin().session_id);
    assert!(matches!(next, Some(Line::Other(other)) if other.kind == "custom"));
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    fs::write(&path, format!("{}\n{}\n", lines[2], lines[0])).unwrap();
    let (header, next) = head(&path).unwrap();
    assert!(header.is_none());
    assert!(matches!(next, Some(Line::Message(_))));
}

fn project(name: &str) -> Project {
    Project::named(name).unwrap()
}

#[test]
fn folder_matches_the_better_the_nearer_its_name_is() {
    for (name, path, score) in [
        ("app", "/x/app", Some(100)),
        ("app", "/App/y", Some(100)),
        ("app", r"C:\x\app", Some(100)),
        ("my app", "/x/my-app", Some(100)),
        ("app", "/x/apple", Some(90)),
        ("app", "/x/happy", Some(80)),
        ("web shop", "/shop/x/webby", Some(70)),
        ("web shop", "/shop/x", None),
        ("apple", "/x/applo", Some(60)),
        ("appl", "/x/appo", None),
    ] {
        assert_eq!(project(name).in_path(path), score, "{name} in {path}");
    }
}

#[test]
fn message_matches_the_better_the_nearer_its_words_are() {
    for (name, text, score) in [
        ("my app", "about My App today", Some(50)),
        ("my app", "about my-app today", Some(45)),
        ("my app", "about myapps today", Some(45)),
        ("myapp", "about my app today", Some(40)),
        ("myapp", "about my, app today", Some(40)),
        ("myapp", "about myapo today", Some(30)),
        ("myapp", "about my good app", None),
        ("mypp", "about mypo", None),
    ] {
        assert_eq!(project(name).in_text(text), score, "{name} in {text}");
    }
}

#[test]
fn names_of_nine_letters_may_differ_in_two_and_of_five_in_one() {
    for (name, written, is_near) in [
        ("abcd", "abcx", false),
        ("abcde", "abcdx", true),
        ("abcde", "abced", true),
        ("abcde", "abcxx", false),
        ("abcde", "abdce", true),
        ("abcdefgh", "abcdefxx", false),
        ("abcdefghi", "abcdefgxx", true),
        ("abcdefghi", "abcdefxxx", false),
        ("abcdefghi", "abcdefg", true),
        ("abcdefghi", "abcdef", false),
        ("abcde", "abcd", true),
        ("abcde", "abc", false),
    ] {
        let found = project(name).in_text(&format!("the {written} thing"));
        assert_eq!(found.is_some(), is_near, "{name} and {written}");
    }
}
