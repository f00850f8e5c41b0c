//! Running the tool calls of a reply: those that may, at the same time.

use std::ops::Range;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use openclaw_tools::{FailureKind, Registry, Repeats, ToolCall, ToolFailure, ToolResult};
use openclaw_turn::Code;
use serde_json::{Map, Value};

use super::conversation::{Assistant, Call, Outcome};
use super::reply::{RawCall, Reply};
use crate::emitter::Emitter;
use crate::failure::{Failure, TurnError};
use crate::images::Images;

/// Calls of one reply; a model that asks for more is out of control.
const MAX_CALLS: usize = 64;

/// Bytes of the id of a call. Longer ones are not kept whole, and then not told apart.
const ID_BYTES: usize = 200;

/// Runs calls and notices loops, over the whole turn.
pub(super) struct Calls<'a> {
    images: &'a Images,
    out: &'a Emitter,
    repeats: Repeats,
    run_id: &'a str,
    used_ids: Vec<String>,
}

/// A call that is about to run.
struct Prepared {
    call: ToolCall,
    /// Why it cannot run, for the model.
    complaint: Option<String>,
}

impl<'a> Calls<'a> {
    pub(super) fn new(
        images: &'a Images,
        out: &'a Emitter,
        run_id: &'a str,
        identical_limit: u32,
    ) -> Self {
        Self {
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
        registry: &Registry,
    ) -> Result<(Assistant, Vec<Outcome>), TurnError> {
        if reply.calls.len() > MAX_CALLS {
            let message = format!(
                "the model asked for {} tool calls at once; the limit is {MAX_CALLS}",
                reply.calls.len()
            );
            return Err(Failure::new(Code::ModelError, message).into());
        }
        let mut calls = Vec::new();
        for raw in reply.calls {
            calls.push(self.prepare(raw)?);
        }
        // All are told before the first runs: they are one round, whatever
        // becomes of it.
        for prepared in &calls {
            self.out.tool_call(&prepared.call)?;
        }
        let assistant = Assistant {
            text: reply.text,
            earlier: None,
            thinking: reply.thinking,
            reasoning: reply.reasoning,
            calls: calls.iter().map(Prepared::again).collect(),
        };
        let mut outcomes = Vec::new();
        for group in groups(&calls, registry) {
            outcomes.extend(self.together(&calls[group], registry).await?);
        }
        Ok((assistant, outcomes))
    }

    /// Takes note of a call, which a loop does not get.
    fn prepare(&mut self, raw: RawCall) -> Result<Prepared, TurnError> {
        let parsed = raw.parse();
        let compared = match &parsed {
            Ok(arguments) => arguments.clone(),
            Err(_) => Value::String(raw.arguments.clone()),
        };
        let id = self.unique_id(raw.id);
        self.repeats
            .call(&id, &raw.name, &compared)
            .map_err(|count| loop_failure(&raw.name, count))?;
        let (arguments, complaint) = match parsed {
            Ok(arguments) => (arguments, None),
            Err(complaint) => (Value::Object(Map::new()), Some(complaint)),
        };
        let call = ToolCall {
            id,
            name: raw.name,
            arguments,
        };
        Ok(Prepared { call, complaint })
    }

    /// Runs calls at the same time. What one comes to is told when it is there;
    /// the outcomes are in the order of the calls.
    async fn together(
        &mut self,
        calls: &[Prepared],
        registry: &Registry,
    ) -> Result<Vec<Outcome>, TurnError> {
        let mut running: FuturesUnordered<_> = calls
            .iter()
            .enumerate()
            .map(|(place, prepared)| async move { (place, prepared.run(registry).await) })
            .collect();
        let mut outcomes: Vec<Option<Outcome>> = calls.iter().map(|_| None).collect();
        while let Some((place, result)) = running.next().await {
            self.out.tool_result(&result)?;
            let text = result.to_text().into_owned();
            self.repeats.result(&result.call_id, result.success, &text);
            outcomes[place] = Some(Outcome {
                images: self.images.take(&result.call_id),
                call_id: result.call_id,
                text,
                is_error: !result.success,
            });
        }
        Ok(outcomes.into_iter().flatten().collect())
    }

    /// The server's id, or one of our own where it gives none that names a call, or repeats one.
    fn unique_id(&mut self, id: String) -> String {
        let is_name = !id.is_empty() && id.len() <= ID_BYTES && !id.contains(char::is_control);
        let id = if !is_name || self.used_ids.contains(&id) {
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

/// The calls that run at the same time, one group after the other.
fn groups(calls: &[Prepared], registry: &Registry) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for (place, prepared) in calls.iter().enumerate() {
        let alone = registry.runs_alone(&prepared.call);
        match groups.last_mut() {
            Some(group) if is_open && !alone => group.end = place + 1,
            _ => groups.push(place..place + 1),
        }
        is_open = !alone;
    }
    groups
}

impl Prepared {
    async fn run(&self, registry: &Registry) -> ToolResult {
        let call = self.call.clone();
        match &self.complaint {
            None => registry.execute(call).await,
            Some(message) => refused(call, message.clone()),
        }
    }

    /// As it is told to the model again.
    fn again(&self) -> Call {
        let call = &self.call;
        Call::new(call.id.clone(), &call.name, call.arguments.clone())
    }
}

fn loop_failure(name: &str, count: u32) -> Failure {
    Failure::new(
        Code::LoopDetected,
        format!(
            "stopped: the model went in a circle, and called {name} with the same arguments and \
             the same result {count} times. Ask in other words, or raise \
             agents.defaults.limits.identicalCalls in the configuration"
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
