//! What the CLI's errors mean, and what to do about them.
//!
//! Its result has the status of the provider's answer, and the message it makes up in place of the
//! model's has a word for what went wrong. They decide. Its words do only where there is no such
//! field: on its standard error, in the results of older versions, and for a prompt that is too
//! long, which is a status 400 like any other wrong request.

use openclaw_proto::event::Code;

/// The facts by which a failure of the CLI is judged.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Signs<'a> {
    /// `api_error_status` of its result.
    pub(super) status: Option<u64>,
    /// `error` of its last message.
    pub(super) error: Option<&'a str>,
    /// Its message, or its standard error.
    pub(super) said: &'a str,
}

/// The code of a failure that is known, and what to do about it.
pub(super) fn meaning(signs: &Signs<'_>) -> Option<(Code, &'static str)> {
    let code = by_fields(signs).or_else(|| by_words(signs.said))?;
    Some((code, advice(code)))
}

fn by_fields(signs: &Signs<'_>) -> Option<Code> {
    match (signs.status, signs.error) {
        (Some(401 | 403), _) => Some(Code::Auth),
        (Some(429), _) => Some(Code::RateLimited),
        (Some(529), _) => Some(Code::Overloaded),
        // Nobody was asked: there is nothing to say who asks,
        (None, Some("authentication_failed")) => Some(Code::NotLoggedIn),
        // or nobody answered.
        (None, Some("server_error")) => Some(Code::Network),
        _ => None,
    }
}

fn by_words(said: &str) -> Option<Code> {
    let has = |needles: &[&str]| needles.iter().any(|needle| said.contains(needle));
    if has(&["Not logged in", "/login", "auth login"])
        && !has(&["401", "Invalid API key", "invalid x-api-key"])
    {
        Some(Code::NotLoggedIn)
    } else if has(&["401", "403", "Invalid API key", "authentication_error"]) {
        Some(Code::Auth)
    } else if has(&["Prompt is too long", "prompt is too long"]) {
        Some(Code::ContextOverflow)
    } else if has(&["429", "rate_limit", "usage limit", "Usage limit"]) {
        Some(Code::RateLimited)
    } else if has(&["529", "overloaded", "Overloaded"]) {
        Some(Code::Overloaded)
    } else if has(&[
        "Connection error",
        "Connection to the API was lost",
        "Unable to connect",
        "ECONNREFUSED",
        "ENOTFOUND",
        "fetch failed",
    ]) {
        Some(Code::Network)
    } else {
        None
    }
}

fn advice(code: Code) -> &'static str {
    match code {
        Code::NotLoggedIn => {
            "run `claude setup-token` and set CLAUDE_CODE_OAUTH_TOKEN, or set ANTHROPIC_API_KEY"
        }
        Code::Auth => "check ANTHROPIC_API_KEY or log in again with `claude setup-token`",
        Code::ContextOverflow => "begin a new conversation with /new",
        Code::RateLimited => "wait and send the message again",
        Code::Overloaded => "send the message again in a moment",
        Code::Network => "check the network and ANTHROPIC_BASE_URL",
        _ => "send the message again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(status: Option<u64>, error: &str, said: &str) -> Option<Code> {
        let error = Some(error).filter(|error| !error.is_empty());
        let signs = Signs {
            status,
            error,
            said,
        };
        meaning(&signs).map(|(code, _)| code)
    }

    /// As Claude Code 2.1.197 has them in `api_error_status`, `error` and
    /// `result`, recorded with a provider that answers so.
    const RECORDED: [(Option<u64>, &str, &str, Option<Code>); 8] = [
        (
            None,
            "authentication_failed",
            "Not logged in · Please run /login",
            Some(Code::NotLoggedIn),
        ),
        (
            Some(401),
            "authentication_failed",
            "Invalid API key · Fix external API key",
            Some(Code::Auth),
        ),
        (
            Some(403),
            "authentication_failed",
            "Failed to authenticate. API Error: 403 no",
            Some(Code::Auth),
        ),
        (
            Some(429),
            "rate_limit",
            "API Error: Request rejected (429) · slow",
            Some(Code::RateLimited),
        ),
        (
            Some(529),
            "server_error",
            "API Error: 529 Overloaded. This is a server-side issue, usually temporary",
            Some(Code::Overloaded),
        ),
        (
            Some(400),
            "invalid_request",
            "Prompt is too long · the request is ~250000 tokens (limit 200000)",
            Some(Code::ContextOverflow),
        ),
        (
            Some(500),
            "server_error",
            "API Error: 500 oh. This is a server-side issue, usually temporary",
            None,
        ),
        (
            None,
            "server_error",
            "API Error: Unable to connect to API (ConnectionRefused)",
            Some(Code::Network),
        ),
    ];

    #[test]
    fn failure_is_what_the_recorded_fields_say() {
        for (status, error, said, expected) in RECORDED {
            assert_eq!(code(status, error, said), expected, "{said}");
        }
    }

    #[test]
    fn failure_is_not_what_the_words_say_where_a_field_decides() {
        assert_eq!(
            code(Some(429), "", "Please run /login"),
            Some(Code::RateLimited)
        );
        assert_eq!(
            code(None, "authentication_failed", "Hm"),
            Some(Code::NotLoggedIn)
        );
        assert_eq!(code(None, "", "it dumped its core"), None);
    }
}
