//! `GET /v1/models`: the agents, under the names that OpenClaw gives them.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use openclaw_settings::Settings;
use serde_json::{Value, json};

use super::answer;
use super::authorized::Authorized;
use super::problem::Problem;
use super::target;
use crate::doors::Doors;

/// All of them.
pub(super) async fn list(
    State(doors): State<Arc<Doors>>,
    _: Authorized,
) -> Result<Response<Body>, Problem> {
    let ids = ids(&doors)?;
    let data: Vec<Value> = ids.iter().map(|id| model(id)).collect();
    let document = json!({"object": "list", "data": data});
    Ok(answer::json(StatusCode::OK, &document))
}

/// One of them.
pub(super) async fn one(
    State(doors): State<Arc<Doors>>,
    _: Authorized,
    Path(id): Path<String>,
) -> Result<Response<Body>, Problem> {
    if ids(&doors)?.contains(&id) {
        Ok(answer::json(StatusCode::OK, &model(&id)))
    } else {
        Err(target::unknown(&id))
    }
}

fn ids(doors: &Doors) -> Result<Vec<String>, Problem> {
    let settings: Arc<Settings> = doors.front.settings();
    if !settings.gateway.chat_completions && !settings.gateway.responses {
        return Err(Problem::not_found("/v1/models"));
    }
    let agents = settings.agents.keys().map(|id| format!("openclaw/{id}"));
    let default = ["openclaw", "openclaw/default"].map(str::to_owned);
    Ok(default.into_iter().chain(agents).collect())
}

fn model(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": 0, "owned_by": "openclaw", "permission": []})
}
