//! The meaning of a provider's refusal.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::header::{HeaderMap, RETRY_AFTER};
use openclaw_model_api::upstream;
use openclaw_proto::event;
use openclaw_turn::Code;

use super::retry::{Failure, Fault};

/// Bytes of an error's body that are kept.
const BODY_LIMIT: usize = 64 * 1024;
/// The longest wait that is believed.
const WAIT_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);
/// Anthropic's own status for "overloaded".
const SITE_OVERLOADED: u16 = 529;
/// Words of accounts that are empty; some providers say it with a status that means something else.
const UNPAID: [&str; 4] = [
    "insufficient_quota",
    "credit balance is too low",
    "billing_not_active",
    "insufficient credits",
];

/// An answer that is none.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Refusal {
    /// Reads the beginning of its body.
    pub(super) async fn read(response: reqwest::Response) -> Self {
        let status = response.status();
        let headers = response.headers().clone();
        let mut body = reqwest::Body::from(response);
        let mut kept = Vec::new();
        while kept.len() < BODY_LIMIT
            && let Some(Ok(frame)) = body.frame().await
        {
            let data = frame.into_data().unwrap_or_default();
            let room = BODY_LIMIT - kept.len();
            kept.extend_from_slice(&data[..data.len().min(room)]);
        }
        Self {
            status,
            headers,
            body: kept.into(),
        }
    }

    pub(super) fn failure(&self) -> Failure {
        let text = String::from_utf8_lossy(&self.body);
        Failure {
            fault: fault(self.status.as_u16(), &text),
            status: Some(self.status.as_u16()),
            retry_after: retry_after(&self.headers),
            is_final: self
                .headers
                .get("x-should-retry")
                .is_some_and(|value| value == "false"),
        }
    }
}

impl Failure {
    /// No answer at all.
    pub(super) fn unsent(error: &upstream::Error) -> Self {
        let fault = match error.code() {
            event::Code::Timeout => Fault::Silent,
            event::Code::Auth => Fault::Refused,
            event::Code::Network => Fault::Unreachable,
            _ => Fault::Request,
        };
        Self::without_status(fault)
    }

    /// An answer that broke off before anything of it was passed on, as the agent has it.
    pub(super) fn broken_off(code: Code) -> Self {
        Self::without_status(match code {
            Code::RateLimited => Fault::RateLimited,
            Code::Overloaded => Fault::Overloaded,
            Code::Network => Fault::Unreachable,
            Code::Timeout => Fault::Silent,
            _ => Fault::Failed,
        })
    }

    fn without_status(fault: Fault) -> Self {
        Self {
            fault,
            status: None,
            retry_after: None,
            is_final: false,
        }
    }
}

fn fault(status: u16, body: &str) -> Fault {
    if (400..500).contains(&status) && UNPAID.iter().any(|words| body.contains(words)) {
        return Fault::Unpaid;
    }
    match status {
        401 => Fault::Refused,
        402 => Fault::Unpaid,
        403 => Fault::Forbidden,
        404 => Fault::Unknown,
        429 => Fault::RateLimited,
        503 | SITE_OVERLOADED => Fault::Overloaded,
        408 | 425 | 500.. => Fault::Failed,
        _ => Fault::Request,
    }
}

/// The wait that the provider asks for: `retry-after-ms` of some, or
/// `retry-after` in seconds or as a date (RFC 9110, 10.2.3).
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.trim().to_owned());
    let milliseconds = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    let seconds = milliseconds.map(|wait| wait / 1e3).or_else(|| {
        let text = text(RETRY_AFTER.as_str())?;
        text.parse().ok().or_else(|| until(&text))
    })?;
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    Some(wait.min(WAIT_LIMIT))
}

/// Seconds until a date.
fn until(date: &str) -> Option<f64> {
    let at = jiff::fmt::rfc2822::parse(date).ok()?.timestamp();
    let left = at.duration_since(jiff::Timestamp::now()).as_secs_f64();
    Some(left.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_and_words_say_what_is_wrong() {
        for (status, body, expected) in [
            (400, "prompt is too long", Fault::Request),
            (
                400,
                "Your credit balance is too low to access",
                Fault::Unpaid,
            ),
            (401, "", Fault::Refused),
            (402, "", Fault::Unpaid),
            (403, "", Fault::Forbidden),
            (404, "model: x", Fault::Unknown),
            (413, "", Fault::Request),
            (429, "slow down", Fault::RateLimited),
            (
                429,
                r#"{"error":{"type":"insufficient_quota"}}"#,
                Fault::Unpaid,
            ),
            (500, "", Fault::Failed),
            (502, "", Fault::Failed),
            (503, "", Fault::Overloaded),
            (524, "", Fault::Failed),
            (529, "", Fault::Overloaded),
        ] {
            assert_eq!(fault(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn refusal_every_way_to_ask_for_a_wait() {
        let wait = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after(&headers)
        };
        let seconds = |wait: f64| Some(Duration::from_secs_f64(wait));
        assert_eq!(wait("retry-after", "7"), seconds(7.0));
        assert_eq!(wait("retry-after", " 0.5"), seconds(0.5));
        assert_eq!(wait("retry-after-ms", "250"), seconds(0.25));
        assert_eq!(wait("retry-after", "1e30"), None);
        assert_eq!(wait("retry-after", "-1"), None);
        assert_eq!(wait("retry-after", "soon"), None);
        assert_eq!(
            wait("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
            seconds(0.0)
        );
        assert_eq!(
            wait("retry-after", "Tue, 31 Dec 2199 23:59:59 GMT"),
            Some(WAIT_LIMIT)
        );
    }
}
