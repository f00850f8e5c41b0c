//! The body of a request.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// How long a request's body may take. On the loopback it takes milliseconds;
/// one that is sent byte by byte must not hold a place.
const DEADLINE: Duration = Duration::from_secs(30);

/// Bytes beyond the limit that are read and thrown away: a client that is still
/// sending when the connection is closed never sees the answer (RFC 9112, 9.6).
const PATIENCE: usize = 32 * 1024 * 1024;

/// Reads a JSON body of at most `limit` bytes.
pub(super) async fn json<T: DeserializeOwned>(
    request: Request<Body>,
    limit: usize,
) -> Result<T, Problem> {
    check_type(&request)?;
    json_of_any_type(request, limit).await
}

/// The same where a page cannot send it anyway: a header with a token is no simple one.
pub(super) async fn json_of_any_type<T: DeserializeOwned>(
    request: Request<Body>,
    limit: usize,
) -> Result<T, Problem> {
    let read = read(request.into_body(), limit);
    let bytes = tokio::time::timeout(DEADLINE, read).await.map_err(|_| {
        let message = format!("the body did not arrive within {DEADLINE:?}");
        Problem::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", message)
    })??;
    parse(&bytes)
}

async fn read(mut body: Body, limit: usize) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            let message = "the body broke off";
            Problem::new(StatusCode::BAD_REQUEST, "body_incomplete", message)
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        length += data.len();
        if length > limit + PATIENCE {
            break;
        }
        if length <= limit {
            bytes.extend_from_slice(&data);
        }
    }
    if length > limit {
        let message = format!("the body has more than {limit} bytes");
        return Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "body_too_large",
            message,
        ));
    }
    Ok(bytes)
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut input = serde_json::Deserializer::from_slice(bytes);
    let parsed = serde_path_to_error::deserialize(&mut input).map_err(|error| {
        let path = error.path().to_string();
        let message = error.inner().to_string();
        if error.inner().is_data() {
            Problem::invalid(path, message)
        } else {
            Problem::new(StatusCode::BAD_REQUEST, "invalid_json", message)
        }
    })?;
    input.end().map_err(|error| {
        Problem::new(StatusCode::BAD_REQUEST, "invalid_json", error.to_string())
    })?;
    Ok(parsed)
}

/// A page of somebody else can send every other type without being asked
/// (Fetch standard, "CORS-safelisted request-header").
fn check_type(request: &Request<Body>) -> Result<(), Problem> {
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = kind.split(';').next().unwrap_or("").trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_media_type",
        format!("Content-Type is {kind:?}; send JSON as \"application/json\""),
    ))
}
