//! The events of a streamed answer.

use openclaw_turn::{Code, StopReason, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::native::counts;
use crate::native::reply::{self, Delta, RawCall, Reply, Signed};
use crate::native::stream_error::StreamError;

/// Puts an answer together.
#[derive(Debug, Default)]
pub(in crate::native) struct Stream {
    model: Option<String>,
    usage: Usage,
    /// With the index each was started under.
    blocks: Vec<(usize, Block)>,
    /// How many of them are whole, and their signatures told.
    told: usize,
    stop: Option<String>,
    ended: bool,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Call(RawCall),
    Thinking {
        text: String,
        signature: String,
    },
    /// Redacted thinking and kinds not known here.
    Other(Value),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: MessageStart,
    },
    ContentBlockStart {
        index: usize,
        content_block: Value,
    },
    ContentBlockDelta {
        index: usize,
        delta: BlockDelta,
    },
    ContentBlockStop {},
    MessageDelta {
        delta: MessageDelta,
        #[serde(default, deserialize_with = "counts::or_default")]
        usage: Tokens,
    },
    MessageStop,
    Error {
        error: ErrorBody,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct MessageStart {
    model: Option<String>,
    #[serde(default, deserialize_with = "counts::or_default")]
    usage: Tokens,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockDelta {
    TextDelta {
        text: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    SignatureDelta {
        signature: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct MessageDelta {
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize, Default)]
struct Tokens {
    #[serde(default, deserialize_with = "counts::count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "counts::count")]
    cache_creation_input_tokens: Option<u64>,
}

impl Stream {
    /// Takes the data of one event.
    pub(in crate::native) fn event(&mut self, data: &str) -> Result<Vec<Delta>, StreamError> {
        let event = serde_json::from_str(data).map_err(|e| StreamError::malformed(data, &e))?;
        match event {
            Event::MessageStart { message } => {
                self.model = message.model;
                self.count(&message.usage);
            }
            Event::ContentBlockStart {
                index,
                content_block,
            } => {
                return self.start_block(index, content_block);
            }
            Event::ContentBlockDelta { index, delta } => return self.extend_block(index, delta),
            Event::MessageDelta { delta, usage } => {
                self.stop = delta.stop_reason.or(self.stop.take());
                self.count(&usage);
                return Ok(self.signatures());
            }
            Event::ContentBlockStop {} => return Ok(self.signatures()),
            Event::MessageStop => self.ended = true,
            Event::Error { error } => return Err(provider_error(&error)),
            Event::Other => {}
        }
        Ok(Vec::new())
    }

    /// Whether nothing more can come.
    pub(in crate::native) fn ended(&self) -> bool {
        self.ended
    }

    /// Whether the answer is complete; only the end mark is missing.
    pub(in crate::native) fn finishing(&self) -> bool {
        self.stop.is_some()
    }

    /// The answer, if it was complete.
    pub(in crate::native) fn finish(self) -> Option<Reply> {
        if !self.ended && self.stop.is_none() {
            return None;
        }
        let mut reply = Reply {
            text: String::new(),
            thinking: Vec::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            stop: stop_reason(self.stop.as_deref()),
            declined: self.stop.as_deref() == Some("refusal"),
            usage: self.usage,
            model: self.model,
        };
        for (_, block) in self.blocks {
            match block {
                Block::Text(text) => reply.text.push_str(&text),
                Block::Call(call) => reply.calls.push(call),
                // The API takes back only thinking it has signed.
                Block::Thinking { text, signature } if !signature.is_empty() => {
                    let block =
                        json!({"type": "thinking", "thinking": text, "signature": signature});
                    reply.thinking.push(block);
                }
                Block::Other(value) if value["type"] == "redacted_thinking" => {
                    reply.thinking.push(value);
                }
                Block::Thinking { .. } | Block::Other(_) => {}
            }
        }
        Some(reply)
    }

    fn count(&mut self, tokens: &Tokens) {
        // Later events carry running totals, and only some of them.
        let update = |total: &mut u64, count: Option<u64>| *total = count.unwrap_or(*total);
        update(&mut self.usage.input, tokens.input_tokens);
        update(&mut self.usage.output, tokens.output_tokens);
        update(&mut self.usage.cache_read, tokens.cache_read_input_tokens);
        update(
            &mut self.usage.cache_write,
            tokens.cache_creation_input_tokens,
        );
    }

    /// The signatures of the blocks that are whole and have not been asked for
    /// before.
    fn signatures(&mut self) -> Vec<Delta> {
        let whole = &self.blocks[self.told..];
        let deltas = whole.iter().filter_map(|(_, block)| signed(block));
        let deltas = deltas.map(Delta::Signed).collect();
        self.told = self.blocks.len();
        deltas
    }

    fn start_block(&mut self, index: usize, block: Value) -> Result<Vec<Delta>, StreamError> {
        if self.blocks.iter().any(|(known, _)| *known == index) {
            return Err(StreamError::order(format!(
                "content block {index} is started twice"
            )));
        }
        if self.blocks.len() >= reply::PARTS {
            return Err(StreamError::too_many_parts());
        }
        let field = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
        // Some compatible servers do not say where a block ends.
        let mut deltas = self.signatures();
        let started = match block["type"].as_str() {
            Some("text") => {
                deltas.extend(
                    Some(field("text"))
                        .filter(|t| !t.is_empty())
                        .map(Delta::Text),
                );
                Block::Text(field("text"))
            }
            Some("tool_use") => Block::Call(RawCall {
                id: field("id"),
                name: field("name"),
                arguments: given_input(&block["input"]),
            }),
            Some("thinking") => {
                let given = Some(field("thinking")).filter(|text| !text.is_empty());
                deltas.extend(given.map(Delta::Thinking));
                Block::Thinking {
                    text: field("thinking"),
                    signature: field("signature"),
                }
            }
            _ => Block::Other(block),
        };
        self.blocks.push((index, started));
        Ok(deltas)
    }

    fn extend_block(&mut self, index: usize, delta: BlockDelta) -> Result<Vec<Delta>, StreamError> {
        let known = self
            .blocks
            .iter_mut()
            .rev()
            .find(|(known, _)| *known == index);
        let Some((_, block)) = known else {
            return Err(StreamError::order(format!(
                "content block {index} was never started"
            )));
        };
        match (block, delta) {
            (Block::Text(text), BlockDelta::TextDelta { text: more }) if !more.is_empty() => {
                text.push_str(&more);
                return Ok(vec![Delta::Text(more)]);
            }
            (Block::Call(call), BlockDelta::InputJsonDelta { partial_json }) => {
                call.arguments.push_str(&partial_json);
            }
            (Block::Thinking { text, .. }, BlockDelta::ThinkingDelta { thinking })
                if !thinking.is_empty() =>
            {
                text.push_str(&thinking);
                return Ok(vec![Delta::Thinking(thinking)]);
            }
            (Block::Thinking { signature, .. }, BlockDelta::SignatureDelta { signature: more }) => {
                signature.push_str(&more);
            }
            _ => {}
        }
        Ok(Vec::new())
    }
}

/// The signature of a block of thinking. The API takes back only what it has
/// signed.
fn signed(block: &Block) -> Option<Signed> {
    let (signature, redacted) = match block {
        Block::Thinking { signature, .. } => (signature.as_str(), false),
        Block::Other(value) if value["type"] == "redacted_thinking" => {
            (value["data"].as_str()?, true)
        }
        Block::Text(_) | Block::Call(_) | Block::Other(_) => return None,
    };
    (!signature.is_empty()).then(|| Signed {
        signature: signature.to_owned(),
        redacted,
    })
}

/// Normally empty, with the arguments following in deltas; some compatible
/// servers put them here.
fn given_input(input: &Value) -> String {
    match input.as_object() {
        Some(object) if !object.is_empty() => input.to_string(),
        _ => String::new(),
    }
}

fn stop_reason(reason: Option<&str>) -> StopReason {
    match reason {
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        _ => StopReason::Stop,
    }
}

fn provider_error(error: &ErrorBody) -> StreamError {
    let code = match error.kind.as_str() {
        "overloaded_error" => Code::Overloaded,
        "rate_limit_error" => Code::RateLimited,
        "authentication_error" | "permission_error" => Code::Auth,
        "timeout_error" => Code::Timeout,
        _ => Code::ModelError,
    };
    StreamError::provider(code, &error.message)
}
