//! What no well-behaved client sends.

use std::time::{Duration, Instant};

use integration_tests::http::{answer, json as with_json};
use integration_tests::{Http, Setup, Suite, within};
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The gateway's own limit of a request's head is 10 s.
const HEAD_DEADLINE: Duration = Duration::from_secs(10);
/// Connections that send their head byte by byte.
const SLOW: usize = 300;

/// Connections of somebody without a token that have a place, which is also the gateway's own number.
const STRANGERS: usize = 2048;

async fn suite() -> (Suite, Http) {
    let suite = Setup::offline().start().await;
    let http = suite.http().await;
    (suite, http)
}

#[tokio::test]
async fn http_abuse_what_is_no_request_is_answered_or_dropped_and_the_next_one_served() {
    let (suite, http) = suite().await;
    let before = suite.daemon("openclaw-gateway");
    let long = "x".repeat(100_000);
    let many: String = (0..200).map(|n| format!("x-{n}: 1\r\n")).collect();
    for (what, status) in [
        ("\0\0\0\0".to_owned(), "400"),
        ("hello\r\n\r\n".to_owned(), "400"),
        ("GET / HTTP/9.9\r\n\r\n".to_owned(), ""),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "403"),
        ("GET / HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n".to_owned(), "403"),
        (format!("GET /{long} HTTP/1.1\r\nhost: localhost\r\n\r\n"), "4"),
        (format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {long}\r\n\r\n"), "431"),
        (format!("GET / HTTP/1.1\r\nhost: localhost\r\n{many}\r\n"), "431"),
        ("POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n".to_owned(), "400"),
        ("POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}".to_owned(), "400"),
        ("POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n\r\nzz\r\n".to_owned(), "4"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), ""),
        ("GET http://evil.example/ HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(), ""),
    ] {
        let said = http.send_raw(what.as_bytes()).await;
        let shown: String = what.chars().take(60).collect();
        let line = said.lines().next().unwrap_or_default();
        assert!(line.is_empty() || line.contains(&format!(" {status}")), "{shown:?}: {said}");
        assert!(!line.contains(" 200") || status.is_empty(), "{shown:?}: {said}");
    }
    assert_eq!(http.get("/healthz").await.status, 200);
    assert_eq!(suite.daemon("openclaw-gateway"), before, "the same process");
}

#[tokio::test]
async fn bodies_have_limits_and_must_be_what_they_say() {
    let (_suite, http) = suite().await;
    let post = |body: String| {
        let request = http.request(Method::POST, "/v1/chat/completions");
        answer(
            request
                .header("content-type", "application/json")
                .body(body),
        )
    };
    post("x".repeat(9 * 1024 * 1024))
        .await
        .refuses(413, "body_too_large");
    for broken in ["", "{", "[]x", "nul", "{\"model\": \"openclaw\"} more"] {
        let refused = post(broken.to_owned()).await;
        assert_eq!(refused.status, 400, "{broken}: {refused:?}");
        assert!(
            refused.json()["error"]["message"].is_string(),
            "{refused:?}"
        );
    }
    let refused = post(json!({"model": "openclaw", "messages": [{"role": 7}]}).to_string()).await;
    refused.refuses(400, "invalid_value");
    assert_eq!(refused.json()["error"]["param"], "messages[0].role");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(post(deep).await.status, 400);
    let words = json!({"model": "openclaw", "messages": [{"role": "user", "content": "x".repeat(2 * 1024 * 1024)}]});
    post(words.to_string()).await.refuses(413, "too_long");
    for (field, value) in [
        ("n", json!(2)),
        ("tools", json!([{"type": "function"}])),
        ("response_format", json!({"type": "json_object"})),
    ] {
        let mut body =
            json!({"model": "openclaw", "messages": [{"role": "user", "content": "hi"}]});
        body[field] = value;
        let refused = post(body.to_string()).await;
        refused.refuses(400, "invalid_value");
        assert_eq!(refused.json()["error"]["param"], field);
    }
    let image = json!([{"type": "image_url", "image_url": {"url": "data:"}}]);
    let body = json!({"model": "openclaw", "messages": [{"role": "user", "content": image}]});
    let refused = post(body.to_string()).await;
    refused.refuses(400, "invalid_value");
    assert_eq!(
        refused.json()["error"]["param"],
        "messages[0].content[0].type"
    );
}

/// Slowloris: many connections, each with one byte of a head a second.
#[tokio::test]
async fn slow_heads_hold_nothing_up_and_are_ended() {
    let (_suite, http) = suite().await;
    let mut slow = Vec::new();
    for _ in 0..SLOW {
        let mut stream = http.raw().await;
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nhost: loc")
            .await
            .unwrap();
        slow.push(stream);
    }
    let asked = Instant::now();
    assert_eq!(http.get("/healthz").await.status, 200);
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(2), "others wait {took:?}");
    let ends = slow.into_iter().map(|mut stream| {
        tokio::spawn(async move {
            let mut said = Vec::new();
            // A reset is an end too.
            let _ = stream.read_to_end(&mut said).await;
        })
    });
    for end in ends.collect::<Vec<_>>() {
        within("the end of a slow connection", end).await.unwrap();
    }
    assert!(asked.elapsed() < HEAD_DEADLINE * 2, "{:?}", asked.elapsed());
}

/// Whoever has no token asks what anybody may ask, and keeps the connection.
#[tokio::test]
async fn connections_that_show_no_token_give_way_also_after_a_request() {
    let (suite, http) = suite().await;
    let token = suite.token().await;
    let ask = async |stream: &mut TcpStream, asked: &str| {
        let request = format!("GET {asked}\r\nhost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut said = vec![0; 4096];
        let size = stream.read(&mut said).await.unwrap();
        assert!(said[..size].starts_with(b"HTTP/1.1 200"));
    };
    let mut known = http.raw().await;
    let by_token = format!("/v1/models HTTP/1.1\r\nauthorization: Bearer {token}");
    let by_anybody = "/healthz HTTP/1.1";
    ask(&mut known, &by_token).await;
    let asked = Instant::now();
    let mut all = Vec::new();
    for _ in 0..=STRANGERS {
        let mut stream = http.raw().await;
        ask(&mut stream, by_anybody).await;
        all.push(stream);
    }
    let mut said = Vec::new();
    let ended = within("the end of the oldest", all[0].read_to_end(&mut said)).await;
    assert!(ended.is_err() || said.is_empty(), "{ended:?}");
    let took = asked.elapsed();
    assert!(took < HEAD_DEADLINE, "it ended by itself: {took:?}");
    ask(&mut known, &by_token).await;
    ask(&mut all[STRANGERS], by_anybody).await;
}

#[tokio::test]
async fn reply_is_not_lost_when_its_reader_breaks_off() {
    let (suite, http) = suite().await;
    let body = json!({"model": "openclaw", "stream": true, "user": "me",
        "messages": [{"role": "user", "content": "hello"}]});
    let request = with_json(http.request(Method::POST, "/v1/chat/completions"), &body);
    let response = request.send().await.unwrap();
    drop(response);
    let listed = async {
        loop {
            let said = suite.ctl(&["sessions", "--json"]).await.stdout;
            if said.contains("agent:main:openai-user:me") {
                return;
            }
        }
    };
    within("the session of the user", listed).await;
    assert_eq!(http.get("/healthz").await.status, 200);
}
