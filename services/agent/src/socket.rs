//! The turn socket: HTTP/2 to the runner over the connected socket that is our
//! standard input, so that any number of calls may wait for their answers. It
//! leads to this turn and nowhere else.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream as StdStream;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::net::UnixStream;

use openclaw_turn::{Code, HostAnswer, News, Problem, ToldTurn, VERSION, path};

/// The turn with its history; above what any model's context holds.
const MAX_TURN_BYTES: usize = 64 * 1024 * 1024;

/// Answer of a host tool: as much as a built-in tool's output, and its images.
const MAX_TOOL_ANSWER_BYTES: usize = 12 * 1024 * 1024;

/// The other end, as a URL has it.
const RUNNER: &str = "http://runner";

/// A question to the model.
pub(crate) struct Question {
    pub(crate) path: &'static str,
    /// The answer to the same question broke off, and nothing was passed on.
    pub(crate) broke_off: Option<Code>,
}

/// A client of the runner.
pub(crate) struct TurnSocket {
    sender: SendRequest<Full<Bytes>>,
}

/// What can go wrong on the way to the runner.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    #[error("standard input is not the turn socket (started by hand?)")]
    NotASocket(#[source] io::Error),
    #[error("the connection to the runner broke")]
    Connection(#[from] hyper::Error),
    #[error("cannot form a request to the runner")]
    Request(#[from] hyper::http::Error),
    #[error("the runner answered {path} with status {status}")]
    Status { path: String, status: StatusCode },
    #[error("the runner refused {path}: {why}")]
    Refused { path: String, why: String },
    #[error(
        "cannot take the turn from the runner's answer to {}",
        openclaw_turn::path::TURN
    )]
    Turn(#[source] openclaw_turn::ReadError),
    #[error("the runner's answer to {path} is longer than {limit} bytes")]
    TooLong { path: String, limit: usize },
    #[error("the runner's answer to {path} broke off")]
    Body {
        path: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("cannot understand the runner's answer to {path}")]
    Malformed {
        path: String,
        #[source]
        source: serde_json::Error,
    },
}

impl TurnSocket {
    /// Takes standard input.
    pub(crate) async fn from_stdin() -> Result<Self, SocketError> {
        let stream = stdin_stream().map_err(SocketError::NotASocket)?;
        let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
        // Its errors also come out of the request that they concern.
        tokio::spawn(connection);
        Ok(Self { sender })
    }

    /// Asks what to do.
    pub(crate) async fn turn(&self) -> Result<ToldTurn, SocketError> {
        let path = path::TURN;
        let response = self.send(Method::GET, path, None, Bytes::new()).await?;
        let body = read_body(path, response, MAX_TURN_BYTES).await?;
        ToldTurn::read(&body).map_err(SocketError::Turn)
    }

    /// Takes what is new since it was last asked.
    pub(crate) async fn news(&self) -> Result<News, SocketError> {
        let path = path::NEWS;
        let response = self.send(Method::GET, path, None, Bytes::new()).await?;
        read_json(path, response, MAX_TURN_BYTES).await
    }

    /// Sends a model request; the answer is the provider's, whatever its status.
    pub(crate) async fn model(
        &self,
        question: &Question,
        body: Vec<u8>,
    ) -> Result<Response<Incoming>, SocketError> {
        let (path, broke_off) = (question.path, question.broke_off);
        self.send(Method::POST, path, broke_off, body.into()).await
    }

    /// Calls a host tool.
    pub(crate) async fn tool(
        &self,
        name: &str,
        arguments: &Value,
    ) -> Result<HostAnswer, SocketError> {
        let path = format!("{}{name}", path::TOOLS);
        let body = arguments.to_string().into();
        let response = self.send(Method::POST, &path, None, body).await?;
        read_json(&path, response, MAX_TOOL_ANSWER_BYTES).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        broke_off: Option<Code>,
        body: Bytes,
    ) -> Result<Response<Incoming>, SocketError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{RUNNER}{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header(path::VERSION, VERSION);
        if let Some(code) = broke_off {
            request = request.header(path::BROKE_OFF, code.as_str());
        }
        let request = request.body(Full::new(body))?;
        let mut sender = self.sender.clone();
        sender.ready().await?;
        Ok(sender.send_request(request).await?)
    }
}

fn stdin_stream() -> io::Result<UnixStream> {
    let stream = StdStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Fails with ENOTSOCK on a terminal or pipe, before anything is sent.
    stream.peer_addr()?;
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

async fn read_json<T: serde::de::DeserializeOwned>(
    path: &str,
    response: Response<Incoming>,
    limit: usize,
) -> Result<T, SocketError> {
    let body = read_body(path, response, limit).await?;
    serde_json::from_slice(&body).map_err(|source| SocketError::Malformed {
        path: path.to_owned(),
        source,
    })
}

/// The body of an answer, or the reason that a refusal states.
async fn read_body(
    path: &str,
    response: Response<Incoming>,
    limit: usize,
) -> Result<Bytes, SocketError> {
    let path = || path.to_owned();
    let status = response.status();
    let body = Limited::new(response.into_body(), limit).collect().await;
    let body = body.map_err(|source| {
        if source.is::<LengthLimitError>() {
            let path = path();
            return SocketError::TooLong { path, limit };
        }
        let path = path();
        SocketError::Body { path, source }
    })?;
    let body = body.to_bytes();
    if status == StatusCode::OK {
        return Ok(body);
    }
    let path = path();
    Err(match serde_json::from_slice::<Problem>(&body) {
        Ok(problem) => SocketError::Refused {
            path,
            why: problem.message().to_owned(),
        },
        Err(_) => SocketError::Status { path, status },
    })
}

#[cfg(fuzzing)]
pub(crate) mod fuzz;
