//! What a request carries.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// How long a request's body may take. On the loopback it takes milliseconds;
/// one that is sent byte by byte must not hold a place.
const DEADLINE: Duration = Duration::from_secs(30);

/// Reads a JSON body of at most `limit` bytes.
pub(super) async fn json<T: DeserializeOwned>(
    request: Request<Body>,
    limit: usize,
) -> Result<T, Problem> {
    check_type(&request)?;
    let body = Limited::new(request.into_body(), limit).collect();
    let body = tokio::time::timeout(DEADLINE, body)
        .await
        .map_err(|_| {
            let message = format!("the body did not arrive within {DEADLINE:?}");
            Problem::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", message)
        })?
        .map_err(|error| match error.is::<LengthLimitError>() {
            true => {
                let message = format!("the body has more than {limit} bytes");
                Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message)
            }
            false => Problem::new(
                StatusCode::BAD_REQUEST,
                "body_incomplete",
                "the body broke off",
            ),
        })?;
    parse(&body.to_bytes())
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut input = serde_json::Deserializer::from_slice(bytes);
    let parsed = serde_path_to_error::deserialize(&mut input).map_err(|error| {
        let path = error.path().to_string();
        let message = error.inner().to_string();
        match error.inner().is_data() {
            true => Problem::invalid(path, message),
            false => Problem::new(StatusCode::BAD_REQUEST, "invalid_json", message),
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
