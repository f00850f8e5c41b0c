//! Headers that every answer has.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderValue, Response, StatusCode};
use serde_json::Value;

/// Nothing is to be run, framed, guessed, kept or loaded from elsewhere. There is no
/// Access-Control-Allow-Origin in any answer: pages of others cannot read them.
const SECURITY: [(HeaderName, &str); 6] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// The answer with the headers that all have. A connection that is a WebSocket from now on is none.
pub(crate) fn secured(mut response: Response<Body>) -> Response<Body> {
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return response;
    }
    let headers = response.headers_mut();
    for (name, value) in SECURITY {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

/// A JSON answer.
pub(super) fn json(status: StatusCode, document: &Value) -> Response<Body> {
    text(
        status,
        "application/json; charset=utf-8",
        document.to_string(),
    )
}

/// An answer without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// An answer of some other kind of text.
pub(super) fn text(
    status: StatusCode,
    kind: &'static str,
    text: impl Into<Body>,
) -> Response<Body> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
