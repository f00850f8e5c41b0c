//! Writes the events of a turn to standard output.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use openclaw_tools::{ToolCall, ToolResult};
use openclaw_turn::Event;

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
        self.emit(&Event::TextDelta { text: text.into() })
    }

    pub(crate) fn tool_call(&self, call: &ToolCall) -> io::Result<()> {
        self.emit(&Event::ToolCall {
            id: Cow::Borrowed(&call.id),
            name: Cow::Borrowed(&call.name),
            arguments: Cow::Borrowed(&call.arguments),
        })
    }

    pub(crate) fn tool_output(&self, call_id: &str, text: &str) -> io::Result<()> {
        self.emit(&Event::ToolOutput {
            call_id: call_id.into(),
            text: text.into(),
        })
    }

    pub(crate) fn tool_result(&self, result: &ToolResult) -> io::Result<()> {
        self.emit(&Event::ToolResult {
            call_id: Cow::Borrowed(&result.call_id),
            success: result.success,
            output: Cow::Borrowed(&result.output),
            error: result.error.as_ref().map(Cow::Borrowed),
        })
    }
}
