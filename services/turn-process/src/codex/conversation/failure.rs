//! What the CLI's errors mean, and what to do about them.

use openclaw_proto::event::Code;
use serde_json::Value;

/// Its log's lines begin with colours, or with a time and a level.
const LOG: [&str; 4] = ["WARN", "INFO", "DEBUG", "ERROR"];

/// Why a turn failed.
pub(super) fn meaning(error: &Value) -> (Code, String) {
    let said = error["message"].as_str().filter(|said| !said.is_empty());
    let said = said.unwrap_or("it did not say why");
    let (code, advice) = advice(&error["codexErrorInfo"]);
    (code, format!("the Codex CLI says: {said}; {advice}"))
}

fn advice(info: &Value) -> (Code, &'static str) {
    let kind = info.as_str().or_else(|| {
        let kinds = info.as_object()?;
        kinds.keys().next().map(String::as_str)
    });
    let kind = kind.unwrap_or_default();
    let status = info[kind]["httpStatusCode"].as_u64();
    match (kind, status) {
        ("unauthorized", _) | (_, Some(401 | 403)) => (
            Code::Auth,
            "check OPENAI_API_KEY or log in again with `codex login`",
        ),
        ("contextWindowExceeded", _) => {
            (Code::ContextOverflow, "begin a new conversation with /new")
        }
        ("usageLimitExceeded" | "rateLimitExceeded", _) | (_, Some(429)) => {
            (Code::RateLimited, "wait and send the message again")
        }
        ("serverOverloaded" | "internalServerError", _) | (_, Some(503 | 529)) => {
            (Code::Overloaded, "send the message again in a moment")
        }
        ("modelNotFound", _) | (_, Some(404)) => (
            Code::ModelError,
            "check agents.defaults.model: it has to be one that this key may use",
        ),
        ("responseStreamDisconnected" | "httpConnectionFailed", None | Some(502 | 504)) => {
            (Code::Network, "check the network and OPENAI_BASE_URL")
        }
        _ => (Code::ModelError, "send the message again"),
    }
}

/// The end of what it wrote to its standard error, without its log.
pub(super) fn last_words(complaint: &str) -> &str {
    let mut lines = complaint.trim().lines().rev().map(str::trim);
    let is_log = |line: &&str| {
        !line.is_empty()
            && !line.contains('\u{1b}')
            && !LOG.iter().any(|level| line.contains(level))
    };
    lines.find(is_log).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// As the Codex CLI has them in its `error` notification, recorded with a
    /// provider that answers so.
    #[test]
    fn failure_is_what_the_recorded_fields_say() {
        let refused = json!({
            "message": "unexpected status 401 Unauthorized: Incorrect API key provided: sk-x",
            "codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 401}},
        });
        let wrong = json!({
            "message": "{\"error\":{\"message\":\"API key not valid.\"}}",
            "codexErrorInfo": "other",
        });
        assert_eq!(meaning(&refused).0, Code::Auth);
        assert_eq!(meaning(&wrong).0, Code::ModelError);
    }
}
