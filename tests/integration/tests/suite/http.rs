//! HTTP on the gateway's port, as clients and browsers meet it.

use integration_tests::http::{Answer, answer, json as with_json};
use integration_tests::{Http, Setup, Suite, within};
use reqwest::Method;
use serde_json::json;

async fn suite() -> (Suite, Http) {
    let suite = Setup::offline().start().await;
    let http = suite.http().await;
    (suite, http)
}

fn hello() -> serde_json::Value {
    json!({"model": "openclaw", "messages": [{"role": "user", "content": "hello"}]})
}

#[tokio::test]
async fn health_is_told_to_everybody_and_the_rest_to_those_with_the_token() {
    let (_suite, http) = suite().await;
    let live = answer(http.anonymous(Method::GET, "/healthz")).await.ok();
    assert_eq!(live, json!({"ok": true, "status": "live"}));
    let ready = answer(http.anonymous(Method::GET, "/readyz")).await.ok();
    assert_eq!(
        (&ready["ready"], &ready["failing"]),
        (&json!(true), &json!([]))
    );
    assert!(ready.get("checks").is_none(), "{ready}");
    assert_eq!(
        http.get("/readyz").await.ok()["checks"]
            .as_array()
            .unwrap()
            .len(),
        4
    );

    for path in ["/v1/models", "/v1/models/openclaw", "/metrics"] {
        let refused = answer(http.anonymous(Method::GET, path)).await;
        refused.refuses(401, "token_missing");
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
        let wrong = http.with_token("made-up").get(path).await;
        wrong.refuses(401, "token_mismatch");
    }
    let page = answer(http.anonymous(Method::GET, "/")).await;
    assert!(
        page.status == 200 && page.text.contains("OpenClaw gateway"),
        "{page:?}"
    );
    http.get("/metrics").await.refuses(404, "not_found");
    http.get("/nothing").await.refuses(404, "not_found");
    let wrong = http.post("/healthz", &json!({})).await;
    wrong.refuses(405, "method_not_allowed");
    assert!(
        wrong
            .header("allow")
            .is_some_and(|allow| allow.contains("GET")),
        "{wrong:?}"
    );
}

#[tokio::test]
async fn http_every_answer_has_the_security_headers_and_none_opens_up_to_pages() {
    let (_suite, http) = suite().await;
    let own = format!("http://{}", http.host());
    let page = |path, origin: &str| http.request(Method::GET, path).header("origin", origin);
    for request in [
        page("/", &own),
        page("/healthz", &own),
        page("/nothing", &own),
        page("/v1/models", &own),
        page("/v1/models", "https://evil.example"),
    ] {
        let answered = answer(request).await;
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answered.header(name), Some(value), "{answered:?}");
        }
        let policy = answered.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        let opened = answered
            .headers
            .iter()
            .any(|header| header.starts_with("access-control-"));
        assert!(!opened, "{answered:?}");
    }
}

#[tokio::test]
async fn page_that_the_user_visits_gets_nowhere() {
    let (suite, http) = suite().await;
    // A name of the page's own that resolves to the loopback suddenly.
    for host in [
        "evil.example",
        "evil.example:18789",
        "localhost.evil.example",
    ] {
        for path in ["/healthz", "/v1/chat/completions", "/"] {
            let request = http.request(Method::GET, path).header("host", host);
            answer(request).await.refuses(403, "host_not_allowed");
        }
    }
    for origin in ["https://evil.example", "null", "http://localhost:5173"] {
        let request = http.request(Method::POST, "/v1/chat/completions");
        let request = with_json(request.header("origin", origin), &hello());
        answer(request).await.refuses(403, "origin_not_allowed");
        // What a browser asks before it sends JSON.
        let preflight = http
            .anonymous(Method::OPTIONS, "/v1/chat/completions")
            .header("origin", origin)
            .header("access-control-request-method", "POST");
        answer(preflight).await.refuses(403, "origin_not_allowed");
    }
    // What a page may send without being asked.
    for kind in ["text/plain", "application/x-www-form-urlencoded"] {
        let request = http.request(Method::POST, "/v1/chat/completions");
        let request = request
            .header("content-type", kind)
            .body(hello().to_string());
        answer(request).await.refuses(415, "unsupported_media_type");
    }
    let forwarded = http
        .request(Method::GET, "/healthz")
        .header("x-forwarded-for", "8.8.8.8");
    answer(forwarded).await.refuses(403, "proxy_not_trusted");
    let sessions = suite.ctl(&["sessions", "--json"]).await.document();
    assert!(
        !sessions.to_string().contains("agent:"),
        "no session was touched: {sessions}"
    );
}

#[tokio::test]
async fn allowed_page_may() {
    let suite = Setup::offline()
        .set(
            "gateway.controlUi.allowedOrigins",
            json!(["https://ui.example"]),
        )
        .set("gateway.allowedHosts", json!(["claw.example"]))
        .start()
        .await;
    let http = suite.http().await;
    let request = http
        .request(Method::GET, "/v1/models")
        .header("host", "claw.example")
        .header("origin", "https://ui.example");
    answer(request).await.ok();
}

#[tokio::test]
async fn guesses_of_a_page_are_stopped_and_the_users_own_clients_are_not() {
    let (suite, http) = suite().await;
    let own = format!("http://{}", http.host());
    let guess = |token: &str| {
        let request = http.with_token(token).request(Method::GET, "/v1/models");
        answer(request.header("origin", own.clone()))
    };
    for n in 0..10 {
        guess(&format!("guess-{n}"))
            .await
            .refuses(401, "token_mismatch");
    }
    let stopped = guess("guess-10").await;
    stopped.refuses(429, "auth_rate_limited");
    assert!(stopped.header("retry-after").is_some(), "{stopped:?}");
    let token = suite.token().await;
    guess(&token).await.refuses(429, "auth_rate_limited");
    for n in 0..30 {
        let wrong = http
            .with_token(&format!("typo-{n}"))
            .get("/v1/models")
            .await;
        wrong.refuses(401, "token_mismatch");
    }
    http.get("/v1/models").await.ok();
    suite
        .log
        .message("refused a client with a wrong token")
        .await;
}

#[tokio::test]
async fn http_another_token_replaces_the_first_at_once() {
    let (suite, http) = suite().await;
    let path = suite.state().join("auth.json");
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).unwrap());
    assert_eq!(mode & 0o777, 0o600);
    let next = suite.ctl(&["token", "--rotate"]).await.ok();
    http.get("/v1/models").await.refuses(401, "token_mismatch");
    http.with_token(next.trim()).get("/v1/models").await.ok();
    assert_eq!(suite.token().await, next.trim());
    let suite = suite.restart().await;
    assert_eq!(suite.token().await, next.trim(), "it is kept");
}

#[tokio::test]
async fn configured_token_is_the_token() {
    let suite = Setup::offline()
        .set("gateway.auth.token", "${MY_GATEWAY_WORD}")
        .set("gateway.http.endpoints.metrics.enabled", true)
        .set("gateway.http.endpoints.responses.enabled", false)
        .variable("MY_GATEWAY_WORD", "from-the-environment")
        .start()
        .await;
    assert_eq!(suite.token().await, "from-the-environment");
    assert!(!suite.state().join("auth.json").exists());
    suite
        .ctl(&["token", "--rotate"])
        .await
        .ended(1)
        .complains(&["gateway.auth", "change it"]);
    let http = suite.http().await;
    suite.say("hello").await;
    let figures = http.get("/metrics").await;
    for line in [
        "openclaw_runs_total{outcome=\"done\"} 1",
        "openclaw_sessions 1",
        "# TYPE openclaw_turns_running gauge",
    ] {
        assert!(
            figures.text.lines().any(|found| found == line),
            "{line}\n{}",
            figures.text
        );
    }
    assert_eq!(
        figures.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    http.post("/v1/responses", &json!({}))
        .await
        .refuses(404, "not_found");
}

#[tokio::test]
async fn readiness_is_the_truth() {
    let (suite, http) = suite().await;
    assert_eq!(http.get("/readyz").await.status, 200);
    let runner = suite.daemon("openclaw-agent-runner");
    integration_tests::processes::send(runner, nix::sys::signal::Signal::SIGSTOP);
    let stands = within("the runner stands still", until(&http, 503)).await;
    assert_eq!(stands.json()["failing"], json!(["runner"]));
    assert!(stands.text.contains("no answer within"), "{stands:?}");
    integration_tests::processes::send(runner, nix::sys::signal::Signal::SIGCONT);
    within("the runner goes on", until(&http, 200)).await;
}

async fn until(http: &Http, status: u16) -> Answer {
    loop {
        let answered = http.get("/readyz").await;
        if answered.status == status {
            return answered;
        }
    }
}

#[tokio::test]
async fn chosen_port_that_is_taken_is_an_error_with_a_way_out() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let site = Setup::offline()
        .variable("OPENCLAW_GATEWAY_PORT", port.clone())
        .site();
    site.ctl(&["run"]).await.ended(1).complains(&[
        &format!("127.0.0.1:{port}"),
        "OPENCLAW_GATEWAY_PORT=",
        "chooses one that is free",
    ]);
    let site = Setup::offline()
        .variable("OPENCLAW_GATEWAY_PORT", "http")
        .site();
    site.ctl(&["run"])
        .await
        .ended(78)
        .complains(&["OPENCLAW_GATEWAY_PORT", "0 to 65535"]);
}
