//! What one answer uses, counted as it passes.

use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use openclaw_proto::event::Usage;

use super::Api;
use super::delta;
use super::frames::Frames;
use super::reported::{Extras, Reported};
use super::sse::Lines;

/// How the last event of a stream begins, where it does not say what was used.
const LAST: [&[u8]; 2] = [b"[DONE]", b"{\"type\":\"message_stop\""];

/// Bytes of text for a token where nobody counts them: fewer than in most
/// languages, so that a guess is too much rather than too little.
const BYTES_PER_TOKEN: u64 = 3;
/// Bytes of an event of a stream that are no text, where it is not known which are.
const EVENT_FRAME: usize = 120;
/// Bytes of a whole answer that are read to find what it used.
const WHOLE_LIMIT: usize = 32 * 1024 * 1024;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One JSON document.
    Whole,
    /// A stream of events.
    Events,
    /// The same in Amazon's messages.
    Frames,
    /// Nobody can read it here.
    Opaque,
}

impl Form {
    /// As its headers say.
    pub fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        if text(CONTENT_ENCODING).is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) {
            return Self::Opaque;
        }
        let kind = text(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        match kind {
            "text/event-stream" => Self::Events,
            "application/vnd.amazon.eventstream" => Self::Frames,
            _ => Self::Whole,
        }
    }
}

/// Counts one answer.
#[derive(Debug)]
pub struct Tally {
    api: Api,
    reader: Reader,
    reported: Reported,
    /// Tokens of the request, as far as they can be guessed.
    asked: u64,
    /// Tokens of the answer's events so far, likewise.
    guessed: u64,
    /// Bytes in which no events were found: those of a whole answer, and of
    /// what is not the stream that it is said to be.
    bytes: usize,
    /// The most that it may be.
    most: Option<u64>,
    /// It was told to its end.
    is_over: bool,
}

#[derive(Debug)]
enum Reader {
    Whole(Vec<u8>),
    Events(Lines),
    Frames(Frames),
    Opaque,
}

impl Tally {
    /// For an answer in this form to a request of so many bytes that lets the
    /// model write `most` tokens.
    pub fn new(api: Api, form: Form, asked_bytes: usize, most: Option<u64>) -> Self {
        Self {
            api,
            reader: match form {
                Form::Whole => Reader::Whole(Vec::new()),
                Form::Events => Reader::Events(Lines::default()),
                Form::Frames => Reader::Frames(Frames::default()),
                Form::Opaque => Reader::Opaque,
            },
            reported: Reported::default(),
            asked: tokens_of(asked_bytes),
            guessed: 0,
            bytes: 0,
            most,
            is_over: false,
        }
    }

    /// Takes the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        let (api, reported, guessed) = (self.api, &mut self.reported, &mut self.guessed);
        let is_over = &mut self.is_over;
        let told = |event: &[u8]| {
            *is_over |= LAST.iter().any(|last| event.starts_with(last));
            let text =
                delta::text_bytes(event).unwrap_or_else(|| event.len().saturating_sub(EVENT_FRAME));
            *guessed = guessed.saturating_add(tokens_of(text));
            reported.read(api, event);
        };
        let bytes = match &mut self.reader {
            Reader::Events(lines) => lines.feed(piece, told),
            Reader::Frames(frames) => frames.feed(piece, told),
            Reader::Whole(all) => {
                if all.len() + piece.len() <= WHOLE_LIMIT {
                    all.extend_from_slice(piece);
                }
                piece.len()
            }
            // Packed text has more tokens than bytes at worst; this is near.
            Reader::Opaque => {
                *guessed = guessed.saturating_add(piece.len() as u64);
                0
            }
        };
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Whether it has said all that it will of what it used.
    pub fn is_over(&self) -> bool {
        self.is_over || self.reported.is_whole
    }

    /// The answer has come to its end.
    pub fn end(&mut self) {
        self.is_over = true;
        match &mut self.reader {
            Reader::Whole(all) => self.reported.read(self.api, all),
            Reader::Events(lines) => {
                let (api, reported) = (self.api, &mut self.reported);
                lines.end(|event| reported.read(api, event));
            }
            Reader::Frames(_) | Reader::Opaque => {}
        }
    }

    /// What the provider charges for beside the tokens so far.
    pub fn extras(&self) -> Extras {
        self.reported.extras
    }

    /// What it used so far: as the provider says, else as it can be guessed,
    /// and never nothing.
    pub fn usage(&self) -> Usage {
        let mut usage = self.reported.usage;
        if !self.reported.has_input {
            usage.input = usage.input.max(self.asked);
        }
        if !self.reported.is_whole {
            let most = self.most.unwrap_or(u64::MAX);
            let guessed = self.guessed.saturating_add(tokens_of(self.bytes));
            usage.output = usage.output.max(guessed.min(most));
        }
        usage
    }
}

/// Tokens of so many bytes, as far as they can be guessed.
pub fn tokens_of(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

#[cfg(fuzzing)]
pub(super) mod fuzz;
#[cfg(test)]
mod tests;
