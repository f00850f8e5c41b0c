//! The runner's side of a turn: a real HTTP server on the other end of the
//! socket pair that is the agent's standard input.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::pin::Pin;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::net::UnixStream;

/// No turn of a test takes longer, or the test fails.
const TURN_LIMIT: Duration = Duration::from_secs(30);

/// What the scripted model or tool answers.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) pieces: Vec<Bytes>,
    /// The connection breaks after the pieces.
    pub(crate) broken: bool,
}

impl Answer {
    pub(crate) fn status(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".into())],
            pieces: vec![Bytes::copy_from_slice(body.as_bytes())],
            broken: false,
        }
    }

    pub(crate) fn sse(stream: &str) -> Self {
        Self::pieces(&[stream.as_bytes()])
    }

    pub(crate) fn pieces(pieces: &[&[u8]]) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream".into())],
            pieces: pieces
                .iter()
                .map(|piece| Bytes::copy_from_slice(piece))
                .collect(),
            broken: false,
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn breaking(mut self) -> Self {
        self.broken = true;
        self
    }
}

/// What the agent was told and what it sent.
pub(crate) struct Script {
    pub(crate) turn: Value,
    pub(crate) model: VecDeque<Answer>,
    pub(crate) tool: VecDeque<Value>,
}

#[derive(Default)]
pub(crate) struct Sent {
    /// Path and body of every POST.
    pub(crate) posts: Vec<(String, Value)>,
    pub(crate) bytes: Vec<usize>,
    /// What every question to the model says of the answer before.
    pub(crate) broke_off: Vec<String>,
}

pub(crate) struct Outcome {
    pub(crate) events: Vec<Value>,
    pub(crate) sent: Sent,
    pub(crate) status: ExitStatus,
    pub(crate) log: String,
}

impl Outcome {
    pub(crate) fn text(&self) -> String {
        let text = |event: &Value| event["text"].as_str().unwrap().to_owned();
        self.of("text_delta").into_iter().map(text).collect()
    }

    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        self.events
            .iter()
            .filter(|event| event["type"] == kind)
            .collect()
    }

    /// The one event that ends the turn, which must be the last.
    pub(crate) fn end(&self) -> &Value {
        let ends = |event: &&Value| event["type"] == "done" || event["type"] == "error";
        assert_eq!(
            self.events.iter().filter(ends).count(),
            1,
            "{:?}",
            self.events
        );
        self.events.last().filter(ends).unwrap()
    }

    pub(crate) fn model_requests(&self) -> Vec<&Value> {
        let model = |post: &&(String, Value)| post.0.starts_with("/model/");
        self.sent
            .posts
            .iter()
            .filter(model)
            .map(|post| &post.1)
            .collect()
    }
}

/// A turn request with everything a test does not care about.
pub(crate) fn request(workspace: &Path, api: &str, text: &str) -> Value {
    json!({
        "version": openclaw_turn::VERSION, "run_id": "0190-run", "mode": "native", "api": api, "provider": "test",
        "model": "test-model", "max_tokens": 1024, "thinking_tokens": 0, "step_limit": 10,
        "step_limit_key": "agents.defaults.limits.steps", "identical_call_limit": 3, "is_unsaid": false,
        "workspace": workspace, "sees_images": false,
        "system": "You are a test.", "text": text, "hits": [],
        "tools": ["read_file", "write_file", "list_directory", "execute_shell", "memory_search"],
        "hint": {"lack": "the model a/b needs a key", "thinks_only": false}
    })
}

/// Runs the real binary through one turn.
pub(crate) async fn turn(turn: Value, model: Vec<Answer>, tool: Vec<Value>) -> Outcome {
    let (ours, theirs) = StdStream::pair().unwrap();
    let mut child = spawn(theirs);
    let script = Arc::new(Mutex::new(Script {
        turn,
        model: model.into(),
        tool: tool.into(),
    }));
    let sent = Arc::new(Mutex::new(Sent::default()));
    let server = tokio::spawn(serve(ours, script, sent.clone()));
    let mut stdout = child.stdout.take().unwrap();
    let output = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).unwrap();
        (text, child.wait_with_output().unwrap())
    });
    let (text, ended) = tokio::time::timeout(TURN_LIMIT, output)
        .await
        .unwrap()
        .unwrap();
    server.abort();
    let _ = server.await;
    let sent = std::mem::take(&mut *sent.lock().unwrap());
    Outcome {
        events: text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
        sent,
        status: ended.status,
        log: String::from_utf8(ended.stderr).unwrap(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test runs the program itself"
)]
pub(crate) fn spawn(stdin: StdStream) -> Child {
    Command::new(env!("CARGO_BIN_EXE_openclaw-agent"))
        .arg("turn")
        .stdin(OwnedFd::from(stdin))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

pub(crate) async fn serve(stream: StdStream, script: Arc<Mutex<Script>>, sent: Arc<Mutex<Sent>>) {
    stream.set_nonblocking(true).unwrap();
    let io = TokioIo::new(UnixStream::from_std(stream).unwrap());
    let service = service_fn(move |request| handle(request, script.clone(), sent.clone()));
    // A scripted break ends the connection with an error; the agent's view of
    // it is what the test looks at.
    let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .serve_connection(io, service)
        .await;
}

type Reply = Response<BoxBody<Bytes, std::io::Error>>;

async fn handle(
    request: Request<Incoming>,
    script: Arc<Mutex<Script>>,
    sent: Arc<Mutex<Sent>>,
) -> Result<Reply, Infallible> {
    let path = request.uri().path().to_owned();
    let broke_off = request.headers().get("openclaw-broke-off");
    let broke_off = broke_off
        .map_or("", |code| code.to_str().unwrap())
        .to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    if path == "/turn" {
        let mut turn = script.lock().unwrap().turn.clone();
        let history = turn.as_object_mut().unwrap().remove("history");
        let history = history.unwrap_or_else(|| json!([]));
        return Ok(whole(format!("{turn}\n{history}")));
    }
    // Nobody says anything in between.
    if path == "/news" {
        return Ok(whole("{}".to_owned()));
    }
    {
        let mut sent = sent.lock().unwrap();
        sent.bytes.push(body.len());
        if path.starts_with("/model/") {
            sent.broke_off.push(broke_off);
        }
        sent.posts
            .push((path.clone(), serde_json::from_slice(&body).unwrap()));
    }
    let mut script = script.lock().unwrap();
    if path.starts_with("/tool/") {
        let answer = script
            .tool
            .pop_front()
            .expect("an unscripted host tool call");
        return Ok(whole(answer.to_string()));
    }
    let answer = script
        .model
        .pop_front()
        .expect("an unscripted model request");
    Ok(scripted(answer))
}

fn whole(body: String) -> Reply {
    Response::new(Full::from(body).map_err(|never| match never {}).boxed())
}

fn scripted(answer: Answer) -> Reply {
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(*name, value);
    }
    let body = Pieces {
        left: answer.pieces.into(),
        end: if answer.broken {
            End::BreakLater
        } else {
            End::Clean
        },
    };
    response.body(body.boxed()).unwrap()
}

struct Pieces {
    left: VecDeque<Bytes>,
    end: End,
}

enum End {
    Clean,
    BreakLater,
    Break,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        if let Some(piece) = self.left.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match std::mem::replace(&mut self.end, End::Clean) {
            End::Clean => Poll::Ready(None),
            // The server sends out what it has when nothing more is ready.
            End::BreakLater => {
                self.end = End::Break;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            End::Break => Poll::Ready(Some(Err(std::io::Error::other("scripted break")))),
        }
    }
}

/// Anthropic events, one after another.
pub(crate) fn anthropic(events: &[Value]) -> String {
    let line = |event: &Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    events.iter().map(line).collect()
}

pub(crate) fn anthropic_start() -> Value {
    json!({"type": "message_start", "message": {"model": "claude-test", "usage": {"input_tokens": 11, "cache_read_input_tokens": 3, "output_tokens": 1}}})
}

pub(crate) fn anthropic_stop(reason: &str) -> Vec<Value> {
    vec![
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]
}

/// A whole answer of text.
pub(crate) fn anthropic_text(text: &str) -> Answer {
    let mut events = vec![
        anthropic_start(),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        json!({"type": "content_block_stop", "index": 0}),
    ];
    events.extend(anthropic_stop("end_turn"));
    Answer::sse(&anthropic(&events))
}

/// An answer that calls one tool, its arguments sent in two pieces.
pub(crate) fn anthropic_call(id: &str, name: &str, arguments: &str) -> Answer {
    let (first, second) = arguments.split_at(arguments.len() / 2);
    let delta = |text: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}});
    let mut events = vec![
        anthropic_start(),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}}),
        delta(first),
        delta(second),
    ];
    events.extend(anthropic_stop("tool_use"));
    Answer::sse(&anthropic(&events))
}

/// Chat completion chunks and the end mark.
pub(crate) fn openai(chunks: &[Value]) -> String {
    let line = |chunk: &Value| format!("data: {chunk}\n\n");
    chunks
        .iter()
        .map(line)
        .chain(["data: [DONE]\n\n".to_owned()])
        .collect()
}

pub(crate) fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "model": "gpt-test", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}
