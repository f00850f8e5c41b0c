//! What a program is answered at the proxy instead of by the model.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use openclaw_daemon::failure;
use openclaw_model_api::upstream;
use openclaw_model_api::wire::Unfit;
use serde_json::json;

use super::Body;

/// Tells libraries whether to ask again, whatever the status says.
const RETRY: &str = "x-should-retry";

/// Why a request goes no further.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    #[error("this is not the token of this turn")]
    Token,
    #[error("only what a model is asked with is here")]
    Elsewhere,
    #[error("there will be no turn")]
    NoTurn,
    #[error("the configured base URL is none that a path can be put behind")]
    BaseUrl,
    #[error("the configured credential holds characters that cannot be sent")]
    Credential,
    #[error("{0}")]
    TooLarge(String),
    #[error("the body is to be application/json without a content-encoding")]
    Form,
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The turn's or the day's budget.
    #[error("{0}")]
    Spent(String),
    #[error("{}", .0.to_words())]
    Upstream(#[from] upstream::Error),
    #[error("the provider was asked and did not answer")]
    Lost,
}

impl Problem {
    /// The status, and what the Messages API calls it.
    fn kind(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Token => (StatusCode::UNAUTHORIZED, "authentication_error"),
            Self::Elsewhere => (StatusCode::NOT_FOUND, "not_found_error"),
            Self::NoTurn => (StatusCode::GONE, "api_error"),
            Self::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "request_too_large"),
            Self::Form => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid_request_error"),
            Self::Unfit(_) => (StatusCode::BAD_REQUEST, "invalid_request_error"),
            Self::Spent(_) => (StatusCode::PAYMENT_REQUIRED, "billing_error"),
            Self::BaseUrl | Self::Credential | Self::Upstream(_) | Self::Lost => {
                (StatusCode::BAD_GATEWAY, "api_error")
            }
        }
    }

    /// An error as the Messages API has them; those of OpenAI read the same.
    pub(super) fn into_response(self) -> Response<Body> {
        match &self {
            Self::Upstream(error) => {
                tracing::warn!(error = %failure::chain(error), "the model cannot be asked");
            }
            Self::Unfit(_) | Self::Elsewhere | Self::Form | Self::Spent(_) => {
                tracing::info!(why = %self, "a request to the model is refused");
            }
            _ => {}
        }
        let (status, kind) = self.kind();
        let body = json!({"type": "error", "error": {"type": kind, "message": self.to_string()}});
        let mut response = Response::new(Full::new(Bytes::from(body.to_string())).boxed());
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if status.is_client_error() {
            headers.insert(RETRY, HeaderValue::from_static("false"));
        }
        response
    }
}
