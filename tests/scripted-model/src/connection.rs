//! One client connection.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpStream;

use crate::control::is_control;
use crate::playback::{Body, Ticket};
use crate::record::{Outcome, Recorded};
use crate::routes::{Asked, Shared, answer_other, answer_prompt, json_response, prompt};

/// Bytes of a request body; the real API takes 32 MB.
const MAX_BODY: usize = 32 * 1024 * 1024;

/// Serves one connection to its end.
pub(crate) async fn serve(stream: TcpStream, shared: Shared) {
    // Without it Nagle's algorithm holds small deltas back until the client has acknowledged the one before.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(answer(&shared, request).await) }
    });
    // A client that leaves, and an answer cut off by its scenario, both end here as an error; both are recorded.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(shared: &Shared, request: Request<Incoming>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
        return json_response(
            StatusCode::PAYLOAD_TOO_LARGE,
            &json!({"error": "body too large or broken off"}),
        );
    };
    let path = head
        .uri
        .path_and_query()
        .map_or("/", |path| path.as_str())
        .to_owned();
    let asked = Asked {
        method: head.method,
        path,
        headers: head.headers,
        body: body.to_bytes(),
    };
    if is_control(&asked.path) {
        return answer_other(shared, &asked);
    }
    let prompt = prompt(&asked);
    let turn = prompt
        .as_ref()
        .is_some_and(|(prompt, _)| !prompt.is_housekeeping());
    let ticket = Ticket::new(
        Arc::clone(&shared.log),
        shared.log.add(record(&asked, turn)),
    );
    match prompt {
        Some(prompt) => answer_prompt(shared, &asked, &prompt, ticket).await,
        None => {
            ticket.sent();
            answer_other(shared, &asked)
        }
    }
}

fn record(asked: &Asked, turn: bool) -> Recorded {
    let header = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
        (
            name.as_str().to_owned(),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        )
    };
    Recorded {
        serial: 0,
        method: asked.method.to_string(),
        path: asked.path.clone(),
        headers: asked.headers.iter().map(header).collect(),
        body: Bytes::clone(&asked.body),
        size: asked.body.len(),
        arrived: SystemTime::now(),
        turn,
        outcome: Outcome::Open,
    }
}
