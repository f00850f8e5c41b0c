//! Webhooks: other programs of the user tell the assistant something, or give it work. `POST
//! <path>/wake`, `POST <path>/agent`, and names of the user's own (`hooks.mappings`), with a token
//! of their own. Fields and answers are OpenClaw's (reference: `hooks` of its configuration).

mod agent;
mod mapped;
mod policy;
mod template;
mod wake;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::ALLOW;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use axum::response::IntoResponse as _;
use openclaw_runs::When;
use openclaw_settings::gateway::hooks::{Hooks, WakeMode};
use serde::Deserialize;
use serde_json::json;

use super::authorized;
use super::problem::Problem;
use super::{answer, body};
use crate::doors::Doors;
use crate::front::is_same;

/// Bytes of a call, as in OpenClaw.
const BODY_LIMIT: usize = 256 * 1024;
/// The header that carries the token where Authorization is taken.
const TOKEN_HEADER: &str = "x-openclaw-token";

/// Answers a call of the hook `name`.
pub(super) async fn call(
    doors: Arc<Doors>,
    hooks: &Hooks,
    name: &str,
    request: Request,
) -> Response<Body> {
    let answered = match check(&doors, hooks, &request) {
        Err(problem) => Err(problem),
        Ok(()) => match name {
            "wake" => wake::call(doors, hooks, request).await,
            "agent" => agent(doors, hooks, request).await,
            _ => mapped::call(doors, hooks, name, request).await,
        },
    };
    let mut response = answered.unwrap_or_else(Problem::into_response);
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("POST"));
    }
    response
}

fn check(doors: &Doors, hooks: &Hooks, request: &Request) -> Result<(), Problem> {
    if request.method() != Method::POST {
        return Err(Problem::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "hooks are called with POST",
        ));
    }
    // Addresses are written into logs; tokens must not be.
    if has_token(request.uri().query()) {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "token_in_address",
            "send the token as \"Authorization: Bearer …\" or X-OpenClaw-Token, not in the address",
        ));
    }
    let Some(token) = &hooks.token else {
        return Err(Problem::not_found(request.uri().path()));
    };
    let peer = authorized::of_request(request)?;
    let presented = presented(request.headers());
    let checked = doors
        .front
        .check(peer, presented, |presented| is_same(token, presented));
    checked.map_err(|denied| Problem::denied(denied, "it is hooks.token of openclaw.json"))
}

fn has_token(query: Option<&str>) -> bool {
    let pairs = query.unwrap_or_default().split('&');
    pairs
        .map(|pair| pair.split('=').next().unwrap_or_default())
        .any(|name| name == "token")
}

fn presented(headers: &HeaderMap) -> Option<&str> {
    authorized::bearer(headers).or_else(|| {
        let token = headers.get(TOKEN_HEADER)?.to_str().ok()?.trim();
        (!token.is_empty()).then_some(token)
    })
}

/// When the agent is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    #[default]
    Now,
    NextHeartbeat,
}

impl From<WakeMode> for Mode {
    fn from(mode: WakeMode) -> Self {
        match mode {
            WakeMode::Now => Self::Now,
            WakeMode::NextHeartbeat => Self::NextHeartbeat,
        }
    }
}

impl Mode {
    fn when(self) -> When {
        match self {
            Self::Now => When::Now,
            Self::NextHeartbeat => When::NextTurn,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::NextHeartbeat => "next-heartbeat",
        }
    }
}

/// Starts a turn and returns its run, or waits for its end.
async fn agent(
    doors: Arc<Doors>,
    hooks: &Hooks,
    request: Request,
) -> Result<Response<Body>, Problem> {
    let headers = request.headers().clone();
    let asked: agent::Asked = body::json_of_any_type(request, BODY_LIMIT).await?;
    let waits = asked.wait_for_completion;
    let work = asked.work(&doors, hooks, &headers)?;
    let begun = work.begin(&doors).await?;
    let mut document = json!({"ok": true, "runId": begun.run_id});
    // It goes on when the caller is gone.
    let finish = tokio::spawn(begun.finish(doors));
    if waits {
        let finished = finish.await;
        document["completion"] = finished.map_err(|_| Problem::interrupted())??;
    }
    Ok(answer::json(StatusCode::OK, &document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_in_the_address_is_seen() {
        assert!(has_token(Some("a=1&token=x")) && has_token(Some("token")));
        assert!(!has_token(Some("a=token&tokens=1")) && !has_token(None));
    }
}
