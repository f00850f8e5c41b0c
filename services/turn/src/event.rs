//! The events of a turn, as JSON lines on the agent's standard output.

use std::borrow::Cow;

use openclaw_tools::ToolFailure;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::Code;

/// One line. Exactly one `Done` or `Error` is the last of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event<'a> {
    /// More of the answer.
    TextDelta {
        /// The words.
        text: Cow<'a, str>,
    },
    /// More of the model's reasoning.
    Thinking {
        /// The words.
        text: Cow<'a, str>,
    },
    /// The thinking that was just told is complete.
    ThinkingSigned {
        /// Opaque; the model that thought it wants it back.
        signature: Cow<'a, str>,
        /// Whether nothing of it was told.
        #[serde(default)]
        redacted: bool,
        /// The provider that was asked.
        provider: Cow<'a, str>,
        /// The model that was asked.
        model: Cow<'a, str>,
    },
    /// A tool is about to run.
    ToolCall {
        /// Names the call.
        id: Cow<'a, str>,
        /// The tool.
        name: Cow<'a, str>,
        /// A JSON object.
        arguments: Cow<'a, Value>,
    },
    /// More of what a tool says while it runs.
    ToolOutput {
        /// The call.
        call_id: Cow<'a, str>,
        /// The words.
        text: Cow<'a, str>,
    },
    /// What came of a call.
    ToolResult {
        /// The call.
        call_id: Cow<'a, str>,
        /// Whether it did what it was asked to.
        success: bool,
        /// What it said.
        #[serde(default)]
        output: Cow<'a, str>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Cow<'a, ToolFailure>>,
    },
    /// Tokens of one model response.
    Usage(Usage),
    /// The agent goes on with messages that came meanwhile.
    Steered {
        /// The runs that they began as.
        run_ids: Cow<'a, [String]>,
    },
    /// The turn is over.
    Done {
        /// Why.
        stop_reason: StopReason,
        /// The model that answered; empty when it did not say.
        #[serde(default)]
        model: Cow<'a, str>,
    },
    /// The turn is over without a complete answer.
    Error {
        /// Why, for programs.
        code: Code,
        /// Why, for people.
        message: Cow<'a, str>,
        /// When trying again may help, in milliseconds.
        #[serde(default)]
        retry_after_ms: Option<u64>,
    },
}

/// Tokens; `input` is without those that were read from or written to the
/// provider's cache of prompts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Read by the model.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
}

/// Numbers up to this one are whole as JavaScript has them (2^53).
const LARGEST_COUNT: f64 = 9_007_199_254_740_992.0;

/// The count that a provider means by a number with a point (`12.0`); `None`: it is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is whole, not negative and not too large"
)]
pub fn whole_count(number: f64) -> Option<u64> {
    let is_count = (0.0..=LARGEST_COUNT).contains(&number) && number.fract() == 0.0;
    is_count.then_some(number as u64)
}

/// Why a turn that did not fail is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model had said everything.
    Stop,
    /// The answer was as long as it may be.
    Length,
    /// The model was asked as often as it may be.
    StepLimit,
}

impl StopReason {
    /// The reason as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::StepLimit => "step_limit",
        }
    }
}

#[cfg(test)]
mod tests {
    use openclaw_tools::FailureKind;
    use serde_json::json;

    use super::*;

    #[test]
    fn event_of_each_kind_is_read_as_it_was_written() {
        let failure = ToolFailure {
            tool: "t".to_owned(),
            kind: FailureKind::TIMEOUT,
            message: "m".to_owned(),
        };
        let usage = Usage {
            input: 1,
            output: 2,
            cache_read: 3,
            cache_write: 4,
        };
        let run_ids = vec!["r".to_owned()];
        let arguments = json!({"a": 1});
        let text = || "é\n".into();
        for (event, kind) in [
            (Event::TextDelta { text: text() }, "text_delta"),
            (Event::Thinking { text: text() }, "thinking"),
            (
                Event::ThinkingSigned {
                    signature: "s".into(),
                    redacted: true,
                    provider: "p".into(),
                    model: "m".into(),
                },
                "thinking_signed",
            ),
            (
                Event::ToolCall {
                    id: "1".into(),
                    name: "t".into(),
                    arguments: Cow::Borrowed(&arguments),
                },
                "tool_call",
            ),
            (
                Event::ToolOutput {
                    call_id: "1".into(),
                    text: text(),
                },
                "tool_output",
            ),
            (
                Event::ToolResult {
                    call_id: "1".into(),
                    success: false,
                    output: text(),
                    error: Some(Cow::Borrowed(&failure)),
                },
                "tool_result",
            ),
            (Event::Usage(usage), "usage"),
            (
                Event::Steered {
                    run_ids: Cow::Borrowed(&run_ids),
                },
                "steered",
            ),
            (
                Event::Done {
                    stop_reason: StopReason::StepLimit,
                    model: "m".into(),
                },
                "done",
            ),
            (
                Event::Error {
                    code: Code::Timeout,
                    message: text(),
                    retry_after_ms: Some(7),
                },
                "error",
            ),
        ] {
            let line = serde_json::to_string(&event).unwrap();
            assert!(!line.contains('\n'), "{line}");
            let written: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(written["type"], kind);
            assert_eq!(serde_json::from_str::<Event<'_>>(&line).unwrap(), event);
        }
    }

    #[test]
    fn stop_reason_is_written_one_way() {
        for reason in [StopReason::Stop, StopReason::Length, StopReason::StepLimit] {
            assert_eq!(json!(reason), reason.as_str());
        }
    }
}
