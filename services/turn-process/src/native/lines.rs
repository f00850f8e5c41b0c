//! The event lines of `openclaw-agent`.

use std::process::ExitStatus;
use std::sync::Arc;

use openclaw_proto::event::{
    Code, Done, Failed, Kind, ThinkingSigned, ToolFailure, ToolResult, Usage,
};
use openclaw_turn::{Event, StopReason};

use super::{Asking, code};
use crate::translate::{Translate, UNKNOWN_TOOL, ending, why_failed};

/// Translates the native and the offline backend.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) backend: String,
    pub(crate) provider: String,
    pub(crate) model: String,
    /// Knows who answers, which need not be who was asked first.
    pub(crate) asking: Option<Arc<Asking>>,
}

impl Translate for Lines {
    fn line(&mut self, line: &str) -> Vec<Kind> {
        match serde_json::from_str(line) {
            Ok(line) => vec![self.kind(line)],
            Err(error) => vec![Kind::Failed(self.failed(
                Code::MalformedOutput,
                format!(
                    "the agent wrote a line that is no event ({error}); are all programs of the \
                     suite of one version?"
                ),
            ))],
        }
    }

    fn gone(&mut self, status: ExitStatus, complaint: &str) -> Failed {
        let complaint = complaint.trim();
        let detail = if complaint.is_empty() {
            String::new()
        } else {
            format!(": {complaint}")
        };
        let message = format!("the agent {} before it was done{detail}", ending(status));
        self.failed(Code::Crashed, message)
    }

    fn is_last_word(&self) -> bool {
        true
    }
}

/// A failure without its reason, which our own agent never tells.
fn unexplained(output: &str) -> ToolFailure {
    ToolFailure {
        tool: UNKNOWN_TOOL.to_owned(),
        kind: "tool_error".to_owned(),
        message: why_failed(output),
    }
}

impl Lines {
    fn failed(&self, code: Code, message: String) -> Failed {
        Failed {
            code,
            message,
            retry_after_ms: None,
            backend_session: None,
            backend: self.backend.clone(),
        }
    }

    fn done(&self, stop_reason: StopReason, model: String) -> Kind {
        let speaker = self.asking.as_ref().and_then(|asking| asking.speaker());
        let (provider, asked) = match speaker {
            Some(stop) => (&stop.provider, &stop.model),
            None => (&self.provider, &self.model),
        };
        Kind::Done(Done {
            stop_reason: stop_reason.as_str().to_owned(),
            provider: provider.clone(),
            model: if model.is_empty() {
                asked.clone()
            } else {
                model
            },
            backend_session: None,
            backend: self.backend.clone(),
        })
    }

    fn kind(&self, event: Event<'_>) -> Kind {
        match event {
            Event::TextDelta { text } => Kind::TextDelta {
                text: text.into_owned(),
            },
            Event::Thinking { text } => Kind::Thinking {
                text: text.into_owned(),
            },
            Event::ThinkingSigned {
                signature,
                redacted,
                provider,
                model,
            } => Kind::ThinkingSigned(ThinkingSigned {
                signature: signature.into_owned(),
                redacted,
                provider: provider.into_owned(),
                model: model.into_owned(),
            }),
            Event::ToolCall {
                id,
                name,
                arguments,
            } => Kind::ToolCall {
                id: id.into_owned(),
                name: name.into_owned(),
                arguments: arguments.into_owned(),
            },
            Event::ToolResult {
                call_id,
                success,
                output,
                error,
            } => {
                let error = error.map(|error| tool_failure(error.into_owned()));
                Kind::ToolResult(ToolResult {
                    call_id: call_id.into_owned(),
                    success,
                    error: error.or_else(|| (!success).then(|| unexplained(&output))),
                    output: output.into_owned(),
                })
            }
            Event::ToolOutput { call_id, text } => Kind::ToolOutput {
                call_id: call_id.into_owned(),
                text: text.into_owned(),
            },
            Event::Usage(usage) => Kind::Usage(Usage {
                input: usage.input,
                output: usage.output,
                cache_read: usage.cache_read,
                cache_write: usage.cache_write,
            }),
            Event::Steered { run_ids } => Kind::Steered {
                run_ids: run_ids.into_owned(),
            },
            Event::Done { stop_reason, model } => self.done(stop_reason, model.into_owned()),
            Event::Error {
                code: why,
                message,
                retry_after_ms,
            } => Kind::Failed(Failed {
                retry_after_ms,
                ..self.failed(code::of_run(why), message.into_owned())
            }),
        }
    }
}

fn tool_failure(failure: openclaw_tools::ToolFailure) -> ToolFailure {
    ToolFailure {
        tool: failure.tool,
        kind: failure.kind.to_string(),
        message: failure.message,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    fn lines() -> Lines {
        Lines {
            backend: "native".to_owned(),
            provider: "anthropic".to_owned(),
            model: "m".to_owned(),
            asking: None,
        }
    }

    #[test]
    fn lines_every_kind_of_line() {
        for (line, expected) in [
            (r#"{"type":"text_delta","text":"hi"}"#, "TextDelta"),
            (r#"{"type":"thinking","text":"hm"}"#, "Thinking"),
            (
                r#"{"type":"thinking_signed","signature":"s","provider":"p","model":"m"}"#,
                "ThinkingSigned",
            ),
            (
                r#"{"type":"tool_call","id":"1","name":"t","arguments":{}}"#,
                "ToolCall",
            ),
            (
                r#"{"type":"tool_result","call_id":"1","success":false,"output":"","error":{"tool":"t","type":"x","message":"m"}}"#,
                "ToolResult",
            ),
            (
                r#"{"type":"tool_output","call_id":"1","text":"so far"}"#,
                "ToolOutput",
            ),
            (r#"{"type":"usage","input":1,"output":2}"#, "Usage"),
            (r#"{"type":"steered","run_ids":["r"]}"#, "Steered"),
            (r#"{"type":"done","stop_reason":"stop"}"#, "Done"),
            (
                r#"{"type":"error","code":"auth","message":"m","retry_after_ms":null}"#,
                "Failed",
            ),
            ("nonsense", "MalformedOutput"),
        ] {
            let kinds = lines().line(line);
            assert!(format!("{kinds:?}").contains(expected), "{line}: {kinds:?}");
        }
    }

    #[test]
    fn agent_that_is_gone_is_named_with_its_last_words() {
        let killed = ExitStatus::from_raw(137 << 8);
        let failed = lines().gone(killed, "out of memory\n");
        assert_eq!(failed.code, Code::Crashed);
        assert!(failed.message.contains("SIGKILL") && failed.message.contains("out of memory"));
    }
}
