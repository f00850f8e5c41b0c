//! What WebSocket clients are told of sessions: how much of a turn, which part
//! of the history, and of those that they begin by an id.

use integration_tests::socket::Socket;
use integration_tests::{Setup, Suite, within};
use scripted_model::Server;
use serde_json::{Value, json};

async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    (Setup::anthropic(&model).start().await, model)
}

#[tokio::test]
async fn levels_of_a_session_change_what_its_clients_are_shown() {
    let (suite, _model) = scene().await;
    // Without the capability for tools.
    let mut socket = Socket::enter_as(&suite, json!({"caps": []})).await;
    let message = |id: &str| {
        json!({
            "sessionKey": "main",
            "message": r#"[[scenario:tool read {"path": "."}]]"#,
            "idempotencyKey": id,
        })
    };
    let tools = |socket: &Socket, id: &str| -> Vec<Value> {
        let events = socket.seen.iter().filter(|it| {
            it["event"] == "agent"
                && it["payload"]["stream"] == "tool"
                && it["payload"]["runId"] == id
        });
        events.cloned().collect()
    };
    socket.call("chat.send", message("l1")).await;
    socket.end_of("l1").await;
    assert!(tools(&socket, "l1").is_empty());
    for (level, has_result, id) in [("on", false, "l2"), ("full", true, "l3")] {
        let patch = json!({"key": "main", "verboseLevel": level, "responseUsage": "tokens"});
        socket.call("sessions.patch", patch).await;
        socket.call("chat.send", message(id)).await;
        let end = socket.end_of(id).await;
        let said = &end["payload"]["message"]["content"][0]["text"];
        assert!(said.as_str().unwrap().contains("\n\nUsage: "), "{end}");
        let told = tools(&socket, id);
        let result = told.last().unwrap();
        assert_eq!(result["payload"]["data"]["phase"], "result", "{told:?}");
        assert_eq!(result["payload"]["data"]["result"].is_object(), has_result);
    }
    let entries = suite.messages();
    assert!(entries.iter().all(|it| !it.to_string().contains("Usage: ")));
    for (field, value) in [
        ("verboseLevel", "loud"),
        ("reasoningLevel", "full"),
        ("traceLevel", "on"),
    ] {
        let refused = socket
            .fail("sessions.patch", json!({"key": "main", field: value}))
            .await;
        assert!(refused.to_string().contains(field), "{refused}");
    }
}

#[tokio::test]
async fn pages_of_history_stay_the_same_while_messages_come() {
    let (suite, _model) = scene().await;
    for number in 0..4 {
        suite.say(&format!("number-{number}")).await;
    }
    let mut socket = Socket::enter(&suite).await;
    let ask = |more: Value| {
        let mut params = json!({"sessionKey": "main", "limit": 3});
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        params
    };
    let texts = |page: &Value| -> Vec<String> {
        let messages = page["messages"].as_array().unwrap().iter();
        let said = messages.map(|it| it["content"][0]["text"].as_str().or(it["content"].as_str()));
        said.map(|it| it.unwrap_or_default().to_owned()).collect()
    };
    let first = socket.call("chat.history", ask(json!({}))).await;
    assert!(
        texts(&first).iter().any(|it| it.contains("number-3")),
        "{first}"
    );
    suite.say("number-4").await;
    let cursor = json!({"cursor": first["nextCursor"]});
    let second = socket.call("chat.history", ask(cursor)).await;
    assert_eq!(second["messages"].as_array().unwrap().len(), 3, "{second}");
    let all = texts(&second).join(" ");
    assert!(
        all.contains("number-2") && !all.contains("number-3\n"),
        "{second}"
    );
    let id = second["messages"][0]["__openclaw"]["id"].clone();
    let around = socket
        .call("chat.history", ask(json!({"messageId": id})))
        .await;
    let found = around["messages"].as_array().unwrap().iter();
    assert!(
        found.clone().any(|it| it["__openclaw"]["id"] == id),
        "{around}"
    );
    for params in [
        json!({"cursor": "nonsense"}),
        json!({"messageId": "nobody"}),
    ] {
        socket.fail("chat.history", ask(params)).await;
    }
}

#[tokio::test]
async fn a_session_id_that_is_new_becomes_a_sessions() {
    let (suite, _model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    let params =
        |id: &str, key: &str| json!({"message": "hello", "sessionId": id, "idempotencyKey": key});
    let accepted = socket.call("agent", params("my-own.id", "n1")).await;
    assert_eq!(
        accepted["sessionKey"], "agent:main:explicit:my-own.id",
        "{accepted}"
    );
    socket.end_of("n1").await;
    let again = socket.call("agent", params("my-own.id", "n2")).await;
    assert_eq!(again["sessionKey"], accepted["sessionKey"], "{again}");
    let shown = suite
        .ctl(&["sessions", "show", "my-own.id", "--json"])
        .await
        .ok();
    assert!(shown.contains("\"my-own.id\""), "{shown}");
    let index = suite.state().join("agents/main/sessions/sessions.json");
    let index = within("the index", async {
        loop {
            let text = std::fs::read_to_string(&index).unwrap_or_default();
            if text.contains("explicit") {
                return text;
            }
            tokio::task::yield_now().await;
        }
    });
    let index: Value = serde_json::from_str(&index.await).unwrap();
    let entry = &index["agent:main:explicit:my-own.id"];
    assert_eq!(entry["origin"]["provider"], entry["lastChannel"], "{entry}");
    assert_eq!(entry["deliveryContext"]["channel"], entry["lastChannel"]);
    socket.fail("agent", params("../../etc", "n3")).await;
}
