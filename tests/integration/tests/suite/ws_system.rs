//! What the gateway tells of itself and of agents that it woke.

use integration_tests::socket::Socket;
use integration_tests::transcript::text;
use integration_tests::{Setup, asked};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

#[tokio::test]
async fn last_time_an_agent_was_woken_is_known_over_restarts() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    assert_eq!(socket.call("last-heartbeat", json!({})).await, Value::Null);
    let wake = |text: &str| json!({"mode": "now", "text": text});
    model.push(Scenario::text("The disk is full."));
    socket.call("wake", wake("disk at 100 %")).await;
    let is_heartbeat = |it: &Value| it["event"] == "heartbeat";
    let heard = socket.heard(is_heartbeat).await["payload"].clone();
    assert_eq!(heard["status"], "sent", "{heard}");
    assert_eq!(heard["preview"], "The disk is full.", "{heard}");
    assert_eq!(socket.call("last-heartbeat", json!({})).await, heard);

    socket.seen.clear();
    model.push(Scenario::text("HEARTBEAT_OK"));
    socket.call("wake", wake("nothing much")).await;
    let quiet = socket.heard(is_heartbeat).await["payload"].clone();
    assert_eq!(quiet["status"], "ok-token", "{quiet}");
    suite.terminate();
    let mut suite = suite;
    suite.ended().await;
    let suite = suite.restart().await;
    let mut socket = Socket::enter(&suite).await;
    assert_eq!(socket.call("last-heartbeat", json!({})).await, quiet);
}

/// What happened is in the transcript as what happened, not as something the
/// user said, and the turns after know of it.
#[tokio::test]
async fn event_is_kept_as_what_it_was() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let wake = json!({"mode": "now", "text": "disk at 100 %"});
    socket.call("wake", wake).await;
    socket.heard(|it| it["event"] == "heartbeat").await;
    let first = asked::words(&asked::turns(&model, 1).await[0]);
    assert!(
        first.contains("] disk at 100 %") && first.contains("Look at the events above"),
        "{first}"
    );
    let messages = suite.messages();
    let told = text(&messages[0]);
    assert!(
        told.starts_with("System: [") && told.ends_with("disk at 100 %"),
        "{messages:?}"
    );
    assert_eq!(
        messages[0]["__openclaw"]["channel"], "system",
        "{messages:?}"
    );

    let later = json!({"mode": "next-heartbeat", "text": "the backup is done"});
    socket.call("wake", later).await;
    suite.say("hello").await;
    suite.say("what happened?").await;
    let last = asked::turns(&model, 3).await.pop().unwrap();
    let messages = asked::messages(&last);
    for event in ["disk at 100 %", "the backup is done"] {
        let told = |(role, words): &&(String, String)| role == "user" && words.contains(event);
        assert_eq!(
            messages.iter().filter(told).count(),
            1,
            "{event}: {messages:?}"
        );
    }
    let written = suite.messages();
    let hello = written.iter().find(|message| text(message) == "hello");
    assert!(hello.is_some(), "{written:?}");
    let event = written
        .iter()
        .find(|message| text(message).ends_with("] the backup is done"));
    let event = event.unwrap_or_else(|| panic!("{written:?}"));
    assert_eq!(event["__openclaw"]["channel"], "system", "{event}");
    assert_eq!(event["idempotencyKey"], Value::Null, "{event}");
}

#[tokio::test]
async fn status_tells_sessions_and_what_waits_for_the_agent() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let message = json!({"sessionKey": "main", "message": "hello", "idempotencyKey": "k"});
    socket.call("chat.send", message).await;
    socket.end_of("k").await;
    let later = json!({"mode": "next-heartbeat", "text": "the backup is done"});
    socket.call("wake", later).await;
    let status = socket.call("status", json!({})).await;
    assert_eq!(status["queuedSystemEvents"], json!(["the backup is done"]));
    let row = &status["sessions"]["recent"][0];
    assert!(row["inputTokens"].as_u64() > Some(0), "{row}");
    let left = row["contextTokens"].as_u64().unwrap() - row["totalTokens"].as_u64().unwrap();
    assert_eq!(row["remainingTokens"].as_u64(), Some(left), "{row}");
    assert_eq!(row["abortedLastRun"], false, "{row}");
    let agent = &status["sessions"]["byAgent"][0];
    assert_eq!(agent["agentId"], "main", "{agent}");
    assert_eq!(agent["recent"][0], *row);
    assert_eq!(
        status["pid"].as_i64(),
        Some(i64::from(suite.daemon("openclaw-gateway").as_raw()))
    );
}

#[tokio::test]
async fn files_that_are_texts_are_part_of_the_message() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let csv = json!({"type": "file", "mimeType": "text/csv", "fileName": "a.csv", "content": "eCx5CjEsMg=="});
    let message = json!({
        "sessionKey": "main", "message": "sum it up", "idempotencyKey": "k", "attachments": [csv],
    });
    socket.call("chat.send", message).await;
    socket.end_of("k").await;
    let asked = model.turns()[0].json().to_string();
    let framed = r#"sum it up\n\n<file name=\"a.csv\" mime=\"text/csv\">\nx,y\n1,2\n</file>"#;
    assert!(asked.contains(framed), "{asked}");

    let picture = json!({"type": "image", "mimeType": "image/png", "fileName": "p.png", "content": "iVBORw0KGgo="});
    let message = json!({
        "sessionKey": "main", "message": "look", "idempotencyKey": "k2", "attachments": [picture],
    });
    let error = socket.fail("chat.send", message).await;
    let words = error["message"].as_str().unwrap();
    assert!(words.contains("p.png is image/png and no text"), "{words}");
    assert_eq!(model.turns().len(), 1);
}

#[tokio::test]
async fn agent_is_asked_in_the_session_that_is_named_by_its_id() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let created = socket
        .call("sessions.create", json!({"key": "alpha"}))
        .await;
    let ask =
        |id: &Value, key: &str| json!({"message": "hi", "sessionId": id, "idempotencyKey": key});
    let accepted = socket.call("agent", ask(&created["sessionId"], "k")).await;
    assert_eq!(accepted["sessionKey"], "agent:main:alpha", "{accepted}");
    socket.end_of("k").await;
    let error = socket.fail("agent", ask(&json!("no such id"), "k2")).await;
    assert!(
        error["message"].as_str().unwrap().contains("no such id"),
        "{error}"
    );
}

#[tokio::test]
async fn first_words_tell_all_sessions_of_each_agent() {
    let model = Server::start().await.unwrap();
    let two = json!([{"id": "main"}, {"id": "work"}]);
    let suite = Setup::anthropic(&model)
        .set("agents.list", two)
        .start()
        .await;
    let mut socket = Socket::enter(&suite).await;
    for n in 0..7 {
        socket
            .call("sessions.create", json!({"key": format!("s{n}")}))
            .await;
    }
    socket
        .call("sessions.create", json!({"key": "agent:work:one"}))
        .await;
    let health = socket.call("health", json!({"probe": true})).await;
    let count = |health: &Value, id: &str| {
        let agents = health["agents"].as_array().unwrap().clone();
        let agent = agents.into_iter().find(|agent| agent["agentId"] == id);
        agent.unwrap()["sessions"]["count"].as_u64().unwrap()
    };
    assert_eq!((count(&health, "main"), count(&health, "work")), (7, 1));
    assert_eq!(health["sessions"]["count"], 8);
    // Somebody who comes later is told the same at once.
    let address = suite.address("http").await;
    let mut later = Socket::open(&address, None).await;
    let hello = later
        .connect(&suite.token().await, json!({}))
        .await
        .unwrap();
    let told = &hello["payload"]["snapshot"]["health"];
    assert_eq!(
        (count(told, "main"), count(told, "work")),
        (7, 1),
        "{hello}"
    );
}

#[tokio::test]
async fn nodes_and_scopeless_operators_learn_nothing_of_the_gateway() {
    let suite = Setup::offline().start().await;
    let mut reader = Socket::enter(&suite).await;
    reader
        .call("sessions.create", json!({"key": "agent:main:private"}))
        .await;
    reader.call("health", json!({"probe": true})).await;
    let (address, token) = (suite.address("http").await, suite.token().await);
    let node = json!({"id": "openclaw-ios", "version": "1.0.0", "platform": "ios", "mode": "node"});
    let state = suite.state().display().to_string();
    for changes in [
        json!({"role": "node", "scopes": [], "client": node}),
        json!({"scopes": []}),
        json!({"scopes": ["operator.pairing"]}),
    ] {
        let mut socket = Socket::open(&address, None).await;
        let hello = socket.connect(&token, changes.clone()).await.unwrap();
        let snapshot = &hello["payload"]["snapshot"];
        assert_eq!(snapshot["health"], json!({}), "{changes}: {hello}");
        assert_eq!(snapshot["presence"], json!([]), "{changes}: {hello}");
        for name in ["configPath", "stateDir", "authMode", "appliedConfigHash"] {
            assert_eq!(snapshot.get(name), None, "{changes}: {hello}");
        }
        let health = socket.ask("health", json!({"probe": true})).await.unwrap();
        let presence = socket.ask("system-presence", json!({})).await.unwrap();
        assert_eq!(presence["ok"], false, "{presence}");
        reader.call("health", json!({"probe": true})).await;
        // What it was told meanwhile comes before the answer.
        let last = socket.ask("status", json!({})).await.unwrap();
        assert_eq!(last["ok"], false, "{last}");
        let said = format!("{hello}{health}{:?}", socket.seen);
        for secret in [state.as_str(), "agent:main:private", "sessions.json"] {
            assert!(!said.contains(secret), "{changes}: {said}");
        }
        for told in ["health", "presence"] {
            let is_told = socket.seen.iter().any(|event| event["event"] == told);
            assert!(!is_told, "{changes}: {:?}", socket.seen);
        }
    }
    let mut again = Socket::open(&address, None).await;
    let hello = again.connect(&token, json!({})).await.unwrap();
    let snapshot = &hello["payload"]["snapshot"];
    assert_eq!(snapshot["stateDir"], json!(state), "{hello}");
}
