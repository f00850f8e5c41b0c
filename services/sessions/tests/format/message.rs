//! What messages say of themselves, and what blocks are.

use openclaw_sessions::transcript::{
    AssistantMessage, Block, Content, Message, ToolResultMessage, UserMessage,
};
use serde_json::{Value, json};

fn user() -> Message {
    Message::User(UserMessage::of_run("run-1", "hi", 5))
}

fn assistant() -> Message {
    Message::Assistant(AssistantMessage {
        timestamp: 6,
        ..AssistantMessage::default()
    })
}

fn result() -> Message {
    Message::ToolResult(ToolResultMessage {
        timestamp: 7,
        ..ToolResultMessage::default()
    })
}

/// Written, and read again.
fn kept(message: &Message) -> Message {
    serde_json::from_value(serde_json::to_value(message).unwrap()).unwrap()
}

#[test]
fn message_says_its_run_and_its_time() {
    let mut all = [user(), assistant(), result()];
    assert_eq!(all[0].run_id(), Some("run-1"));
    assert_eq!((all[1].run_id(), all[2].run_id()), (None, None));
    all.iter_mut().for_each(|one| one.set_run_id("run-2"));
    let runs = all
        .each_ref()
        .map(|one| kept(one).run_id().unwrap().to_owned());
    assert_eq!(runs, ["run-1", "run-2", "run-2"], "a user's is its key");
    assert_eq!(all.each_ref().map(Message::timestamp), [5, 6, 7]);
    let other = json!({ "role": "user", "content": "x", "idempotencyKey": "run-1" });
    let other: Message = serde_json::from_value(other).unwrap();
    assert_eq!((other.run_id(), other.timestamp()), (None, 0));
}

#[test]
fn message_says_how_it_came() {
    for mut message in [user(), assistant(), result()] {
        assert_eq!((message.arrival(), message.route()), (None, None));
        assert_eq!(message.channel(), None);
        message.set_route(json!({ "chat": 7 }));
        assert_eq!(message.arrival(), None, "a route alone is no channel");
        message.set_arrival("telegram", None);
        assert_eq!(kept(&message).arrival(), Some(("telegram", None)));
        message.set_arrival("cli", Some("key-1"));
        assert_eq!(kept(&message).arrival(), Some(("cli", Some("key-1"))));
        assert_eq!(kept(&message).route(), Some(&json!({ "chat": 7 })));
        message.set_channel("web");
        assert_eq!(message.channel(), Some("web"));
        assert_eq!(message.arrival(), Some(("web", Some("key-1"))));
        assert!(!message.is_command() && !message.is_event());
    }
}

#[test]
fn message_to_the_gateway_is_told_from_what_is_said_to_a_model() {
    for mut message in [user(), assistant(), result()] {
        assert!(!message.is_command());
        assert_eq!(message.command(), None);
        message.set_channel("cli");
        message.set_command("status");
        let message = kept(&message);
        assert!(message.is_command() && !message.is_event());
        assert_eq!(message.command(), Some("status"));
        assert_eq!(message.channel(), Some("cli"));
    }
}

#[test]
fn event_is_of_its_run_and_nobody_said_it() {
    let event = kept(&Message::User(UserMessage::of_event(
        "run-3",
        "a job ended",
        8,
    )));
    assert!(event.is_event() && !event.is_command());
    assert_eq!(event.channel(), Some("system"));
    assert_eq!(event.timestamp(), 8);
    assert_eq!(event.content().to_text(), "a job ended");
    assert_eq!(event.run_id(), None, "no message that began a run");
    let written = serde_json::to_value(&event).unwrap();
    assert_eq!(written["__openclaw"]["runId"], "run-3");
    assert!(!user().is_event());
}

#[test]
fn message_keeps_what_another_program_put_in_the_place_of_ours() {
    let odd = json!({ "role": "user", "content": "x", "timestamp": 1, "__openclaw": "odd" });
    let mut message: Message = serde_json::from_value(odd.clone()).unwrap();
    message.set_arrival("cli", Some("key"));
    message.set_route(json!(1));
    message.set_command("status");
    assert_eq!(serde_json::to_value(&message).unwrap(), odd);
    assert_eq!((message.arrival(), message.command()), (None, None));
}

#[test]
fn content_is_its_texts_line_by_line() {
    let blocks = vec![
        Block::text("one"),
        Block::thinking("not said"),
        Block::tool_call("c1", "read", json!({ "path": "a" })),
        Block::Other(json!({ "type": "image", "data": "…" })),
        Block::text("two"),
    ];
    let written = serde_json::to_value(&blocks).unwrap();
    assert_eq!(written[0], json!({ "type": "text", "text": "one" }));
    assert_eq!(
        written[1],
        json!({ "type": "thinking", "thinking": "not said" })
    );
    let call =
        json!({ "type": "toolCall", "id": "c1", "name": "read", "arguments": { "path": "a" } });
    assert_eq!(written[2], call);
    let content = Content::Blocks(blocks.clone());
    assert_eq!(content.to_text(), "one\ntwo");
    assert_eq!(content.blocks(), blocks);
    let text = Content::Text("plain".to_owned());
    assert_eq!((text.to_text().as_str(), text.blocks().len()), ("plain", 0));
    let messages = [
        Message::User(UserMessage {
            content: content.clone(),
            timestamp: 1,
            idempotency_key: None,
            rest: serde_json::Map::new(),
        }),
        Message::Assistant(AssistantMessage {
            content: content.clone(),
            ..AssistantMessage::default()
        }),
        Message::ToolResult(ToolResultMessage {
            content,
            ..ToolResultMessage::default()
        }),
    ];
    for message in messages {
        assert_eq!(message.content().to_text(), "one\ntwo");
    }
}

#[test]
fn thinking_goes_on_until_it_is_signed() {
    let mut block = Block::thinking("first");
    assert!(block.thinks_on() && !block.is_redacted());
    assert!(block.sign("s1"));
    assert!(!block.thinks_on());
    assert!(!block.sign("s2"), "it has a signature");
    let expected = json!({ "type": "thinking", "thinking": "first", "thinkingSignature": "s1" });
    assert_eq!(serde_json::to_value(&block).unwrap(), expected);

    let redacted = Block::redacted_thinking("opaque");
    assert!(redacted.is_redacted() && !redacted.thinks_on());
    let written = serde_json::to_value(&redacted).unwrap();
    assert_eq!(written["thinkingSignature"], "opaque");
    assert_eq!(written["redacted"], true);
    let shown = written["thinking"].as_str().unwrap_or_default();
    assert!(!shown.is_empty() && !shown.contains("opaque"));

    let mut text = Block::text("words");
    assert!(!text.sign("s") && !text.thinks_on() && !text.is_redacted());
    let mut unredacted: Value = written;
    unredacted["redacted"] = json!(false);
    let unredacted: Block = serde_json::from_value(unredacted).unwrap();
    assert!(!unredacted.is_redacted());
}
