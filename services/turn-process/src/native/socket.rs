//! The turn socket, our side: HTTP/2 to one client, the agent of this turn, which
//! may wait for several answers at a time.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use openclaw_daemon::failure;
use openclaw_handoff::steering::Inbox;
use openclaw_mcp_servers::Changes;
use openclaw_turn::{
    Code, MOST_VALUES, Mismatch, News, Problem, RenewedTools, ToldTurn, TurnRequest,
    has_too_many_values, path,
};
use serde::Serialize;
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::sync::watch;

use super::asking::{Answer, Asking, Metered, Question};
use super::refusal::Refusal;
use super::{code, system, with_tools};
use crate::host::Tools;

/// A request to the model: a whole context window with room for images.
const REQUEST_LIMIT: usize = 32 * 1024 * 1024;

/// The arguments of a call: a file that somebody is asked about may be among them.
const ARGUMENTS_LIMIT: usize = 4 * 1024 * 1024;

/// Pieces of a model's answer that are passed on together.
const AT_ONCE: usize = 64;

/// Requests that are answered at a time: more than an answer of a model may have
/// calls. The next one waits at the client.
const REQUESTS: u32 = 80;

/// Answers the agent's requests.
#[derive(Debug)]
pub(super) struct Host {
    /// Without the tools of servers.
    request: TurnRequest,
    /// The conversation before the turn, as JSON. It is not looked at.
    history: Bytes,
    asking: Option<Arc<Asking>>,
    /// Held while the model begins to answer: an agent asks one thing at a time,
    /// and what it asks is kept in memory.
    turn_to_ask: tokio::sync::Mutex<()>,
    tools: Tools,
    /// The tools that the servers offer beyond those told last.
    changes: Mutex<Changes>,
    inbox: Inbox,
}

type Body = BoxBody<Bytes, Infallible>;

/// Serves until the agent closes its end. What it asks for before there is a turn waits for one.
pub(super) async fn serve(stream: UnixStream, turn: watch::Receiver<Option<Arc<Host>>>) {
    let service = service_fn(move |request| {
        let mut turn = turn.clone();
        async move {
            let host = match turn.wait_for(Option::is_some).await {
                Ok(host) => host.clone(),
                Err(_) => None,
            };
            Ok::<_, Infallible>(match host {
                Some(host) => host.answer(request).await,
                None => problem(StatusCode::GONE, Code::Cancelled, "there will be no turn"),
            })
        }
    });
    let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(REQUESTS)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(error = %failure::chain(&error), "the turn socket broke off");
    }
}

impl Host {
    pub(super) fn new(
        (request, history): (TurnRequest, Bytes),
        asking: Option<Arc<Asking>>,
        tools: Tools,
        inbox: Inbox,
    ) -> Self {
        Self {
            request,
            history,
            asking,
            turn_to_ask: tokio::sync::Mutex::default(),
            changes: Mutex::new(tools.servers.changes()),
            tools,
            inbox,
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        match (request.method(), path.as_str()) {
            (&Method::GET, path::TURN) => self.turn(request.headers()),
            (&Method::GET, path::NEWS) => self.news(),
            (&Method::POST, path) if path.starts_with(path::MODEL) => {
                let question = question(request.headers());
                let _turn = self.turn_to_ask.lock().await;
                match read(request.into_body(), REQUEST_LIMIT).await {
                    Ok(body) => self.model(&question, body).await,
                    Err(refusal) => refusal,
                }
            }
            (&Method::POST, path) => match path.strip_prefix(path::TOOLS) {
                Some(tool) => match read(request.into_body(), ARGUMENTS_LIMIT).await {
                    Ok(body) => self.tool(tool, &body).await,
                    Err(refusal) => refusal,
                },
                None => problem(
                    StatusCode::NOT_FOUND,
                    Code::Internal,
                    "there is nothing here",
                ),
            },
            _ => problem(
                StatusCode::NOT_FOUND,
                Code::Internal,
                "there is nothing here",
            ),
        }
    }

    /// The turn, for an agent of our version.
    fn turn(&self, headers: &HeaderMap) -> Response<Body> {
        if let Err(mismatch) = check_version(headers) {
            return problem(
                StatusCode::BAD_REQUEST,
                Code::Internal,
                &mismatch.to_string(),
            );
        }
        self.is_changed();
        let request = with_tools(&self.request, self.tools.offer());
        match ToldTurn::write(&request, &self.history) {
            Ok(told) => json(StatusCode::OK, told),
            Err(error) => problem(
                StatusCode::INTERNAL_SERVER_ERROR,
                Code::Internal,
                &error.to_string(),
            ),
        }
    }

    /// Whether there are other tools than were told last.
    fn is_changed(&self) -> bool {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.take()
    }

    /// The messages that came while the turn went on, and the tools, when there are others.
    fn news(&self) -> Response<Body> {
        match self.inbox.take() {
            Ok(messages) => {
                let tools = self.is_changed().then(|| self.renewed());
                reply(StatusCode::OK, &News { messages, tools })
            }
            Err(error) => problem(
                StatusCode::INTERNAL_SERVER_ERROR,
                Code::Internal,
                &failure::chain(&error),
            ),
        }
    }

    fn renewed(&self) -> RenewedTools {
        let offer = self.tools.offer();
        RenewedTools {
            system: system(&self.request, &offer),
            offer,
        }
    }

    /// The path the agent names is not used: the endpoint is the provider's.
    async fn model(&self, question: &Question, body: Bytes) -> Response<Body> {
        let Some(asking) = &self.asking else {
            return problem(
                StatusCode::NOT_FOUND,
                Code::Internal,
                "this turn has no model",
            );
        };
        match asking.ask(question, body).await {
            Answer::Stream(response, metered) => streamed(response, *metered),
            Answer::Elsewhere(target) => reply(StatusCode::MISDIRECTED_REQUEST, &target),
            Answer::Refused(refusal) => refused(refusal),
            Answer::Failed(error) => {
                let code = code::of_turn(error.code());
                problem(StatusCode::BAD_GATEWAY, code, &error.to_words())
            }
            Answer::BrokenOff => problem(
                StatusCode::GONE,
                Code::Network,
                "the model's answers break off",
            ),
            Answer::Unfit(unfit) => {
                let why = unfit.to_string();
                tracing::info!(why, "a request to the model is refused");
                problem(StatusCode::BAD_REQUEST, Code::ModelError, &why)
            }
            Answer::Spent(why) => problem(StatusCode::PAYMENT_REQUIRED, Code::ResourceLimit, &why),
        }
    }

    async fn tool(&self, tool: &str, body: &[u8]) -> Response<Body> {
        if has_too_many_values(body) {
            let why = format!("the arguments have more than {MOST_VALUES} values");
            return problem(StatusCode::BAD_REQUEST, Code::MalformedOutput, &why);
        }
        let arguments = match serde_json::from_slice::<Value>(body) {
            Ok(arguments) => arguments,
            Err(error) => {
                return problem(
                    StatusCode::BAD_REQUEST,
                    Code::MalformedOutput,
                    &error.to_string(),
                );
            }
        };
        reply(StatusCode::OK, &self.tools.call(tool, arguments).await)
    }
}

fn check_version(headers: &HeaderMap) -> Result<(), Mismatch> {
    let version = headers.get(path::VERSION);
    let version = version.and_then(|version| version.to_str().ok()?.parse().ok());
    openclaw_turn::check("openclaw-agent", version)
}

/// The agent's description of its question.
fn question(headers: &HeaderMap) -> Question {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    Question {
        broke_off: text(path::BROKE_OFF)
            .map(|name| Code::from_name(name).unwrap_or(Code::Internal)),
    }
}

async fn read(body: Incoming, limit: usize) -> Result<Bytes, Response<Body>> {
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => Err(problem(
            StatusCode::PAYLOAD_TOO_LARGE,
            Code::MalformedOutput,
            &error.to_string(),
        )),
    }
}

/// The provider's answer as it comes, counted, with the headers the agent looks at.
fn streamed(upstream: reqwest::Response, mut metered: Metered) -> Response<Body> {
    let status = upstream.status();
    let headers = upstream.headers().clone();
    // A break ends the body as its end does: hyper drops data that it has not sent yet when the
    // body fails. The agent sees that the last event is missing.
    let pieces = upstream.bytes_stream().map(Some);
    let pieces = pieces.chain(futures_util::stream::once(async { None }));
    let pieces = pieces.map(move |piece| counted(piece, &mut metered));
    let pieces = pieces.take_while(|piece| std::future::ready(piece.is_some()));
    let pieces = pieces.filter_map(std::future::ready);
    // What came at once goes on at once: providers send each event by itself.
    let frames = pieces
        .ready_chunks(AT_ONCE)
        .map(|pieces| Ok(Frame::data(joined(pieces))));
    let mut response = Response::new(http_body_util::BodyExt::boxed(StreamBody::new(frames)));
    *response.status_mut() = status;
    pass_on(&headers, &mut response);
    response
}

fn refused(refusal: Refusal) -> Response<Body> {
    let mut response = Response::new(Full::new(refusal.body).boxed());
    *response.status_mut() = refusal.status;
    pass_on(&refusal.headers, &mut response);
    response
}

fn pass_on(headers: &HeaderMap, response: &mut Response<Body>) {
    for name in [CONTENT_TYPE, RETRY_AFTER] {
        if let Some(value) = headers.get(&name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
}

/// A piece of an answer, counted; `None`: the answer is over.
fn counted(piece: Option<reqwest::Result<Bytes>>, metered: &mut Metered) -> Option<Bytes> {
    let Some(piece) = piece else {
        metered.end();
        return None;
    };
    if let Ok(piece) = &piece {
        metered.feed(piece);
    }
    piece
        .inspect_err(|error| {
            tracing::debug!(error = %failure::chain(error), "the model's answer broke off");
        })
        .ok()
}

fn joined(pieces: Vec<Bytes>) -> Bytes {
    match <[Bytes; 1]>::try_from(pieces) {
        Ok([piece]) => piece,
        Err(pieces) => pieces.concat().into(),
    }
}

fn reply(status: StatusCode, answer: &impl Serialize) -> Response<Body> {
    json(status, serde_json::to_vec(answer).unwrap_or_default())
}

fn json(status: StatusCode, text: Vec<u8>) -> Response<Body> {
    let body = Full::new(Bytes::from(text)).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn problem(status: StatusCode, code: Code, message: &str) -> Response<Body> {
    reply(status, &Problem::new(code, message))
}

#[cfg(test)]
mod tests {
    use openclaw_turn::VERSION;

    use super::*;

    #[test]
    fn check_version_takes_an_agent_of_our_version_alone() {
        let mut headers = HeaderMap::new();
        assert!(check_version(&headers).is_err());
        headers.insert(path::VERSION, VERSION.into());
        assert_eq!(check_version(&headers), Ok(()));
        for other in ["0", "2x", ""] {
            headers.insert(path::VERSION, HeaderValue::from_static(other));
            let why = check_version(&headers).unwrap_err().to_string();
            assert!(why.contains("openclaw-agent speaks"), "{why}");
        }
    }
}
