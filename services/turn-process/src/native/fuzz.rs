//! What an agent in the sandbox may write: its event lines, and its requests
//! over the turn socket.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::handshake;
use hyper_util::rt::{TokioExecutor, TokioIo};
use openclaw_proto::event::{Code, Kind};
use openclaw_turn::path::VERSION as VERSION_HEADER;
use openclaw_turn::{Api, Hint, Mode, VERSION};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use super::*;
use crate::fuzz::{Scene, assert_bounded};
use crate::translate::Translate as _;

/// For the answers to requests that are whole.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a client begins with: the preface and its settings (RFC 9113, 3.4).
const GREETING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// Any event lines. Each is one event, and says what the line says.
pub fn agent_output(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = Lines {
        backend: "native".to_owned(),
        provider: "anthropic".to_owned(),
        model: "m".to_owned(),
        asking: None,
    };
    for line in text.lines() {
        let kinds = lines.line(line);
        assert_bounded(line, &kinds);
        let value = serde_json::from_str::<Value>(line).unwrap_or_default();
        match kinds.as_slice() {
            [Kind::TextDelta { text } | Kind::Thinking { text }] => {
                assert_eq!(value["text"], **text)
            }
            [Kind::ToolResult(result)] => assert_eq!(value["call_id"], *result.call_id),
            [Kind::Usage(usage)] => {
                assert_eq!(value["output"].as_u64().unwrap_or_default(), usage.output);
            }
            [Kind::Done(done)] => assert_eq!(value["stop_reason"], *done.stop_reason),
            [Kind::Failed(failed)] => {
                let is_own = failed.code == Code::MalformedOutput;
                assert!(is_own || value["message"] == *failed.message);
            }
            [_] => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Any bytes after the agent's greeting, or any request: a path, and from the
/// next line on what is sent. The connection ends with the agent's side; a request
/// has one answer, which is of JSON or has a status that says why it has nothing.
pub fn turn_socket(bytes: &[u8]) {
    let scene = Scene::new();
    let inbox = Inbox::beside(&scene.folder.path().join("r.events"));
    let host = socket::Host::new((offline(), "[]".into()), None, scene.tools(), inbox);
    scene.runtime.block_on(async {
        // Programs of Rust's ignore it; libFuzzer's main does not.
        let _pipes = signal(SignalKind::pipe()).expect("a handler");
        let (_sender, turn) = watch::channel(Some(Arc::new(host)));
        let (ours, theirs) = tokio::net::UnixStream::pair().expect("a pair");
        let serving = tokio::spawn(socket::serve(ours, turn));
        let said = async {
            match bytes.split_first() {
                Some((b'r', request)) => ask(theirs, request).await,
                _ => say(theirs, bytes).await,
            }
        };
        timeout(2 * PATIENCE, said)
            .await
            .expect("it answers or closes");
        timeout(PATIENCE, serving)
            .await
            .expect("it ends")
            .expect("it does not crash");
    });
}

/// A turn without a model.
fn offline() -> TurnRequest {
    TurnRequest {
        version: VERSION,
        run_id: "r".to_owned(),
        mode: Mode::Offline,
        api: Api::Anthropic,
        provider: String::new(),
        model: String::new(),
        max_tokens: 1,
        thinking_tokens: 0,
        reasoning_effort: None,
        step_limit: 1,
        step_limit_key: String::new(),
        identical_call_limit: 3,
        workspace: "/".into(),
        system: String::new(),
        text: String::new(),
        is_unsaid: false,
        hits: Vec::new(),
        offer: Offer::default(),
        hint: Hint::default(),
        sees_images: false,
    }
}

/// Frames that may be none.
async fn say(mut theirs: tokio::net::UnixStream, frames: &[u8]) {
    // It may have heard enough already.
    let _ = theirs.write_all(GREETING).await;
    let _ = theirs.write_all(frames).await;
    let _ = theirs.shutdown().await;
    // A reset ends what was said, too.
    let _ = theirs.read_to_end(&mut Vec::new()).await;
}

/// A request, as our agent makes it.
async fn ask(theirs: tokio::net::UnixStream, request: &[u8]) {
    let end = request.iter().position(|byte| *byte == b'\n');
    let (path, sent) = request.split_at(end.unwrap_or(request.len()));
    let path = String::from_utf8_lossy(path);
    let method = if sent.is_empty() { "GET" } else { "POST" };
    let request = hyper::Request::builder()
        .method(method)
        .uri(format!("http://runner{path}"))
        .header(VERSION_HEADER, VERSION)
        .body(Full::new(Bytes::copy_from_slice(sent)));
    // What is no path cannot be asked.
    let Ok(request) = request else {
        return;
    };
    let io = TokioIo::new(theirs);
    let connected = handshake(TokioExecutor::new(), io).await;
    let (mut sender, connection) = connected.expect("a connection");
    tokio::spawn(connection);
    let Ok(answer) = sender.send_request(request).await else {
        return;
    };
    let status = answer.status();
    let body = answer.into_body().collect().await.expect("it is whole");
    let body = body.to_bytes();
    // A turn is two documents.
    let mut documents = serde_json::Deserializer::from_slice(&body).into_iter::<Value>();
    let is_json = !body.is_empty() && documents.all(|document| document.is_ok());
    assert!(is_json || status.is_client_error(), "{status}");
}
