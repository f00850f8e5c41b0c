//! `/healthz` says that the process lives, `/readyz` that a message would be
//! answered.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use serde_json::json;

use super::{answer, authorized};
use crate::doors::Doors;

/// `/healthz`.
pub(super) async fn live() -> Response<Body> {
    answer::json(StatusCode::OK, &json!({"ok": true, "status": "live"}))
}

/// `/readyz`. Why something fails is told to those who have the token: it
/// names paths.
pub(super) async fn ready(State(doors): State<Arc<Doors>>, request: Request) -> Response<Body> {
    let report = doors.report().await;
    let status = if report.is_ready() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let failing: Vec<&str> = report.failing().collect();
    let uptime = u64::try_from(doors.core.started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut document = json!({
        "ready": report.is_ready(),
        "failing": failing,
        "uptimeMs": uptime,
    });
    let (parts, _) = request.into_parts();
    if authorized::is_authorized(&doors, &parts) {
        document["checks"] = report.details();
    }
    answer::json(status, &document)
}
