//! The way to the model, for programs that want a URL: what they ask for goes
//! out with the credential that they never have, as far as the policy and the
//! budget allow it.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use openclaw_daemon::failure;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use super::accept;
use crate::bill::{Asked, Bill};
use crate::model::Upstream;
use crate::wire::{self, Grants, Wanted, tokens_of};

mod answer;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod headers;
mod problem;
mod relay;
mod route;

use problem::Problem;
pub(crate) use relay::{HeaderSecret, Prices, Relay};
use route::{Route, Target};

/// Connections of one turn at once: the CLI and its subagents hold some.
const CONNECTIONS: usize = 32;
/// A request to the model: a whole context window with room for images.
const REQUEST_LIMIT: usize = 32 * 1024 * 1024;
/// Requests that are read and judged at once: each may take some hundred
/// megabytes while it is.
const JUDGED_AT_ONCE: usize = 2;
/// The most tokens of an answer to a request that names no limit: what the
/// models with the longest answers write.
pub(crate) const MOST_OUTPUT: u64 = 128_000;
/// Where a program of Anthropic's shows its key.
const API_KEY: &str = "x-api-key";

/// What is behind a turn's door.
#[derive(Debug)]
pub(crate) struct Beyond {
    pub(crate) relay: Relay,
    /// How the model is to be asked.
    pub(crate) wanted: Wanted,
    pub(crate) grants: Grants,
    pub(crate) prices: Prices,
    pub(crate) bill: Arc<Bill>,
}

/// Serves one turn's program. What it asks for before there is a turn waits
/// for one.
#[derive(Debug)]
pub(crate) struct ModelDoor {
    token: String,
    beyond: watch::Receiver<Option<Arc<Beyond>>>,
    upstream: Arc<Upstream>,
    judging: Semaphore,
}

type Body = BoxBody<Bytes, Infallible>;

impl ModelDoor {
    /// Lets who shows `token` through.
    pub(crate) fn new(token: String, beyond: watch::Receiver<Option<Arc<Beyond>>>) -> Self {
        Self {
            token,
            beyond,
            upstream: Arc::default(),
            judging: Semaphore::new(JUDGED_AT_ONCE),
        }
    }

    /// Serves until it is dropped.
    pub(crate) async fn serve(self, listener: TcpListener) {
        let this = Arc::new(self);
        accept::serve(listener, CONNECTIONS, |stream| {
            Arc::clone(&this).attend(stream)
        })
        .await;
    }

    async fn attend(self: Arc<Self>, stream: TcpStream) {
        let service = service_fn(move |request| {
            let this = Arc::clone(&self);
            async move {
                let answer = this.answer(request).await;
                Ok::<_, Infallible>(answer.unwrap_or_else(Problem::into_response))
            }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service);
        if let Err(error) = connection.await {
            tracing::debug!(error = %failure::chain(&error), "a program broke off at the model's door");
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Problem> {
        if !self.is_known(request.headers()) {
            return Err(Problem::Token);
        }
        // The CLI asks whether anybody is there, and does not wait for a turn.
        if *request.method() == Method::HEAD && request.uri() == "/" {
            return Ok(Response::new(Full::default().boxed()));
        }
        let mut beyond = self.beyond.clone();
        let beyond = match beyond.wait_for(Option::is_some).await {
            Ok(beyond) => beyond.clone(),
            Err(_) => None,
        };
        let beyond = beyond.ok_or(Problem::NoTurn)?;
        let route = Route::of(&beyond.relay, request.method(), request.uri());
        match route.ok_or(Problem::Elsewhere)? {
            Route::Probe => Ok(Response::new(Full::default().boxed())),
            Route::Models(target) => self.list(&beyond, &target, request.headers()).await,
            Route::Count(target) => self.ask(beyond, &target, request, false).await,
            Route::Answer(target) => self.ask(beyond, &target, request, true).await,
        }
    }

    fn is_known(&self, headers: &HeaderMap) -> bool {
        let key = headers.get(API_KEY).map(HeaderValue::as_bytes);
        let bearer = headers.get(AUTHORIZATION);
        let bearer = bearer.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        let token = self.token.as_bytes();
        key == Some(token) || bearer == Some(token)
    }

    /// Which models there are, which costs nothing.
    async fn list(
        &self,
        beyond: &Beyond,
        target: &Target,
        asked: &HeaderMap,
    ) -> Result<Response<Body>, Problem> {
        let url = target.url(&beyond.relay).ok_or(Problem::BaseUrl)?;
        let headers = headers::outgoing(&beyond.relay, asked, &beyond.grants);
        let headers = headers.ok_or(Problem::Credential)?;
        let sent = self.upstream.relay(Method::GET, url, headers, Bytes::new());
        Ok(answer::passed(sent.await?))
    }

    /// Asks the model. What `is_charged` is counted.
    async fn ask(
        &self,
        beyond: Arc<Beyond>,
        target: &Target,
        request: Request<Incoming>,
        is_charged: bool,
    ) -> Result<Response<Body>, Problem> {
        let url = target.url(&beyond.relay).ok_or(Problem::BaseUrl)?;
        let (head, body) = request.into_parts();
        check_form(&head.headers)?;
        // Counting takes the conversation alone.
        let wanted = if is_charged {
            beyond.wanted.clone()
        } else {
            Wanted::default()
        };
        let judged = self.read(&beyond, body, &wanted).await?;
        let mut headers = headers::outgoing(&beyond.relay, &head.headers, &beyond.grants)
            .ok_or(Problem::Credential)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let asked_bytes = judged.bytes.len();
        let sending = {
            let upstream = Arc::clone(&self.upstream);
            let body = judged.bytes.clone();
            async move { upstream.relay(Method::POST, url, headers, body).await }
        };
        if !is_charged {
            return Ok(answer::passed(sending.await?));
        }
        let model = target.model.as_ref().unwrap_or(&judged.model);
        let asked = Asked {
            input: tokens_of(asked_bytes),
            most_output: judged.most_output.unwrap_or(MOST_OUTPUT),
            price: beyond.prices.of(model),
        };
        let tab = beyond.bill.admit(asked).await.map_err(Problem::Spent)?;
        let metered = answer::Metered {
            api: beyond.relay.api,
            asked_bytes,
            most_output: judged.most_output,
            tab,
        };
        metered.pass(sending).await
    }

    /// The request's body, as it may go out.
    async fn read(
        &self,
        beyond: &Beyond,
        body: Incoming,
        wanted: &Wanted,
    ) -> Result<wire::Judged, Problem> {
        // It is closed by nobody.
        let _place = self.judging.acquire().await;
        let body = Limited::new(body, REQUEST_LIMIT).collect().await;
        let body = body.map_err(|error| Problem::TooLarge(error.to_string()))?;
        let api = beyond.relay.api;
        Ok(wire::judge(
            api,
            &body.to_bytes(),
            &beyond.grants,
            None,
            wanted,
        )?)
    }
}

/// A body is JSON and not packed: what is judged is what is sent.
fn check_form(headers: &HeaderMap) -> Result<(), Problem> {
    let plain = |value: &HeaderValue| value == "identity";
    if headers.get(CONTENT_ENCODING).is_some_and(|it| !plain(it)) {
        return Err(Problem::Form);
    }
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let kind = kind.unwrap_or(b"application/json");
    let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default();
    if kind.trim_ascii().eq_ignore_ascii_case(b"application/json") {
        Ok(())
    } else {
        Err(Problem::Form)
    }
}
