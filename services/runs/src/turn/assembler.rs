//! Transcript entries from a run's events.

use std::collections::{BTreeMap, HashMap};

use openclaw_proto::event::{self, Kind, ThinkingSigned};
use openclaw_proto::runner::Started;
use openclaw_sessions::transcript::{
    AssistantMessage, Block, Content, Message, StopReason, ToolResultMessage, Usage,
};
use openclaw_settings::provider::Api;
use serde_json::{Map, json};

/// Bytes of one entry's text. A longer reply goes on in another entry, so that
/// a crash costs at most this much of it and a line stays readable.
const ENTRY_LIMIT: usize = 4 * 1024 * 1024;

/// Builds entries: an assistant message is one model response, followed by the results of the tools
/// it asked for. It is complete when something new comes after a result, or at the end.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    run_id: String,
    /// The APIs of the providers.
    apis: BTreeMap<String, Api>,
    blocks: Vec<Block>,
    bytes: usize,
    results: Vec<ToolResultMessage>,
    tool_names: HashMap<String, String>,
    response: event::Usage,
    turn: event::Usage,
    context_tokens: u64,
    resources: Option<event::Resources>,
    speaker: Started,
    /// Provider and model that signed what was thought before this message.
    signer: Option<(String, String)>,
    /// Runs whose messages the agent was given before it.
    given: Vec<String>,
}

/// The rest of a run's entries, and what it cost.
#[derive(Debug)]
pub(crate) struct Assembly {
    pub(crate) messages: Vec<Message>,
    pub(crate) usage: Usage,
    pub(crate) context_tokens: u64,
    /// The resources that the run's processes used, when reported.
    pub resources: Option<event::Resources>,
}

/// How an assistant message ended, and who spoke.
#[derive(Default)]
struct End<'a> {
    stop_reason: StopReason,
    error_message: Option<String>,
    provider: &'a str,
    model: &'a str,
    backend: &'a str,
}

impl<'a> End<'a> {
    /// With what is known of the speaker from the start where the end does not say it.
    fn or(self, speaker: &'a Started) -> Self {
        let filled = |end: &'a str, start: &'a str| if end.is_empty() { start } else { end };
        Self {
            provider: filled(self.provider, &speaker.provider),
            model: filled(self.model, &speaker.model),
            backend: filled(self.backend, &speaker.backend),
            ..self
        }
    }
}

impl Assembler {
    pub(super) fn new(run_id: &str, apis: BTreeMap<String, Api>) -> Self {
        Self {
            run_id: run_id.to_owned(),
            apis,
            ..Self::default()
        }
    }

    /// Says who will answer.
    pub(super) fn speaks(&mut self, speaker: &Started) {
        self.speaker = speaker.clone();
    }

    /// Takes an event; returns the entries that are complete now.
    pub(super) fn add(&mut self, kind: &Kind, now_ms: i64) -> Option<Vec<Message>> {
        let speaks = matches!(
            kind,
            Kind::TextDelta { .. }
                | Kind::Thinking { .. }
                | Kind::ThinkingSigned(_)
                | Kind::ToolCall { .. }
        );
        let complete = speaks && (!self.results.is_empty() || self.bytes > ENTRY_LIMIT);
        let messages = match kind {
            Kind::Steered { .. } => self.steered(now_ms),
            _ => complete.then(|| self.flush(End::default(), now_ms)),
        };
        match kind {
            Kind::TextDelta { text } => self.text(text),
            Kind::Thinking { text } => self.thinking(text),
            Kind::ThinkingSigned(signed) => self.signed(signed),
            Kind::ToolCall {
                id,
                name,
                arguments,
            } => {
                self.tool_names.insert(id.clone(), name.clone());
                self.blocks
                    .push(Block::tool_call(id, name, arguments.clone()));
            }
            Kind::ToolResult(result) => {
                let message = self.tool_result(result, now_ms);
                self.results.push(message);
            }
            Kind::Usage(usage) => self.usage(usage),
            Kind::Steered { run_ids } => self.given.extend_from_slice(run_ids),
            Kind::Resources(resources) => self.resources = Some(resources.clone()),
            _ => {}
        }
        messages
    }

    /// The rest. The last entry is always an assistant message that says how
    /// the run ended, be it empty.
    pub(super) fn finish(mut self, outcome: &Kind, now_ms: i64) -> Assembly {
        let mut messages = Vec::new();
        if !self.results.is_empty() {
            messages = self.flush(End::default(), now_ms);
        }
        messages.extend(self.flush(end(outcome), now_ms));
        Assembly {
            messages,
            usage: stored(&self.turn),
            context_tokens: self.context_tokens,
            resources: self.resources,
        }
    }

    /// What was said before the user spoke again is an entry of its own. It does
    /// not end as a reply does: the run goes on.
    fn steered(&mut self, now_ms: i64) -> Option<Vec<Message>> {
        let is_empty = self.blocks.is_empty() && self.results.is_empty();
        let end = End {
            stop_reason: StopReason::ToolUse,
            ..End::default()
        };
        (!is_empty).then(|| self.flush(end, now_ms))
    }

    fn text(&mut self, more: &str) {
        self.bytes += more.len();
        if let Some(Block::Text { text, .. }) = self.blocks.last_mut() {
            text.push_str(more);
        } else {
            self.blocks.push(Block::text(more));
        }
    }

    fn thinking(&mut self, more: &str) {
        self.bytes += more.len();
        match self.blocks.last_mut() {
            Some(block) if block.thinks_on() => {
                if let Block::Thinking { thinking, .. } = block {
                    thinking.push_str(more);
                }
            }
            _ => self.blocks.push(Block::thinking(more)),
        }
    }

    fn signed(&mut self, signed: &ThinkingSigned) {
        let signature = signed.signature.as_str();
        self.bytes += signature.len();
        if signed.redacted {
            self.blocks.push(Block::redacted_thinking(signature));
        } else if !self
            .blocks
            .last_mut()
            .is_some_and(|block| block.sign(signature))
        {
            // Nothing of it was told.
            let mut block = Block::thinking("");
            block.sign(signature);
            self.blocks.push(block);
        }
        self.signer = Some((signed.provider.clone(), signed.model.clone()));
    }

    /// Counts what was asked for the run before its turn.
    pub(super) fn add_before(&mut self, usage: &event::Usage) {
        self.turn.add(usage);
    }

    fn usage(&mut self, usage: &event::Usage) {
        self.response.add(usage);
        self.turn.add(usage);
        self.context_tokens = stored(usage).total_tokens;
    }

    fn tool_result(&self, result: &event::ToolResult, now_ms: i64) -> ToolResultMessage {
        let mut rest = Map::new();
        let mut text = result.output.clone();
        if let Some(error) = &result.error {
            rest.insert("details".to_owned(), json!({ "error": error }));
            if text.is_empty() {
                text.clone_from(&error.message);
            }
        }
        ToolResultMessage {
            tool_call_id: result.call_id.clone(),
            tool_name: self
                .tool_names
                .get(&result.call_id)
                .cloned()
                .unwrap_or_default(),
            content: Content::Blocks(vec![Block::text(text)]),
            is_error: !result.success,
            timestamp: now_ms,
            rest,
        }
    }

    /// OpenClaw's name for what was spoken.
    fn api<'a>(&self, backend: &'a str, provider: &str) -> &'a str {
        match (backend, provider) {
            ("native", "") => "",
            ("native", provider) => {
                let api = self.apis.get(provider).copied();
                api.unwrap_or(Api::OpenAi).name()
            }
            (other, _) => other,
        }
    }

    fn flush(&mut self, end: End<'_>, now_ms: i64) -> Vec<Message> {
        let speaker = self.speaker.clone();
        let end = end.or(&speaker);
        let calls = self.blocks.iter().filter_map(|block| match block {
            Block::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        let called: Vec<String> = calls.collect();
        let stop_reason = match end.stop_reason {
            StopReason::Stop if !called.is_empty() => StopReason::ToolUse,
            reason => reason,
        };
        let mut assistant = AssistantMessage {
            content: Content::Blocks(std::mem::take(&mut self.blocks)),
            api: self.api(end.backend, end.provider).to_owned(),
            provider: end.provider.to_owned(),
            model: end.model.to_owned(),
            usage: stored(&std::mem::take(&mut self.response)),
            stop_reason,
            timestamp: now_ms,
            error_message: end.error_message,
            rest: Map::new(),
        };
        if let Some((provider, model)) = self.signer.take() {
            signed_by(&mut assistant, provider, model);
        }
        let assistant = Message::Assistant(assistant);
        self.bytes = 0;
        // They came in the order in which the tools ended.
        self.results
            .sort_by_key(|result| called.iter().position(|id| *id == result.tool_call_id));
        let results = self.results.drain(..).map(Message::ToolResult);
        let mut messages: Vec<_> = std::iter::once(assistant).chain(results).collect();
        messages
            .iter_mut()
            .for_each(|message| message.set_run_id(&self.run_id));
        let given = std::mem::take(&mut self.given);
        if let Some(answer) = messages.first_mut().filter(|_| !given.is_empty()) {
            answer.set_also_answers(given);
        }
        messages
    }
}

/// Says who takes back the thinking in a message: the model by the name it was asked for, which the
/// next request has too. What the answer called itself is beside it.
fn signed_by(message: &mut AssistantMessage, provider: String, model: String) {
    let called = std::mem::replace(&mut message.model, model);
    if !called.is_empty() && called != message.model {
        message
            .rest
            .insert("responseModel".to_owned(), called.into());
    }
    message.provider = provider;
    message.api = Api::Anthropic.name().to_owned();
}

fn end(outcome: &Kind) -> End<'_> {
    match outcome {
        Kind::Done(done) => End {
            // OpenClaw knows no step limit; the reply is cut short either way.
            stop_reason: match done.stop_reason.as_str() {
                "length" | "step_limit" => StopReason::Length,
                _ => StopReason::Stop,
            },
            error_message: None,
            provider: &done.provider,
            model: &done.model,
            backend: &done.backend,
        },
        Kind::Aborted {
            reason, backend, ..
        } => End {
            stop_reason: StopReason::Aborted,
            error_message: Some(reason.clone()),
            backend,
            ..End::default()
        },
        Kind::Failed(failed) => End {
            stop_reason: StopReason::Error,
            error_message: Some(failed.message.clone()),
            backend: &failed.backend,
            ..End::default()
        },
        _ => End::default(),
    }
}

fn stored(usage: &event::Usage) -> Usage {
    Usage::new(
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
    )
}

#[cfg(test)]
mod tests;
