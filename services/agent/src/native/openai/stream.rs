//! The chunks of a streamed answer, with the liberties servers take.

use openclaw_turn::{Code, StopReason, Usage};
use serde::Deserialize;
use serde_json::Value;

use crate::native::counts;
use crate::native::reply::{self, Delta, RawCall, Reply};
use crate::native::stream_error::StreamError;

/// Puts an answer together.
#[derive(Debug, Default)]
pub(in crate::native) struct Stream {
    model: Option<String>,
    usage: Usage,
    text: String,
    reasoning: String,
    calls: Vec<IndexedCall>,
    finish: Option<String>,
    ended: bool,
}

#[derive(Debug)]
struct IndexedCall {
    index: Option<u64>,
    call: RawCall,
}

#[derive(Deserialize)]
struct Chunk {
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    #[serde(default, deserialize_with = "counts::or_default")]
    usage: Option<Tokens>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<ChoiceDelta>,
    /// In place of `delta` where a server does not stream after all.
    message: Option<ChoiceDelta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct ChoiceDelta {
    /// Text, or a list of parts with text in them (Mistral).
    content: Option<Value>,
    /// DeepSeek, vLLM, llama-server.
    reasoning_content: Option<String>,
    /// OpenRouter and Ollama; some servers send both.
    reasoning: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Deserialize)]
struct CallPiece {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionPiece>,
}

#[derive(Deserialize, Default)]
struct FunctionPiece {
    name: Option<String>,
    /// A piece of JSON text; some servers send the object itself.
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default, deserialize_with = "counts::count")]
    prompt_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    completion_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::or_default")]
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default, deserialize_with = "counts::count")]
    cached_tokens: Option<u64>,
}

impl Stream {
    /// Takes the data of one event.
    pub(in crate::native) fn event(&mut self, data: &str) -> Result<Vec<Delta>, StreamError> {
        if data.trim() == "[DONE]" {
            self.ended = true;
            return Ok(Vec::new());
        }
        let chunk: Chunk =
            serde_json::from_str(data).map_err(|error| StreamError::malformed(data, &error))?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(provider_error(&error));
        }
        self.model = self.model.take().or(chunk.model);
        if let Some(tokens) = chunk.usage {
            self.usage = tokens.into();
        }
        // More than one choice is never asked for.
        let Some(choice) = chunk.choices.into_iter().flatten().next() else {
            return Ok(Vec::new());
        };
        self.finish = choice.finish_reason.or(self.finish.take());
        let delta = choice.delta.or(choice.message).unwrap_or_default();
        let deltas = self.extend(delta);
        if self.calls.len() > reply::PARTS {
            return Err(StreamError::too_many_parts());
        }
        Ok(deltas)
    }

    /// Whether nothing more can come.
    pub(in crate::native) fn ended(&self) -> bool {
        self.ended
    }

    /// Whether the answer is complete; only the usage may still come.
    pub(in crate::native) fn finishing(&self) -> bool {
        self.finish.is_some()
    }

    /// The answer, if it was complete: some servers leave out `[DONE]`, others
    /// the reason.
    pub(in crate::native) fn finish(self) -> Option<Reply> {
        if !self.ended && self.finish.is_none() {
            return None;
        }
        Some(Reply {
            text: self.text,
            thinking: Vec::new(),
            reasoning: self.reasoning,
            calls: self.calls.into_iter().map(|indexed| indexed.call).collect(),
            stop: match self.finish.as_deref() {
                Some("length") => StopReason::Length,
                _ => StopReason::Stop,
            },
            declined: self.finish.as_deref() == Some("content_filter"),
            usage: self.usage,
            model: self.model,
        })
    }

    fn extend(&mut self, delta: ChoiceDelta) -> Vec<Delta> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let mut deltas = Vec::new();
        if let Some(text) = given(delta.reasoning_content).or(given(delta.reasoning)) {
            self.reasoning.push_str(&text);
            deltas.push(Delta::Thinking(text));
        }
        let content = delta.content.and_then(plain_text);
        for text in [content, delta.refusal].into_iter().filter_map(given) {
            self.text.push_str(&text);
            deltas.push(Delta::Text(text));
        }
        for piece in delta.tool_calls.into_iter().flatten() {
            self.extend_call(piece);
        }
        deltas
    }

    fn extend_call(&mut self, mut piece: CallPiece) {
        let function = piece.function.get_or_insert_default();
        let (name, arguments) = (function.name.clone(), function.arguments.take());
        let at = match self.continued(&piece) {
            Some(at) => at,
            None => {
                self.calls.push(IndexedCall {
                    index: piece.index,
                    call: RawCall::default(),
                });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at].call;
        // Some servers repeat id and name in every piece.
        if call.id.is_empty() {
            call.id = piece.id.unwrap_or_default();
        }
        if call.name.is_empty() {
            call.name = name.unwrap_or_default();
        }
        match arguments {
            Some(Value::String(text)) => call.arguments.push_str(&text),
            Some(Value::Null) | None => {}
            Some(whole) => call.arguments = whole.to_string(),
        }
    }

    /// Which call a piece belongs to; `None` begins another. A new id always
    /// does: some servers give every call the index 0, or none at all.
    fn continued(&self, piece: &CallPiece) -> Option<usize> {
        let id = piece.id.as_deref().filter(|id| !id.is_empty());
        let found = match piece.index {
            Some(_) => self
                .calls
                .iter()
                .rposition(|call| call.index == piece.index),
            None if id.is_none() && piece.names_a_function() => None,
            None => self.calls.len().checked_sub(1),
        }?;
        let before = &self.calls[found].call.id;
        let other = id.is_some_and(|id| !before.is_empty() && before != id);
        (!other).then_some(found)
    }
}

impl CallPiece {
    fn names_a_function(&self) -> bool {
        self.function
            .as_ref()
            .is_some_and(|function| function.name.is_some())
    }
}

/// The text of `content`, whichever way it is written.
fn plain_text(content: Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text),
        Value::Array(parts) => Some(
            parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect(),
        ),
        _ => None,
    }
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        let cached = tokens
            .prompt_tokens_details
            .and_then(|details| details.cached_tokens);
        let prompt = tokens.prompt_tokens.unwrap_or(0);
        let cache_read = cached.unwrap_or(0).min(prompt);
        Self {
            input: prompt - cache_read,
            output: tokens.completion_tokens.unwrap_or(0),
            cache_read,
            cache_write: 0,
        }
    }
}

fn provider_error(error: &Value) -> StreamError {
    let message = error["message"].as_str().or(error.as_str());
    let code = match error["code"].as_u64() {
        Some(401 | 403) => Code::Auth,
        Some(429) => Code::RateLimited,
        Some(502 | 503 | 529) => Code::Overloaded,
        _ => Code::ModelError,
    };
    match message {
        Some(message) => StreamError::provider(code, message),
        None => StreamError::provider(code, &error.to_string()),
    }
}
