//! The shared session over HTTP (seed 000).

use integration_tests::http::{answer, json as with_json};
use integration_tests::{Http, Setup, Suite};
use reqwest::Method;
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

const SECRET: &str = "a-made-up-secret";

async fn suite(model: &Server) -> (Suite, Http) {
    let suite = Setup::openai(model)
        .variable("OPENCLAW_CLI_SECRET", SECRET)
        .variable("OPENCLAW_CLI_PORT", "0")
        .start()
        .await;
    let http = Http::new(&suite.address("cli").await, SECRET);
    (suite, http)
}

fn document(suite: &Suite) -> Value {
    let text = std::fs::read_to_string(suite.state().join("sessions/default.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn message_is_answered_and_the_session_is_shared() {
    let model = Server::start().await.unwrap();
    let (suite, http) = suite(&model).await;
    let empty = http.get("/session").await.ok();
    assert_eq!(
        (&empty["id"], &empty["messages"]),
        (&json!("home"), &json!([]))
    );

    model.push(Scenario::text("Noted: groceries."));
    let first = http
        .post("/message", &json!({"text": "buy groceries"}))
        .await
        .ok();
    assert_eq!(first["id"], "1");
    assert_eq!(first["user_text"], "buy groceries");
    assert_eq!(first["bot_text"], "Noted: groceries.");
    assert_eq!(first["channel"], "cli");

    model.push(Scenario::text("You said groceries."));
    assert_eq!(suite.say("what did I say?").await, "You said groceries.\n");
    let second = http
        .post("/message", &json!({"text": "and now?"}))
        .await
        .ok();
    assert_eq!(second["id"], "3", "ids count up across channels");
    let told = integration_tests::asked::words(model.turns().last().unwrap());
    assert!(
        told.contains("buy groceries") && told.contains("what did I say?"),
        "{told}"
    );

    let session = http.get("/session").await.ok();
    assert_eq!(session, document(&suite));
    let keys: Vec<_> = session.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "created_at", "updated_at", "messages"]);
    let keys: Vec<_> = session["messages"][0].as_object().unwrap().keys().collect();
    let expected = [
        "id",
        "user_text",
        "bot_text",
        "channel",
        "sent_at",
        "replied_at",
    ];
    assert_eq!(keys, expected);
    assert_eq!(session["messages"][1]["bot_text"], "You said groceries.");
    let history = http.get("/history").await.ok();
    assert_eq!(history["messages"], session["messages"]);
    let last = http.get("/history?limit=1").await.ok();
    assert_eq!(last["messages"], json!([session["messages"][2]]));
}

#[tokio::test]
async fn stream_ends_with_the_message() {
    let model = Server::start().await.unwrap();
    let (_suite, http) = suite(&model).await;
    model.push(Scenario::text("Piece by piece.").chunk(4));
    let request = http
        .request(Method::POST, "/message")
        .header("accept", "text/event-stream");
    let answered = answer(with_json(request, &json!({"text": "speak"}))).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    let pieces: String = answered
        .events("delta")
        .iter()
        .map(|data| {
            serde_json::from_str::<Value>(data).unwrap()["text"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(pieces, "Piece by piece.");
    let last: Value = serde_json::from_str(&answered.events("message")[0]).unwrap();
    assert_eq!(
        (&last["id"], &last["bot_text"]),
        (&json!("1"), &json!("Piece by piece."))
    );
}

#[tokio::test]
async fn error_is_recorded_with_an_empty_answer() {
    let model = Server::start().await.unwrap();
    let (suite, http) = suite(&model).await;
    for text in ["", " \n"] {
        http.post("/message", &json!({"text": text}))
            .await
            .refuses(400, "invalid_value");
    }
    http.post("/message", &json!({}))
        .await
        .refuses(400, "invalid_value");
    model.push(Scenario::failure(401));
    http.post("/message", &json!({"text": "fails"}))
        .await
        .refuses(502, "auth");
    http.post("/message", &json!({"text": "works"})).await.ok();
    let session = document(&suite);
    assert_eq!(session["messages"][0]["user_text"], "fails");
    assert_eq!(session["messages"][0]["bot_text"], "");
    assert_eq!(session["messages"][1]["id"], "2");
    assert_ne!(session["messages"][1]["bot_text"], "");
}

#[tokio::test]
async fn cli_session_only_with_its_own_secret() {
    let model = Server::start().await.unwrap();
    let (suite, http) = suite(&model).await;
    let gateways = http.with_token(&suite.token().await);
    for path in ["/session", "/history"] {
        answer(http.anonymous(Method::GET, path))
            .await
            .refuses(401, "token_missing");
        gateways.get(path).await.refuses(401, "token_mismatch");
        let page = http
            .request(Method::GET, path)
            .header("origin", "https://evil.example");
        answer(page).await.refuses(403, "origin_not_allowed");
        let rebound = http
            .request(Method::GET, path)
            .header("host", "evil.example");
        answer(rebound).await.refuses(403, "host_not_allowed");
    }
    http.get("/v1/models").await.refuses(404, "not_found");
    let main = suite.http().await;
    main.with_token(SECRET)
        .get("/v1/models")
        .await
        .refuses(401, "token_mismatch");
    main.get("/session").await.refuses(404, "not_found");
}

#[tokio::test]
async fn cli_session_without_a_secret_there_is_no_port() {
    for secret in ["", "  "] {
        let suite = Setup::offline()
            .variable("OPENCLAW_CLI_SECRET", secret)
            .variable("OPENCLAW_CLI_PORT", "0")
            .start()
            .await;
        let status = suite.ctl(&["status", "--json"]).await.document();
        let listeners = status["gateway"]["listeners"].as_array().unwrap();
        let names: Vec<_> = listeners.iter().map(|listener| &listener["name"]).collect();
        assert_eq!(names, [&json!("http")]);
    }
}
