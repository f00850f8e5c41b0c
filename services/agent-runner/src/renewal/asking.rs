//! Asking a provider for new tokens.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Collected, Limited};
use openclaw_config::secret::Secret;
use openclaw_credentials::endpoint::{Endpoint, Form};
use openclaw_credentials::renewal::Tokens;
use openclaw_model_api::upstream::{self, Upstream};
use openclaw_settings::now_ms;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT};
use reqwest::{Method, StatusCode, Url};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Error;

/// How long a provider may take to give new tokens, from the request to the end of the answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);
/// Bytes of an answer; it is two tokens and a few words.
const BODY_LIMIT: usize = 64 * 1024;
/// Letters of a provider's error code (RFC 6749, 5.2) that are told.
const CODE_LIMIT: usize = 64;
/// The longest wait that a provider may ask for.
const WAIT_LIMIT: Duration = Duration::from_secs(60 * 60);
/// The User-Agent: some gates let no program in without one.
const PROGRAM: &str = concat!("openclaw/", env!("CARGO_PKG_VERSION"));
/// Codes that say nothing of the refresh token.
const PASSING: [&str; 5] = [
    "temporarily_unavailable",
    "server_error",
    "slow_down",
    "rate_limit_error",
    "overloaded_error",
];

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
    headers.insert(USER_AGENT, HeaderValue::from_static(PROGRAM));
    let began = now_ms();
    let sent = upstream.relay(Method::POST, url, headers, body);
    let whole = async {
        let response = sent.await?;
        let (status, wait) = (response.status(), wait(response.headers()));
        let body = Limited::new(reqwest::Body::from(response), BODY_LIMIT);
        let body = body.collect().await.map(Collected::to_bytes);
        Ok::<_, upstream::Error>((status, wait, body.unwrap_or_default()))
    };
    let answer = timeout(ANSWER_LIMIT, whole).await;
    let (status, wait, body) = answer.map_err(|_| Error::Silent(host.clone()))??;
    let said: Value = serde_json::from_slice(&body).unwrap_or_default();
    let given = given(&said, refresh).filter(|_| status.is_success());
    let (access, refresh, lasts_ms) = given.ok_or_else(|| refusal(host, status, wait, &said))?;
    Ok(Tokens {
        access,
        refresh,
        expires_ms: lasts_ms
            .map(|lasts| began.saturating_add(lasts).saturating_sub(endpoint.skew_ms)),
    })
}

/// The tokens of an answer (RFC 6749, 5.1), and for how many milliseconds the first one
/// is good. The refresh token of the request may be used up: of what else is odd in the
/// answer nothing makes it none.
fn given(said: &Value, refresh: &Secret) -> Option<(Secret, Secret, Option<u64>)> {
    let text = |name: &str| said[name].as_str().filter(|text| !text.is_empty());
    let access = Secret::new(text("access_token")?);
    // Many providers let the one there is be used again.
    let refresh = text("refresh_token").map_or_else(|| refresh.clone(), Secret::new);
    // Some write the number as a text.
    let seconds = match &said["expires_in"] {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    let lasts = seconds.filter(|seconds: &f64| *seconds > 0.0);
    Some((access, refresh, lasts.map(|seconds| (seconds * 1e3) as u64)))
}

/// How long the provider wants not to be asked, where it says so.
fn wait(headers: &HeaderMap) -> Option<Duration> {
    let said = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let seconds = match said.parse() {
        Ok(seconds) => seconds,
        Err(_) => {
            let until = jiff::fmt::rfc2822::parse(said).ok()?.timestamp();
            u64::try_from(until.as_millisecond())
                .ok()?
                .saturating_sub(now_ms())
                / 1000
        }
    };
    Some(Duration::from_secs(seconds).min(WAIT_LIMIT))
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

/// Of what a provider says only its code is told: the rest may hold anything. Only a code
/// is a word on the refresh token; a page of something in between is none.
fn refusal(host: String, status: StatusCode, wait: Option<Duration>, said: &Value) -> Error {
    let error = &said["error"];
    let code = [error, &error["code"], &error["type"]];
    let code = code.into_iter().find_map(Value::as_str);
    let is_plain = |code: &&str| {
        let is_letter = |c: char| c.is_ascii_lowercase() || c == '_';
        code.len() <= CODE_LIMIT && code.chars().all(is_letter)
    };
    let is_of_token = code.is_some_and(|code| !PASSING.contains(&code));
    let told = code.filter(is_plain).map(|code| format!(", {code}"));
    let status = status.as_u16();
    match status {
        // Some answer that it failed as if it had not.
        200 | 400 | 401 | 403 if is_of_token => Error::Refused {
            host,
            status,
            code: told,
        },
        200..300 => Error::Form(host),
        _ => Error::Status { host, status, wait },
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
    fn refusal_tells_its_code_and_nothing_else() {
        let said = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            let body = serde_json::from_str(body).unwrap_or_default();
            refusal("h".to_owned(), status, None, &body).to_string()
        };
        for (status, body, expected) in [
            (
                400,
                r#"{"error": "invalid_grant", "error_description": "x"}"#,
                "h refused it (HTTP 400, invalid_grant)",
            ),
            (
                401,
                r#"{"error": {"code": "refresh_token_reused"}}"#,
                "h refused it (HTTP 401, refresh_token_reused)",
            ),
            (
                400,
                r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "x"}}"#,
                "h refused it (HTTP 400, invalid_request_error)",
            ),
            (
                200,
                r#"{"error": "bad_refresh_token"}"#,
                "h refused it (HTTP 200, bad_refresh_token)",
            ),
            (400, r#"{"error": "Se cret"}"#, "h refused it (HTTP 400)"),
            (
                400,
                r#"{"error": "temporarily_unavailable"}"#,
                "h answered with HTTP 400",
            ),
            (
                403,
                "<html>Just a moment...</html>",
                "h answered with HTTP 403",
            ),
            (401, "", "h answered with HTTP 401"),
            (302, "", "h answered with HTTP 302"),
            (
                429,
                r#"{"error": {"type": "rate_limit_error"}}"#,
                "h answered with HTTP 429",
            ),
            (503, "x", "h answered with HTTP 503"),
            (
                200,
                "<html>Log in to the network</html>",
                "the answer of h has no tokens",
            ),
        ] {
            assert_eq!(said(status, body), expected, "{body}");
        }
    }

    #[test]
    fn tokens_are_taken_whatever_else_an_answer_has() {
        let before = Secret::new("r0");
        let given = |said: Value| {
            let given = given(&said, &before);
            given.map(|(access, refresh, lasts)| {
                (
                    access.reveal().to_owned(),
                    refresh.reveal().to_owned(),
                    lasts,
                )
            })
        };
        let taken = |refresh: &str, lasts| Some(("a".to_owned(), refresh.to_owned(), lasts));
        for (said, expected) in [
            (
                json!({"refresh_token": "r1", "expires_in": 60}),
                taken("r1", Some(60_000)),
            ),
            (
                json!({"refresh_token": "r1", "expires_in": "3599"}),
                taken("r1", Some(3_599_000)),
            ),
            (json!({"expires_in": 1.5}), taken("r0", Some(1500))),
            (
                json!({"refresh_token": null, "expires_in": null}),
                taken("r0", None),
            ),
            (
                json!({"refresh_token": "", "expires_in": "soon"}),
                taken("r0", None),
            ),
            (
                json!({"refresh_token": "r1", "expires_in": -5}),
                taken("r1", None),
            ),
            (
                json!({"refresh_token": "r1", "expires_in": [1]}),
                taken("r1", None),
            ),
            (
                json!({"refresh_token": 7, "expires_in": 1e300}),
                taken("r0", Some(u64::MAX)),
            ),
        ] {
            let mut said = said;
            said["access_token"] = json!("a");
            assert_eq!(given(said.clone()), expected, "{said}");
        }
        for said in [
            json!({}),
            json!({"access_token": ""}),
            json!({"access_token": 5}),
            json!([]),
        ] {
            assert_eq!(given(said.clone()), None, "{said}");
        }
    }

    #[test]
    fn waits_are_seconds_or_a_time_and_have_a_bound() {
        let of = |said: &str| {
            let value = HeaderValue::from_str(said).unwrap();
            wait(&HeaderMap::from_iter([(RETRY_AFTER, value)]))
        };
        assert_eq!(of("7"), Some(Duration::from_secs(7)));
        assert_eq!(of("86400"), Some(WAIT_LIMIT));
        assert_eq!(of("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        let later = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(90);
        let later = later.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let waits = of(&later).unwrap().as_secs();
        assert!((80..=90).contains(&waits), "{waits}");
        assert_eq!(of("soon"), None);
        assert_eq!(of("-1"), None);
        assert_eq!(wait(&HeaderMap::new()), None);
    }
}
