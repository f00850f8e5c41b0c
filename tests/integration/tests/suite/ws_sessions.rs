//! What WebSocket clients are told of sessions: how much of a turn, which part
//! of the history, and of those that they begin by an id.

use integration_tests::socket::Socket;
use integration_tests::{Setup, Suite, within};
use scripted_model::{Scenario, Server};
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
    let offset = json!({"offset": first["nextOffset"]});
    let by_offset = socket.call("chat.history", ask(offset)).await;
    suite.say("number-4").await;
    let cursor = json!({"cursor": first["nextCursor"]});
    let second = socket.call("chat.history", ask(cursor)).await;
    assert_eq!(texts(&by_offset), texts(&second));
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
    socket
        .fail("chat.history", ask(json!({"messageId": "nobody"})))
        .await;
    // One of OpenClaw's own, of another gateway.
    let cursor = json!({"cursor": "eyJ2IjoxfQ"});
    let reset = socket.call("chat.history", ask(cursor)).await;
    assert_eq!(reset, json!({"kind": "reset"}));
}

/// A client that was away is told what it missed, as the events that it would have been told;
/// after a reset it begins anew.
#[tokio::test]
async fn history_goes_on_from_a_cursor() {
    let (suite, model) = scene().await;
    suite.say("first").await;
    let mut socket = Socket::enter(&suite).await;
    let since = |cursor: &Value| json!({"sessionKey": "main", "cursor": cursor});
    let page = json!({"sessionKey": "main"});
    let page = socket.call("chat.history", page).await;
    let cursor = &page["deltaCursor"];
    let none = socket.call("chat.history", since(cursor)).await;
    assert_eq!(
        (&none["kind"], &none["messages"], &none["deltaCursor"]),
        (&json!("delta"), &json!([]), cursor),
        "{none}"
    );

    model.push(Scenario::held("held", "gate"));
    let message = json!({"sessionKey": "main", "message": "second", "idempotencyKey": "k2"});
    socket.call("chat.send", message).await;
    let message = json!({"sessionKey": "main", "message": "third", "idempotencyKey": "k3", "queueMode": "followup"});
    socket.call("chat.send", message).await;
    let waiting = socket.call("chat.history", since(cursor)).await;
    let ids = |answer: &Value| -> Vec<String> {
        let messages = answer["messages"].as_array().unwrap().iter();
        messages
            .map(|it| it["message"]["content"].to_string())
            .collect()
    };
    assert_eq!(ids(&waiting).len(), 1, "{waiting}");
    assert_eq!(waiting["pendingInputs"]["total"], 1, "{waiting}");
    model.release("gate");
    socket.end_of("k3").await;

    for cursor in [cursor, &waiting["deltaCursor"]] {
        let missed = socket.call("chat.history", since(cursor)).await;
        assert!(
            ids(&missed).iter().any(|it| it.contains("third")),
            "{missed}"
        );
        let last = missed["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(last["message"]["role"], "assistant", "{missed}");
        assert_eq!(last["message"]["__openclaw"]["seq"], last["messageSeq"]);
        assert_eq!(last["sessionKey"], "agent:main:main", "{missed}");
        assert_eq!(missed["sessionInfo"]["key"], "agent:main:main", "{missed}");
        assert_eq!(missed["pendingInputs"]["total"], 0, "{missed}");
        let rest = socket
            .call("chat.history", since(&missed["deltaCursor"]))
            .await;
        assert_eq!(rest["messages"], json!([]), "{rest}");
    }
    let mut both = since(cursor);
    both["offset"] = json!(1);
    socket.fail("chat.history", both).await;
    socket.call("sessions.reset", json!({"key": "main"})).await;
    let reset = socket.call("chat.history", since(cursor)).await;
    assert_eq!(reset, json!({"kind": "reset"}));
}

/// As OpenClaw's gateway does: from the last reset on, and what was before around a
/// message that is named.
#[tokio::test]
async fn history_begins_with_the_last_reset() {
    let model = Server::start().await.unwrap();
    // An answer quotes what it is told, what memory found too.
    let setup = Setup::anthropic(&model).set("agents.defaults.memorySearch.recall.enabled", false);
    let suite = setup.start().await;
    let mut socket = Socket::enter(&suite).await;
    for number in 0..3 {
        suite.say(&format!("old-{number}")).await;
    }
    let ask = |more: Value| {
        let mut params = json!({"sessionKey": "main", "limit": 2});
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        params
    };
    let before = socket.call("chat.history", ask(json!({}))).await;
    assert_eq!(before["totalMessages"], 6, "{before}");
    let id = before["messages"][0]["__openclaw"]["id"].clone();
    socket.call("sessions.reset", json!({"key": "main"})).await;
    let empty = socket.call("chat.history", ask(json!({}))).await;
    assert_eq!(empty["messages"], json!([]), "{empty}");
    assert_eq!(
        (&empty["hasMore"], &empty["totalMessages"]),
        (&json!(false), &json!(0)),
        "{empty}"
    );

    for number in 0..2 {
        suite.say(&format!("new-{number}")).await;
    }
    let (mut told, mut cursor) = (String::new(), json!(""));
    while cursor != json!(null) {
        let page = socket
            .call("chat.history", ask(json!({"cursor": cursor})))
            .await;
        assert_eq!(page["messages"].as_array().unwrap().len(), 2, "{page}");
        told.push_str(&page["messages"].to_string());
        cursor = page["nextCursor"].clone();
        let total = if cursor.is_null() {
            json!(4)
        } else {
            json!(null)
        };
        assert_eq!(page["totalMessages"], total, "{page}");
    }
    assert!(told.contains("new-0") && told.contains("new-1"), "{told}");
    assert!(!told.contains("old-"), "{told}");
    let beyond = socket.call("chat.history", ask(json!({"offset": 4}))).await;
    assert_eq!(beyond["messages"], json!([]), "{beyond}");

    // A message that is named is found also where it is older, with nothing that came later.
    let anchored = json!({"messageId": id, "limit": 20});
    let old = socket.call("chat.history", ask(anchored)).await;
    let told = old["messages"].to_string();
    assert!(told.contains("old-2") && !told.contains("new-"), "{told}");
    let narrow = json!({"messageId": id, "limit": 1});
    let narrow = socket.call("chat.history", ask(narrow)).await;
    assert_eq!(narrow["messages"][0]["__openclaw"]["id"], id, "{narrow}");
    let cursor = json!({"cursor": narrow["nextCursor"], "limit": 20});
    let rest = socket.call("chat.history", ask(cursor)).await;
    assert_eq!(rest["messages"].as_array().unwrap().len(), 4, "{rest}");
}

/// However small the pages are, together they have every message once, each with
/// the id of its run that the client knows.
#[tokio::test]
async fn pages_of_history_leave_nothing_out() {
    let (suite, model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    for key in ["p1", "p2"] {
        model.push(Scenario::tool(
            "execute_shell",
            json!({"command": "echo x"}),
        ));
        let message =
            json!({"sessionKey": "main", "message": format!("do {key}"), "idempotencyKey": key});
        socket.call("chat.send", message).await;
        socket.end_of(key).await;
    }
    for (limit, chars) in [
        (1000, 500_000),
        (1, 500_000),
        (3, 500_000),
        (1000, 1),
        (1000, 900),
    ] {
        let (mut told, mut cursor) = (Vec::new(), json!(""));
        while cursor != json!(null) {
            let asked =
                json!({"sessionKey": "main", "limit": limit, "maxChars": chars, "cursor": cursor});
            let page = socket.call("chat.history", asked).await;
            let messages = page["messages"].as_array().unwrap().clone();
            assert!(!messages.is_empty(), "{page}");
            told.splice(0..0, messages);
            cursor = page["nextCursor"].clone();
        }
        let known = told.iter().map(|message| {
            let about = &message["__openclaw"];
            let of_user = message["idempotencyKey"]
                .as_str()
                .map(|it| it.replace(":user", ""));
            let run = about["runId"].as_str().map(str::to_owned).or(of_user);
            (about["seq"].as_u64().unwrap(), run.unwrap())
        });
        let wanted = [(1, "p1"), (2, "p1"), (3, "p1"), (4, "p1")];
        let wanted = wanted
            .into_iter()
            .chain([(5, "p2"), (6, "p2"), (7, "p2"), (8, "p2")]);
        let wanted: Vec<_> = wanted.map(|(seq, run)| (seq, run.to_owned())).collect();
        assert_eq!(known.collect::<Vec<_>>(), wanted, "{limit} {chars}");
    }
}

#[tokio::test]
async fn session_id_that_is_new_becomes_a_sessions() {
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

    // As OpenClaw's command line says it: with the key that the id has.
    let id = "44444444-3333-4444-8555-666666666666";
    let key = format!("agent:main:explicit:{id}");
    let mut both = params(id, "n4");
    both["sessionKey"] = key.clone().into();
    let accepted = socket.call("agent", both).await;
    assert_eq!(accepted["sessionKey"], key, "{accepted}");
    socket.end_of("n4").await;
    let shown = suite.ctl(&["sessions", "show", &key, "--json"]).await;
    assert!(shown.ok().contains(&format!("\"{id}\"")));
}
