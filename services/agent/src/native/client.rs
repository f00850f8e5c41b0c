//! One model request, with the retries that are safe: only while nothing of
//! the answer has been passed on.

use std::time::Duration;

use hyper::body::Incoming;
use hyper::{Response, StatusCode, header};
use openclaw_tools::ToolDefinition;
use tokio::time::{sleep, timeout};

use super::answer::{self, Decoder, Fault};
use super::conversation::Entry;
use super::openai::Dialect;
use super::reply::Reply;
use super::{anthropic, openai, status};
use crate::event::Emitter;
use crate::failure::{Code, Failure, TurnError};
use crate::request::Api;
use crate::socket::TurnSocket;
use crate::{process, turn};

/// Silence after which a model is given up. Local models take minutes over a
/// long prompt before the first token.
pub(super) const SILENCE_LIMIT: Duration = Duration::from_secs(600);

/// Further attempts after 429.
const RATE_LIMIT_RETRIES: u32 = 2;

/// The longest wait a user is made to sit through; beyond it they are told.
const MAX_RATE_LIMIT_WAIT: Duration = Duration::from_secs(10);

/// First wait after 429 where the provider names none; doubled each time.
const RATE_LIMIT_BACKOFF: Duration = Duration::from_secs(1);

/// Further attempts after a failure of the provider.
const SERVER_RETRIES: u32 = 1;

/// Wait before it; a provider's own wish counts up to the maximum.
const SERVER_BACKOFF: Duration = Duration::from_millis(500);
const MAX_SERVER_WAIT: Duration = Duration::from_secs(1);

/// Everything a request is made of.
pub(super) struct Prompt<'a> {
    pub(super) model: &'a str,
    pub(super) max_tokens: u32,
    /// Tokens to think for beside those; 0: the model is not asked to.
    pub(super) thinking_tokens: u32,
    /// The same in OpenAI's words.
    pub(super) reasoning_effort: Option<&'a str>,
    pub(super) system: &'a str,
    pub(super) tools: &'a [&'a ToolDefinition],
    pub(super) entries: &'a [Entry],
}

/// Speaks one of the two protocols through the turn socket.
pub(super) struct Client<'a> {
    socket: &'a TurnSocket,
    api: Api,
    out: &'a Emitter,
    dialect: Dialect,
}

#[derive(Default)]
struct Retries {
    rate_limited: u32,
    server: u32,
}

impl<'a> Client<'a> {
    pub(super) fn new(socket: &'a TurnSocket, api: Api, out: &'a Emitter) -> Self {
        Self {
            socket,
            api,
            out,
            dialect: Dialect::default(),
        }
    }

    /// The model's answer to `prompt`; its text is emitted as it comes.
    pub(super) async fn respond(&mut self, prompt: &Prompt<'_>) -> Result<Reply, TurnError> {
        let mut retries = Retries::default();
        loop {
            match self.attempt(prompt).await {
                Ok(reply) => return Ok(reply),
                Err(Fault::Final(error)) => return Err(error),
                // Each adaptation is made once, so this ends.
                Err(Fault::Dialect(dialect)) => self.dialect = dialect,
                Err(Fault::Refused { failure, transient }) => {
                    match retries.next(&failure, transient) {
                        Some(wait) => pause(&failure, wait).await,
                        None => return Err(failure.into()),
                    }
                }
            }
        }
    }

    async fn attempt(&self, prompt: &Prompt<'_>) -> Result<Reply, Fault> {
        let (path, body, decoder) = match self.api {
            Api::Anthropic => (
                anthropic::PATH,
                anthropic::body(prompt),
                Decoder::Anthropic(anthropic::Stream::default()),
            ),
            Api::Openai => (
                openai::PATH,
                openai::body(prompt, self.dialect),
                Decoder::OpenAi(openai::Stream::default()),
            ),
        };
        let body = body.map_err(|error| {
            Failure::new(
                Code::Internal,
                format!("cannot write the model request: {error}"),
            )
        })?;
        let response = timeout(SILENCE_LIMIT, self.socket.model(path, body))
            .await
            .map_err(|_| answer::silence())?
            .map_err(|error| turn::socket_failure(&error))?;
        if response.status().is_success() {
            answer::check_content_type(response.headers().get(header::CONTENT_TYPE))?;
            return answer::read(response.into_body(), decoder, self.out).await;
        }
        Err(self.refusal(response).await)
    }

    async fn refusal(&self, response: Response<Incoming>) -> Fault {
        let status = response.status();
        let retry_after = status::retry_after(response.headers());
        let body = answer::read_some(response.into_body()).await;
        let text = String::from_utf8_lossy(&body);
        if status == StatusCode::BAD_REQUEST
            && self.api == Api::Openai
            && let Some(dialect) = self.dialect.adapted(&text)
        {
            return Fault::Dialect(dialect);
        }
        status::refusal(status, retry_after, &text)
    }
}

impl Retries {
    /// How long to wait before another attempt; `None` when that was the last.
    fn next(&mut self, failure: &Failure, transient: bool) -> Option<Duration> {
        if !transient {
            return None;
        }
        if failure.code == Code::RateLimited {
            let backoff = RATE_LIMIT_BACKOFF * 2_u32.pow(self.rate_limited);
            let wait = failure.retry_after.unwrap_or(backoff);
            self.rate_limited += 1;
            return (self.rate_limited <= RATE_LIMIT_RETRIES && wait <= MAX_RATE_LIMIT_WAIT)
                .then_some(wait);
        }
        self.server += 1;
        let wait = failure.retry_after.unwrap_or(SERVER_BACKOFF);
        (self.server <= SERVER_RETRIES).then_some(wait.min(MAX_SERVER_WAIT))
    }
}

async fn pause(failure: &Failure, wait: Duration) {
    process::log(&format!(
        "{}; trying again in {} ms",
        failure.message,
        wait.as_millis()
    ));
    sleep(wait).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(seconds: Option<u64>) -> Failure {
        Failure {
            retry_after: seconds.map(Duration::from_secs),
            ..Failure::new(Code::RateLimited, "")
        }
    }

    #[test]
    fn a_rate_limit_is_waited_for_twice_if_it_is_short() {
        let mut retries = Retries::default();
        assert_eq!(
            retries.next(&limited(None), true),
            Some(Duration::from_secs(1))
        );
        assert_eq!(
            retries.next(&limited(Some(10)), true),
            Some(Duration::from_secs(10))
        );
        assert_eq!(retries.next(&limited(Some(1)), true), None);
        assert_eq!(Retries::default().next(&limited(Some(11)), true), None);
    }

    #[test]
    fn a_server_failure_gets_one_more_attempt_within_a_second() {
        let mut retries = Retries::default();
        let failure = Failure {
            retry_after: Some(Duration::from_secs(60)),
            ..Failure::new(Code::Overloaded, "")
        };
        assert_eq!(retries.next(&failure, true), Some(Duration::from_secs(1)));
        assert_eq!(retries.next(&failure, true), None);
        assert_eq!(Retries::default().next(&failure, false), None);
    }
}
