//! `GET /`: what this port is, for people who open it in a browser.

use axum::body::Body;
use axum::http::{Response, StatusCode};

use super::answer;

const PAGE: &str = include_str!("page.html");

/// The page.
pub(super) async fn page() -> Response<Body> {
    answer::text(StatusCode::OK, "text/html; charset=utf-8", PAGE)
}
