//! What is said: messages, sessions, and those who follow them.

use std::path::Path;

use integration_tests::socket::Socket;
use scripted_model::{Scenario, Usage};
use serde_json::{Value, json};

use super::{Audit, difference};

/// What the two answers cost, in tokens and in dollars.
const USAGE: Usage = Usage {
    input: 1000,
    output: 200,
    cache_read: 0,
    cache_write: 0,
};

pub(super) async fn conversation(audit: &mut Audit) {
    for text in ["The first answer.", "The second answer."] {
        audit.model.push(Scenario::text(text).usage(USAGE));
    }
    audit.say("main", "hello", "u1").await;
    let message = json!({"message": "and then?", "sessionKey": "main", "idempotencyKey": "u2"});
    let accepted = json!({"runId": "u2", "sessionKey": "agent:main:main", "agentId": "main",
        "status": "accepted"});
    audit.row("agent", message, accepted).await;
    let ended = json!({"runId": "u2", "status": "ok", "error": null});
    let ended = audit.row("agent.wait", json!({"runId": "u2"}), ended).await;
    assert!(ended["startedAt"].as_i64() <= ended["endedAt"].as_i64());
    let whole = |it: &Value| it["payload"]["runId"] == "u2" && it["payload"]["result"].is_object();
    let second = loop {
        match audit.socket.seen.iter().find(|it| whole(it)) {
            Some(frame) => break frame.clone(),
            None => drop(audit.socket.next().await.unwrap()),
        }
    };
    let expected = json!({"payload": {"summary": "completed", "result": {
        "payloads": [{"text": "The second answer."}],
        "meta": {"aborted": false, "agentMeta": {
            "provider": "anthropic", "model": "claude-sonnet-5",
            "usage": {"input": 1000, "output": 200, "total": 1200},
        }},
    }}});
    assert_eq!(difference(&expected, &second, ""), None);

    let said = |role: &str, text: &str| match role {
        "user" => json!({"role": role, "content": text}),
        _ => json!({"role": role, "content": [{"text": text}]}),
    };
    let page = json!({
        "sessionKey": "main", "totalMessages": 4, "hasMore": true, "hasActiveRun": false,
        "pendingInputs": {"items": [], "total": 0},
        "defaults": {"modelProvider": "anthropic", "model": "claude-sonnet-5",
            "contextTokens": 120_000},
        "messages": [said("assistant", "The first answer."), said("user", "and then?"),
            said("assistant", "The second answer.")],
    });
    let wanted = json!({"sessionKey": "main", "limit": 3});
    let page = audit.row("chat.history", wanted, page).await;
    let rest = json!({"sessionKey": "main", "cursor": page["nextCursor"]});
    let older = json!({"hasMore": false, "messages": [said("user", "hello")]});
    audit.row("chat.history", rest, older).await;

    let (input, output) = (2.0 * 1000.0 * 3.0 / 1e6, 2.0 * 200.0 * 15.0 / 1e6);
    let cost = audit
        .row(
            "usage.cost",
            json!({"days": 1}),
            json!({"days": 1, "totals": {
                "input": 2000, "output": 400, "totalTokens": 2400, "missingCostEntries": 0,
            }}),
        )
        .await;
    assert_eq!(cost["daily"][0]["totalTokens"], 2400, "{cost}");
    for (name, dollars) in [("inputCost", input), ("totalCost", input + output)] {
        let told = cost["totals"][name].as_f64().unwrap();
        assert!((told - dollars).abs() < 1e-9, "{name}: {cost}");
    }

    let note = json!({"sessionKey": "main", "message": "a note", "label": "L"});
    let injected = audit.row("chat.inject", note, json!({"ok": true})).await;
    let sent = json!({"to": "main", "message": "sent words", "idempotencyKey": "u3"});
    let expected = json!({"runId": "u3", "channel": "webchat", "duplicate": null});
    let words = audit.row("send", sent.clone(), expected).await;
    let again = json!({"runId": "u3", "duplicate": true, "messageId": null});
    audit.row("send", sent, again).await;
    let both = json!({"totalMessages": 6, "messages": [
        said("assistant", "[L]\n\na note"), said("assistant", "sent words")]});
    let wanted = json!({"sessionKey": "main", "limit": 2});
    audit.row("chat.history", wanted, both).await;
    for (id, text) in [(&injected, "[L]\n\na note"), (&words, "sent words")] {
        let around = json!({"sessionKey": "main", "messageId": id["messageId"], "limit": 1});
        let one = json!({"messages": [said("assistant", text)]});
        audit.row("chat.history", around, one).await;
    }
}

/// Runs that are ended, and the messages that wait behind them.
pub(super) async fn aborted(audit: &mut Audit) {
    let send = |session: &str, id: &str| {
        json!({"sessionKey": session, "message": format!("words of {id}"), "idempotencyKey": id,
            "queueMode": "followup"})
    };
    audit.held(send("main", "a1")).await;
    let one = json!({"sessionKey": "main", "runId": "a1"});
    let expected = json!({"ok": true, "aborted": true, "runIds": ["a1"]});
    audit.row("chat.abort", one.clone(), expected).await;
    assert_eq!(
        audit.socket.end_of("a1").await["payload"]["state"],
        "aborted"
    );
    let nothing = json!({"ok": true, "aborted": false, "runIds": []});
    audit.row("chat.abort", one, nothing).await;

    // What waits is answered after it, unless it is to go too.
    audit.held(send("other", "a2")).await;
    audit.socket.call("chat.send", send("other", "a3")).await;
    let expected = json!({"ok": true, "abortedRunId": "a2", "runIds": ["a2"],
        "status": "aborted"});
    let key = json!({"key": "other"});
    audit.row("sessions.abort", key.clone(), expected).await;
    assert_eq!(audit.socket.end_of("a3").await["payload"]["state"], "final");
    audit.held(send("other", "a4")).await;
    audit.socket.call("chat.send", send("other", "a5")).await;
    let all = json!({"key": "other", "clearQueued": true});
    let ended = audit
        .row("sessions.abort", all, json!({"status": "aborted"}))
        .await;
    assert_eq!(ended["runIds"].as_array().unwrap().len(), 2, "{ended}");
    assert_eq!(
        audit.socket.end_of("a5").await["payload"]["state"],
        "aborted"
    );
    let nothing = json!({"status": "no-active-run", "runIds": []});
    audit.row("sessions.abort", key, nothing).await;
}

pub(super) async fn sessions(audit: &mut Audit) {
    let new = json!({"key": "fresh", "label": "Fresh", "thinkingLevel": "low"});
    let expected = json!({"ok": true, "key": "agent:main:fresh", "runStarted": false,
        "entry": {"label": "Fresh", "thinkingLevel": "low"}});
    let made = audit.row("sessions.create", new, expected).await;
    for name in ["fork", "worktree", "agentRuntime", "permissionMode"] {
        let other = json!({"key": "otherwise", name: "x"});
        let error = audit.socket.fail("sessions.create", other).await;
        assert!(error["message"].as_str().unwrap().contains(name), "{error}");
    }
    let first = json!({"key": "fresh", "message": "hi", "idempotencyKey": "s1"});
    let expected = json!({"runId": "s1", "status": "started", "sessionKey": "agent:main:fresh"});
    audit.row("sessions.send", first, expected).await;
    audit.socket.end_of("s1").await;
    let begun = json!({"message": "begin", "idempotencyKey": "s2", "agentId": "helper"});
    let expected = json!({"runStarted": true, "runId": "s2", "entry": {"label": null}});
    audit.row("sessions.create", begun, expected).await;
    audit.socket.end_of("s2").await;

    let index = "agents/main/sessions/sessions.json";
    let patch = json!({"key": "fresh", "label": "Other one", "thinkingLevel": "high"});
    let expected = json!({"key": "agent:main:fresh", "path": audit.state(index),
        "entry": {"label": "Other one", "thinkingLevel": "high"},
        "resolved": {"modelProvider": "anthropic", "model": "claude-sonnet-5"}});
    audit.row("sessions.patch", patch, expected).await;
    let row = json!({"key": "agent:main:fresh", "sessionId": made["sessionId"],
        "label": "Other one", "thinkingLevel": "high", "status": "done",
        "hasActiveRun": false, "model": "claude-sonnet-5", "modelProvider": "anthropic"});
    let described = json!({"session": row});
    audit
        .row("sessions.describe", json!({"key": "fresh"}), described)
        .await;
    let none = json!({"session": null});
    audit
        .row("sessions.describe", json!({"key": "no-such"}), none)
        .await;

    let listed = json!({"count": 1, "totalCount": 4, "limitApplied": 1, "hasMore": true,
        "nextOffset": 1, "sessions": [{"key": "agent:main:fresh", "label": "Other one"}]});
    audit
        .row("sessions.list", json!({"limit": 1}), listed)
        .await;
    let of_label = json!({"totalCount": 1, "sessions": [row]});
    audit
        .row("sessions.list", json!({"label": "Other one"}), of_label)
        .await;
    let no_label = json!({"totalCount": 0, "count": 0, "sessions": [], "hasMore": false});
    audit
        .row("sessions.list", json!({"label": "Other"}), no_label)
        .await;

    let item = |role: &str, text: &str| json!({"role": role, "text": text});
    let previews = json!({"previews": [
        {"key": "agent:main:fresh", "status": "ok",
            "items": [item("user", "hi"), item("assistant", "You said: hi")]},
        {"key": "agent:main:none", "status": "missing", "items": []},
    ]});
    let keys = json!({"keys": ["fresh", "none"]});
    audit.row("sessions.preview", keys, previews).await;
    let found = json!({"ok": true, "key": "agent:main:fresh", "agentId": "main"});
    for name in [
        json!({"label": "Other one"}),
        json!({"sessionId": made["sessionId"]}),
        json!({"key": "fresh"}),
    ] {
        audit.row("sessions.resolve", name, found.clone()).await;
    }

    let anew = json!({"key": "agent:main:fresh", "entry": {"label": "Other one"}});
    let reset = audit
        .row("sessions.reset", json!({"key": "fresh"}), anew)
        .await;
    // It begins anew under the id that it has.
    assert_eq!(reset["entry"]["sessionId"], made["sessionId"], "{reset}");
    audit.say("fresh", "what was that?", "s3").await;
    let asked = audit.asked_last();
    assert!(
        asked.contains("what was that?") && !asked.contains("You said: hi"),
        "{asked}"
    );

    let gone = json!({"ok": true, "key": "agent:main:other", "deleted": true});
    let gone = audit
        .row("sessions.delete", json!({"key": "other"}), gone)
        .await;
    let archived = gone["archived"][0].as_str().unwrap();
    let kept = std::fs::read(Path::new(archived)).unwrap();
    assert!(!kept.is_empty(), "{archived}");
    let again = json!({"deleted": false, "archived": []});
    audit
        .row("sessions.delete", json!({"key": "other"}), again)
        .await;
    let described = json!({"session": null});
    audit
        .row("sessions.describe", json!({"key": "other"}), described)
        .await;
}

/// Who subscribes hears of it, and who does so no more does not.
pub(super) async fn followed(audit: &mut Audit) {
    let changed = |it: &Value| it["event"] == "sessions.changed";
    let said = |it: &Value| it["event"] == "session.message";
    let label = |label: &str| json!({"key": "fresh", "label": label});
    let note = |text: &str| json!({"sessionKey": "fresh", "message": text});
    let key = json!({"key": "fresh"});
    let mut other = Socket::enter(&audit.suite).await;

    audit
        .row("sessions.subscribe", json!({}), json!({"subscribed": true}))
        .await;
    audit.socket.seen.clear();
    other.call("sessions.patch", label("Told")).await;
    let told = audit.socket.heard(changed).await;
    assert_eq!(told["payload"]["sessionKey"], "agent:main:fresh", "{told}");
    audit
        .row(
            "sessions.unsubscribe",
            json!({}),
            json!({"subscribed": false}),
        )
        .await;

    let expected = json!({"subscribed": true, "key": "agent:main:fresh"});
    audit
        .row("sessions.messages.subscribe", key.clone(), expected)
        .await;
    audit.socket.seen.clear();
    other.call("chat.inject", note("heard")).await;
    let told = audit.socket.heard(said).await;
    assert!(told["payload"].to_string().contains("heard"), "{told}");
    let expected = json!({"subscribed": false, "key": "agent:main:fresh"});
    audit
        .row("sessions.messages.unsubscribe", key, expected)
        .await;

    audit.socket.seen.clear();
    other.call("sessions.patch", label("Not told")).await;
    other.call("chat.inject", note("not heard")).await;
    // What was told before is before this in the stream.
    audit.socket.call("health", json!({})).await;
    let heard = audit.socket.seen.iter().any(|it| changed(it) || said(it));
    assert!(!heard, "{:?}", audit.socket.seen);
}

pub(super) async fn compacted(audit: &mut Audit) {
    for number in 1..=3 {
        let id = format!("c{number}");
        audit.say("long", &format!("word{number}"), &id).await;
    }
    audit.model.default(Scenario::text("They spoke of whales."));
    let wanted = json!({"key": "long", "maxLines": 2});
    let expected = json!({"ok": true, "key": "agent:main:long", "compacted": true});
    audit.row("sessions.compact", wanted, expected).await;
    audit.model.default(Scenario::echo());
    audit.say("long", "and now?", "c4").await;
    let asked = audit.asked_last();
    assert!(asked.contains("They spoke of whales."), "{asked}");
    assert!(
        !asked.contains("word1") && asked.contains("word3"),
        "{asked}"
    );
}
