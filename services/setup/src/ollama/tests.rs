use openclaw_settings as settings;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

/// Something that answers one request with these bytes.
async fn answering(answer: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = [0; 1024];
        let read = stream.read(&mut asked).await.unwrap();
        assert!(asked[..read].starts_with(b"GET /api/tags HTTP/1.1\r\n"));
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    address
}

fn response(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}")
}

#[tokio::test]
async fn ollama_lists_the_models_that_can_be_talked_to() {
    let list = r#"{"models": [
        {"name": "qwen3:8b", "details": {"family": "qwen3"}},
        {"name": "nomic-embed-text:latest", "details": {"family": "nomic-bert"}},
        {"name": "hf.co/me/small:Q4_K_M"},
        {"name": "bad name\u001b[2J"}
    ]}"#;
    let address = answering(response("200 OK", list)).await;
    let found = models(address).await.unwrap();
    assert_eq!(found, ["qwen3:8b", "hf.co/me/small:Q4_K_M"]);
}

#[tokio::test]
async fn ollama_is_told_from_other_programs() {
    for answer in [
        response("404 Not Found", "no"),
        response("200 OK", "<html>"),
        "SSH-2.0-OpenSSH_9.2\r\n".to_owned(),
        response("200 OK", &" ".repeat(LIMIT + 1)),
    ] {
        let address = answering(answer).await;
        let error = models(address).await.unwrap_err();
        assert!(matches!(error, Error::Strange { .. }), "{error}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = models(address).await.unwrap_err();
    assert!(matches!(error, Error::Absent(_)), "{error}");
}

#[test]
fn ollama_is_configured_once_and_the_rest_stays() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
    let paths = Paths::resolve(&environment).unwrap();
    std::fs::write(
        &paths.configuration,
        "{ // mine\n  memory: { maxContextTokens: 9000 } }",
    )
    .unwrap();
    let address = ADDRESS.parse().unwrap();
    let configure = || configure("qwen3:8b", address, &paths, &environment).unwrap();
    assert!(configure());
    let text = std::fs::read_to_string(&paths.configuration).unwrap();
    assert!(text.contains("// mine") && text.contains("9000"), "{text}");
    let read = settings::load(&environment).unwrap();
    assert_eq!(read.default_model.as_deref(), None);
    assert_eq!(
        read.agent("main").unwrap().model.as_deref(),
        Some("ollama/qwen3:8b")
    );
    assert!(!configure(), "a second time changes nothing");
}
