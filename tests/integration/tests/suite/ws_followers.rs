//! What clients hear of a session that others write in and change.

use integration_tests::Setup;
use integration_tests::socket::Socket;
use scripted_model::Server;
use serde_json::{Value, json};

fn is_message(frame: &Value, role: &str) -> bool {
    frame["event"] == "session.message" && frame["payload"]["message"]["role"] == role
}

fn is_change(frame: &Value, reason: &str) -> bool {
    frame["event"] == "sessions.changed" && frame["payload"]["reason"] == reason
}

#[tokio::test]
async fn ws_followers_who_follows_a_session_hears_what_others_say_and_what_is_answered() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut follower = Socket::enter(&suite).await;
    let follow = json!({"key": "alpha"});
    follower.call("sessions.messages.subscribe", follow).await;
    follower.call("sessions.subscribe", json!({})).await;
    let mut speaker = Socket::enter(&suite).await;
    let message = json!({"sessionKey": "alpha", "message": "hello", "idempotencyKey": "k1"});
    speaker.call("chat.send", message).await;

    let asked = follower.heard(|it| is_message(it, "user")).await;
    let asked = &asked["payload"];
    assert_eq!(asked["message"]["content"], "hello", "{asked}");
    assert_eq!(asked["runId"], "k1", "{asked}");
    assert_eq!(asked["messageSeq"], 1, "{asked}");
    let sent = follower.heard(|it| is_change(it, "send")).await;
    let row = &sent["payload"]["session"];
    assert_eq!(row["status"], "running", "{row}");
    assert_eq!(row["activeRunIds"], json!(["k1"]), "{row}");
    assert_eq!(sent["payload"]["status"], "running", "beside the row too");
    assert_eq!(sent["payload"]["label"], Value::Null);

    let answered = follower.heard(|it| is_message(it, "assistant")).await;
    let answered = &answered["payload"];
    let words = &answered["message"]["content"][0]["text"];
    assert_eq!(words, "You said: hello", "{answered}");
    assert_eq!(answered["messageSeq"], 2, "{answered}");
    let done = follower.heard(|it| is_change(it, "done")).await;
    let row = &done["payload"]["session"];
    assert_eq!(row["status"], "done", "{row}");
    assert_eq!(row["hasActiveRun"], false, "{row}");
    assert!(row["runtimeMs"].as_i64() >= Some(0), "{row}");
    let history = speaker
        .call("chat.history", json!({"sessionKey": "alpha"}))
        .await;
    let known = history["messages"].as_array().unwrap();
    assert_eq!(known[0]["__openclaw"]["id"], asked["messageId"]);
    assert_eq!(known[1]["__openclaw"]["id"], answered["messageId"]);
}

#[tokio::test]
async fn ws_followers_what_is_set_of_a_session_is_shown() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let patch = json!({
        "key": "alpha", "label": "Trip", "displayName": "The trip", "icon": "🧳", "pinned": true,
        "unread": true, "queueMode": "collect", "verboseLevel": "on", "model": "openai/gpt-5",
    });
    socket.call("sessions.patch", patch).await;
    let listed = socket.call("sessions.list", json!({})).await;
    let described = socket
        .call("sessions.describe", json!({"key": "alpha"}))
        .await;
    for row in [&listed["sessions"][0], &described["session"]] {
        for (name, value) in [
            ("label", json!("Trip")),
            ("displayName", json!("The trip")),
            ("icon", json!("🧳")),
            ("pinned", json!(true)),
            ("unread", json!(true)),
            ("effectiveQueueMode", json!("collect")),
            ("verboseLevel", json!("on")),
            ("modelProvider", json!("openai")),
            ("model", json!("gpt-5")),
            ("modelOverrideSource", json!("user")),
        ] {
            assert_eq!(row[name], value, "{name} in {row}");
        }
    }
    let back = json!({"key": "alpha", "pinned": false, "unread": false, "model": null});
    socket.call("sessions.patch", back).await;
    let described = socket
        .call("sessions.describe", json!({"key": "alpha"}))
        .await;
    let row = &described["session"];
    assert_eq!(row["pinned"], false, "{row}");
    assert_eq!(row["unread"], false, "{row}");
    assert_eq!(row["modelOverrideSource"], Value::Null, "{row}");
}

#[tokio::test]
async fn ws_followers_what_a_session_cannot_be_given_is_refused() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    // Each would promise something that nobody keeps.
    for (name, value) in [
        ("permissionMode", "read-only"),
        ("elevatedLevel", "on"),
        // The agent has none of that name.
        ("authProfileOverride", "anthropic:other"),
    ] {
        let error = socket
            .fail("sessions.patch", json!({"key": "main", name: value}))
            .await;
        let words = error["message"].as_str().unwrap();
        let of_profile = words.contains("has no auth profile \"anthropic:other\"");
        assert!(words.contains(name) || of_profile, "{error}");
    }
    socket
        .call(
            "sessions.patch",
            json!({"key": "main", "sendPolicy": "deny"}),
        )
        .await;
    let message = json!({"sessionKey": "main", "message": "hi", "idempotencyKey": "k"});
    let error = socket.fail("chat.send", message.clone()).await;
    assert_eq!(
        error["message"], "send blocked by session policy",
        "{error}"
    );
    assert_eq!(model.turns().len(), 0);
    socket
        .call(
            "sessions.patch",
            json!({"key": "main", "sendPolicy": "allow"}),
        )
        .await;
    socket.call("chat.send", message).await;
    socket.end_of("k").await;

    let fork = json!({"parentSessionKey": "main", "fork": true});
    let error = socket.fail("sessions.create", fork).await;
    assert!(
        error["message"].as_str().unwrap().contains("fork"),
        "{error}"
    );
    let keys = json!({"keys": ["main", "a\u{7}b"]});
    let previews = socket.call("sessions.preview", keys).await;
    assert_eq!(previews["previews"][0]["status"], "ok", "{previews}");
    assert_eq!(previews["previews"][1]["status"], "missing", "{previews}");
}

#[tokio::test]
async fn configuration_says_what_a_busy_session_does() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model).set("messages.queue.mode", "followup");
    let suite = setup
        .set("messages.queue.byChannel.webchat", "interrupt")
        .start()
        .await;
    let mut socket = Socket::enter(&suite).await;
    let send =
        |text: &str, id: &str| json!({"sessionKey": "main", "message": text, "idempotencyKey": id});
    socket
        .call("chat.send", send("[[scenario:slow 100]] one", "one"))
        .await;
    socket.call("chat.send", send("two", "two")).await;
    assert_eq!(socket.end_of("one").await["payload"]["state"], "aborted");
    assert_eq!(socket.end_of("two").await["payload"]["state"], "final");
    let described = socket
        .call("sessions.describe", json!({"key": "main"}))
        .await;
    assert_eq!(described["session"]["effectiveQueueMode"], "interrupt");
}
