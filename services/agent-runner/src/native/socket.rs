//! The turn socket, our side: HTTP/1.1 to one client, the agent of this turn.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use openclaw_daemon::failure;
use openclaw_proto::event::Code;
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::sync::watch;

use super::asking::{Answer, Asked, Asking};
use super::refusal::Refusal;
use crate::bill::Bill;
use crate::host::Tools;
use crate::steering::Inbox;

/// A request to the model: a whole context window with room for images.
const REQUEST_LIMIT: usize = 32 * 1024 * 1024;

/// How many of its questions were answered before.
const ANSWERED: &str = "openclaw-answered";
/// Why the answer to the same question came to nothing: a [`Code`].
const BROKE_OFF: &str = "openclaw-broke-off";

/// What the agent may ask for.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) request: Bytes,
    pub(super) asking: Option<Arc<Asking>>,
    pub(super) bill: Arc<Bill>,
    pub(super) tools: Tools,
    pub(super) inbox: Inbox,
}

type Body = BoxBody<Bytes, Infallible>;

/// Serves until the agent closes its end. What it asks for before there is a
/// turn waits for one.
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
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(error = %failure::chain(&error), "the turn socket broke off");
    }
}

impl Host {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        match (request.method(), path.as_str()) {
            (&Method::GET, "/turn") => reply(StatusCode::OK, self.request.clone()),
            (&Method::GET, "/steering") => self.steering(),
            (&Method::POST, path) if path.starts_with("/model/") => {
                let asked = asked(request.headers());
                match read(request.into_body()).await {
                    Ok(body) => self.model(&asked, body).await,
                    Err(refusal) => refusal,
                }
            }
            (&Method::POST, path) => match path.strip_prefix("/tool/") {
                Some(tool) => match read(request.into_body()).await {
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

    /// The messages that came while the turn went on.
    fn steering(&self) -> Response<Body> {
        match self.inbox.take() {
            Ok(messages) => {
                let messages = serde_json::to_vec(&messages).unwrap_or_default();
                reply(StatusCode::OK, messages.into())
            }
            Err(error) => problem(
                StatusCode::INTERNAL_SERVER_ERROR,
                Code::Internal,
                &failure::chain(&error),
            ),
        }
    }

    /// The path the agent names is not used: the endpoint is the provider's.
    async fn model(&self, asked: &Asked, body: Bytes) -> Response<Body> {
        let Some(asking) = &self.asking else {
            return problem(
                StatusCode::NOT_FOUND,
                Code::Internal,
                "this turn has no model",
            );
        };
        if let Err(why) = self.bill.allows_more(asked.answered).await {
            return problem(StatusCode::PAYMENT_REQUIRED, Code::ResourceLimit, &why);
        }
        match asking.ask(asked, body).await {
            Answer::Stream(response) => streamed(response),
            Answer::Elsewhere { api, model } => {
                let target = json!({"api": api, "model": model});
                reply(StatusCode::MISDIRECTED_REQUEST, target.to_string().into())
            }
            Answer::Refused(refusal) => refused(refusal),
            Answer::Failed(error) => {
                problem(StatusCode::BAD_GATEWAY, error.code(), &error.to_words())
            }
            Answer::BrokenOff => problem(
                StatusCode::GONE,
                Code::Network,
                "the model's answers break off",
            ),
        }
    }

    async fn tool(&self, tool: &str, body: &[u8]) -> Response<Body> {
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
        let answer = self.tools.call(tool, arguments).await;
        let json = serde_json::to_vec(&answer).unwrap_or_default();
        reply(StatusCode::OK, json.into())
    }
}

/// What the agent says of its question.
fn asked(headers: &HeaderMap) -> Asked {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    Asked {
        answered: text(ANSWERED)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0),
        broke_off: text(BROKE_OFF).map(Code::parse),
    }
}

async fn read(body: Incoming) -> Result<Bytes, Response<Body>> {
    match Limited::new(body, REQUEST_LIMIT).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => Err(problem(
            StatusCode::PAYLOAD_TOO_LARGE,
            Code::MalformedOutput,
            &error.to_string(),
        )),
    }
}

/// The provider's answer as it comes, with the headers the agent looks at.
fn streamed(upstream: reqwest::Response) -> Response<Body> {
    let status = upstream.status();
    let headers = upstream.headers().clone();
    // A break ends the body as its end does: hyper drops data that it has not
    // sent yet when the body fails. The agent sees that the last event is
    // missing.
    let frames = upstream.bytes_stream().map(kept).take_while(|piece| {
        let whole = piece.is_some();
        async move { whole }
    });
    let frames = frames.filter_map(|piece| async move { Some(Ok(Frame::data(piece?))) });
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

fn kept(piece: reqwest::Result<Bytes>) -> Option<Bytes> {
    piece
        .inspect_err(|error| {
            tracing::debug!(error = %failure::chain(error), "the model's answer broke off");
        })
        .ok()
}

fn reply(status: StatusCode, json: Bytes) -> Response<Body> {
    let body = Full::new(json).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// An error in the shape both kinds of provider use; its type is one of the
/// codes of a failed run, which the agent passes on.
fn problem(status: StatusCode, code: Code, message: &str) -> Response<Body> {
    let body = json!({"error": {"type": code.as_str(), "message": message}});
    reply(status, body.to_string().into())
}
