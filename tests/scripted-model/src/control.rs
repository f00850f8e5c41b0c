//! The control paths, for scripts and for tests in other processes.

use bytes::Bytes;
use hyper::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::playback::Body;
use crate::routes::{Asked, Shared, json_response};
use crate::scenario_name::parse_script;

/// Answers a control request; none when the path is not a control path.
///
/// | request | does |
/// |---|---|
/// | `POST /_script` | queues a scenario or a list of them, each an object or a name |
/// | `POST /_default` | sets what is answered when the queue is empty |
/// | `GET /_requests` | what the server was sent so far, control requests left out |
/// | `DELETE /_requests` | forgets them |
/// | `POST /_release/GATE` | lets held answers go on |
pub(crate) fn answer(shared: &Shared, asked: &Asked, path: &str) -> Option<Response<Body>> {
    let response = match (&asked.method, path) {
        (&Method::POST, "/_script") => queue(shared, &asked.body),
        (&Method::POST, "/_default") => set_default(shared, &asked.body),
        (&Method::GET, "/_requests") => {
            let requests: Vec<_> = shared
                .log
                .all()
                .iter()
                .map(crate::Recorded::describe)
                .collect();
            json_response(StatusCode::OK, &Value::Array(requests))
        }
        (&Method::DELETE, "/_requests") => {
            shared.log.clear();
            json_response(StatusCode::OK, &json!({}))
        }
        (&Method::POST, path) => {
            shared.stage.release(path.strip_prefix("/_release/")?);
            json_response(StatusCode::OK, &json!({}))
        }
        _ => return None,
    };
    Some(response)
}

/// Whether requests to `path` are kept out of the record.
pub(crate) fn is_control(path: &str) -> bool {
    path.starts_with("/_")
}

fn queue(shared: &Shared, script: &Bytes) -> Response<Body> {
    match parse_script(script) {
        Ok(scenarios) => {
            scenarios
                .into_iter()
                .for_each(|scenario| shared.stage.push(scenario));
            json_response(StatusCode::OK, &json!({"queued": shared.stage.queued()}))
        }
        Err(message) => refuse(&message),
    }
}

fn set_default(shared: &Shared, script: &Bytes) -> Response<Body> {
    match parse_script(script).map(<[_; 1]>::try_from) {
        Ok(Ok([scenario])) => {
            shared.stage.set_default(scenario);
            json_response(StatusCode::OK, &json!({}))
        }
        Ok(Err(_)) => refuse("the default is exactly one scenario"),
        Err(message) => refuse(&message),
    }
}

fn refuse(message: &str) -> Response<Body> {
    json_response(StatusCode::BAD_REQUEST, &json!({"error": message}))
}
