//! The way to the model, for programs that want a URL: what they ask for goes
//! out with the credential that they never have.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use openclaw_config::secret::Secret;
use openclaw_daemon::failure;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::accept;
use crate::model::Upstream;

/// Connections of one turn at once: the CLI and its subagents hold some.
const CONNECTIONS: usize = 32;
/// A request to the model: a whole context window with room for images.
const REQUEST_LIMIT: usize = 32 * 1024 * 1024;
/// What may be asked for: the APIs of Anthropic, OpenAI and Amazon Bedrock.
const PATHS: [&str; 2] = ["/v1/", "/model/"];
/// Which features of the API a request uses.
const BETA: &str = "anthropic-beta";
const API_KEY: &str = "x-api-key";
/// Of the connection and not of the request (RFC 9110 §7.6.1), set anew, or
/// what says who asks.
const NOT_PASSED: [&str; 12] = [
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
    API_KEY,
];

/// Where the model is, and how one gets in. It is told to a turn's process,
/// and nowhere else.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Relay {
    pub(crate) base_url: String,
    /// What a path begins with at the door and not there.
    pub(crate) mount: String,
    /// Set in every request, in place of what is there.
    pub(crate) headers: Vec<(String, HeaderSecret)>,
    /// Added to the features that a request uses.
    pub(crate) beta: Option<String>,
}

/// A header's value that is a credential, or may hold one.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub(crate) struct HeaderSecret(pub(crate) Secret);

/// To the turn's process, over its own line.
impl Serialize for HeaderSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.reveal())
    }
}

/// Serves one turn's program. What it asks for before there is a relay waits
/// for one.
#[derive(Debug)]
pub(crate) struct ModelDoor {
    token: String,
    relay: watch::Receiver<Option<Arc<Relay>>>,
    upstream: Upstream,
}

type Body = BoxBody<Bytes, Infallible>;

impl ModelDoor {
    /// Lets who shows `token` through.
    pub(crate) fn new(token: String, relay: watch::Receiver<Option<Arc<Relay>>>) -> Self {
        Self {
            token,
            relay,
            upstream: Upstream::default(),
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
            async move { Ok::<_, Infallible>(this.answer(request).await) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service);
        if let Err(error) = connection.await {
            tracing::debug!(error = %failure::chain(&error), "a program broke off at the model's door");
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if !self.is_known(request.headers()) {
            return problem(
                StatusCode::UNAUTHORIZED,
                "authentication_error",
                "this is not the token of this turn",
            );
        }
        let path = request.uri().path();
        // The CLI asks whether anybody is there.
        if request.method() == Method::HEAD && path == "/" {
            return Response::new(Full::default().boxed());
        }
        let plain = !path.split('/').any(|part| part == ".." || part == ".");
        if !plain || !PATHS.iter().any(|known| path.starts_with(known)) {
            return problem(
                StatusCode::NOT_FOUND,
                "not_found_error",
                "only the model's API is here",
            );
        }
        let mut relay = self.relay.clone();
        let relay = match relay.wait_for(Option::is_some).await {
            Ok(relay) => relay.clone(),
            Err(_) => None,
        };
        match relay {
            Some(relay) => self.pass_on(&relay, request).await,
            None => problem(StatusCode::GONE, "api_error", "there will be no turn"),
        }
    }

    fn is_known(&self, headers: &HeaderMap) -> bool {
        let key = headers.get(API_KEY).map(HeaderValue::as_bytes);
        let bearer = headers.get(AUTHORIZATION);
        let bearer = bearer.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        let token = self.token.as_bytes();
        key == Some(token) || bearer == Some(token)
    }

    async fn pass_on(&self, relay: &Relay, request: Request<Incoming>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let body = match Limited::new(body, REQUEST_LIMIT).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => {
                return problem(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "request_too_large",
                    &error.to_string(),
                );
            }
        };
        let Some(headers) = relay.headers(&head.headers) else {
            return problem(
                StatusCode::BAD_GATEWAY,
                "api_error",
                "the configured credential holds characters that cannot be sent",
            );
        };
        let target = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let target = target.strip_prefix(&relay.mount).unwrap_or(target);
        let url = format!("{}{target}", relay.base_url.trim_end_matches('/'));
        match self.upstream.relay(head.method, &url, headers, body).await {
            Ok(response) => streamed(response),
            Err(error) => {
                tracing::warn!(error = %failure::chain(&error), "the model cannot be asked");
                problem(StatusCode::BAD_GATEWAY, "api_error", &error.to_words())
            }
        }
    }
}

impl Relay {
    /// The headers of a request as they go out. `None`: one cannot be sent.
    fn headers(&self, asked: &HeaderMap) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        for (name, value) in asked {
            if !NOT_PASSED.contains(&name.as_str()) {
                headers.append(name.clone(), value.clone());
            }
        }
        for (name, value) in &self.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            let mut value = HeaderValue::from_str(value.0.reveal()).ok()?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        if let Some(beta) = &self.beta {
            let known = headers.get_all(BETA).iter();
            let mut all: Vec<String> = known
                .filter_map(|value| value.to_str().ok())
                .flat_map(|list| list.split(','))
                .map(|one| one.trim().to_owned())
                .filter(|one| !one.is_empty())
                .collect();
            if !all.contains(beta) {
                all.push(beta.clone());
            }
            headers.insert(BETA, HeaderValue::from_str(&all.join(",")).ok()?);
        }
        Some(headers)
    }
}

/// The provider's answer as it comes.
fn streamed(upstream: reqwest::Response) -> Response<Body> {
    let mut response = Response::new(());
    *response.status_mut() = upstream.status();
    for (name, value) in upstream.headers() {
        if !NOT_PASSED.contains(&name.as_str()) && name != "set-cookie" {
            response.headers_mut().append(name.clone(), value.clone());
        }
    }
    // A break ends the body as its end does: hyper drops data that it has not
    // sent yet when the body fails. The program sees that the last event is
    // missing.
    let pieces = upstream.bytes_stream().map(Result::ok);
    let pieces = pieces.take_while(|piece| std::future::ready(piece.is_some()));
    let frames = pieces.filter_map(|piece| async move { Some(Ok(Frame::data(piece?))) });
    response.map(|()| http_body_util::BodyExt::boxed(StreamBody::new(frames)))
}

/// An error as the Messages API has them; those of OpenAI read the same.
fn problem(status: StatusCode, kind: &str, message: &str) -> Response<Body> {
    let body = json!({"type": "error", "error": {"type": kind, "message": message}});
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())).boxed());
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_credential_replaces_what_the_program_sent() {
        let relay = Relay {
            base_url: String::new(),
            mount: String::new(),
            headers: vec![(
                "authorization".to_owned(),
                HeaderSecret(Secret::new("Bearer real")),
            )],
            beta: Some("oauth".to_owned()),
        };
        let mut asked = HeaderMap::new();
        for (name, value) in [
            ("x-api-key", "token"),
            ("authorization", "Bearer token"),
            ("host", "127.0.0.1"),
            ("anthropic-beta", "one, two"),
            ("anthropic-version", "2023-06-01"),
        ] {
            asked.append(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        let sent = relay.headers(&asked).unwrap();
        assert_eq!(sent["authorization"], "Bearer real");
        assert!(sent.get("x-api-key").is_none() && sent.get("host").is_none());
        assert_eq!(sent["anthropic-beta"], "one,two,oauth");
        assert_eq!(sent["anthropic-version"], "2023-06-01");
    }
}
