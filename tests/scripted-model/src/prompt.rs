//! What a request asks, told apart from how its API writes it.

use serde_json::Value;

/// The APIs spoken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `POST /v1/messages`.
    Anthropic,
    /// `POST /v1/chat/completions`.
    OpenAi,
    /// `POST /v1/responses`.
    Responses,
}

/// The parts of a request that decide its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The API it came by.
    pub api: Api,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// Whether an OpenAI client asked for usage in its stream.
    pub stream_usage: bool,
    /// The model asked for.
    pub model: String,
    /// Limit on the answer's tokens, if given.
    pub max_tokens: Option<u64>,
    /// Names of the tools offered.
    pub tools: Vec<String>,
    /// System text, joined.
    pub system: String,
    /// The last text of the user, without the reminders an agent CLI adds.
    pub said: String,
    /// Tool results brought by this request, newest exchange only.
    pub results: Vec<ToolResult>,
}

/// The output of a tool call, as the client sent it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Id of the call.
    pub call_id: String,
    /// Its output.
    pub output: String,
}

impl Prompt {
    /// Reads a request body. Missing and unknown parts are taken as absent: strictness is not what is tested here.
    pub fn read(api: Api, body: &Value) -> Self {
        let messages = messages(api, body);
        let (said, results) = match api {
            Api::Anthropic => anthropic_turn(messages),
            Api::OpenAi => openai_turn(messages),
            Api::Responses => responses_turn(messages),
        };
        let limit = body
            .get("max_tokens")
            .or_else(|| body.get("max_completion_tokens"))
            .or_else(|| body.get("max_output_tokens"));
        Self {
            api,
            stream: body["stream"].as_bool().unwrap_or(false),
            stream_usage: body["stream_options"]["include_usage"]
                .as_bool()
                .unwrap_or(false),
            model: body["model"].as_str().unwrap_or("scripted").to_owned(),
            max_tokens: limit.and_then(Value::as_u64),
            tools: tool_names(body),
            system: system_text(api, body, messages),
            said,
            results,
        }
    }

    /// Whether this is an agent CLI's own housekeeping and not a turn: Claude Code probes its
    /// quota and its key with one token (`max_tokens: 1`) and has sessions named by a call
    /// without tools whose system prompt asks for a title. Such calls come at any time and beside
    /// the turn, so they must not use up what a test has queued.
    pub fn is_housekeeping(&self) -> bool {
        let probe = self.max_tokens.is_some_and(|limit| limit <= 1);
        probe || (self.tools.is_empty() && self.system.contains(TITLE_PROMPT))
    }

    /// The outputs of the tools just run, one per line.
    pub(crate) fn result_text(&self) -> String {
        let outputs: Vec<_> = self
            .results
            .iter()
            .map(|result| result.output.as_str())
            .collect();
        outputs.join("\n")
    }
}

/// Words of the system prompt with which Claude Code (2.1) has a session named.
const TITLE_PROMPT: &str = "sentence-case title";

/// Text blocks that Claude Code and Codex put beside the user's own.
const REMINDERS: [&str; 2] = ["<system-reminder>", "<environment_context>"];

fn anthropic_turn(messages: &[Value]) -> (String, Vec<ToolResult>) {
    // Newer clients put role "system" messages after the user's; only user messages say who speaks last.
    let mut users = messages
        .iter()
        .rev()
        .filter(|message| message["role"] == "user");
    let Some(last) = users.next() else {
        return (String::new(), Vec::new());
    };
    let results = blocks(last)
        .filter(|block| block["type"] == "tool_result")
        .map(tool_result)
        .collect::<Vec<_>>();
    let said = if results.is_empty() {
        user_text(last)
    } else {
        users
            .map(user_text)
            .find(|text| !text.is_empty())
            .unwrap_or_default()
    };
    (said, results)
}

fn tool_result(block: &Value) -> ToolResult {
    ToolResult {
        call_id: block["tool_use_id"].as_str().unwrap_or_default().to_owned(),
        output: content_text(&block["content"]),
    }
}

fn openai_turn(messages: &[Value]) -> (String, Vec<ToolResult>) {
    let mut results: Vec<_> = messages
        .iter()
        .rev()
        .take_while(|message| message["role"] == "tool")
        .map(|message| ToolResult {
            call_id: message["tool_call_id"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            output: content_text(&message["content"]),
        })
        .collect();
    results.reverse();
    let said = messages
        .iter()
        .rev()
        .find(|message| message["role"] == "user")
        .map(user_text)
        .unwrap_or_default();
    (said, results)
}

/// What the conversation is in.
fn messages(api: Api, body: &Value) -> &[Value] {
    let name = match api {
        Api::Anthropic | Api::OpenAi => "messages",
        Api::Responses => "input",
    };
    body[name].as_array().map_or(&[][..], Vec::as_slice)
}

fn responses_turn(items: &[Value]) -> (String, Vec<ToolResult>) {
    let is_result = |item: &&Value| {
        let kind = item["type"].as_str().unwrap_or_default();
        kind.ends_with("_call_output")
    };
    let results = items.iter().rev().take_while(is_result);
    let mut results: Vec<_> = results
        .map(|item| ToolResult {
            call_id: item["call_id"].as_str().unwrap_or_default().to_owned(),
            output: content_text(&item["output"]),
        })
        .collect();
    results.reverse();
    let users = items.iter().rev().filter(|item| item["role"] == "user");
    let said = users.map(user_text).find(|text| !text.is_empty());
    (said.unwrap_or_default(), results)
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    message["content"].as_array().into_iter().flatten()
}

fn user_text(message: &Value) -> String {
    if let Some(text) = message["content"].as_str() {
        return text.to_owned();
    }
    let texts: Vec<_> = blocks(message)
        .filter_map(|block| block["text"].as_str())
        .filter(|text| !REMINDERS.iter().any(|it| text.trim_start().starts_with(it)))
        .collect();
    texts.join("\n")
}

fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<_> = parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// What the APIs call the tools that are offered.
fn tool_names(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().into_iter().flatten();
    let name = |tool: &Value| {
        let name = tool["name"].as_str().or(tool["function"]["name"].as_str());
        name.unwrap_or_default().to_owned()
    };
    tools.map(name).collect()
}

fn system_text(api: Api, body: &Value, messages: &[Value]) -> String {
    match api {
        Api::Anthropic => content_text(&body["system"]),
        Api::OpenAi | Api::Responses => {
            let system = messages
                .iter()
                .filter(|message| message["role"] == "system" || message["role"] == "developer");
            let system = system.map(|message| content_text(&message["content"]));
            let instructions = body["instructions"].as_str().map(str::to_owned);
            let all: Vec<_> = instructions.into_iter().chain(system).collect();
            all.join("\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reminders_and_late_system_messages_are_not_the_users_words() {
        let body = json!({"model": "m", "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "<system-reminder>\ntoday is Monday\n</system-reminder>"},
                {"type": "text", "text": "hi"}]},
            {"role": "system", "content": "Available agent types"}]});
        assert_eq!(Prompt::read(Api::Anthropic, &body).said, "hi");
    }

    #[test]
    fn tool_results_keep_the_text_that_led_to_them() {
        let body = json!({"messages": [
            {"role": "user", "content": "run it"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "x", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "42"}]}]}]});
        let prompt = Prompt::read(Api::Anthropic, &body);
        assert_eq!(
            (prompt.said.as_str(), prompt.result_text().as_str()),
            ("run it", "42")
        );
    }

    #[test]
    fn prompt_only_the_newest_openai_tool_results_count() {
        let body = json!({"messages": [
            {"role": "user", "content": "go"},
            {"role": "tool", "tool_call_id": "old", "content": "0"},
            {"role": "assistant", "content": null},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "tool", "tool_call_id": "b", "content": "2"}]});
        let prompt = Prompt::read(Api::OpenAi, &body);
        assert_eq!(prompt.result_text(), "1\n2");
        assert_eq!(prompt.said, "go");
    }

    #[test]
    fn prompt_what_is_asked_by_responses_is_in_its_items() {
        let body = json!({"model": "m", "instructions": "be", "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "brief"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>"}]},
            {"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "1"}]});
        let prompt = Prompt::read(Api::Responses, &body);
        assert_eq!(
            (prompt.said.as_str(), prompt.result_text().as_str()),
            ("go", "1")
        );
        assert_eq!(prompt.system, "be\nbrief");
    }

    #[test]
    fn probes_are_housekeeping_and_plain_messages_are_not() {
        let probe = json!({"max_tokens": 1, "messages": [{"role": "user", "content": "quota"}]});
        let plain = json!({"max_tokens": 100, "messages": [{"role": "user", "content": "quota"}]});
        assert!(Prompt::read(Api::Anthropic, &probe).is_housekeeping());
        assert!(!Prompt::read(Api::Anthropic, &plain).is_housekeeping());
        let title = json!({"max_tokens": 100, "messages": [{"role": "user", "content": "hi"}],
            "system": [{"type": "text", "text": "Generate a concise, sentence-case title"}]});
        assert!(Prompt::read(Api::Anthropic, &title).is_housekeeping());
    }
}
