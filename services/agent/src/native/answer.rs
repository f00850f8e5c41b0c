//! Reading a streamed answer to its end.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use openclaw_turn::{Code, Event, Target};
use serde::de::IgnoredAny;
use tokio::time::{Instant, timeout, timeout_at};

use super::openai::Dialect;
use super::prompt::Model;
use super::reply::{Delta, Reply};
use super::sse::{Parser, TooLong};
use super::stream_error::StreamError;
use super::{anthropic, openai};
use crate::emitter::Emitter;
use crate::failure::{Failure, TurnError};

/// Silence within an answer after which a model is given up. Local models take
/// minutes over a long prompt before the first token.
const SILENCE_LIMIT: Duration = Duration::from_secs(600);

/// How long the end mark of a complete answer is waited for.
const END_GRACE: Duration = Duration::from_secs(5);

/// Bytes and time for what follows the end. The connection is needed for the
/// next request, and is free only when the answer has been read to its end.
const MAX_DRAIN_BYTES: usize = 1024 * 1024;
const DRAIN_LIMIT: Duration = Duration::from_secs(5);

/// Bytes of an error body that are kept.
const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;

/// Why a request gave no answer.
pub(super) enum Fault {
    /// It broke off, and nothing of it has been passed on: another attempt may
    /// do.
    BrokeOff(Failure),
    /// To be asked again in this dialect.
    Dialect(Dialect),
    /// To be asked again without what was thought in earlier turns.
    Thinking,
    /// To be asked again, of somebody else.
    Elsewhere(Target),
    /// The end of the turn.
    Final(TurnError),
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Final(failure.into())
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Final(error.into())
    }
}

/// The protocol of a stream.
pub(super) enum Decoder {
    Anthropic(anthropic::Stream),
    OpenAi(openai::Stream),
}

impl Decoder {
    fn event(&mut self, data: &str) -> Result<Vec<Delta>, StreamError> {
        match self {
            Self::Anthropic(stream) => stream.event(data),
            Self::OpenAi(stream) => stream.event(data),
        }
    }

    fn ended(&self) -> bool {
        match self {
            Self::Anthropic(stream) => stream.ended(),
            Self::OpenAi(stream) => stream.ended(),
        }
    }

    fn finishing(&self) -> bool {
        match self {
            Self::Anthropic(stream) => stream.finishing(),
            Self::OpenAi(stream) => stream.finishing(),
        }
    }

    fn finish(self) -> Option<Reply> {
        match self {
            Self::Anthropic(stream) => stream.finish(),
            Self::OpenAi(stream) => stream.finish(),
        }
    }
}

/// Reads the stream, passing on text as it comes.
pub(super) async fn read(
    mut body: Incoming,
    decoder: Decoder,
    asked: &Model,
    out: &Emitter,
) -> Result<Reply, Fault> {
    let mut reading = Reading {
        decoder,
        asked,
        out,
        parser: Parser::default(),
        emitted: false,
        events: 0,
        bytes: 0,
    };
    match reading.run(&mut body).await {
        Ok(()) => reading.reply(),
        Err(fault) => {
            drain(body).await;
            Err(fault)
        }
    }
}

struct Reading<'a> {
    decoder: Decoder,
    asked: &'a Model,
    out: &'a Emitter,
    parser: Parser,
    emitted: bool,
    events: usize,
    bytes: usize,
}

impl Reading<'_> {
    async fn run(&mut self, body: &mut Incoming) -> Result<(), Fault> {
        while !self.decoder.ended() {
            let finishing = self.decoder.finishing();
            let wait = if finishing { END_GRACE } else { SILENCE_LIMIT };
            match timeout(wait, body.frame()).await {
                Ok(Some(Ok(frame))) => self.take(frame.into_data().unwrap_or_default())?,
                Ok(None) => return self.take_rest(),
                // What was said is complete.
                Ok(Some(Err(_))) | Err(_) if finishing => return Ok(()),
                Ok(Some(Err(_))) => return Err(self.broken_off()),
                Err(_) => return Err(silence(SILENCE_LIMIT).into()),
            }
        }
        drain_frames(body).await;
        Ok(())
    }

    fn take(&mut self, piece: Bytes) -> Result<(), Fault> {
        self.bytes += piece.len();
        let mut events = Vec::new();
        let pushed = self.parser.push(&piece, &mut events);
        for data in events {
            self.event(&data)?;
            // Nothing counts after the end, wherever the pieces are cut.
            if self.decoder.ended() {
                return Ok(());
            }
        }
        pushed.map_err(|error: TooLong| malformed(&error.to_string()).into())
    }

    /// The end of the body: an event that nothing has ended counts if it is whole.
    fn take_rest(&mut self) -> Result<(), Fault> {
        let whole =
            |data: &String| data == "[DONE]" || serde_json::from_str::<IgnoredAny>(data).is_ok();
        match std::mem::take(&mut self.parser).finish().filter(whole) {
            Some(data) => self.event(&data),
            None => Ok(()),
        }
    }

    fn event(&mut self, data: &str) -> Result<(), Fault> {
        self.events += 1;
        let deltas = self.decoder.event(data).map_err(|error| match error {
            StreamError::Malformed(message) => malformed(&message).into(),
            StreamError::Provider(failure) => self.broke_off(failure),
        })?;
        for delta in deltas {
            self.emitted = true;
            match &delta {
                Delta::Text(text) => self.out.text(text)?,
                Delta::Thinking(text) => self.out.emit(&Event::Thinking { text: text.into() })?,
                Delta::Signed(signed) => self.out.emit(&Event::ThinkingSigned {
                    signature: signed.signature.as_str().into(),
                    redacted: signed.redacted,
                    provider: self.asked.provider.as_str().into(),
                    model: self.asked.name.as_str().into(),
                })?,
            }
        }
        Ok(())
    }

    fn broken_off(&self) -> Fault {
        self.broke_off(broken_off())
    }

    /// What was passed on cannot be taken back.
    fn broke_off(&self, failure: Failure) -> Fault {
        if self.emitted {
            failure.into()
        } else {
            Fault::BrokeOff(failure)
        }
    }

    fn reply(self) -> Result<Reply, Fault> {
        let nothing_known = self.events == 0 && self.bytes > 0;
        let fault = if nothing_known {
            malformed("it is not an event stream").into()
        } else {
            self.broken_off()
        };
        self.decoder.finish().ok_or(fault)
    }
}

/// An answer that is plainly something else is not worth reading.
pub(super) fn check_content_type(value: Option<&HeaderValue>) -> Result<(), Failure> {
    let kind = value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if kind.starts_with("application/json") || kind.starts_with("text/html") {
        return Err(malformed(&format!(
            "it has the content type {kind}, not text/event-stream; check the base URL"
        )));
    }
    Ok(())
}

/// The beginning of an error's body; the rest is read and dropped.
pub(super) async fn read_some(mut body: Incoming) -> Vec<u8> {
    let deadline = Instant::now() + DRAIN_LIMIT;
    let mut kept = Vec::new();
    while let Ok(Some(Ok(frame))) = timeout_at(deadline, body.frame()).await {
        let data = frame.into_data().unwrap_or_default();
        let room = MAX_ERROR_BODY_BYTES - kept.len();
        kept.extend_from_slice(&data[..data.len().min(room)]);
        if kept.len() == MAX_ERROR_BODY_BYTES {
            drain(body).await;
            break;
        }
    }
    kept
}

async fn drain(mut body: Incoming) {
    drain_frames(&mut body).await;
}

async fn drain_frames(body: &mut Incoming) {
    let deadline = Instant::now() + DRAIN_LIMIT;
    let mut drained = 0;
    while let Ok(Some(Ok(frame))) = timeout_at(deadline, body.frame()).await {
        drained += frame.data_ref().map_or(0, Bytes::len);
        if drained > MAX_DRAIN_BYTES {
            return;
        }
    }
}

fn malformed(why: &str) -> Failure {
    Failure::new(
        Code::MalformedOutput,
        format!("cannot understand the model provider's answer: {why}"),
    )
}

fn broken_off() -> Failure {
    Failure::new(
        Code::Network,
        "the model's answer broke off before its end; what came is kept. Send the message again to retry",
    )
}

/// Nothing has come for this long.
pub(super) fn silence(limit: Duration) -> Failure {
    Failure::new(
        Code::Timeout,
        format!(
            "the model provider has been silent for {} s",
            limit.as_secs()
        ),
    )
}

#[cfg(fuzzing)]
pub(crate) mod fuzz;
