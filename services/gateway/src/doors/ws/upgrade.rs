//! From an HTTP request to a WebSocket (RFC 6455, section 4.2).

use std::sync::Arc;

use axum::http::header::{
    CONNECTION, HeaderMap, HeaderName, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use axum::http::{HeaderValue, Method, Request, Response, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper_util::rt::TokioIo;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

use super::connection;
use crate::doors::Doors;
use crate::doors::front::Peer;

/// What the key is hashed with (RFC 6455, section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The only version there is.
const VERSION: &str = "13";

/// Answers the handshake and serves the connection in a task of its own once
/// hyper hands it over. A request that is no WebSocket handshake is refused
/// with 400 or 426.
pub(crate) fn upgrade<B, Out: Default>(
    mut request: Request<B>,
    peer: Peer,
    doors: Arc<Doors>,
) -> Response<Out> {
    let accept = match accept(request.method(), request.headers()) {
        Ok(accept) => accept,
        Err(status) => return refusal(status),
    };
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        match upgraded.await {
            Ok(stream) => connection::serve(TokioIo::new(stream), peer, doors).await,
            Err(error) => tracing::debug!(%error, "the client went away during the handshake"),
        }
    });
    let mut response = Response::new(Out::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    response
}

/// The value of Sec-WebSocket-Accept.
fn accept(method: &Method, headers: &HeaderMap) -> Result<HeaderValue, StatusCode> {
    let asks = *method == Method::GET
        && has(headers, &CONNECTION, "upgrade")
        && has(headers, &UPGRADE, "websocket");
    if !asks {
        return Err(StatusCode::BAD_REQUEST);
    }
    if headers
        .get(SEC_WEBSOCKET_VERSION)
        .map(HeaderValue::as_bytes)
        != Some(VERSION.as_bytes())
    {
        return Err(StatusCode::UPGRADE_REQUIRED);
    }
    let key = headers
        .get(SEC_WEBSOCKET_KEY)
        .ok_or(StatusCode::BAD_REQUEST)?;
    let mut hash = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    hash.update(key.as_bytes());
    hash.update(GUID);
    HeaderValue::from_str(&STANDARD.encode(hash.finish())).map_err(|_| StatusCode::BAD_REQUEST)
}

fn has(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|value| value.trim().eq_ignore_ascii_case(token))
}

fn refusal<Out: Default>(status: StatusCode) -> Response<Out> {
    let mut response = Response::new(Out::default());
    *response.status_mut() = status;
    if status == StatusCode::UPGRADE_REQUIRED {
        let headers = response.headers_mut();
        headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn the_example_of_the_rfc_is_accepted() {
        let good = [
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "WebSocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        assert_eq!(
            accept(&Method::GET, &headers(&good)).unwrap(),
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        );
        assert_eq!(
            accept(&Method::POST, &headers(&good)),
            Err(StatusCode::BAD_REQUEST)
        );
        assert_eq!(
            accept(&Method::GET, &headers(&good[..2])),
            Err(StatusCode::UPGRADE_REQUIRED)
        );
        assert_eq!(
            accept(&Method::GET, &headers(&good[..3])),
            Err(StatusCode::BAD_REQUEST)
        );
    }
}
