//! Webhooks.

use integration_tests::http::{answer, json as with_json};
use integration_tests::{Http, Setup, Suite, asked, within};
use reqwest::Method;
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

const TOKEN: &str = "hook-token-abcdef0123456789";

async fn suite(model: &Server, more: &[(&str, Value)]) -> (Suite, Http) {
    let mut setup = Setup::openai(model)
        .set("hooks.enabled", true)
        .set("hooks.token", TOKEN);
    for (key, value) in more {
        setup = setup.set(key, value.clone());
    }
    let suite = setup.start().await;
    let http = suite.http().await.with_token(TOKEN);
    (suite, http)
}

#[tokio::test]
async fn event_reaches_the_next_turn_or_makes_one() {
    let model = Server::start().await.unwrap();
    let (suite, http) = suite(&model, &[]).await;
    let later = json!({"text": "the backup is done", "mode": "next-heartbeat"});
    let queued = http.post("/hooks/wake", &later).await.ok();
    assert_eq!(
        queued,
        json!({"ok": true, "mode": "next-heartbeat", "eventOutcome": "queued"})
    );
    assert!(model.turns().is_empty());
    suite.say("anything new?").await;
    let told = asked::words(&model.turns()[0]);
    assert!(
        told.contains("the backup is done") && told.contains("anything new?"),
        "{told}"
    );

    let now = http
        .post("/hooks/wake", &json!({"text": "the door bell rang"}))
        .await
        .ok();
    assert_eq!((&now["mode"], &now["ok"]), (&json!("now"), &json!(true)));
    let turns = asked::turns(&model, 2).await;
    assert!(asked::words(&turns[1]).contains("the door bell rang"));
}

#[tokio::test]
async fn event_that_waits_already_is_no_new_one() {
    let model = Server::start().await.unwrap();
    let (suite, http) = suite(
        &model,
        &[("agents.list", json!([{"id": "main"}, {"id": "work"}]))],
    )
    .await;
    let event = json!({"text": "rain", "mode": "next-heartbeat", "agentId": "work"});
    for outcome in ["queued", "coalesced"] {
        let told = http.post("/hooks/wake", &event).await.ok();
        assert_eq!(told["eventOutcome"], outcome, "{told}");
    }
    suite.say("hello").await;
    assert!(!asked::words(&model.turns()[0]).contains("rain"));
    let unknown = json!({"text": "rain", "agentId": "nobody"});
    let said = http
        .post("/hooks/wake", &unknown)
        .await
        .refuses(400, "invalid_value");
    assert!(said.contains("nobody"), "{said}");
}

#[tokio::test]
async fn work_is_done_in_a_session_of_its_own_and_the_main_one_is_told() {
    let model = Server::start().await.unwrap();
    let (suite, http) = suite(&model, &[]).await;
    model.push(Scenario::text("Three new mails."));
    let work = json!({"message": "summarise the mail", "name": "Mail", "waitForCompletion": true,
        "wakeMode": "next-heartbeat", "thinking": "high", "timeoutSeconds": 60.9});
    let done = http.post("/hooks/agent", &work).await.ok();
    let completion = json!({"status": "ok", "replyDisposition": "visible", "delivered": false,
        "deliveryAttempted": false});
    assert_eq!(done["completion"], completion, "{done}");
    assert!(!done.to_string().contains("Three new mails"), "{done}");
    let quiet = json!({"message": "and again", "deliver": false, "waitForCompletion": true});
    http.post("/hooks/agent", &quiet).await.ok();
    let sessions = suite.ctl(&["sessions", "--json"]).await.stdout;
    assert_eq!(
        sessions.matches("agent:main:hook:").count(),
        2,
        "{sessions}"
    );
    assert!(
        !sessions.contains("agent:main:main"),
        "the user's own: {sessions}"
    );
    suite.say("what is new?").await;
    let told = asked::words(model.turns().last().unwrap());
    assert!(told.contains("Hook Mail: Three new mails."), "{told}");
    assert!(!told.contains("Hook Hook:"), "{told}");

    // Unless it says otherwise, the main session is woken for the result.
    model.push(Scenario::text("A fourth one."));
    let started = http
        .post("/hooks/agent", &json!({"message": "once more"}))
        .await
        .ok();
    assert!(
        started["ok"] == true && started["runId"].is_string(),
        "{started}"
    );
    let turns = asked::turns(&model, 5).await;
    let told = asked::words(turns.last().unwrap());
    assert!(told.contains("Hook Hook: A fourth one."), "{told}");
}

#[tokio::test]
async fn call_that_is_repeated_is_one() {
    let model = Server::start().await.unwrap();
    let (_suite, http) = suite(&model, &[]).await;
    let work = json!({"message": "count", "deliver": false, "waitForCompletion": true});
    let mut runs = Vec::new();
    for (name, value) in [
        ("idempotency-key", "abc"),
        ("x-openclaw-idempotency-key", "abc"),
        ("idempotency-key", "other"),
    ] {
        let request = with_json(http.request(Method::POST, "/hooks/agent"), &work);
        let done = answer(request.header(name, value)).await.ok();
        assert_eq!(done["completion"]["status"], "ok", "{done}");
        runs.push(done["runId"].clone());
    }
    assert!(runs[0] == runs[1] && runs[1] != runs[2], "{runs:?}");
    let mut different = work.clone();
    different["message"] = json!("count differently");
    different["idempotencyKey"] = json!("abc");
    let done = http.post("/hooks/agent", &different).await.ok();
    assert_ne!(done["runId"], runs[0]);
    assert_eq!(model.turns().len(), 3);
}

#[tokio::test]
async fn work_that_takes_too_long_is_ended() {
    let model = Server::start().await.unwrap();
    let (suite, http) = suite(&model, &[]).await;
    model.push(Scenario::held("Never to be heard.", "never"));
    let work = json!({"message": "wait", "timeoutSeconds": 1, "waitForCompletion": true,
        "deliver": false, "wakeMode": "next-heartbeat"});
    let ended = within("the end", http.post("/hooks/agent", &work))
        .await
        .ok();
    assert_eq!(ended["completion"]["status"], "error", "{ended}");
    suite.say("what happened?").await;
    let told = asked::words(model.turns().last().unwrap());
    assert!(
        told.contains("Hook Hook (error):") && told.contains("timeoutSeconds"),
        "{told}"
    );
}

#[tokio::test]
async fn names_of_the_users_own_do_what_the_configuration_says() {
    let model = Server::start().await.unwrap();
    let mappings = json!([
        {"match": {"path": "github", "source": "pulls"}, "name": "GitHub {{payload.repo}}",
            "messageTemplate": "PR {{pulls[0].title}} by {{pulls[0].user.login}} ({{headers.x-kind}}, {{query.why}})",
            "sessionKey": "hook:github", "deliver": false, "wakeMode": "next-heartbeat"},
        {"match": {"path": "/github/"}, "action": "wake", "wakeMode": "next-heartbeat",
            "textTemplate": "github says {{what}}"},
        {"match": {"path": "odd"}, "transform": {"module": "odd.mjs"}},
        {"match": {"path": "empty"}, "messageTemplate": "{{nothing}}"},
    ]);
    let (suite, http) = suite(
        &model,
        &[
            ("hooks.mappings", mappings),
            ("hooks.presets", json!(["gmail", "unknown"])),
            ("hooks.allowRequestSessionKey", json!(true)),
            ("hooks.allowedSessionKeyPrefixes", json!(["hook:"])),
        ],
    )
    .await;
    let pulls = json!({"source": "pulls", "repo": "claw",
        "pulls": [{"title": "Fix it", "user": {"login": "ann"}}]});
    let request = with_json(http.request(Method::POST, "/hooks/github?why=now"), &pulls);
    let begun = answer(request.header("x-kind", "opened")).await.ok();
    assert!(begun["runId"].is_string(), "{begun}");
    let turns = asked::turns(&model, 1).await;
    let asked_for = asked::words(&turns[0]);
    assert!(
        asked_for.contains("PR Fix it by ann (opened, now)"),
        "{asked_for}"
    );
    assert!(
        asked_for.contains("[\"GitHub claw\" sent this;"),
        "{asked_for}"
    );

    let told = http
        .post("/hooks/github", &json!({"what": "hello"}))
        .await
        .ok();
    assert_eq!(
        told,
        json!({"ok": true, "mode": "next-heartbeat", "eventOutcome": "queued"})
    );

    let mails = json!({"messages": [{"id": "m1", "from": "a@b", "subject": "One"},
        {"id": "m2", "from": "c@d", "subject": "Two"}]});
    let begun = http.post("/hooks/gmail", &mails).await.ok();
    assert_eq!(
        (&begun["ok"], &begun["dispatched"]),
        (&json!(true), &json!(2)),
        "{begun}"
    );
    // Sent again it is the same mail.
    assert_eq!(
        http.post("/hooks/gmail", &mails).await.ok()["runIds"],
        begun["runIds"]
    );
    let nothing = with_json(
        http.request(Method::POST, "/hooks/gmail"),
        &json!({"messages": []}),
    );
    assert_eq!(nothing.send().await.unwrap().status(), 204);
    let sessions = suite.ctl(&["sessions", "--json"]).await.stdout;
    for key in [
        "agent:main:hook:github:run:",
        "agent:main:hook:gmail:m1:run:",
        "agent:main:hook:gmail:m2:run:",
    ] {
        assert_eq!(sessions.matches(key).count(), 1, "{key}: {sessions}");
    }
    let said = http
        .post("/hooks/odd", &json!({}))
        .await
        .refuses(501, "transform");
    assert!(said.contains("odd.mjs"), "{said}");
    http.post("/hooks/empty", &json!({}))
        .await
        .refuses(400, "invalid_value");
    http.post("/hooks/unknown", &json!({}))
        .await
        .refuses(404, "not_found");
}

#[tokio::test]
async fn session_goes_on_only_where_callers_may_choose() {
    let model = Server::start().await.unwrap();
    let (suite, http) = suite(
        &model,
        &[
            ("hooks.allowRequestSessionKey", json!(true)),
            ("hooks.allowedSessionKeyPrefixes", json!(["hook:"])),
            ("hooks.allowedAgentIds", json!(["main"])),
        ],
    )
    .await;
    let call = |key: &str, mode: &str| {
        json!({"message": "go on", "sessionKey": key, "sessionMode": mode, "deliver": false,
            "waitForCompletion": true})
    };
    for _ in 0..2 {
        http.post("/hooks/agent", &call("hook:diary", "persistent"))
            .await
            .ok();
        http.post("/hooks/agent", &call("hook:once", "isolated"))
            .await
            .ok();
    }
    let sessions = suite.ctl(&["sessions", "--json"]).await.stdout;
    assert_eq!(
        sessions.matches("agent:main:hook:diary").count(),
        1,
        "{sessions}"
    );
    assert_eq!(
        sessions.matches("agent:main:hook:once:run:").count(),
        2,
        "{sessions}"
    );
    for (key, mode) in [
        ("main", "persistent"),
        ("agent:main:main", "isolated"),
        ("hook:x", "for ever"),
    ] {
        http.post("/hooks/agent", &call(key, mode))
            .await
            .refuses(400, "invalid_value");
    }
    let elsewhere = json!({"message": "x", "channel": "telegram", "to": "7"});
    let said = http
        .post("/hooks/agent", &elsewhere)
        .await
        .refuses(400, "invalid_value");
    assert!(said.contains("telegram"), "{said}");
}

#[tokio::test]
async fn hooks_only_callers_with_the_token_and_only_as_allowed() {
    let model = Server::start().await.unwrap();
    let (suite, http) = suite(&model, &[("hooks.path", json!("/in/here"))]).await;
    let body = json!({"text": "x"});
    http.with_token("wrong")
        .post("/in/here/wake", &body)
        .await
        .refuses(401, "token_mismatch");
    let gateways = http.with_token(&suite.token().await);
    gateways
        .post("/in/here/wake", &body)
        .await
        .refuses(401, "token_mismatch");
    let request = with_json(http.anonymous(Method::POST, "/in/here/wake"), &body);
    answer(request.header("x-openclaw-token", TOKEN)).await.ok();
    let request = http.anonymous(Method::POST, &format!("/in/here/wake?token={TOKEN}"));
    answer(with_json(request, &body))
        .await
        .refuses(400, "token_in_address");
    http.get("/in/here/wake")
        .await
        .refuses(405, "method_not_allowed");
    http.post("/in/here/nothing", &body)
        .await
        .refuses(404, "not_found");
    http.post("/hooks/wake", &body)
        .await
        .refuses(404, "not_found");
    http.post("/in/here/wake", &json!({"text": " "}))
        .await
        .refuses(400, "invalid_value");
    http.post("/in/here/agent", &json!({"message": ""}))
        .await
        .refuses(400, "invalid_value");
    let chosen = json!({"message": "x", "sessionKey": "main"});
    http.post("/in/here/agent", &chosen)
        .await
        .refuses(400, "invalid_value");
    let long = json!({"text": "x".repeat(300 * 1024)});
    http.post("/in/here/wake", &long)
        .await
        .refuses(413, "body_too_large");
}

#[tokio::test]
async fn hooks_are_off_unless_enabled() {
    let suite = Setup::offline().start().await;
    let http = suite.http().await;
    http.post("/hooks/wake", &json!({"text": "x"}))
        .await
        .refuses(404, "not_found");
}
