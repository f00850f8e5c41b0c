//! Errors, in the shape of OpenAI's API, which its clients understand:
//! `{"error": {"message", "type", "code", "param"}}`.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use openclaw_conversations::Refusal;
use openclaw_daemon::failure;
use openclaw_proto::event::{Code, Failed};
use serde_json::{Value, json};

use super::answer;
use crate::front::{Denied, Misdirected};

/// Why a request is not answered as asked.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    status: StatusCode,
    /// For programs.
    code: String,
    /// For people.
    message: String,
    /// The part of the request that it is about.
    param: Option<String>,
    retry_after: Option<Duration>,
}

impl Problem {
    pub(super) fn new(
        status: StatusCode,
        code: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            status,
            code: code.into(),
            message: message.into(),
            param: None,
            retry_after: None,
        }
    }

    /// A request that cannot be understood; `param` names its part.
    pub(super) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            param: Some(param.into()),
            ..Self::new(StatusCode::BAD_REQUEST, "invalid_value", message)
        }
    }

    pub(super) fn not_found(path: &str) -> Self {
        let message = format!("there is nothing at {path}");
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// The gateway stops.
    pub(super) fn interrupted() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "interrupted",
            "the gateway stops",
        )
    }

    /// OpenAI's word for the kind of error.
    fn kind(&self) -> &'static str {
        match self.status.as_u16() {
            401 => "unauthorized",
            403 => "forbidden",
            404 => "not_found",
            429 => "rate_limit_error",
            400..500 => "invalid_request_error",
            _ => "server_error",
        }
    }

    /// The error as it stands in an answer or in a stream.
    pub(super) fn document(&self) -> Value {
        json!({"error": {
            "message": self.message,
            "type": self.kind(),
            "code": self.code,
            "param": self.param,
        }})
    }

    /// The code and the message alone.
    pub(super) fn words(&self) -> (&str, &str) {
        (&self.code, &self.message)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        let mut response = answer::json(self.status, &self.document());
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
        }
        response
    }
}

impl Problem {
    /// Somebody may not come in; `way_out` says where the token is found.
    pub(super) fn denied(denied: Denied, way_out: &str) -> Self {
        let message = match denied {
            Denied::Limited(_) => denied.to_string(),
            Denied::Missing | Denied::Mismatch => format!("{denied}; {way_out}"),
        };
        match denied {
            Denied::Missing => Self::new(StatusCode::UNAUTHORIZED, "token_missing", message),
            Denied::Mismatch => Self::new(StatusCode::UNAUTHORIZED, "token_mismatch", message),
            Denied::Limited(wait) => Self {
                retry_after: Some(wait),
                ..Self::new(StatusCode::TOO_MANY_REQUESTS, "auth_rate_limited", message)
            },
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let message = failure::advice(&refusal);
        let (status, code) = match &refusal {
            Refusal::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
            Refusal::NoRunner(_) => (StatusCode::SERVICE_UNAVAILABLE, "no_runner"),
            Refusal::TooLong { .. } | Refusal::ImportTooLarge(_) => {
                (StatusCode::PAYLOAD_TOO_LARGE, "too_long")
            }
            Refusal::Key(_)
            | Refusal::Agent(_)
            | Refusal::OtherAgent { .. }
            | Refusal::Route(_) => (StatusCode::BAD_REQUEST, "invalid_session"),
            Refusal::Patch(_)
            | Refusal::Limit(_)
            | Refusal::Model(_)
            | Refusal::Import(_)
            | Refusal::UnknownAuthProfile { .. }
            | Refusal::Empty { .. } => (StatusCode::BAD_REQUEST, "invalid_request"),
            Refusal::UnknownSession(_) => (StatusCode::NOT_FOUND, "unknown_session"),
            Refusal::Ambiguous { .. }
            | Refusal::Exists(_)
            | Refusal::LabelTaken { .. }
            | Refusal::Main(_)
            | Refusal::Busy(_)
            | Refusal::Compacting(_) => (StatusCode::CONFLICT, "session_conflict"),
            Refusal::UnknownAgent { .. } => (StatusCode::NOT_FOUND, "unknown_agent"),
            Refusal::Blocked => (StatusCode::FORBIDDEN, "send_blocked"),
            Refusal::Crowded(_) => (StatusCode::TOO_MANY_REQUESTS, "session_busy"),
            Refusal::Missed(_) => (StatusCode::INTERNAL_SERVER_ERROR, "events_lost"),
            Refusal::LeftOpen(_) => (StatusCode::SERVICE_UNAVAILABLE, "run_open"),
            Refusal::UnknownRun(_) => (StatusCode::NOT_FOUND, "unknown_run"),
            Refusal::Unrecorded(_) => (StatusCode::INTERNAL_SERVER_ERROR, "storage"),
            Refusal::NotDurable(fault) | Refusal::NotSaved(fault) | Refusal::Unreadable(fault) => {
                if failure::is_disk_full(fault) {
                    (StatusCode::INSUFFICIENT_STORAGE, "disk_full")
                } else {
                    (StatusCode::INTERNAL_SERVER_ERROR, "storage")
                }
            }
        };
        Self::new(status, code, message)
    }
}

/// A run that ended without a whole reply.
impl From<&Failed> for Problem {
    fn from(failed: &Failed) -> Self {
        let status = match failed.code {
            Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Code::Timeout => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::BAD_GATEWAY,
        };
        Self {
            retry_after: failed.retry_after_ms.map(Duration::from_millis),
            ..Self::new(status, failed.code.as_str(), &failed.message)
        }
    }
}

/// The answer to a request that is not for this port.
pub(crate) fn refuse(misdirected: Misdirected) -> Response<Body> {
    let code = match misdirected {
        Misdirected::NoHost => "host_missing",
        Misdirected::Host(_) => "host_not_allowed",
        Misdirected::Proxy => "proxy_not_trusted",
        Misdirected::Origin(_) => "origin_not_allowed",
    };
    Problem::new(StatusCode::FORBIDDEN, code, misdirected.to_string()).into_response()
}
