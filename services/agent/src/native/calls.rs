//! Running the tool calls of a reply, one after another.

use openclaw_tools::{FailureKind, Registry, ToolCall, ToolFailure, ToolResult};
use serde_json::{Map, Value};

use super::conversation::{Assistant, Call, Outcome};
use super::repeats::Repeats;
use super::reply::{RawCall, Reply};
use crate::event::Emitter;
use crate::failure::{Code, Failure, TurnError};
use crate::images::Images;

/// Calls of one reply; a model that asks for more is out of control.
const MAX_CALLS: usize = 64;

/// Runs calls and notices loops, over the whole turn.
pub(super) struct Calls<'a> {
    registry: &'a Registry,
    images: &'a Images,
    out: &'a Emitter,
    repeats: Repeats,
    run_id: &'a str,
    used_ids: Vec<String>,
}

impl<'a> Calls<'a> {
    pub(super) fn new(
        registry: &'a Registry,
        images: &'a Images,
        out: &'a Emitter,
        run_id: &'a str,
        identical_limit: u32,
    ) -> Self {
        Self {
            registry,
            images,
            out,
            repeats: Repeats::new(identical_limit),
            run_id,
            used_ids: Vec::new(),
        }
    }

    /// Runs every call of `reply`; gives back what goes into the conversation.
    pub(super) async fn run(
        &mut self,
        reply: Reply,
    ) -> Result<(Assistant, Vec<Outcome>), TurnError> {
        if reply.calls.len() > MAX_CALLS {
            let message = format!(
                "the model asked for {} tool calls at once; the limit is {MAX_CALLS}",
                reply.calls.len()
            );
            return Err(Failure::new(Code::ModelError, message).into());
        }
        let mut calls = Vec::new();
        let mut outcomes = Vec::new();
        for raw in reply.calls {
            let (call, result) = self.one(raw).await?;
            outcomes.push(Outcome {
                call_id: call.id.clone(),
                text: result.to_text().into_owned(),
                images: self.images.take(&call.id),
                is_error: !result.success,
            });
            calls.push(call);
        }
        let assistant = Assistant {
            text: reply.text,
            thinking: reply.thinking,
            reasoning: reply.reasoning,
            calls,
        };
        Ok((assistant, outcomes))
    }

    async fn one(&mut self, raw: RawCall) -> Result<(Call, ToolResult), TurnError> {
        let parsed = raw.parse();
        let compared = match &parsed {
            Ok(arguments) => arguments.clone(),
            Err(_) => Value::String(raw.arguments.clone()),
        };
        self.repeats
            .note(&raw.name, &compared)
            .map_err(|count| loop_failure(&raw.name, count))?;
        let call = ToolCall {
            id: self.unique_id(raw.id),
            name: raw.name,
            arguments: parsed
                .as_ref()
                .cloned()
                .unwrap_or_else(|_| Value::Object(Map::new())),
        };
        self.out.tool_call(&call)?;
        let again = Call::new(call.id.clone(), &call.name, call.arguments.clone());
        let result = match parsed {
            Ok(_) => self.registry.execute(call).await,
            Err(message) => refused(call, message),
        };
        self.out.tool_result(&result)?;
        Ok((again, result))
    }

    /// The server's id, or one of our own where it gives none or repeats one.
    fn unique_id(&mut self, id: String) -> String {
        let id = if id.is_empty() || self.used_ids.contains(&id) {
            let run: String = self
                .run_id
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .collect();
            format!("call_{run}_{}", self.used_ids.len() + 1)
        } else {
            id
        };
        self.used_ids.push(id.clone());
        id
    }
}

fn loop_failure(name: &str, count: u32) -> Failure {
    Failure::new(
        Code::LoopDetected,
        format!(
            "stopped: the model called {name} with the same arguments {count} times in a row. \
             Ask in other words, or raise agents.defaults.limits.identicalCalls in the configuration"
        ),
    )
}

fn refused(call: ToolCall, message: String) -> ToolResult {
    ToolResult {
        call_id: call.id,
        success: false,
        output: String::new(),
        error: Some(ToolFailure {
            tool: call.name,
            kind: FailureKind::INVALID_ARGUMENTS,
            message,
        }),
    }
}
