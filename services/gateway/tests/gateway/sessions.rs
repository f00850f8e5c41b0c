//! What is done with sessions beside sending messages to them.

use openclaw_proto::call::RefusalCode;
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::{ChatKind, Message, Route};
use openclaw_proto::sessions::{Archived, Change, Named, Part, Query, Said, State};

use serde_json::Value;

use crate::suite::{Suite, done, rest, soon, text_of};

fn named(session: &str) -> Named<'_> {
    Named {
        session,
        agent_id: "",
    }
}

fn part(all: bool) -> Part {
    Part {
        all,
        ..Part::default()
    }
}

fn change(name: &str, value: &str) -> Change {
    Change {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

#[tokio::test]
async fn sessions_new_message_of_reset_begins_anew_and_nothing_is_lost() {
    let suite = Suite::start().await;
    let first = suite.exchange("my cat is Mourek", "noted").await;
    let (reset, replies) = suite.say("/new").await;
    assert_eq!(reset.session_id, first.session_id);
    let kinds = rest(replies).await;
    assert!(matches!(&kinds[0], Kind::TextDelta { text } if text.contains("New session started")));
    assert!(matches!(kinds.last(), Some(Kind::Done(_))));
    assert!(!suite.runner.has_started().await, "a model was asked");
    let (session, _) = soon(suite.sessions.get(named(""))).await.unwrap();
    assert_ne!(session.model, "gateway", "it is no model");

    let (second, replies) = suite.say("who is my cat?").await;
    let turn = suite.runner.started().await;
    assert!(turn.history.is_empty(), "{:?}", turn.history);
    suite.runner.say(&second.run_id, done());
    rest(replies).await;
    let (third, replies) = suite.say("/RESET and now?").await;
    let turn = suite.runner.started().await;
    assert_eq!(turn.text, "and now?");
    assert!(turn.history.is_empty());
    suite.runner.say(&third.run_id, done());
    rest(replies).await;

    let reading = soon(suite.sessions.read(named(""), part(true)))
        .await
        .unwrap();
    let said: Vec<_> = reading.items.iter().map(|item| &item.said).collect();
    let user = |text: &str| Said::User {
        text: text.to_owned(),
    };
    assert_eq!(*said[0], user("my cat is Mourek"));
    let resets = said.iter().filter(|said| ***said == Said::Reset).count();
    assert_eq!(resets, 2);
    let now = soon(suite.sessions.read(named(""), part(false)))
        .await
        .unwrap();
    assert_eq!(now.items[0].said, user("and now?"));
}

#[tokio::test]
async fn overrides_reach_the_turn_and_survive_a_restart() {
    let mut suite = Suite::start().await;
    suite.exchange("hello", "hi").await;
    let changes = vec![
        change("label", "Trip"),
        change("model", "openai/gpt-5"),
        change("thinkingLevel", "high"),
    ];
    let patched = soon(suite.sessions.patch(named("main"), changes))
        .await
        .unwrap();
    assert_eq!(patched.label, "Trip");
    assert_eq!(suite.index()["agent:main:main"]["modelOverride"], "gpt-5");
    suite.stop().await;
    let suite = suite.again().await;
    let (accepted, replies) = suite.say("and now?").await;
    let turn = suite.runner.started().await;
    assert_eq!(turn.model, "openai/gpt-5");
    assert_eq!(turn.thinking_level, "high");
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;
    let (session, entry) = soon(suite.sessions.get(named("trip"))).await.unwrap();
    assert_eq!(session.model_override, "openai/gpt-5");
    assert!(entry.contains("\"providerOverride\":\"openai\""));

    // The index can be made anew from what the transcript tells.
    let mut suite = suite;
    suite.stop().await;
    std::fs::remove_file(suite.paths().sessions("main").join("sessions.json")).unwrap();
    let suite = suite.again().await;
    let (session, _) = soon(suite.sessions.get(named("trip"))).await.unwrap();
    assert_eq!(session.thinking_level, "high");
    assert_eq!(session.model_override, "openai/gpt-5");
    assert_eq!(session.message_count, 4);
}

#[tokio::test]
async fn session_lives_from_created_to_archived() {
    let suite = Suite::start().await;
    let parent = soon(suite.sessions.create(named("work"), vec![], ""))
        .await
        .unwrap();
    assert_eq!(parent.state, State::Created);
    let child = soon(
        suite
            .sessions
            .create(named(""), vec![change("label", "sub")], "work"),
    )
    .await
    .unwrap();
    assert_eq!(
        (child.spawned_by.as_str(), child.spawn_depth),
        ("agent:main:work", 1)
    );
    assert!(child.key.starts_with("agent:main:subagent:"));

    let message = Message {
        session_key: "work".to_owned(),
        ..text_of("start")
    };
    let (accepted, replies) = suite.send(message).await.unwrap();
    suite.runner.started().await;
    let (session, _) = soon(suite.sessions.get(named("work"))).await.unwrap();
    assert_eq!(session.state, State::Active);
    for status in [
        soon(suite.sessions.reset(named("work"), "")).await.err(),
        soon(suite.sessions.delete(named("work"), false))
            .await
            .err(),
        soon(
            suite
                .sessions
                .patch(named("work"), vec![change("archived", "true")]),
        )
        .await
        .err(),
    ] {
        assert_eq!(
            status.unwrap().code(),
            Some(RefusalCode::FailedPrecondition)
        );
    }
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;

    let idle = soon(suite.sessions.reset(named("work"), "")).await.unwrap();
    assert_eq!(idle.state, State::Idle);
    let archived = soon(
        suite
            .sessions
            .patch(named("work"), vec![change("archived", "true")]),
    );
    assert_eq!(archived.await.unwrap().state, State::Archived);
    let keys = |page: openclaw_proto::sessions::Page| -> Vec<String> {
        page.sessions
            .into_iter()
            .map(|session| session.key)
            .collect()
    };
    let listed = soon(suite.sessions.list(Query::default())).await.unwrap();
    assert_eq!(keys(listed), std::slice::from_ref(&child.key));
    let only = Query {
        archived: Archived::Only,
        ..Query::default()
    };
    let listed = soon(suite.sessions.list(only)).await.unwrap();
    assert_eq!(keys(listed), ["agent:main:work"]);
}

#[tokio::test]
async fn deleted_session_is_archived_and_does_not_come_back() {
    let mut suite = Suite::start().await;
    suite.exchange("keep this", "yes").await;
    let message = Message {
        session_key: "work".to_owned(),
        ..text_of("a secret")
    };
    let (accepted, replies) = suite.send(message).await.unwrap();
    suite.runner.started().await;
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;
    let main = soon(suite.sessions.delete(named("main"), false))
        .await
        .unwrap_err();
    assert!(main.to_string().contains("reset it instead"), "{main}");
    let deleted = soon(suite.sessions.delete(named("work"), false))
        .await
        .unwrap();
    let archive = deleted.archive_path.unwrap();
    assert!(
        archive.contains(".jsonl.deleted.") && archive.ends_with(".zst"),
        "{archive}"
    );
    assert!(std::path::Path::new(&archive).exists());
    suite.stop().await;
    std::fs::remove_file(suite.paths().sessions("main").join("sessions.json")).unwrap();
    let suite = suite.again().await;
    let listed = soon(suite.sessions.list(Query::default())).await.unwrap();
    assert_eq!(listed.total, 1);
    let gone = soon(suite.sessions.get(named("work"))).await.unwrap_err();
    assert_eq!(gone.code(), Some(RefusalCode::NotFound));
}

#[tokio::test]
async fn message_says_its_route_and_the_scope_the_session() {
    let direct = |channel: &str, id: &str| Message {
        channel: channel.to_owned(),
        route: Some(Route {
            account: String::new(),
            chat: ChatKind::Direct,
            id: id.to_owned(),
            thread: None,
            sender: None,
            present_id: None,
            message: None,
            sender_name: None,
            title: None,
        }),
        ..text_of("hello")
    };
    let suite = Suite::start().await;
    let (accepted, _) = suite.send(direct("telegram", "42")).await.unwrap();
    assert_eq!(accepted.session_key, "agent:main:main");

    let suite = Suite::configured(
        r#"{ session: { dmScope: "per-peer", identityLinks: { anna: ["telegram:42", "signal:+4915123"] } } }"#,
    )
    .await;
    for (channel, id) in [("telegram", "42"), ("signal", "+49 151 23")] {
        let (accepted, _) = suite.send(direct(channel, id)).await.unwrap();
        assert_eq!(accepted.session_key, "agent:main:direct:anna");
    }
}

#[tokio::test]
async fn sessions_are_found_by_what_a_person_calls_them() {
    let suite = Suite::start().await;
    let made = soon(
        suite
            .sessions
            .create(named("work"), vec![change("label", "The Trip")], ""),
    );
    let made = made.await.unwrap();
    for name in [
        "work",
        "Agent:Main:Work",
        "the trip",
        &made.id,
        &made.id[..8],
    ] {
        let (found, _) = soon(suite.sessions.get(named(name))).await.unwrap();
        assert_eq!(found.key, made.key, "{name}");
    }
    let taken = soon(
        suite
            .sessions
            .create(named("other"), vec![change("label", "The Trip")], ""),
    );
    assert_eq!(
        taken.await.unwrap_err().code(),
        Some(RefusalCode::AlreadyExists)
    );
    let wrong = soon(
        suite
            .sessions
            .patch(named("work"), vec![change("thinkingLevel", "deep")]),
    );
    let wrong = wrong.await.unwrap_err();
    assert_eq!(wrong.code(), Some(RefusalCode::InvalidArgument));
    assert!(wrong.to_string().contains("minimal"), "{wrong}");
}

#[tokio::test]
async fn compacted_conversation_is_told_by_its_summary() {
    let suite = Suite::start().await;
    suite.exchange("my cat is Mourek", "noted").await;
    suite.exchange("and my dog is Rex", "fine").await;
    let named_main = named("main");
    let compacted = soon(suite.sessions.compact(named_main, "The cat is Mourek.", 2)).await;
    let session = compacted.unwrap();
    assert_eq!(session.compaction_count, 1);
    let (accepted, replies) = suite.say("who is my cat?").await;
    let turn = suite.runner.started().await;
    let history = format!("{:?}", turn.history);
    assert_eq!(turn.history.len(), 3, "{history}");
    assert!(history.contains("The cat is Mourek.") && history.contains("Rex"));
    assert!(!history.contains("my cat is Mourek"), "{history}");
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;
    let raw = Part {
        raw: true,
        limit: 2,
        ..Part::default()
    };
    let reading = soon(suite.sessions.read(named_main, raw)).await.unwrap();
    assert_eq!(reading.entries.len(), 2);
    assert_eq!(reading.entries[0]["message"]["content"], "who is my cat?");
    assert_eq!(reading.total_messages, Some(6));
    let keys = vec!["main".to_owned(), "nobody".to_owned()];
    let previews = soon(suite.sessions.preview(keys, 1, 5)).await.unwrap();
    assert_eq!(previews[0].items[0].text, "who i");
    assert!(!previews[1].found);
    let empty = soon(suite.sessions.compact(named_main, " ", 2))
        .await
        .unwrap_err();
    assert_eq!(empty.code(), Some(RefusalCode::InvalidArgument));
}

fn home(suite: &Suite) -> serde_json::Value {
    let bytes = std::fs::read(suite.paths().home_session()).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[tokio::test]
async fn home_session_has_its_document() {
    let suite = Suite::start().await;
    suite.exchange("Add a task", "Done").await;
    let message = Message {
        channel: "telegram".to_owned(),
        ..text_of("and now?")
    };
    let (accepted, replies) = suite.send(message).await.unwrap();
    suite.runner.started().await;
    suite
        .runner
        .say(&accepted.run_id, crate::suite::text("nothing"));
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;
    // The view is written behind the answer, and before the next one.
    soon(suite.sessions.list(Query::default())).await.unwrap();
    let document = home(&suite);
    let keys: Vec<_> = document.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "created_at", "updated_at", "messages"]);
    assert_eq!(document["id"], "home");
    let second = &document["messages"][1];
    let fields: Vec<_> = second.as_object().unwrap().keys().collect();
    assert_eq!(
        fields,
        [
            "id",
            "user_text",
            "bot_text",
            "channel",
            "sent_at",
            "replied_at"
        ]
    );
    assert_eq!(second["id"], "2");
    assert_eq!(second["bot_text"], "nothing");
    assert_eq!(second["channel"], "telegram");

    let mut suite = suite;
    suite.stop().await;
    std::fs::remove_file(suite.paths().home_session()).unwrap();
    let suite = suite.again().await;
    suite.exchange("still there?", "yes").await;
    soon(suite.sessions.list(Query::default())).await.unwrap();
    let document = home(&suite);
    assert_eq!(document["messages"].as_array().unwrap().len(), 3);
    assert_eq!(document["messages"][1]["channel"], "telegram");
    soon(suite.sessions.reset(named(""), "")).await.unwrap();
    soon(suite.sessions.list(Query::default())).await.unwrap();
    assert!(!suite.paths().home_session().exists());
}

#[tokio::test]
async fn older_home_session_is_taken_over_once() {
    let mut suite = Suite::start().await;
    suite.stop().await;
    let path = suite.paths().home_session();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let document = r#"{"id":"home","created_at":"2026-02-25T10:00:00Z","updated_at":"2026-02-25T10:00:03Z","messages":[
        {"id":"1","user_text":"buy milk","bot_text":"noted","channel":"telegram","sent_at":"2026-02-25T10:00:00Z","replied_at":"2026-02-25T10:00:03Z"}]}"#;
    std::fs::write(&path, document).unwrap();
    let mut suite = suite.again().await;
    let (accepted, replies) = suite.say("what did I ask for?").await;
    let turn = suite.runner.started().await;
    assert!(format!("{:?}", turn.history).contains("buy milk"));
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;
    soon(suite.sessions.list(Query::default())).await.unwrap();
    let written = home(&suite);
    assert_eq!(written["created_at"], "2026-02-25T10:00:00Z");
    assert_eq!(written["messages"][0]["replied_at"], "2026-02-25T10:00:03Z");
    assert_eq!(written["messages"][0]["channel"], "telegram");
    suite.stop().await;
    let suite = suite.again().await;
    let listed = soon(suite.sessions.list(Query::default())).await.unwrap();
    assert_eq!(listed.sessions[0].message_count, 4, "taken over twice");
}

/// Two names that look alike are two sessions; what is there already stays what it is called.
#[tokio::test]
async fn session_is_not_made_of_a_name_with_what_is_not_seen() {
    let mut suite = Suite::start().await;
    suite.exchange("hello", "hi").await;
    suite.stop().await;
    let index = suite.paths().sessions("main").join("sessions.json");
    let mut sessions: Value = serde_json::from_slice(&std::fs::read(&index).unwrap()).unwrap();
    let mut known = sessions["agent:main:main"].clone();
    known["sessionId"] = "0d7f4c1e-3f5b-4b53-8d05-a4d5a0f6b2c1".into();
    known.as_object_mut().unwrap().remove("sessionFile");
    sessions["agent:main:te\u{200b}st"] = known;
    std::fs::write(&index, sessions.to_string()).unwrap();
    let suite = suite.again().await;

    let message = |key: &str| Message {
        session_key: key.to_owned(),
        ..text_of("hello")
    };
    for (key, character) in [
        ("wo\u{200b}rk", "U+200B"),
        ("work\u{202e}", "U+202E"),
        ("telegram:\u{2066}42", "U+2066"),
    ] {
        let refused = suite.send(message(key)).await.err().unwrap().to_string();
        assert!(refused.contains(character), "{refused}");
        let created = soon(suite.sessions.create(self::named(key), vec![], "")).await;
        let refused = created.unwrap_err().to_string();
        assert!(refused.contains(character), "{refused}");
    }
    let (accepted, replies) = suite.send(message("te\u{200b}st")).await.unwrap();
    assert_eq!(accepted.session_key, "agent:main:te\u{200b}st");
    suite.runner.started().await;
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;
    // What people and pictures are called by is seen.
    let (accepted, replies) = suite.send(message("größe-❤\u{fe0f}")).await.unwrap();
    suite.runner.started().await;
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;
}
