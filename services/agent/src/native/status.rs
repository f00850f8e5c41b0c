//! What an HTTP status of the provider means for the user.

use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{HeaderMap, RETRY_AFTER};
use openclaw_turn::Code;
use serde_json::Value;

use crate::failure::Failure;

/// Longest message of a provider that is passed on.
const MAX_MESSAGE_CHARS: usize = 500;

/// The longest wait that is believed.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Anthropic's own status for "overloaded".
const SITE_OVERLOADED: u16 = 529;

/// The wait the provider asks for, in seconds. The form with a date is left
/// out: no model provider sends it.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?;
    let wait = Duration::try_from_secs_f64(value.trim().parse().ok()?).ok()?;
    Some(wait.min(MAX_RETRY_AFTER))
}

/// What an answer with this status means for the turn.
pub(super) fn refusal(status: StatusCode, retry_after: Option<Duration>, body: &str) -> Failure {
    let parsed: Value = serde_json::from_str(body).unwrap_or_default();
    if let Some(code) = own_code(&parsed) {
        return Failure {
            code,
            message: provider_message(&parsed, body),
            retry_after,
        };
    }
    let (code, what, todo) = if is_overflow(status, body) {
        overflow()
    } else {
        meaning(status, retry_after)
    };
    let message = match provider_message(&parsed, body) {
        message if message.is_empty() => format!("{what} (HTTP {}){todo}", status.as_u16()),
        message => format!("{what} (HTTP {}): {message}{todo}", status.as_u16()),
    };
    Failure {
        code,
        message,
        retry_after,
    }
}

/// Errors of the runner itself carry a word of the shared vocabulary as their
/// type, and a complete message. Providers' types all end in `_error`.
fn own_code(body: &Value) -> Option<Code> {
    let code = Code::from_name(body["error"]["type"].as_str()?)?;
    matches!(
        code,
        Code::NotLoggedIn
            | Code::Auth
            | Code::Network
            | Code::Timeout
            | Code::MalformedOutput
            | Code::ResourceLimit
            | Code::Internal
    )
    .then_some(code)
}

/// What providers and servers of models say of a prompt that is too long: the
/// Messages API, OpenAI's error code, vLLM, llama-server, OpenRouter and Ollama.
const OVERFLOWS: [&str; 8] = [
    "prompt is too long",
    "exceed context limit",
    "context_length_exceeded",
    "maximum context length",
    "exceed_context_size",
    "exceeds the available context size",
    "context window",
    "request_too_large",
];

/// Whether the request was refused because of its length.
fn is_overflow(status: StatusCode, body: &str) -> bool {
    let body = body.to_lowercase();
    matches!(status.as_u16(), 400 | 413 | 422) && OVERFLOWS.iter().any(|words| body.contains(words))
}

fn overflow() -> (Code, &'static str, String) {
    (
        Code::ContextOverflow,
        "the conversation does not fit into the model's window",
        ". Begin a new one with /new, or lower memory.maxContextTokens to what the model takes"
            .into(),
    )
}

fn meaning(status: StatusCode, retry_after: Option<Duration>) -> (Code, &'static str, String) {
    let later = || match retry_after {
        Some(wait) => format!(". Try again in {} s", wait.as_secs_f64().ceil()),
        None => ". Try again later".to_owned(),
    };
    let (code, what, todo) = match status.as_u16() {
        401 | 403 => (
            Code::Auth,
            "the model provider refused the credentials",
            ". Check this provider's API key; `openclawctl status` shows where it comes from"
                .into(),
        ),
        402 => (
            Code::Auth,
            "the model provider wants to be paid",
            ". Look at your account there".into(),
        ),
        404 => (
            Code::ModelError,
            "the model provider does not know the model or the address",
            ". Check the model name and the provider's base URL".into(),
        ),
        429 => (
            Code::RateLimited,
            "the model provider limits the rate of requests",
            later(),
        ),
        503 | SITE_OVERLOADED => (
            Code::Overloaded,
            "the model provider is overloaded",
            later(),
        ),
        500.. => (Code::ModelError, "the model provider failed", later()),
        _ => (
            Code::ModelError,
            "the model provider refused the request",
            String::new(),
        ),
    };
    (code, what, todo)
}

/// The message in an error body, in any of the shapes providers use.
fn provider_message(parsed: &Value, body: &str) -> String {
    let error = &parsed["error"];
    let candidates = [
        &error["message"],
        error,
        &parsed["message"],
        &parsed["detail"],
    ];
    let message = candidates.into_iter().find_map(Value::as_str);
    trimmed(message.unwrap_or(body))
}

/// One line of limited length.
pub(super) fn trimmed(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let line = words.join(" ");
    let mut short: String = line.chars().take(MAX_MESSAGE_CHARS).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    // The sentence goes on after it.
    short.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, seconds: Option<u64>, body: &str) -> Failure {
        let status = StatusCode::from_u16(status).unwrap();
        refusal(status, seconds.map(Duration::from_secs), body)
    }

    #[test]
    fn statuses_become_the_shared_codes() {
        let too_long = r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#;
        assert_eq!(refused(400, None, too_long).code, Code::ContextOverflow);
        assert_eq!(refused(500, None, too_long).code, Code::ModelError);
        for (status, code) in [
            (400, Code::ModelError),
            (401, Code::Auth),
            (402, Code::Auth),
            (403, Code::Auth),
            (404, Code::ModelError),
            (429, Code::RateLimited),
            (500, Code::ModelError),
            (503, Code::Overloaded),
            (529, Code::Overloaded),
        ] {
            let failure = refused(status, None, "{}");
            assert_eq!(failure.code, code, "{status}");
            assert!(failure.message.contains(&status.to_string()));
        }
    }

    #[test]
    fn providers_words_are_found_and_kept_short() {
        for body in [
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down."}}"#,
            r#"{"error":"slow down"}"#,
            r#"{"message":"slow\n  down"}"#,
            "slow down",
        ] {
            let failure = refused(429, Some(30), body);
            let expected = "(HTTP 429): slow down. Try again in 30 s";
            assert!(failure.message.ends_with(expected), "{}", failure.message);
        }
        let failure = refused(400, None, &"x".repeat(10_000));
        assert!(failure.message.len() < 700);
    }

    #[test]
    fn runners_own_errors_are_passed_on_as_they_are() {
        let body = r#"{"error":{"type":"network","message":"cannot reach 127.0.0.1:9: refused"}}"#;
        let failure = refused(502, None, body);
        assert_eq!(failure.code, Code::Network);
        assert_eq!(failure.message, "cannot reach 127.0.0.1:9: refused");
    }

    #[test]
    fn status_only_plausible_waits_are_believed() {
        let wait = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, value.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(wait("1e30"), None);
        assert_eq!(wait("-1"), None);
        assert_eq!(wait("soon"), None);
    }
}
