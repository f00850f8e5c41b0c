//! Asking a provider for new tokens.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Collected, Limited};
use openclaw_config::secret::Secret;
use openclaw_credentials::endpoint::{Endpoint, Form};
use openclaw_credentials::renewal::Tokens;
use openclaw_model_api::upstream::{self, Upstream};
use openclaw_settings::now_ms;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use super::Error;

/// How long a provider may take to give new tokens, from the request to the end
/// of the answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);
/// Bytes of an answer; it is two tokens and a few words.
const BODY_LIMIT: usize = 64 * 1024;
/// Letters of a provider's error code (RFC 6749, 5.2) that are told.
const CODE_LIMIT: usize = 64;

/// New tokens for `refresh`.
pub(super) async fn tokens(
    upstream: &Upstream,
    endpoint: &Endpoint,
    refresh: &Secret,
) -> Result<Tokens, Error> {
    let url = Url::parse(&endpoint.url).map_err(|_| Error::Url)?;
    let host = url.host_str().unwrap_or_default().to_owned();
    let (kind, body) = body(endpoint, refresh);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let began = now_ms();
    let sent = upstream.relay(Method::POST, url, headers, body);
    let whole = async {
        let response = sent.await?;
        let status = response.status();
        let body = Limited::new(reqwest::Body::from(response), BODY_LIMIT);
        let body = body.collect().await.map(Collected::to_bytes);
        Ok::<_, upstream::Error>((status, body.unwrap_or_default()))
    };
    let answer = timeout(ANSWER_LIMIT, whole).await;
    let (status, body) = answer.map_err(|_| Error::Silent(host.clone()))??;
    if !status.is_success() {
        return Err(refusal(host, status, &body));
    }
    let given: InputFolder =
        serde_json::from_slice(&body).map_err(|_| Error::Form(host.clone()))?;
    if given.access_token.is_empty() {
        return Err(Error::Form(host));
    }
    let lasts = given.expires_in.map(|seconds| seconds.max(0.0) * 1e3);
    Ok(Tokens {
        access: Secret::new(given.access_token),
        // Many providers let the one there is be used again.
        refresh: match given.refresh_token.filter(|token| !token.is_empty()) {
            Some(token) => Secret::new(token),
            None => refresh.clone(),
        },
        expires_ms: lasts.map(|lasts| {
            began
                .saturating_add(lasts as u64)
                .saturating_sub(endpoint.skew_ms)
        }),
    })
}

/// An answer with tokens (RFC 6749, 5.1).
#[derive(Deserialize)]
struct InputFolder {
    access_token: String,
    refresh_token: Option<String>,
    expires_in: Option<f64>,
}

/// The content type and the body of a request (RFC 6749, 6).
fn body(endpoint: &Endpoint, refresh: &Secret) -> (&'static str, Bytes) {
    let fields = [
        ("grant_type", "refresh_token"),
        ("client_id", &endpoint.client_id),
        ("refresh_token", refresh.reveal()),
    ];
    match endpoint.form {
        Form::Json => {
            let object: serde_json::Map<_, _> = fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .collect();
            let text = serde_json::Value::Object(object).to_string();
            ("application/json", text.into())
        }
        Form::Fields => {
            let mut form = form_urlencoded::Serializer::new(String::new());
            let text = form.extend_pairs(fields).finish();
            ("application/x-www-form-urlencoded", text.into())
        }
    }
}

/// Of what a provider says only its code is told: the rest may hold anything.
fn refusal(host: String, status: StatusCode, body: &[u8]) -> Error {
    let said: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let code = said["error"].as_str().or(said["error"]["code"].as_str());
    let is_plain = |code: &&str| {
        let is_letter = |c: char| c.is_ascii_lowercase() || c == '_';
        code.len() <= CODE_LIMIT && code.chars().all(is_letter)
    };
    let code = code.filter(is_plain).map(|code| format!(", {code}"));
    let status = status.as_u16();
    match status {
        400 | 401 | 403 => Error::Refused { host, status, code },
        _ => Error::Status { host, status },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_form_of_their_provider() {
        let mut endpoint = Endpoint {
            url: String::new(),
            client_id: "c".to_owned(),
            form: Form::Json,
            skew_ms: 0,
        };
        let refresh = Secret::new("a+b/c=");
        let (kind, json) = body(&endpoint, &refresh);
        assert_eq!(kind, "application/json");
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let expected =
            json!({"grant_type": "refresh_token", "client_id": "c", "refresh_token": "a+b/c="});
        assert_eq!(json, expected);
        endpoint.form = Form::Fields;
        let (kind, text) = body(&endpoint, &refresh);
        assert_eq!(kind, "application/x-www-form-urlencoded");
        let expected = "grant_type=refresh_token&client_id=c&refresh_token=a%2Bb%2Fc%3D";
        assert_eq!(&text[..], expected.as_bytes());
    }

    #[test]
    fn a_refusal_tells_its_code_and_nothing_else() {
        let said = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            refusal("h".to_owned(), status, body.as_bytes()).to_string()
        };
        let plain = said(
            400,
            r#"{"error": "invalid_grant", "error_description": "x"}"#,
        );
        assert_eq!(plain, "h refused it (HTTP 400, invalid_grant)");
        let nested = said(401, r#"{"error": {"code": "refresh_token_reused"}}"#);
        assert_eq!(nested, "h refused it (HTTP 401, refresh_token_reused)");
        assert_eq!(
            said(400, r#"{"error": "Se cret"}"#),
            "h refused it (HTTP 400)"
        );
        assert_eq!(said(503, "x"), "h answered with HTTP 503");
    }
}
