//! What one request is answered with.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One scripted answer. Every field has a default, so that JSON scripts say only what differs from an echo.
///
/// In `text`, `{said}` stands for the last user text and `{result}` for the outputs of the tools just run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// Thinking sent before the text, if any.
    pub thinking: Option<String>,
    /// Thinking that is sent in a form that its model alone can read, after the other.
    pub redacted: Option<String>,
    /// The reply.
    pub text: String,
    /// Bytes of filler appended to the reply, for answers larger than a client should accept.
    pub filler: usize,
    /// Tools to call after the text, all in one response.
    pub calls: Vec<ToolCall>,
    /// Answer to the request that brings the tool results; without it their text is told back.
    pub then: Option<Box<Scenario>>,
    /// Answer every tool result with the same calls again.
    pub forever: bool,
    /// What follows is answered at once by a request that offers this tool.
    pub until: Option<String>,
    /// How fast the answer comes.
    pub pace: Pace,
    /// How the answer ends.
    pub ending: Ending,
    /// Answer with an HTTP error instead.
    pub failure: Option<Failure>,
    /// Token figures; without them, a quarter of the bytes in and out.
    pub usage: Option<Usage>,
    /// Stop reason in the API's own words; without it, the one that fits the content.
    pub stop_reason: Option<String>,
}

/// A tool call the model makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Name of the tool as the client offered it.
    pub name: String,
    /// Arguments, normally an object.
    #[serde(default)]
    pub arguments: Value,
}

/// How fast an answer comes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pace {
    /// Characters per text delta; 0 means [`Pace::DEFAULT_CHUNK`].
    pub chunk: usize,
    /// Milliseconds before every text delta.
    pub delay_ms: u64,
    /// Wait for this gate to be released after the first text delta.
    pub gate: Option<String>,
    /// Wait at the gate before even the response head is sent.
    pub silent: bool,
    /// Put the time at which a delta is sent in the place of its [`Pace::CLOCK`].
    pub clock: bool,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// As the API specifies.
    #[default]
    Complete,
    /// The connection breaks after about half of the text.
    CutOff,
    /// The stream closes cleanly after about half of the text, without the final events.
    Unfinished,
    /// Bytes that are no server-sent event, then a clean close.
    MalformedSse,
    /// A data line with broken JSON, then a clean close.
    MalformedJson,
    /// The API's own error event (`overloaded_error`) after about half of the text.
    ErrorEvent,
}

/// An HTTP error answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// HTTP status.
    pub status: u16,
    /// `retry-after` header, in seconds.
    #[serde(default)]
    pub retry_after: Option<u64>,
    /// Message in the error body; without it, what the real API says for this status.
    #[serde(default)]
    pub message: Option<String>,
}

/// Token figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Input tokens that were not cached.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
}

impl Pace {
    /// Characters per text delta when nothing else is said: small enough that a sentence is several deltas.
    pub const DEFAULT_CHUNK: usize = 16;

    /// Stands for a time in a text: microseconds since 1970, which have as many digits until 2286.
    pub const CLOCK: &str = "0000000000000000";
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            thinking: None,
            redacted: None,
            text: "You said: {said}".to_owned(),
            filler: 0,
            calls: Vec::new(),
            then: None,
            forever: false,
            until: None,
            pace: Pace::default(),
            ending: Ending::Complete,
            failure: None,
            usage: None,
            stop_reason: None,
        }
    }
}

impl Scenario {
    /// Tells the user's text back.
    pub fn echo() -> Self {
        Self::default()
    }

    /// Replies with `text`.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Calls one tool, then tells its result back.
    pub fn tool(name: impl Into<String>, arguments: Value) -> Self {
        Self::tools([ToolCall {
            name: name.into(),
            arguments,
        }])
    }

    /// Calls several tools in one response, then tells their results back.
    pub fn tools(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self {
            text: String::new(),
            calls: calls.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Makes the same tool call again and again.
    pub fn tool_forever(name: impl Into<String>, arguments: Value) -> Self {
        Self {
            forever: true,
            ..Self::tool(name, arguments)
        }
    }

    /// Answers with an HTTP error.
    pub fn failure(status: u16) -> Self {
        Self {
            failure: Some(Failure {
                status,
                retry_after: None,
                message: None,
            }),
            ..Self::default()
        }
    }

    /// Sends the first delta of `text`, then waits for `gate` (see [`crate::Server::release`]).
    pub fn held(text: impl Into<String>, gate: impl Into<String>) -> Self {
        let pace = Pace {
            gate: Some(gate.into()),
            ..Pace::default()
        };
        Self {
            pace,
            ..Self::text(text)
        }
    }

    /// The answer to a request that brings tool results when the calling scenario said nothing.
    pub(crate) fn tell_result() -> Self {
        Self::text("The tool said: {result}")
    }

    /// Sets the `retry-after` header of a failure, in seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.retry_after = Some(seconds);
        }
        self
    }

    /// Thinks first.
    #[must_use]
    pub fn thinking(mut self, thinking: impl Into<String>) -> Self {
        self.thinking = Some(thinking.into());
        self
    }

    /// Thinks something that its model alone can read.
    #[must_use]
    pub fn redacted(mut self, data: impl Into<String>) -> Self {
        self.redacted = Some(data.into());
        self
    }

    /// Is left out by a request that offers `tool`: what follows it is answered.
    #[must_use]
    pub fn until(mut self, tool: impl Into<String>) -> Self {
        self.until = Some(tool.into());
        self
    }

    /// What a request is answered with that offers `tools`.
    pub(crate) fn for_tools(mut self, tools: &[String]) -> Self {
        loop {
            let is_over = self.until.as_ref().is_some_and(|tool| tools.contains(tool));
            match self.then.take() {
                Some(then) if is_over => self = *then,
                then => {
                    self.then = then;
                    return self;
                }
            }
        }
    }

    /// Says what follows once the tools have run.
    #[must_use]
    pub fn then(mut self, next: Scenario) -> Self {
        self.then = Some(Box::new(next));
        self
    }

    /// Ends in another way.
    #[must_use]
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Waits this many milliseconds before every delta.
    #[must_use]
    pub fn delay_ms(mut self, delay_ms: u64) -> Self {
        self.pace.delay_ms = delay_ms;
        self
    }

    /// Sets the characters per delta.
    #[must_use]
    pub fn chunk(mut self, characters: usize) -> Self {
        self.pace.chunk = characters;
        self
    }

    /// Sets the token figures.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Scenario;

    #[test]
    fn scenario_is_left_out_once_its_tool_is_offered() {
        let waiting = |tool: &str| Scenario::tool("wait", json!({})).until(tool);
        let chain = waiting("late").then(waiting("late").then(waiting("never")));
        let offered = [String::from("early"), String::from("late")];
        assert_eq!(chain.clone().for_tools(&offered), waiting("never"));
        assert_eq!(chain.clone().for_tools(&offered[..1]), chain);
    }
}
