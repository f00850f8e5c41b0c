//! The shared session over HTTP (seed 000): `POST /message`, `GET /session`
//! and `GET /history`, on a port and with a secret of their own.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response, StatusCode};
use openclaw_proto::gateway::Message;
use openclaw_runs::Extra;
use openclaw_sessions::home::NewExchange;
use openclaw_sessions::now_ms;
use serde::Deserialize;
use serde_json::{Value, json};

use super::authorized;
use super::problem::Problem;
use super::sse::{Gone, Next, Sink};
use super::turn::{Abandoned, Reply, Turn};
use super::{answer, body, sse};
use crate::doors::Doors;
use crate::front::is_same;
use crate::http::home;

/// Bytes of a request; the gateway's own limit of a text is below it.
const BODY_LIMIT: usize = 2 * 1024 * 1024;
/// Seed 000's name of this interface.
const CHANNEL: &str = "cli";
/// Makes a repeated request the same one.
const IDEMPOTENCY_HEADER: &str = "idempotency-key";

/// As an argument of a handler: only for requests that carry the secret.
pub(super) struct Known;

impl FromRequestParts<Arc<Doors>> for Known {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, doors: &Arc<Doors>) -> Result<Self, Problem> {
        let settings = doors.front.settings();
        let Some(secret) = &settings.gateway.cli.secret else {
            return Err(Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "no_secret",
                "this port is closed: set OPENCLAW_CLI_SECRET to open it",
            ));
        };
        let presented = authorized::bearer(&parts.headers);
        let peer = authorized::peer(parts)?;
        let checked = doors
            .front
            .check(peer, presented, |presented| is_same(secret, presented));
        checked.map_err(|denied| Problem::denied(denied, "it is OPENCLAW_CLI_SECRET"))?;
        Ok(Self)
    }
}

#[derive(Debug, Deserialize)]
struct Said {
    text: String,
}

/// `POST /message`: the reply, as a stream for those who want one.
pub(super) async fn message(
    State(doors): State<Arc<Doors>>,
    _: Known,
    request: Request,
) -> Result<Response<Body>, Problem> {
    let headers = request.headers().clone();
    let said: Said = body::json(request, BODY_LIMIT).await?;
    if said.text.trim().is_empty() {
        return Err(Problem::invalid("text", "is empty; say something"));
    }
    let message = Message {
        text: said.text.clone(),
        channel: CHANNEL.to_owned(),
        idempotency_key: idempotency_key(&headers),
        ..Message::default()
    };
    let turn = Turn::start(&doors, message, Extra::default(), Abandoned::GoesOn).await?;
    let (run_id, text) = (turn.accepted.run_id.clone(), said.text);
    if wants_stream(&headers) {
        return Ok(sse::answer(|sink| {
            stream(sink, turn, doors, (run_id, text))
        }));
    }
    let reply = turn.whole().await?;
    let exchange = exchange(&doors, &run_id, text, reply).await?;
    Ok(answer::json(StatusCode::OK, &exchange))
}

async fn stream(
    sink: Sink,
    mut turn: Turn,
    doors: Arc<Doors>,
    (run_id, text): (String, String),
) -> Result<(), Gone> {
    loop {
        match sink.next(&mut turn).await? {
            Next::Piece(piece) => sink.event("delta", &json!({"text": piece})).await?,
            Next::Whole => break,
            Next::Problem(problem) => return sink.event("error", &problem.document()).await,
        }
    }
    let reply = turn.reply();
    match exchange(&doors, &run_id, text, reply).await {
        Ok(message) => sink.event("message", &message).await,
        Err(problem) => sink.event("error", &problem.document()).await,
    }
}

/// `GET /session`: seed 000's document.
pub(super) async fn session(
    State(doors): State<Arc<Doors>>,
    _: Known,
) -> Result<Response<Body>, Problem> {
    let document = match home::document(&doors).await? {
        Some(home) => json!(home),
        None => json!({"id": "home", "created_at": null, "updated_at": null, "messages": []}),
    };
    Ok(answer::json(StatusCode::OK, &document))
}

/// `GET /history`: its messages, the last `limit` of them.
pub(super) async fn history(
    State(doors): State<Arc<Doors>>,
    _: Known,
    request: Request,
) -> Result<Response<Body>, Problem> {
    let limit = limit(request.uri().query())?;
    let mut messages = home::document(&doors)
        .await?
        .map_or_else(Vec::new, |home| home.messages);
    if let Some(limit) = limit {
        messages.drain(..messages.len().saturating_sub(limit));
    }
    Ok(answer::json(StatusCode::OK, &json!({"messages": messages})))
}

/// The exchange as the document has it. A command is in none: it is no part of the conversation.
async fn exchange(
    doors: &Arc<Doors>,
    run_id: &str,
    text: String,
    reply: Reply,
) -> Result<Value, Problem> {
    if reply.is_of_gateway() {
        let now = now_ms();
        let exchange = NewExchange {
            user_text: text,
            bot_text: reply.text,
            channel: CHANNEL.to_owned(),
            sent_ms: now,
            replied_ms: now,
        };
        return Ok(json!(exchange.numbered(0)));
    }
    let found = home::exchange(doors, run_id, &text).await?;
    found.map(|exchange| json!(exchange)).ok_or_else(|| {
        let message = "the reply is in the transcript, but not in sessions/default.json; the \
                       gateway's log says why";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "unrecorded", message)
    })
}

fn limit(query: Option<&str>) -> Result<Option<usize>, Problem> {
    let mut pairs = query.unwrap_or_default().split('&');
    let Some(text) = pairs.find_map(|pair| pair.strip_prefix("limit=")) else {
        return Ok(None);
    };
    let parsed = text.parse().map(Some);
    parsed.map_err(|_| Problem::invalid("limit", format!("is {text:?}; give a number")))
}

fn idempotency_key(headers: &HeaderMap) -> String {
    let value = headers.get(IDEMPOTENCY_HEADER);
    let text = value.and_then(|value| value.to_str().ok());
    text.unwrap_or_default().trim().to_owned()
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|kind| kind.split(';').next())
        .any(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}
