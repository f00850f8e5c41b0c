//! The lines of `claude --print --output-format=stream-json`.

mod failure;

use std::collections::BTreeMap;
use std::process::ExitStatus;

use openclaw_handoff::limits::Limits;
use openclaw_model_api::bill;
use openclaw_model_api::spending::as_cost;
use openclaw_proto::event::{Code, Done, Failed, Kind, ToolFailure, ToolResult, Usage};
use serde_json::Value;

use super::ClaudeApprover;
use super::tasks::Tasks;
use crate::count::Count;
use crate::translate::{Translate, UNKNOWN_TOOL, ending, quoted, why_failed};
use crate::within;
use failure::Signs;

/// Translates one run of the CLI.
#[derive(Debug)]
pub(crate) struct Output {
    session: Option<String>,
    model: String,
    /// Whether text of the message now being written came as deltas.
    streamed: bool,
    tasks: Tasks,
    /// The first line that was not JSON.
    malformed: Option<String>,
    /// The cost of the turn by its own account, in US dollars.
    cost: Option<f64>,
    /// Answers its questions until it has said its last word.
    approver: Option<ClaudeApprover>,
    limits: Limits,
    count: Count,
    /// Whether words were said that no call followed,
    spoke: bool,
    /// and whether another message begins, of which nothing was said yet.
    begins: bool,
    /// Its word for what went wrong with the last message.
    error: Option<String>,
    /// The names of the tools whose results are still to come, by their calls.
    called: BTreeMap<String, String>,
}

impl Output {
    pub(crate) fn new(session: String, model: Option<String>, limits: Limits) -> Self {
        Self {
            session: Some(session),
            model: model.unwrap_or_default(),
            streamed: false,
            tasks: Tasks::default(),
            malformed: None,
            cost: None,
            approver: None,
            count: Count::new(&limits),
            limits,
            spoke: false,
            begins: false,
            error: None,
            called: BTreeMap::new(),
        }
    }

    /// With somebody who answers its questions.
    pub(crate) fn answering(self, approver: Option<ClaudeApprover>) -> Self {
        Self { approver, ..self }
    }
}

impl Translate for Output {
    fn line(&mut self, line: &str) -> Vec<Kind> {
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            return self.not_json(line);
        };
        // What a subagent says is not said to the user.
        let inner = value["parent_tool_use_id"].is_string();
        match value["type"].as_str().unwrap_or_default() {
            "system" => self.system(&value),
            "stream_event" if !inner => self.delta(&value["event"]),
            "assistant" if !inner => self.assistant(&value),
            "user" if !inner => self.results(&value),
            "result" => self.result(&value),
            "control_request" => {
                if let Some(approver) = &self.approver {
                    approver.answer(&value);
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn gone(&mut self, status: ExitStatus, complaint: &str) -> Failed {
        let complaint = complaint.trim();
        let signs = Signs {
            said: complaint,
            ..Signs::default()
        };
        if let Some(meant) = failure::meaning(&signs) {
            return self.known(complaint, meant);
        }
        if let Some(line) = &self.malformed {
            let message = format!(
                "the Claude Code CLI wrote a line that is not JSON (\"{line}\") and then {}; \
                 check its version with `claude --version` and update it",
                ending(status)
            );
            return self.failed(Code::MalformedOutput, message);
        }
        let detail = if complaint.is_empty() {
            "; run `claude -p hi` by hand to see why".to_owned()
        } else {
            format!(": {complaint}")
        };
        let message = format!(
            "the Claude Code CLI {} before it was done{detail}",
            ending(status)
        );
        self.failed(Code::Crashed, message)
    }

    fn cost(&self) -> Option<f64> {
        self.cost
    }

    fn session(&self) -> Option<String> {
        self.session.clone()
    }
}

impl Output {
    fn not_json(&mut self, line: &str) -> Vec<Kind> {
        if self.malformed.is_some() {
            return Vec::new();
        }
        let quote = quoted(line);
        self.malformed = Some(quote.clone());
        vec![Kind::Note {
            text: format!(
                "the Claude Code CLI wrote a line that is not JSON, which was skipped: {quote}"
            ),
        }]
    }

    fn system(&mut self, value: &Value) -> Vec<Kind> {
        self.tasks.note(value);
        if value["subtype"] == "api_retry" {
            return vec![Kind::Note { text: retry(value) }];
        }
        if value["subtype"] == "init" {
            if let Some(session) = value["session_id"].as_str() {
                self.session = Some(session.to_owned());
            }
            if let Some(model) = value["model"].as_str() {
                model.clone_into(&mut self.model);
            }
        }
        Vec::new()
    }

    fn delta(&mut self, event: &Value) -> Vec<Kind> {
        if event["type"] == "message_start" {
            self.streamed = false;
            self.begins = true;
        }
        if let Some((code, message)) = self.count.tokens(event, &self.limits) {
            return vec![Kind::Failed(self.failed(code, message))];
        }
        let delta = &event["delta"];
        match delta["type"].as_str() {
            Some("text_delta") => {
                self.streamed = true;
                text(&delta["text"]).map_or_else(Vec::new, |text| vec![self.words(text)])
            }
            Some("thinking_delta") => {
                text(&delta["thinking"]).map_or_else(Vec::new, |text| vec![Kind::Thinking { text }])
            }
            _ => Vec::new(),
        }
    }

    /// A message, whole: its tool calls, and its text when that was not streamed. Text that the CLI
    /// makes up itself (model `<synthetic>`) is what its result says again.
    fn assistant(&mut self, value: &Value) -> Vec<Kind> {
        self.error = value["error"].as_str().map(str::to_owned);
        let message = &value["message"];
        let synthetic = message["model"] == "<synthetic>";
        let id = message["id"].as_str().unwrap_or_default();
        let blocks = message["content"].as_array().into_iter().flatten();
        blocks
            .filter_map(|block| match block["type"].as_str()? {
                "text" if !self.streamed && !synthetic => Some(self.words(text(&block["text"])?)),
                "tool_use" => self.call(id, block),
                _ => None,
            })
            .collect()
    }

    /// Two messages without a call between them are two paragraphs.
    fn words(&mut self, text: String) -> Kind {
        let begins = std::mem::take(&mut self.begins);
        let is_apart = begins && self.spoke && !text.starts_with('\n');
        self.spoke = true;
        Kind::TextDelta {
            text: if is_apart {
                format!("\n\n{text}")
            } else {
                text
            },
        }
    }

    fn results(&mut self, value: &Value) -> Vec<Kind> {
        let mut results = tool_results(value);
        for result in &mut results {
            let tool = self.called.remove(&result.call_id);
            if let Some(error) = &mut result.error {
                error.tool = tool.unwrap_or_else(|| UNKNOWN_TOOL.to_owned());
            }
            self.count.result(result);
        }
        results.into_iter().map(Kind::ToolResult).collect()
    }

    fn call(&mut self, message: &str, block: &Value) -> Option<Kind> {
        self.spoke = false;
        let (name, arguments) = (text_of(&block["name"])?, &block["input"]);
        let id = block["id"].as_str().unwrap_or_default();
        let (id, name) = (within::call_id(id), within::name(name));
        let passed = self
            .count
            .call(message, (&id, &name, arguments), &self.limits);
        if let Some((code, words)) = passed {
            return Some(Kind::Failed(self.failed(code, words)));
        }
        self.called.insert(id.clone(), name.clone());
        if id.is_empty() {
            return None;
        }
        Some(Kind::ToolCall {
            id,
            name,
            arguments: arguments.clone(),
        })
    }

    fn result(&mut self, value: &Value) -> Vec<Kind> {
        if let Some(session) = value["session_id"].as_str() {
            self.session = Some(session.to_owned());
        }
        self.cost = value["total_cost_usd"].as_f64().and_then(as_cost);
        if !is_answer(value) {
            return Vec::new();
        }
        // The end of its input is the end of it.
        self.approver = None;
        let mut kinds = Vec::new();
        if let Some(usage) = usage(value) {
            kinds.push(Kind::Usage(usage));
        }
        let failed = value["is_error"] == true || value["subtype"] != "success";
        // Words of its own, which no model said, are in its result alone.
        if !failed && !self.spoke {
            let words = text(&value["result"]);
            kinds.extend(words.map(|text| Kind::TextDelta { text }));
        }
        kinds.extend(self.tasks.ended());
        kinds.push(if failed {
            Kind::Failed(self.error(value))
        } else {
            Kind::Done(Done {
                stop_reason: "stop".to_owned(),
                provider: "anthropic".to_owned(),
                model: self.model.clone(),
                backend_session: self.session.clone(),
                backend: super::NAME.to_owned(),
            })
        });
        kinds
    }

    fn error(&self, value: &Value) -> Failed {
        if value["subtype"] == "error_max_turns" {
            let message =
                "the Claude Code CLI reached its limit of steps; say \"go on\" to continue";
            return self.failed(Code::StepLimit, message.to_owned());
        }
        if value["subtype"] == "error_max_budget_usd" {
            let cost = self.cost.unwrap_or_default();
            return self.failed(Code::ResourceLimit, self.limits.too_dear(cost));
        }
        let errors = value["errors"].as_array().into_iter().flatten();
        let said: Vec<&str> = text_of(&value["result"])
            .into_iter()
            .chain(errors.filter_map(text_of))
            .collect();
        let said = if said.is_empty() {
            "it did not say why".to_owned()
        } else {
            said.join("; ")
        };
        let status = value["api_error_status"].as_u64();
        let signs = Signs {
            status,
            error: self.error.as_deref(),
            said: &said,
        };
        match failure::meaning(&signs) {
            Some(meant) => self.known(&format!("{said}{}", by_status(status)), meant),
            None => {
                let message = format!("the Claude Code CLI failed: {said}; send the message again");
                self.failed(Code::ModelError, message)
            }
        }
    }

    fn known(&self, said: &str, (code, advice): (Code, &str)) -> Failed {
        self.failed(code, format!("the Claude Code CLI says: {said}; {advice}"))
    }

    fn failed(&self, code: Code, message: String) -> Failed {
        Failed {
            code,
            message,
            retry_after_ms: None,
            backend_session: self.session.clone(),
            backend: super::NAME.to_owned(),
        }
    }
}

/// Whether a result is that of the message. One is about something else where
/// it says so, as when a command of an earlier turn did not come to its end, and
/// where the model was not asked and nothing is said.
fn is_answer(result: &Value) -> bool {
    let origin = result["origin"]["kind"].as_str();
    let is_empty = result["num_turns"] == 0 && result["result"] == "";
    origin.is_none_or(|kind| kind == "human") && !(is_empty && result["is_error"] != true)
}

/// The words that a status adds to the CLI's own.
fn by_status(status: Option<u64>) -> String {
    match status {
        Some(status @ (401 | 403 | 429 | 529)) => format!(" (status {status})"),
        _ => String::new(),
    }
}

fn retry(value: &Value) -> String {
    let seconds = value["retry_delay_ms"].as_f64().unwrap_or_default() / 1000.0;
    format!(
        "the provider answered {}; trying again in {seconds:.0} s ({} of {})",
        value["error_status"], value["attempt"], value["max_retries"]
    )
}

/// What tools answered; which tool it was the CLI does not say again.
fn tool_results(value: &Value) -> Vec<ToolResult> {
    let blocks = value["message"]["content"].as_array().into_iter().flatten();
    blocks
        .filter(|block| block["type"] == "tool_result")
        .filter_map(|block| {
            let output = tool_output(&block["content"]);
            let failed = block["is_error"] == true;
            Some(ToolResult {
                call_id: text_of(&block["tool_use_id"]).map(within::call_id)?,
                success: !failed,
                error: failed.then(|| ToolFailure {
                    tool: String::new(),
                    kind: "tool_error".to_owned(),
                    message: why_failed(&output),
                }),
                output,
            })
        })
        .collect()
}

/// A tool's output: a string, or blocks of which the text counts.
fn tool_output(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks
                .iter()
                .filter_map(|block| text_of(&block["text"]))
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// What a result says that the turn used: what it says by model, which has its subagents and is
/// there where the turn was cut short, or of the turn itself, whichever is more.
fn usage(result: &Value) -> Option<Usage> {
    let tokens = |value: &Value, name: &str| {
        let tokens = value[name].as_u64().unwrap_or_default();
        tokens.min(bill::MOST_TOKENS)
    };
    let value = &result["usage"];
    let own = value.is_object().then(|| Usage {
        input: tokens(value, "input_tokens"),
        output: tokens(value, "output_tokens"),
        cache_read: tokens(value, "cache_read_input_tokens"),
        cache_write: tokens(value, "cache_creation_input_tokens"),
    });
    let Some(models) = result["modelUsage"].as_object() else {
        return own;
    };
    let add = |sum: u64, more: u64| sum.saturating_add(more).min(bill::MOST_TOKENS);
    let sum = |name: &str| {
        models
            .values()
            .map(|model| tokens(model, name))
            .fold(0, add)
    };
    let own = own.unwrap_or_default();
    Some(Usage {
        input: sum("inputTokens").max(own.input),
        output: sum("outputTokens").max(own.output),
        cache_read: sum("cacheReadInputTokens").max(own.cache_read),
        cache_write: sum("cacheCreationInputTokens").max(own.cache_write),
    })
}

fn text_of(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

fn text(value: &Value) -> Option<String> {
    text_of(value).map(str::to_owned)
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests;
