//! A scenario made concrete for one request: placeholders filled, ids given, pieces ready to be sent.

use bytes::Bytes;
use serde_json::Value;

use crate::prompt::Prompt;
use crate::scenario::{Pace, Scenario, Usage};

/// One answer, before an API's encoding.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) serial: u64,
    pub(crate) model: String,
    pub(crate) thinking: Option<String>,
    pub(crate) redacted: Option<String>,
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) usage: Usage,
    pub(crate) stop_reason: Option<String>,
    pub(crate) chunk: usize,
}

/// A tool call with its id.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// A part of a streamed body. Only deltas are paced, counted and cut.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Frame(Bytes),
    Delta(Bytes),
}

/// Bytes per token, the rule of thumb used where the scenario gives no figures.
const BYTES_PER_TOKEN: u64 = 4;

impl Reply {
    /// Fills in `scenario` for `prompt`. `call_ids` are the ids of its calls, in order.
    pub(crate) fn new(
        scenario: &Scenario,
        prompt: &Prompt,
        serial: u64,
        call_ids: Vec<String>,
        asked_bytes: usize,
    ) -> Self {
        let mut text = scenario
            .text
            .replace("{said}", &prompt.said)
            .replace("{result}", &prompt.result_text());
        text.extend(FILLER.chars().cycle().take(scenario.filler));
        let calls = scenario.calls.iter().zip(call_ids).map(|(call, id)| Call {
            id,
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        });
        let estimate = || Usage {
            input: asked_bytes as u64 / BYTES_PER_TOKEN,
            output: text.len() as u64 / BYTES_PER_TOKEN + 1,
            ..Usage::default()
        };
        Self {
            serial,
            model: prompt.model.clone(),
            thinking: scenario.thinking.clone(),
            redacted: scenario.redacted.clone(),
            calls: calls.collect(),
            usage: scenario.usage.unwrap_or_else(estimate),
            stop_reason: scenario.stop_reason.clone(),
            chunk: chunk_size(&scenario.pace, &text),
            text,
        }
    }
}

const FILLER: &str = "0123456789abcdef";

/// At least two deltas wherever there are two characters: what breaks or waits "in the middle" then has one.
fn chunk_size(pace: &Pace, text: &str) -> usize {
    let wanted = if pace.chunk == 0 {
        Pace::DEFAULT_CHUNK
    } else {
        pace.chunk
    };
    wanted.min(text.chars().count().div_ceil(2)).max(1)
}

/// `text` in parts of `size` characters.
pub(crate) fn chunks(text: &str, size: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .nth(size)
            .map_or(rest.len(), |(index, _)| index);
        let (part, tail) = rest.split_at(end);
        parts.push(part);
        rest = tail;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_respect_characters() {
        assert_eq!(chunks("žluťoučký", 4), ["žluť", "oučk", "ý"]);
        assert!(chunks("", 4).is_empty());
    }

    #[test]
    fn even_a_short_text_is_two_deltas() {
        assert_eq!(chunks("hi", chunk_size(&Pace::default(), "hi")), ["h", "i"]);
    }
}
