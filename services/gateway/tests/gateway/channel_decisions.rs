//! What is decided on a channel: who may end a turn, who is asked, and what a button may do.

use openclaw_proto::approval::ApprovalRequested;
use openclaw_proto::channel::{
    Answer, Attachment, HandIn, HandedIn, IgnoredCode, Message, Outcome, Press, Reaction, What,
};
use openclaw_proto::event::Kind as Said;
use openclaw_proto::gateway::ChatKind;
use openclaw_proto::outbox;
use openclaw_proto::outbox::Kind;

use crate::channels::{client, deliveries, direct, hand_in, message, next, run_of, why};
use crate::suite::{Suite, done, soon, text};

const OPEN_GROUP: &str = r#"{"channels": {"telegram": {
    "allowFrom": [42], "groupPolicy": "open", "groups": {"*": {"requireMention": false}}}}}"#;

/// A photo that the provider has.
fn with_photo(words: &str) -> Message {
    Message {
        attachments: vec![Attachment {
            kind: "image".to_owned(),
            name: "photo.jpg".to_owned(),
            is_waiting: true,
            ..Attachment::default()
        }],
        ..message(words)
    }
}

#[tokio::test]
async fn channels_want_the_files_of_those_alone_whom_they_hear() {
    let groups = r#"{"channels": {"telegram": {"groups": {"-100": {"allowFrom": [42]}}}}}"#;
    let suite = Suite::configured(groups).await;
    let said_in_group = |key: &str, sender: &str, message: Message| HandIn {
        what: What::Message(message),
        ..in_group(key, sender, "")
    };
    // Neither a stranger's, nor somebody's who may not talk, nor those that are overheard.
    let stranger = hand_in(&suite, direct("1", "50", with_photo("look"))).await;
    assert_eq!(why(&stranger), IgnoredCode::NotPaired);
    let other = hand_in(&suite, said_in_group("2", "50", with_photo("look"))).await;
    assert_eq!(why(&other), IgnoredCode::NotAllowed);
    let uncalled = Message {
        is_to_bot: false,
        ..with_photo("our cat")
    };
    let overheard = hand_in(&suite, said_in_group("3", "42", uncalled)).await;
    assert_eq!(why(&overheard), IgnoredCode::NotMentioned);
    // An edit changes words; a stop waits for nothing.
    let edit = Message {
        is_edit: true,
        ..with_photo("that cat")
    };
    run_of(&hand_in(&suite, said_in_group("4", "42", edit)).await);
    let stop = hand_in(&suite, said_in_group("5", "42", with_photo("/stop"))).await;
    assert!(
        matches!(&stop.outcome, Outcome::Taken(taken) if taken.is_command),
        "{stop:?}"
    );
    // Whoever is heard is asked for it, and what comes with it is the message.
    let client = client(&suite);
    let heard = said_in_group("6", "42", with_photo("what is that?"));
    for _ in 0..2 {
        let answer = soon(client.hand_in(heard.clone())).await.unwrap();
        assert_eq!(answer, Answer::FilesWanted, "nothing was kept of it");
    }
    let mut brought = with_photo("what is that?");
    brought.attachments[0].is_waiting = false;
    brought.attachments[0].missing = "it is gone".to_owned();
    run_of(&hand_in(&suite, said_in_group("6", "42", brought)).await);
    let asked = suite.runner.started().await.text;
    assert!(
        asked.contains("our cat") && asked.contains("it is gone"),
        "{asked}"
    );
}

#[tokio::test]
async fn channels_take_a_stop_of_whoever_is_answered_there_called_or_not() {
    let groups = r#"{"channels": {"telegram": {"groups": {"-100": {"allowFrom": [42, 43]}}}}}"#;
    let suite = Suite::configured(groups).await;
    let said = |key: &str, sender: &str, words: &str, is_to_bot: bool| HandIn {
        what: What::Message(Message {
            is_to_bot,
            ..message(words)
        }),
        ..in_group(key, sender, "")
    };
    // A word among people.
    let nothing = hand_in(&suite, said("1", "42", "stop", false)).await;
    assert_eq!(why(&nothing), IgnoredCode::NotMentioned);
    let running = run_of(&hand_in(&suite, said("2", "42", "a long story", true)).await);
    suite.runner.started().await;
    let others = hand_in(&suite, said("3", "43", "stop", false)).await;
    assert_eq!(why(&others), IgnoredCode::NotMentioned);
    let stop = hand_in(&suite, said("4", "42", "stop", false)).await;
    assert!(
        matches!(&stop.outcome, Outcome::Taken(taken) if taken.is_command),
        "{stop:?}"
    );
    assert_eq!(suite.runner.cancelled().await.0, running);
    let entry = &suite.index()["agent:main:telegram:group:-100"];
    let group = ("telegram", "-100");
    assert_eq!(
        (&entry["channel"], &entry["groupId"]),
        (&group.0.into(), &group.1.into()),
        "{entry}"
    );
    assert_eq!(entry["origin"]["to"], group.1);
    assert_eq!(entry["origin"]["chatType"], "group");
}

#[tokio::test]
async fn channels_let_everybody_end_what_they_began_and_nothing_else() {
    let suite = Suite::configured(OPEN_GROUP).await;
    let mut deliveries = deliveries(&suite).await;
    let running = run_of(&hand_in(&suite, in_group("1", "50", "a long story")).await);
    suite.runner.started().await;
    let mut answer = async |key: &str, sender: &str, words: &str| {
        let handed_in = hand_in(&suite, in_group(key, sender, words)).await;
        let run = run_of(&handed_in);
        assert!(
            matches!(&handed_in.outcome, Outcome::Taken(taken) if taken.is_command),
            "{words}: {handed_in:?}"
        );
        loop {
            let delivery = next(&mut deliveries).await;
            let client = outbox::Client::new(suite.paths().gateway_socket());
            let report = outbox::Report {
                id: delivery.id,
                attempt: delivery.attempt,
                outcome: outbox::Outcome::Delivered(vec!["m".to_owned()]),
            };
            soon(client.report(report)).await.unwrap();
            if delivery.run_id == run {
                return format!("{:?}", delivery.kind);
            }
        }
    };
    for (key, words, expected) in [
        ("2", "/help", "/whoami"),
        ("3", "/whoami", "50"),
        ("4", "/new", "not authorized to use this command"),
        ("5", "/model a/b", "owner-only"),
    ] {
        let said = answer(key, "50", words).await;
        assert!(said.contains(expected), "{words}: {said}");
    }
    // Somebody else's is not theirs to end.
    let said = answer("6", "51", "/stop").await;
    assert!(said.contains("nothing of yours"), "{said}");
    assert!(!suite.runner.was_cancelled());
    let said = answer("7", "50", "stop").await;
    assert!(said.contains("aborted"), "{said}");
    assert_eq!(suite.runner.cancelled().await.0, running);
    // Whoever is listed rules the conversation.
    let running = run_of(&hand_in(&suite, in_group("8", "50", "another")).await);
    suite.runner.started().await;
    let said = answer("9", "42", "/stop").await;
    assert!(said.contains("aborted"), "{said}");
    assert_eq!(suite.runner.cancelled().await.0, running);
}

/// What somebody in a group says, who may talk there.
fn in_group(key: &str, sender: &str, words: &str) -> HandIn {
    let mut hand_in = direct(key, sender, message(words));
    hand_in.place.chat = ChatKind::Group;
    hand_in.place.id = "-100".to_owned();
    hand_in.place.title = "Friends".to_owned();
    hand_in
}

#[tokio::test]
async fn channels_ask_approvers_alone_and_take_their_word() {
    let suite = Suite::configured(
        r#"{"channels": {"telegram": {"allowFrom": [42], "groupAllowFrom": [42, 43]}}}"#,
    )
    .await;
    let mut deliveries = deliveries(&suite).await;
    let taken = hand_in(&suite, in_group("1", "43", "install it")).await;
    let run = run_of(&taken);
    suite.runner.started().await;
    let asked = ApprovalRequested {
        id: "a-1".to_owned(),
        tool: "exec".to_owned(),
        command: "make install".to_owned(),
        expires_ms: i64::MAX,
        ..ApprovalRequested::default()
    };
    suite
        .runner
        .say(&run, Said::ApprovalRequested(Box::new(asked)));
    let question = next(&mut deliveries).await;
    let Kind::Question { origin, .. } = &question.kind else {
        panic!("{question:?}");
    };
    let asker = "in the group \"Friends\" (-100)";
    assert!(origin.ends_with(asker) && origin.contains("43"), "{origin}");
    let waiting = suite.client.list_approvals(0).await.unwrap().waiting;
    assert_eq!(waiting[0].origin, *origin);
    // Not in the group, where somebody asked who may not decide.
    assert_eq!(question.place.to, "42");
    assert_eq!(question.place.chat, Some(ChatKind::Direct));
    let buttons = &question.extras.buttons[0];
    assert_eq!(
        buttons.len(),
        2,
        "it cannot be allowed for good: {buttons:?}"
    );
    let deny = buttons[1].data.clone();
    let press = |key: &str, sender: &str, data: &str| HandIn {
        what: What::Press(Press {
            data: data.to_owned(),
            provider_id: "m9".to_owned(),
        }),
        ..in_group(key, sender, "")
    };
    let shown = |handed_in: HandedIn| match handed_in.outcome {
        Outcome::Answered { text } => text,
        other => panic!("{other:?}"),
    };
    let other = shown(hand_in(&suite, press("2", "43", &deny)).await);
    assert_eq!(other, "You are not asked about this.");
    let nothing = shown(hand_in(&suite, press("3", "42", "x")).await);
    assert_eq!(nothing, "That button does nothing any more.");
    let report = outbox::Report {
        id: question.id,
        attempt: question.attempt,
        outcome: outbox::Outcome::Delivered(vec!["m9".to_owned()]),
    };
    let client = outbox::Client::new(suite.paths().gateway_socket());
    soon(client.report(report)).await.unwrap();
    assert_eq!(
        shown(hand_in(&suite, press("4", "42", &deny)).await),
        "Denied."
    );
    let edit = next(&mut deliveries).await;
    match edit.kind {
        Kind::Edit { text, .. } => {
            assert_eq!(text, "```\nmake install\n```\n\nDenied, by telegram 42.")
        }
        other => panic!("{other:?}"),
    }
    // Said again it is the same, and changes nothing.
    let again = hand_in(&suite, press("4", "42", &deny)).await;
    assert!(again.is_existing);
}

/// Whoever presses such a button says words that an agent chose.
#[tokio::test]
async fn channels_take_no_command_from_an_agents_button() {
    for words in ["/approve a-1 allow-always", "/new", "stop"] {
        let suite = Suite::configured(r#"{"channels": {"telegram": {"allowFrom": [42]}}}"#).await;
        let press = HandIn {
            what: What::Press(Press {
                data: format!("say:{words}"),
                provider_id: "m9".to_owned(),
            }),
            ..direct("1", "42", message(""))
        };
        let handed_in = hand_in(&suite, press).await;
        let Outcome::Taken(taken) = handed_in.outcome else {
            panic!("{handed_in:?}");
        };
        assert!(!taken.is_command, "{words}");
        // It is the agent that hears them.
        let turn = format!("{:?}", suite.runner.started().await);
        assert!(turn.contains(words), "{words}: {turn}");
    }
}

/// Telegram names no topic with a reaction.
#[tokio::test]
async fn channels_tell_of_a_reaction_where_the_message_was_said() {
    let groups = r#"{"channels": {"telegram": {"groups": {"-100": {"allowFrom": [42]}}}}}"#;
    let suite = Suite::configured(groups).await;
    let mut deliveries = deliveries(&suite).await;
    let in_topic = |key: &str, topic: &str, what: What| {
        let mut said = direct(key, "42", message("hello"));
        said.place.chat = ChatKind::Group;
        said.place.id = "-100".to_owned();
        said.place.thread = Some(topic.to_owned());
        HandIn { what, ..said }
    };
    let asked = in_topic("1", "4", What::Message(message("hello")));
    let run = run_of(&hand_in(&suite, asked).await);
    suite.runner.started().await;
    suite.runner.say(&run, text("good day"));
    suite.runner.say(&run, done());
    let reply = next(&mut deliveries).await;
    let report = outbox::Report {
        id: reply.id,
        attempt: reply.attempt,
        outcome: outbox::Outcome::Delivered(vec!["900".to_owned()]),
    };
    let client = outbox::Client::new(suite.paths().gateway_socket());
    soon(client.report(report)).await.unwrap();
    let reaction = |id: &str| {
        What::Reaction(Reaction {
            provider_id: id.to_owned(),
            emoji: vec!["👍".to_owned()],
            is_to_own: false,
        })
    };
    let reacted = hand_in(&suite, in_topic("2", "1", reaction("900"))).await;
    match reacted.outcome {
        Outcome::Taken(taken) => assert_eq!(taken.session_key, reply.session_key),
        other => panic!("{other:?}"),
    }
    // One to somebody else's message is nobody's.
    let other = hand_in(&suite, in_topic("3", "1", reaction("901"))).await;
    assert_eq!(why(&other), IgnoredCode::Disabled);
}
