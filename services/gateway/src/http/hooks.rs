//! Webhooks: other programs of the user tell the assistant something, or give
//! it work. `POST <path>/wake` and `POST <path>/agent`, with a token of their
//! own.

mod agent;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::ALLOW;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use axum::response::IntoResponse as _;
use openclaw_config::settings::gateway::Hooks;
use openclaw_sessions::{AgentId, SessionKey};
use serde::Deserialize;
use serde_json::json;

use super::authorized;
use super::problem::Problem;
use super::{answer, body};
use crate::front::is_same;
use crate::gateway::Gateway;
use crate::system_event::{self, When};

/// Bytes of a call, as in OpenClaw.
const BODY_LIMIT: usize = 256 * 1024;
/// The header that carries the token where Authorization is taken.
const TOKEN_HEADER: &str = "x-openclaw-token";

/// Answers a call of the hook `name`.
pub(super) async fn call(
    gateway: Arc<Gateway>,
    hooks: &Hooks,
    name: &str,
    request: Request,
) -> Response<Body> {
    let answered = match check(&gateway, hooks, &request) {
        Err(problem) => Err(problem),
        Ok(()) => match name {
            "wake" => wake(gateway, request).await,
            "agent" => agent::agent(gateway, hooks, request).await,
            _ => Err(Problem::not_found(request.uri().path())),
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

fn check(gateway: &Gateway, hooks: &Hooks, request: &Request) -> Result<(), Problem> {
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
    let checked = gateway
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

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wake {
    text: String,
    #[serde(default)]
    mode: Mode,
}

/// When the agent is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    #[default]
    Now,
    NextHeartbeat,
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

/// Tells the main session something.
async fn wake(gateway: Arc<Gateway>, request: Request) -> Result<Response<Body>, Problem> {
    let wake: Wake = body::json(request, BODY_LIMIT).await?;
    if wake.text.trim().is_empty() {
        return Err(Problem::invalid("text", "is empty; say what happened"));
    }
    let key = main_session(&gateway)?;
    let run = system_event::wake(&gateway, &key, &wake.text, wake.mode.when()).await?;
    let mut document = json!({"ok": true, "mode": wake.mode.as_str(), "eventOutcome": "queued"});
    if let Some(accepted) = run {
        document["eventOutcome"] = json!("delivered");
        document["runId"] = json!(accepted.run_id);
    }
    Ok(answer::json(StatusCode::OK, &document))
}

/// The default agent's main session.
fn main_session(gateway: &Gateway) -> Result<SessionKey, Problem> {
    let settings = gateway.front.settings();
    let agent: AgentId = settings
        .default_agent
        .parse()
        .map_err(crate::refusal::Refusal::from)?;
    Ok(SessionKey::main(&agent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_the_address_is_seen() {
        assert!(has_token(Some("a=1&token=x")) && has_token(Some("token")));
        assert!(!has_token(Some("a=token&tokens=1")) && !has_token(None));
    }
}
