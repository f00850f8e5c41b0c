//! From an HTTP request to a WebSocket (RFC 6455, section 4.2).

use std::sync::Arc;

use axum::http::header::SEC_WEBSOCKET_VERSION;
use axum::http::{HeaderValue, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use openclaw_doors::front::Peer;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;

use super::connection;
use super::handshake::Handshake;

/// The only version there is.
const VERSION: &str = "13";

/// Answers the handshake and serves the connection in a task of its own once hyper hands it over. A
/// request that is no WebSocket handshake is refused with 400 or 426.
pub(crate) fn upgrade<B, Out: Default>(
    mut request: Request<B>,
    peer: Peer,
    handshake: Arc<Handshake>,
) -> Response<Out> {
    let response = match create_response_with_body(&request, Out::default) {
        Ok(response) => response,
        Err(error) => return refusal(&error),
    };
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        match upgraded.await {
            Ok(stream) => connection::serve(TokioIo::new(stream), peer, handshake).await,
            Err(error) => tracing::debug!(%error, "the client went away during the handshake"),
        }
    });
    response
}

fn refusal<Out: Default>(error: &Error) -> Response<Out> {
    let mut response = Response::new(Out::default());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    if let Error::Protocol(ProtocolError::MissingSecWebSocketVersionHeader) = error {
        *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
        let headers = response.headers_mut();
        headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::http::Method;

    use super::*;

    fn answered(method: Method, headers: &[(&str, &str)]) -> Response<()> {
        let request = Request::builder().method(method);
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        create_response_with_body(&request.body(()).unwrap(), || ())
            .unwrap_or_else(|error| refusal(&error))
    }

    #[test]
    fn upgrade_takes_the_example_of_the_rfc_and_nothing_less() {
        let good = [
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "WebSocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let taken = answered(Method::GET, &good);
        assert_eq!(taken.status(), StatusCode::SWITCHING_PROTOCOLS);
        assert_eq!(
            taken.headers()["sec-websocket-accept"],
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        );
        let status = |method, headers| answered(method, headers).status();
        assert_eq!(status(Method::POST, &good), StatusCode::BAD_REQUEST);
        assert_eq!(status(Method::GET, &good[1..]), StatusCode::BAD_REQUEST);
        assert_eq!(status(Method::GET, &good[..3]), StatusCode::BAD_REQUEST);
        let other = answered(Method::GET, &good[..2]);
        assert_eq!(other.status(), StatusCode::UPGRADE_REQUIRED);
        assert_eq!(other.headers()[SEC_WEBSOCKET_VERSION], VERSION);
    }
}
