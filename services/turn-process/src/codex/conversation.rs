//! The lines of `codex app-server`: its answers, its news and its questions.

use std::collections::BTreeMap;
use std::process::ExitStatus;

use openclaw_agent_clis::codex::CodexDialogue;
use openclaw_handoff::limits::Limits;
use openclaw_model_api::bill;
use openclaw_proto::event::{Code, Done, Failed, Kind, Usage};
use serde_json::Value;

use super::approver::CodexApprover;
use super::{item, said};
use crate::cli_input::CliInput;
use crate::count::Count;
use crate::translate::{Translate, ending, quoted};
use crate::within;

mod failure;

/// How much of what a command says is kept for the case that it never ends, in bytes.
const OUTPUT_LIMIT: usize = 64 * 1024;

/// Calls that are kept while they are not over. What a further one asks is
/// declined: it is not known what it is about.
const OPEN_CALLS: usize = 1024;

/// Bytes of them as the CLI wrote them. Beyond these it is the same.
const OPEN_BYTES: usize = 32 * 1024 * 1024;

/// A call that is not over.
#[derive(Debug)]
struct Open {
    /// In JSON, which takes no more than the line that it came in.
    item: String,
    /// Its text so far.
    output: String,
}

impl Open {
    fn item(&self) -> Option<Value> {
        serde_json::from_str(&self.item).ok()
    }
}

/// One turn of the CLI, from its greeting on.
#[derive(Debug)]
pub(crate) struct Conversation {
    dialogue: CodexDialogue,
    /// Says what comes next, until the last word was said.
    cli_input: Option<CliInput>,
    approver: Option<CodexApprover>,
    thread: Option<String>,
    model: String,
    /// Calls that were begun and are not over, by their ids.
    open: BTreeMap<String, Open>,
    /// The message whose words came as deltas.
    streamed: Option<String>,
    /// Whether words were said that no call followed.
    spoke: bool,
    /// The model's answers so far.
    answers: u64,
    /// The last failure, which was tried again.
    trouble: Option<Value>,
    /// The first line that was not JSON.
    malformed: Option<String>,
    limits: Limits,
    count: Count,
}

impl Conversation {
    pub(super) fn new(
        dialogue: CodexDialogue,
        cli_input: Option<CliInput>,
        approver: Option<CodexApprover>,
        limits: Limits,
    ) -> Self {
        Self {
            thread: dialogue.resumed.as_ref().map(|thread| thread.id.clone()),
            dialogue,
            cli_input,
            approver,
            model: String::new(),
            open: BTreeMap::new(),
            streamed: None,
            spoke: false,
            answers: 0,
            trouble: None,
            malformed: None,
            count: Count::new(&limits),
            limits,
        }
    }

    /// The model that it asks, if configured.
    pub(super) fn with_model(mut self, model: Option<String>) -> Self {
        self.model = model.unwrap_or_default();
        self
    }
}

impl Translate for Conversation {
    fn line(&mut self, line: &str) -> Vec<Kind> {
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            return self.not_json(line);
        };
        let parameters = &value["params"];
        match (value["method"].as_str(), value["id"].as_u64()) {
            (None, Some(id)) => self.answered(id, &value),
            (Some(_), Some(_)) => {
                let about = parameters["itemId"].as_str();
                let about = about.and_then(|id| self.open.get(id));
                let about = about.and_then(Open::item);
                if let Some(approver) = &self.approver {
                    approver.answer(&value, about.as_ref());
                }
                Vec::new()
            }
            (Some(method), None) => self.news(method, parameters),
            (None, None) => Vec::new(),
        }
    }

    fn gone(&mut self, status: ExitStatus, complaint: &str) -> Failed {
        let complaint = failure::last_words(complaint);
        let (code, message) = match (&self.malformed, complaint) {
            (Some(line), _) => (
                Code::MalformedOutput,
                format!(
                    "the Codex CLI wrote a line that is not JSON (\"{line}\") and then {}; check \
                     its version with `codex --version` and update it",
                    ending(status)
                ),
            ),
            (None, "") => (
                Code::Crashed,
                format!(
                    "the Codex CLI {} before it was done; run `codex exec hi` by hand to see why",
                    ending(status)
                ),
            ),
            (None, complaint) => (
                Code::Crashed,
                format!(
                    "the Codex CLI {} before it was done: {complaint}",
                    ending(status)
                ),
            ),
        };
        self.failed(code, message)
    }

    fn session(&self) -> Option<String> {
        self.thread.clone()
    }
}

impl Conversation {
    fn not_json(&mut self, line: &str) -> Vec<Kind> {
        if self.malformed.is_some() {
            return Vec::new();
        }
        let quote = quoted(line);
        let text =
            format!("the Codex CLI wrote a line that is not JSON, which was skipped: {quote}");
        self.malformed = Some(quote);
        vec![Kind::Note { text }]
    }

    fn say(&self, lines: &[Value]) {
        if let Some(cli_input) = &self.cli_input {
            cli_input.say_now(lines);
        }
    }

    /// The step after an answer to one of our requests.
    fn answered(&mut self, id: u64, answer: &Value) -> Vec<Kind> {
        if let Some(error) = answer.get("error") {
            return self.refused(id, error);
        }
        let result = &answer["result"];
        match id {
            said::INITIALIZE => {
                let thread = &self.dialogue.thread;
                let next = match &self.dialogue.resumed {
                    Some(resumed) => said::resume(thread, &resumed.id),
                    None => said::begin(thread),
                };
                self.say(&[said::initialized(), next]);
            }
            said::RESUME | said::BEGIN => self.begin_turn(result),
            _ => {}
        }
        Vec::new()
    }

    fn begin_turn(&mut self, opened: &Value) {
        let thread = opened["thread"]["id"].as_str().unwrap_or_default();
        if let Some(model) = opened["model"].as_str() {
            model.clone_into(&mut self.model);
        }
        let resumed = self.dialogue.resumed.as_ref();
        let words = resumed.map_or(&self.dialogue.words, |resumed| &resumed.words);
        self.say(&[said::turn(thread, words, self.dialogue.effort.as_deref())]);
        self.thread = Some(thread.to_owned());
    }

    /// A thread that is not there any more is begun anew, and told everything.
    fn refused(&mut self, id: u64, error: &Value) -> Vec<Kind> {
        if id == said::RESUME && self.dialogue.resumed.take().is_some() {
            self.thread = None;
            tracing::debug!(%error, "the thread cannot be resumed; another one is begun");
            self.say(&[said::begin(&self.dialogue.thread)]);
            return Vec::new();
        }
        let words = error["message"].as_str().unwrap_or("it did not say why");
        let message = format!(
            "the Codex CLI refused the turn: {words}; check its version with `codex --version`"
        );
        vec![Kind::Failed(self.failed(Code::ModelError, message))]
    }

    fn news(&mut self, method: &str, parameters: &Value) -> Vec<Kind> {
        match method {
            "item/agentMessage/delta" => self.delta(parameters),
            "item/reasoning/textDelta" | "item/reasoning/summaryTextDelta" => {
                let text = text(&parameters["delta"]);
                text.map_or_else(Vec::new, |text| vec![Kind::Thinking { text }])
            }
            "item/started" => self.started(&parameters["item"]),
            "item/completed" => self.completed(&parameters["item"]),
            "item/commandExecution/outputDelta" => self.output(parameters).into_iter().collect(),
            "thread/tokenUsage/updated" => self.used(&parameters["tokenUsage"]["last"]),
            "mcpServer/startupStatus/updated" => tools_missing(parameters).into_iter().collect(),
            "error" => self.error(parameters),
            "turn/completed" => self.over(&parameters["turn"]),
            _ => Vec::new(),
        }
    }

    fn delta(&mut self, parameters: &Value) -> Vec<Kind> {
        let Some(text) = text(&parameters["delta"]) else {
            return Vec::new();
        };
        let message = parameters["itemId"].as_str().unwrap_or_default();
        let is_new = self.streamed.as_deref() != Some(message);
        if is_new {
            self.streamed = Some(message.to_owned());
        }
        self.words(text, is_new)
    }

    /// Two messages without a call between them are two paragraphs.
    fn words(&mut self, text: String, begins: bool) -> Vec<Kind> {
        let gap = (begins && self.spoke).then(|| "\n\n".to_owned());
        self.spoke = true;
        gap.into_iter()
            .chain([text])
            .map(|text| Kind::TextDelta { text })
            .collect()
    }

    fn started(&mut self, item: &Value) -> Vec<Kind> {
        let (Some(named), Some((name, arguments))) = (text(&item["id"]), item::call(item)) else {
            return Vec::new();
        };
        let (id, name) = (within::call_id(&named), within::name(&name));
        self.spoke = false;
        let answer = self.answers.to_string();
        let call = (id.as_str(), name.as_str(), &arguments);
        let passed = self.count.call(&answer, call, &self.limits);
        let passed = passed.or_else(|| self.count.written(&self.limits));
        if let Some((code, words)) = passed {
            return vec![Kind::Failed(self.failed(code, words))];
        }
        self.keep(named, item);
        vec![Kind::ToolCall {
            id,
            name,
            arguments,
        }]
    }

    /// Keeps a call until it is over, if there is room, under an id that is no other's.
    fn keep(&mut self, id: String, item: &Value) {
        let (item, output) = (item.to_string(), String::new());
        let kept: usize = self.open.values().map(|open| open.item.len()).sum();
        let has_room = self.open.len() < OPEN_CALLS && kept + item.len() <= OPEN_BYTES;
        if has_room && within::is_call_id(&id) {
            self.open.insert(id, Open { item, output });
        }
    }

    fn output(&mut self, parameters: &Value) -> Option<Kind> {
        let (call_id, text) = (text(&parameters["itemId"])?, text(&parameters["delta"])?);
        if let Some(open) = self.open.get_mut(&call_id)
            && open.output.len() + text.len() <= OUTPUT_LIMIT
        {
            open.output.push_str(&text);
        }
        Some(Kind::ToolOutput { call_id, text })
    }

    fn completed(&mut self, item: &Value) -> Vec<Kind> {
        if item["type"] == "agentMessage" {
            let was_streamed = self.streamed.as_deref() == item["id"].as_str();
            return match text(&item["text"]) {
                Some(text) if !was_streamed => self.words(text, true),
                _ => Vec::new(),
            };
        }
        let Some(result) = item::result(item) else {
            return Vec::new();
        };
        let id = item["id"].as_str();
        let begun = id.and_then(|id| self.open.remove(id));
        // Some are told of only when they are over.
        let mut kinds = match begun {
            Some(_) => Vec::new(),
            None => self.started(item),
        };
        if !kinds.iter().any(Kind::is_terminal) {
            if let Kind::ToolResult(result) = &result {
                self.count.result(result);
            }
            kinds.push(result);
        }
        // Of one that was told of only now.
        id.and_then(|id| self.open.remove(id));
        kinds
    }

    fn used(&mut self, last: &Value) -> Vec<Kind> {
        let tokens = |name: &str| {
            last[name]
                .as_u64()
                .unwrap_or_default()
                .min(bill::MOST_TOKENS)
        };
        let (read, written) = (tokens("cachedInputTokens"), tokens("cacheWriteInputTokens"));
        let usage = Usage {
            input: tokens("inputTokens").saturating_sub(read + written),
            output: tokens("outputTokens"),
            cache_read: read,
            cache_write: written,
        };
        self.answers += 1;
        self.count.add(usage.output);
        vec![Kind::Usage(usage)]
    }

    /// The CLI tries some things again by itself.
    fn error(&mut self, parameters: &Value) -> Vec<Kind> {
        let error = &parameters["error"];
        if parameters["willRetry"] != true {
            self.trouble = Some(error.clone());
            return Vec::new();
        }
        let details = text(&error["additionalDetails"]).or_else(|| text(&error["message"]));
        let text = format!(
            "the provider could not answer ({}); trying again",
            details.unwrap_or_default()
        );
        vec![Kind::Note { text }]
    }

    /// Commands that still run end with the turn.
    fn over(&mut self, turn: &Value) -> Vec<Kind> {
        let open = std::mem::take(&mut self.open).into_values();
        let mut kinds: Vec<Kind> = open
            .filter_map(|open| item::unfinished(&open.item()?, open.output))
            .collect();
        kinds.push(self.end(turn));
        kinds
    }

    fn end(&mut self, turn: &Value) -> Kind {
        // The end of its input is the end of it.
        self.cli_input = None;
        self.approver = None;
        if turn["status"] == "completed" {
            return Kind::Done(Done {
                stop_reason: "stop".to_owned(),
                provider: "openai".to_owned(),
                model: self.model.clone(),
                backend_session: self.thread.clone(),
                backend: super::NAME.to_owned(),
            });
        }
        let error = match &turn["error"] {
            Value::Null => self.trouble.clone().unwrap_or_default(),
            error => error.clone(),
        };
        let (code, message) = failure::meaning(&error);
        Kind::Failed(self.failed(code, message))
    }

    fn failed(&self, code: Code, message: String) -> Failed {
        Failed {
            code,
            message,
            retry_after_ms: None,
            backend_session: self.thread.clone(),
            backend: super::NAME.to_owned(),
        }
    }
}

fn tools_missing(parameters: &Value) -> Option<Kind> {
    let error = text(&parameters["error"])?;
    Some(Kind::Note {
        text: format!("the assistant's tools cannot be reached from Codex: {error}"),
    })
}

fn text(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A line of a few megabytes may be half a million values, each of which takes many times
    /// its bytes, and a thousand calls may be begun and never be over.
    #[test]
    fn conversation_keeps_so_much_of_calls_that_are_not_over_and_no_more() {
        let mut conversation = crate::codex::tests::reader();
        let bulk = "x".repeat(OPEN_BYTES / 4);
        let item = |id: usize| json!({"type": "commandExecution", "id": id.to_string(), "command": "ls", "bulk": bulk});
        let told = |method: &str, id: usize| {
            json!({"method": method, "params": {"item": item(id)}}).to_string()
        };
        for id in 0..9 {
            let began = conversation.line(&told("item/started", id));
            let [Kind::ToolCall { id, .. }] = began.as_slice() else {
                panic!("{began:?}");
            };
            assert!(id.len() < 1000);
        }
        let long = json!({"type": "commandExecution", "id": bulk, "command": "ls"});
        let long = json!({"method": "item/started", "params": {"item": long}});
        let began = conversation.line(&long.to_string());
        assert!(matches!(began.as_slice(), [Kind::ToolCall { id, .. }] if id.len() < 1000));
        let kept = conversation.open.iter();
        let kept: usize = kept.map(|(id, open)| id.len() + open.item.len()).sum();
        assert!(
            conversation.open.len() == 3 && kept <= OPEN_BYTES + 3000,
            "{kept}"
        );
        conversation.line(&told("item/completed", 0));
        assert_eq!(conversation.open.len(), 2);
        let over = json!({"method": "turn/completed", "params": {"turn": {"status": "completed"}}});
        assert_eq!(conversation.line(&over.to_string()).len(), 3);
    }
}
