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
async fn an_event_reaches_the_next_turn_or_makes_one() {
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
async fn work_is_done_in_a_session_of_its_own() {
    let model = Server::start().await.unwrap();
    let (suite, http) = suite(&model, &[]).await;
    model.push(Scenario::text("Three new mails."));
    let work = json!({"message": "summarise the mail", "name": "Mail", "deliver": false,
        "waitForCompletion": true});
    let done = http.post("/hooks/agent", &work).await.ok();
    assert_eq!(done["reply"], "Three new mails.");
    let started = http
        .post("/hooks/agent", &json!({"message": "and again"}))
        .await
        .ok();
    assert!(
        started["ok"] == true && started["runId"].is_string(),
        "{started}"
    );
    asked::turns(&model, 2).await;
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
    assert!(told.contains("Mail: Three new mails."), "{told}");
}

#[tokio::test]
async fn work_that_takes_too_long_is_ended() {
    let model = Server::start().await.unwrap();
    let (_suite, http) = suite(&model, &[]).await;
    model.push(Scenario::held("Never to be heard.", "never"));
    let work = json!({"message": "wait", "timeoutSeconds": 1, "waitForCompletion": true});
    let ended = within("the end", http.post("/hooks/agent", &work)).await;
    let message = ended.refuses(503, "aborted");
    assert!(message.contains("timeoutSeconds"), "{message}");
}

#[tokio::test]
async fn only_callers_with_the_token_and_only_as_allowed() {
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
async fn they_are_off_unless_enabled() {
    let suite = Setup::offline().start().await;
    let http = suite.http().await;
    http.post("/hooks/wake", &json!({"text": "x"}))
        .await
        .refuses(404, "not_found");
}
