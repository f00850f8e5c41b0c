//! One model request. The runner has the patience: it waits, tries again and
//! asks elsewhere; here only what it cannot know is said to it.

use std::time::Duration;

use hyper::body::Incoming;
use hyper::{Response, StatusCode, header};
use openclaw_turn::{Api, Code};
use tokio::time::timeout;

use super::answer::{self, Decoder, Fault};
use super::openai::Dialect;
use super::prompt::{Model, Prompt};
use super::reply::Reply;
use super::{anthropic, openai, status};
use crate::emitter::Emitter;
use crate::failure::{Failure, TurnError, socket_failure};
use crate::process;
use crate::socket::{Question, TurnSocket};

/// The longest the runner may take to begin an answer, with all its waits and
/// attempts: its own limits end a turn long before.
const ANSWER_LIMIT: Duration = Duration::from_secs(3600);

/// What came of a request.
pub(super) enum Answered {
    /// The model's answer.
    Reply(Reply),
    /// Another model is to be asked, which must not see the first one's
    /// thinking: it is signed.
    Elsewhere,
}

/// Speaks one of the two protocols through the turn socket.
pub(super) struct Client<'a> {
    socket: &'a TurnSocket,
    api: Api,
    model: Model,
    out: &'a Emitter,
    dialect: Dialect,
    /// The last answer to the question broke off.
    broke_off: Option<Failure>,
}

impl<'a> Client<'a> {
    pub(super) fn new(socket: &'a TurnSocket, api: Api, model: Model, out: &'a Emitter) -> Self {
        Self {
            socket,
            api,
            model,
            out,
            dialect: Dialect::default(),
            broke_off: None,
        }
    }

    /// The model that is asked.
    pub(super) fn model(&self) -> &str {
        &self.model.name
    }

    /// The model's answer to `prompt`; its text is emitted as it comes.
    pub(super) async fn respond(&mut self, prompt: &Prompt<'_>) -> Result<Answered, TurnError> {
        loop {
            match self.attempt(prompt).await {
                Ok(reply) => {
                    self.broke_off = None;
                    return Ok(Answered::Reply(reply));
                }
                Err(Fault::Final(error)) => return Err(error),
                // Each adaptation is made once, so this ends.
                Err(Fault::Dialect(dialect)) => self.dialect = dialect,
                Err(Fault::Thinking) => self.model.takes_thinking = false,
                // The runner counts.
                Err(Fault::BrokeOff(failure)) => {
                    process::log(&failure.message);
                    self.broke_off = Some(failure);
                }
                Err(Fault::Elsewhere(target)) => {
                    self.broke_off = None;
                    self.api = target.api;
                    self.model = Model::new(target.provider, target.model, target.sees_images);
                    self.dialect = Dialect::default();
                    return Ok(Answered::Elsewhere);
                }
            }
        }
    }

    async fn attempt(&self, prompt: &Prompt<'_>) -> Result<Reply, Fault> {
        let (path, body, decoder) = match self.api {
            Api::Anthropic => (
                anthropic::PATH,
                anthropic::body(&self.model, prompt),
                Decoder::Anthropic(anthropic::Stream::default()),
            ),
            Api::Openai => (
                openai::PATH,
                openai::body(
                    &self.model.name,
                    prompt,
                    self.dialect,
                    self.model.sees_images,
                ),
                Decoder::OpenAi(openai::Stream::default()),
            ),
        };
        let body = body.map_err(|error| {
            Failure::new(
                Code::Internal,
                format!("cannot write the model request: {error}"),
            )
        })?;
        let question = Question {
            path,
            broke_off: self.broke_off.as_ref().map(|failure| failure.code),
        };
        let response = timeout(ANSWER_LIMIT, self.socket.model(&question, body))
            .await
            .map_err(|_| answer::silence(ANSWER_LIMIT))?
            .map_err(|error| socket_failure(&error))?;
        if response.status().is_success() {
            answer::check_content_type(response.headers().get(header::CONTENT_TYPE))?;
            return answer::read(response.into_body(), decoder, &self.model, self.out).await;
        }
        Err(self.refusal(response).await)
    }

    async fn refusal(&self, response: Response<Incoming>) -> Fault {
        let status = response.status();
        let retry_after = status::retry_after(response.headers());
        let body = answer::read_some(response.into_body()).await;
        let text = String::from_utf8_lossy(&body);
        if status == StatusCode::MISDIRECTED_REQUEST
            && let Ok(target) = serde_json::from_str(&text)
        {
            return Fault::Elsewhere(target);
        }
        if status == StatusCode::BAD_REQUEST
            && self.api == Api::Openai
            && let Some(dialect) = self.dialect.adapted(&text)
        {
            return Fault::Dialect(dialect);
        }
        if status == StatusCode::BAD_REQUEST
            && self.api == Api::Anthropic
            && self.model.takes_thinking
            && anthropic::refuses_thinking(&text)
        {
            process::log("the model does not take back what it thought in earlier turns");
            return Fault::Thinking;
        }
        let failure = status::refusal(status, retry_after, &text);
        match &self.broke_off {
            // What was wrong is known better here.
            Some(first) if status == StatusCode::GONE => first.clone().into(),
            _ => failure.into(),
        }
    }
}
