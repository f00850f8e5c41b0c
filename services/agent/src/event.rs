//! The events of a turn, as JSON lines on standard output.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use openclaw_tools::{ToolCall, ToolFailure, ToolResult};
use serde::Serialize;
use serde_json::Value;

/// One line. Exactly one `Done` or `Error` is the last of a turn.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Event<'a> {
    /// More of the answer.
    TextDelta { text: &'a str },
    /// More of the model's reasoning.
    Thinking { text: &'a str },
    /// The thinking just told is whole; `redacted`: nothing of it was told.
    ThinkingSigned {
        signature: &'a str,
        redacted: bool,
        /// Who was asked.
        provider: &'a str,
        model: &'a str,
    },
    /// A tool is about to run.
    ToolCall {
        id: &'a str,
        name: &'a str,
        arguments: &'a Value,
    },
    /// More of what a tool says while it runs.
    ToolOutput { call_id: &'a str, text: &'a str },
    /// What came of it.
    ToolResult {
        call_id: &'a str,
        success: bool,
        output: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a ToolFailure>,
    },
    /// Tokens of one model response.
    Usage(Usage),
    /// Messages that came meanwhile were taken, by the runs they began as.
    Steered { run_ids: &'a [String] },
    /// The turn is over.
    Done {
        stop_reason: StopReason,
        model: &'a str,
    },
    /// The turn is over without a complete answer.
    Error {
        code: &'static str,
        message: &'a str,
        retry_after_ms: Option<u64>,
    },
}

/// Tokens; `input` is without those read from or written to the prompt cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
}

/// Why a turn that did not fail is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StopReason {
    Stop,
    Length,
    StepLimit,
}

/// Writes events. Unbuffered and without a lock of its own, so that the panic
/// hook can write through it whatever else is going on.
#[derive(Debug)]
pub(crate) struct Emitter {
    out: File,
}

impl Emitter {
    pub(crate) fn stdout() -> io::Result<Self> {
        let out = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self { out: out.into() })
    }

    /// Writes to a file.
    #[cfg(fuzzing)]
    pub(crate) fn to(out: File) -> Self {
        Self { out }
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        let out = self.out.try_clone()?;
        Ok(Self { out })
    }

    /// Writes one line; an error means that nobody listens any more.
    pub(crate) fn emit(&self, event: &Event<'_>) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        (&self.out).write_all(&line)
    }

    pub(crate) fn text(&self, text: &str) -> io::Result<()> {
        self.emit(&Event::TextDelta { text })
    }

    pub(crate) fn tool_call(&self, call: &ToolCall) -> io::Result<()> {
        self.emit(&Event::ToolCall {
            id: &call.id,
            name: &call.name,
            arguments: &call.arguments,
        })
    }

    pub(crate) fn tool_output(&self, call_id: &str, text: &str) -> io::Result<()> {
        self.emit(&Event::ToolOutput { call_id, text })
    }

    pub(crate) fn tool_result(&self, result: &ToolResult) -> io::Result<()> {
        self.emit(&Event::ToolResult {
            call_id: &result.call_id,
            success: result.success,
            output: &result.output,
            error: result.error.as_ref(),
        })
    }
}
