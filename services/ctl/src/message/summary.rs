//! A whole run in one document.

use openclaw_proto::event::{Code, Event, Kind, Resources, ToolFailure, ToolResult, Usage};
use openclaw_proto::gateway::Accepted;
use openclaw_terminal::Failure;
use serde::Serialize;
use serde_json::Value;

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// The reply is whole.
    Done,
    /// It is not.
    #[default]
    Failed,
    /// Somebody ended it.
    Aborted,
}

/// What `--json --no-stream` prints.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Summary {
    pub(super) run_id: String,
    pub(super) session_key: String,
    session_id: String,
    agent_id: String,
    pub(super) status: State,
    pub(super) text: String,
    tool_calls: Vec<ToolCall>,
    usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Resources>,
    backend: String,
    provider: String,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
}

/// A tool call and what came of it.
#[derive(Debug, Serialize)]
struct ToolCall {
    id: String,
    name: String,
    arguments: Value,
    /// `null` while there is no result.
    success: Option<bool>,
    output: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ToolFailure>,
}

/// Why there is no whole reply.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Problem {
    code: Code,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
}

impl Summary {
    /// Takes in who answers.
    pub(super) fn accepted(&mut self, accepted: &Accepted) {
        self.run_id.clone_from(&accepted.run_id);
        self.session_key.clone_from(&accepted.session_key);
        self.session_id.clone_from(&accepted.session_id);
        self.agent_id.clone_from(&accepted.agent_id);
    }

    /// Takes in what happened.
    pub(super) fn observe(&mut self, event: &Event) {
        match &event.kind {
            Kind::TextDelta { text } => self.text.push_str(text),
            Kind::Thinking { .. }
            | Kind::ThinkingSigned(_)
            | Kind::Note { .. }
            | Kind::Steered { .. }
            | Kind::ApprovalRequested(_)
            | Kind::ApprovalResolved(_)
            | Kind::ToolOutput { .. } => {}
            Kind::ToolCall {
                id,
                name,
                arguments,
            } => self.tool_calls.push(ToolCall {
                id: id.clone(),
                name: name.clone(),
                arguments: arguments.clone(),
                success: None,
                output: None,
                error: None,
            }),
            Kind::ToolResult(result) => self.tool_result(result),
            Kind::Usage(usage) => self.add(usage),
            Kind::Resources(resources) => self.resources = Some(resources.clone()),
            Kind::Done(done) => {
                self.status = State::Done;
                self.backend.clone_from(&done.backend);
                self.provider.clone_from(&done.provider);
                self.model.clone_from(&done.model);
                self.stop_reason = Some(done.stop_reason.clone());
            }
            Kind::Failed(failed) => {
                self.end(State::Failed, failed.code, &failed.message);
                self.backend.clone_from(&failed.backend);
                if let Some(error) = &mut self.error {
                    error.retry_after_ms = failed.retry_after_ms;
                }
            }
            Kind::Aborted {
                reason, backend, ..
            } => {
                self.end(State::Aborted, Code::Cancelled, reason);
                self.backend.clone_from(backend);
            }
        }
    }

    /// The tokens of all its rounds.
    pub(super) fn usage(&self) -> &Usage {
        &self.usage
    }

    /// What it cost, where that is known.
    pub(super) fn cost_usd(&self) -> Option<f64> {
        self.resources.as_ref()?.cost_usd
    }

    /// The run may go on, but nothing more is heard of it.
    pub(super) fn interrupted(&mut self, why: &str) {
        self.end(State::Failed, Code::Interrupted, why);
    }

    /// The failure that the run ended with, if it did.
    pub(super) fn failure(&self) -> Option<Failure> {
        let error = self.error.as_ref()?;
        Some(match self.status {
            State::Aborted => Failure::new(format!("the run was cancelled: {}", error.message)),
            _ => Failure::new(error.message.as_str()),
        })
    }

    fn end(&mut self, status: State, code: Code, message: &str) {
        self.status = status;
        self.error = Some(Problem {
            code,
            message: message.to_owned(),
            retry_after_ms: None,
        });
    }

    fn tool_result(&mut self, result: &ToolResult) {
        let call = self
            .tool_calls
            .iter_mut()
            .rev()
            .find(|call| call.id == result.call_id);
        if let Some(call) = call {
            call.success = Some(result.success);
            call.output = Some(result.output.clone());
            call.error.clone_from(&result.error);
        }
    }

    fn add(&mut self, usage: &Usage) {
        self.usage.input += usage.input;
        self.usage.output += usage.output;
        self.usage.cache_read += usage.cache_read;
        self.usage.cache_write += usage.cache_write;
    }
}

#[cfg(test)]
mod tests {
    use openclaw_proto::event::{Done, Failed};
    use serde_json::json;

    use super::*;

    fn summary(kinds: Vec<Kind>) -> Summary {
        let mut summary = Summary::default();
        summary.accepted(&Accepted {
            run_id: "r1".to_owned(),
            session_key: "agent:main:main".to_owned(),
            session_id: "s1".to_owned(),
            agent_id: "main".to_owned(),
            existing: false,
        });
        for (seq, kind) in (1..).zip(kinds) {
            summary.observe(&Event {
                run_id: "r1".to_owned(),
                seq,
                at_ms: 0,
                kind,
            });
        }
        summary
    }

    fn text(text: &str) -> Kind {
        Kind::TextDelta {
            text: text.to_owned(),
        }
    }

    #[test]
    fn run_with_tools_is_one_document() {
        let usage = Kind::Usage(Usage {
            input: 10,
            output: 2,
            ..Usage::default()
        });
        let summary = summary(vec![
            text("Let me "),
            Kind::ToolCall {
                id: "c1".to_owned(),
                name: "read_file".to_owned(),
                arguments: json!({"path": "a"}),
            },
            usage.clone(),
            Kind::ToolResult(ToolResult {
                call_id: "c1".to_owned(),
                success: true,
                output: "A".to_owned(),
                error: None,
            }),
            text("see."),
            usage,
            Kind::Done(Done {
                stop_reason: "stop".to_owned(),
                provider: "anthropic".to_owned(),
                model: "m".to_owned(),
                backend_session: None,
                backend: "native".to_owned(),
            }),
        ]);
        assert!(summary.failure().is_none());
        assert_eq!(
            serde_json::to_value(&summary).unwrap(),
            json!({
                "runId": "r1", "sessionKey": "agent:main:main", "sessionId": "s1",
                "agentId": "main", "status": "done", "text": "Let me see.",
                "toolCalls": [{"id": "c1", "name": "read_file", "arguments": {"path": "a"},
                    "success": true, "output": "A"}],
                "usage": {"input": 20, "output": 4, "cacheRead": 0, "cacheWrite": 0},
                "backend": "native", "provider": "anthropic", "model": "m", "stopReason": "stop",
            })
        );
    }

    #[test]
    fn failed_run_keeps_its_text_and_says_why() {
        let summary = summary(vec![
            text("half"),
            Kind::Failed(Failed {
                code: Code::RateLimited,
                message: "slow down".to_owned(),
                retry_after_ms: Some(500),
                backend_session: None,
                backend: "native".to_owned(),
            }),
        ]);
        let document = serde_json::to_value(&summary).unwrap();
        assert_eq!(document["status"], "failed");
        assert_eq!(document["text"], "half");
        let error = json!({"code": "rate_limited", "message": "slow down", "retryAfterMs": 500});
        assert_eq!(document["error"], error);
        assert_eq!(summary.failure().unwrap().text(), "slow down");
    }

    #[test]
    fn aborted_run_is_cancelled() {
        let summary = summary(vec![Kind::Aborted {
            reason: "by the other terminal".to_owned(),
            backend_session: None,
            backend: "offline".to_owned(),
        }]);
        assert_eq!(summary.status, State::Aborted);
        let text = summary.failure().unwrap().text();
        assert_eq!(text, "the run was cancelled: by the other terminal");
    }
}
