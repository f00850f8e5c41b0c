//! One request in, one response out.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::playback::{self, Body, Ticket};
use crate::prompt::{Api, Prompt};
use crate::record::Log;
use crate::reply::{Piece, Reply};
use crate::scenario::{Ending, Failure, Scenario};
use crate::stage::Stage;
use crate::{anthropic, control, embeddings, openai, responses, rules};

/// What all connections of one server share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) stage: Arc<Stage>,
    pub(crate) log: Arc<Log>,
}

/// A request with its body read.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The API whose model this request asks, what it asks, and its body; none for everything else. A long conversation
/// takes a millisecond to read, which clients are measured with: once is enough.
pub(crate) fn prompt(asked: &Asked) -> Option<(Prompt, Value)> {
    let api = match (
        &asked.method,
        asked.path.split('?').next().unwrap_or_default(),
    ) {
        (&Method::POST, "/v1/messages") => Api::Anthropic,
        (&Method::POST, "/v1/chat/completions") => Api::OpenAi,
        (&Method::POST, "/v1/responses") => Api::Responses,
        _ => return None,
    };
    let body = serde_json::from_slice(&asked.body).unwrap_or(Value::Null);
    Some((Prompt::read(api, &body), body))
}

/// Answers a request that asks the model.
pub(crate) async fn answer_prompt(
    shared: &Shared,
    asked: &Asked,
    (prompt, body): &(Prompt, Value),
    ticket: Ticket,
) -> Response<Body> {
    let refusal = |message: &str| {
        let failure = Failure {
            status: 400,
            retry_after: None,
            message: Some(message.to_owned()),
        };
        failed(&failure, prompt.api)
    };
    if let Err(broken) = rules::check(prompt.api, body) {
        ticket.sent();
        return refusal(&broken);
    }
    match shared.stage.choose(prompt) {
        Ok(scenario) => perform(shared, scenario, prompt, asked.body.len(), ticket).await,
        Err(unknown) => {
            ticket.sent();
            refusal(&unknown.to_string())
        }
    }
}

async fn perform(
    shared: &Shared,
    scenario: Scenario,
    prompt: &Prompt,
    asked_bytes: usize,
    ticket: Ticket,
) -> Response<Body> {
    if let (true, Some(gate)) = (scenario.pace.silent, &scenario.pace.gate) {
        shared.stage.pass(gate).await;
    }
    if let Some(failure) = &scenario.failure {
        ticket.sent();
        return failed(failure, prompt.api);
    }
    let reply = shared.stage.reply(&scenario, prompt, asked_bytes);
    if prompt.stream {
        streamed(shared, scenario, prompt, &reply, ticket)
    } else {
        unstreamed(shared, scenario, prompt.api, &reply, ticket)
    }
}

fn streamed(
    shared: &Shared,
    scenario: Scenario,
    prompt: &Prompt,
    reply: &Reply,
    ticket: Ticket,
) -> Response<Body> {
    let (pieces, error_event) = match prompt.api {
        Api::Anthropic => (anthropic::stream(reply), anthropic::error_event()),
        Api::OpenAi => (
            openai::stream(reply, prompt.stream_usage),
            openai::error_event(),
        ),
        Api::Responses => (responses::stream(reply), responses::error_event()),
    };
    let pieces = playback::broken_off(pieces, scenario.ending, error_event);
    let body = playback::play(
        pieces,
        scenario.pace,
        scenario.ending,
        Arc::clone(&shared.stage),
        ticket,
    );
    respond(StatusCode::OK, "text/event-stream; charset=utf-8", body)
}

/// An error event has a status of its own here; every other broken ending of a whole answer is half of its JSON.
fn unstreamed(
    shared: &Shared,
    scenario: Scenario,
    api: Api,
    reply: &Reply,
    ticket: Ticket,
) -> Response<Body> {
    if scenario.ending == Ending::ErrorEvent {
        ticket.sent();
        return failed(&OVERLOADED, api);
    }
    let whole = match api {
        Api::Anthropic => anthropic::whole(reply),
        Api::OpenAi => openai::whole(reply),
        Api::Responses => responses::whole(reply),
    };
    let mut bytes = whole.to_string().into_bytes();
    if scenario.ending != Ending::Complete {
        bytes.truncate(bytes.len() / 2);
    }
    let pieces = vec![Piece::Frame(bytes.into())];
    let body = playback::play(
        pieces,
        scenario.pace,
        scenario.ending,
        Arc::clone(&shared.stage),
        ticket,
    );
    respond(StatusCode::OK, JSON, body)
}

/// What an error event amounts to without a stream.
const OVERLOADED: Failure = Failure {
    status: 529,
    retry_after: None,
    message: None,
};

fn failed(failure: &Failure, api: Api) -> Response<Body> {
    let message = failure.message.as_deref();
    let body = match api {
        Api::Anthropic => anthropic::error(failure.status, message, 1),
        Api::OpenAi | Api::Responses => openai::error(failure.status, message),
    };
    let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json_response(status, &body);
    if let Some(seconds) = failure.retry_after {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Answers everything that is not for the model.
pub(crate) fn answer_other(shared: &Shared, asked: &Asked) -> Response<Body> {
    let path = asked.path.split('?').next().unwrap_or_default();
    match (&asked.method, path) {
        (&Method::HEAD | &Method::GET, "/") => {
            json_response(StatusCode::OK, &json!({"scripted": true}))
        }
        (&Method::POST, "/v1/messages/count_tokens") => json_response(
            StatusCode::OK,
            &json!({"input_tokens": asked.body.len() / 4}),
        ),
        (&Method::POST, "/v1/embeddings") => embeddings(&asked.body),
        (&Method::GET, "/v1/models") => json_response(StatusCode::OK, &models()),
        (&Method::GET, "/api/tags") => json_response(StatusCode::OK, &tags()),
        _ => control::answer(shared, asked, path).unwrap_or_else(|| {
            let body = anthropic::error(
                404,
                Some(&format!("no such path: {} {path}", asked.method)),
                1,
            );
            json_response(StatusCode::NOT_FOUND, &body)
        }),
    }
}

fn embeddings(body: &[u8]) -> Response<Body> {
    let body = serde_json::from_slice(body).unwrap_or(Value::Null);
    match embeddings::answer(&body) {
        Ok(answer) => json_response(StatusCode::OK, &answer),
        Err(wrong) => json_response(StatusCode::BAD_REQUEST, &openai::error(400, Some(&wrong))),
    }
}

/// One list that both APIs' clients can read.
fn models() -> Value {
    let model = |id: &str| {
        json!({"id": id, "object": "model", "created": 1_750_000_000, "owned_by": "scripted", "type": "model",
            "display_name": id, "created_at": "2025-06-15T15:06:40Z"})
    };
    let data = [
        model("scripted"),
        model("claude-sonnet-4-5"),
        model("gpt-4o"),
    ];
    json!({"object": "list", "data": data, "has_more": false, "first_id": "scripted", "last_id": "gpt-4o"})
}

/// Ollama's list, one model for vectors among them.
fn tags() -> Value {
    let model = |name: &str, family: &str| json!({"name": name, "model": name, "modified_at": "2025-06-15T15:06:40Z", "size": 1, "details": {"family": family}});
    json!({"models": [model("nomic-embed-text:latest", "nomic-bert"), model("scripted:8b", "scripted")]})
}

const JSON: &str = "application/json";

pub(crate) fn json_response(status: StatusCode, body: &Value) -> Response<Body> {
    respond(status, JSON, playback::whole(body.to_string()))
}

fn respond(status: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
        .headers_mut()
        .insert("request-id", HeaderValue::from_static("req_scripted"));
    response
}
