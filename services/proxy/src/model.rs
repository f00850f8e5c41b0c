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
use openclaw_model_api::bill::{Bill, Charge, Estimate, MOST_OUTPUT};
use openclaw_model_api::relay::{Prices, Relay};
use openclaw_model_api::upstream::Upstream;
use openclaw_model_api::wire::{self, Grants, ModelOptions, tokens_of};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::accept;

mod answer;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod headers;
mod problem;
mod route;

use problem::Problem;
use route::{Route, Target};

/// Connections of one turn at once: the CLI and its subagents hold some.
const CONNECTIONS: usize = 32;
/// A request to the model: a whole context window with room for images.
const REQUEST_LIMIT: usize = 32 * 1024 * 1024;
/// Requests that are read and judged at once: each may take some hundred
/// megabytes while it is.
const JUDGED_AT_ONCE: usize = 2;
/// Where a program of Anthropic's shows its key.
const API_KEY: &str = "x-api-key";

/// What is behind a turn's proxy.
#[derive(Debug)]
pub struct ModelAccess {
    /// Where the model is, and the credential.
    pub relay: Relay,
    /// How the model is to be asked.
    pub wanted: ModelOptions,
    /// What the provider may do beside answering.
    pub grants: Grants,
    /// What the models cost,
    pub prices: Prices,
    /// and what the turn has used.
    pub bill: Arc<Bill>,
}

/// Serves one turn's program. What it asks for before there is a turn waits
/// for one.
#[derive(Debug)]
pub(crate) struct ModelProxy {
    token: String,
    access: watch::Receiver<Option<Arc<ModelAccess>>>,
    upstream: Arc<Upstream>,
    judging: Semaphore,
}

type Body = BoxBody<Bytes, Infallible>;

impl ModelProxy {
    /// Lets who shows `token` through.
    pub(crate) fn new(token: String, access: watch::Receiver<Option<Arc<ModelAccess>>>) -> Self {
        Self {
            token,
            access,
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
            tracing::debug!(error = %failure::chain(&error), "a program broke off at the model's proxy");
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
        let mut access = self.access.clone();
        let access = match access.wait_for(Option::is_some).await {
            Ok(access) => access.clone(),
            Err(_) => None,
        };
        let access = access.ok_or(Problem::NoTurn)?;
        let route = Route::of(&access.relay, request.method(), request.uri());
        match route.ok_or(Problem::Elsewhere)? {
            Route::Probe => Ok(Response::new(Full::default().boxed())),
            Route::Models(target) => self.list(&access, &target, request.headers()).await,
            Route::Count(target) => self.ask(access, &target, request, false).await,
            Route::Answer(target) => self.ask(access, &target, request, true).await,
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
        access: &ModelAccess,
        target: &Target,
        asked: &HeaderMap,
    ) -> Result<Response<Body>, Problem> {
        let url = target.url(&access.relay).ok_or(Problem::BaseUrl)?;
        let headers = headers::outgoing(&access.relay, asked, &access.grants);
        let headers = headers.ok_or(Problem::Credential)?;
        let sent = self.upstream.relay(Method::GET, url, headers, Bytes::new());
        Ok(answer::passed(sent.await?))
    }

    /// Asks the model. What `is_charged` is counted.
    async fn ask(
        &self,
        access: Arc<ModelAccess>,
        target: &Target,
        request: Request<Incoming>,
        is_charged: bool,
    ) -> Result<Response<Body>, Problem> {
        let url = target.url(&access.relay).ok_or(Problem::BaseUrl)?;
        let (head, body) = request.into_parts();
        check_form(&head.headers)?;
        // Counting takes the conversation alone.
        let wanted = if is_charged {
            access.wanted.clone()
        } else {
            ModelOptions::default()
        };
        let judged = self.read(&access, body, &wanted).await?;
        let mut headers = headers::outgoing(&access.relay, &head.headers, &access.grants)
            .ok_or(Problem::Credential)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let sending = |body: Bytes| {
            let upstream = Arc::clone(&self.upstream);
            async move { upstream.relay(Method::POST, url, headers, body).await }
        };
        if !is_charged {
            return Ok(answer::passed(sending(judged.bytes).await?));
        }
        let (judged, charge) = self.admit(&access, target, judged, &wanted).await?;
        let sending = sending(judged.bytes.clone());
        let metered = answer::Metered {
            api: access.relay.api,
            asked_bytes: judged.bytes.len(),
            most_output: judged.most_output,
            charge,
        };
        metered.pass(sending).await
    }

    /// Lets a request through as far as the budget allows, which may be with a shorter
    /// answer.
    async fn admit(
        &self,
        access: &ModelAccess,
        target: &Target,
        judged: wire::Judged,
        wanted: &ModelOptions,
    ) -> Result<(wire::Judged, Charge), Problem> {
        let model = target.model.as_ref().unwrap_or(&judged.model);
        let asked = Estimate {
            input: tokens_of(judged.bytes.len()),
            most_output: judged.most_output.unwrap_or(MOST_OUTPUT),
            price: access.prices.of(model),
        };
        let charge = access.bill.admit(&asked).await.map_err(Problem::Spent)?;
        let is_whole = charge.most_output() >= asked.most_output;
        if is_whole || !access.relay.takes_a_limit() {
            return Ok((judged, charge));
        }
        let wanted = wanted.at_most(charge.most_output());
        let _place = self.judging.acquire().await;
        match judge(access, &judged.bytes, &wanted) {
            Ok(judged) => Ok((judged, charge)),
            Err(problem) => {
                charge.forget();
                Err(problem)
            }
        }
    }

    /// The request's body, as it may go out.
    async fn read(
        &self,
        access: &ModelAccess,
        body: Incoming,
        wanted: &ModelOptions,
    ) -> Result<wire::Judged, Problem> {
        // It is closed by nobody.
        let _place = self.judging.acquire().await;
        let body = Limited::new(body, REQUEST_LIMIT).collect().await;
        let body = body.map_err(|error| Problem::TooLarge(error.to_string()))?;
        judge(access, &body.to_bytes(), wanted)
    }
}

fn judge(
    access: &ModelAccess,
    body: &[u8],
    wanted: &ModelOptions,
) -> Result<wire::Judged, Problem> {
    let api = access.relay.api;
    Ok(wire::judge(api, body, &access.grants, None, wanted)?)
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
