//! Rules of the real APIs that a client can break without a lenient server noticing; breaking one is a 400.

use std::collections::HashSet;

use serde_json::Value;

use crate::prompt::Api;

/// Checks the shape of a request. The error is the message for the client.
pub(crate) fn check(api: Api, body: &Value) -> Result<(), String> {
    if api == Api::Responses {
        return responses(body);
    }
    let messages = body["messages"]
        .as_array()
        .ok_or("messages: field required")?;
    if !body["model"].is_string() {
        return Err("model: field required".to_owned());
    }
    if messages.is_empty() {
        return Err("messages: at least one message is required".to_owned());
    }
    match api {
        Api::Anthropic => anthropic(body, messages),
        Api::OpenAi => openai(messages),
        Api::Responses => responses(body),
    }
}

/// Every call has its output somewhere after it, and every output its call before it.
fn responses(body: &Value) -> Result<(), String> {
    if !body["model"].is_string() {
        return Err("Missing required parameter: 'model'.".to_owned());
    }
    let items = body["input"]
        .as_array()
        .filter(|items| !items.is_empty())
        .ok_or("Missing required parameter: 'input'.")?;
    let mut open = HashSet::new();
    for item in items {
        let id = item["call_id"].as_str().unwrap_or_default();
        let kind = item["type"].as_str().unwrap_or_default();
        if kind.ends_with("_call_output") {
            if !open.remove(id) {
                return Err(format!(
                    "No tool call found for function call output with call_id {id}."
                ));
            }
        } else if kind.ends_with("_call") && !id.is_empty() {
            open.insert(id);
        }
    }
    match open.iter().next() {
        Some(id) => Err(format!("No tool output found for function call {id}.")),
        None => Ok(()),
    }
}

fn anthropic(body: &Value, messages: &[Value]) -> Result<(), String> {
    if !body["max_tokens"].is_u64() {
        return Err("max_tokens: field required".to_owned());
    }
    // Role "system" messages among the others are a beta that Claude Code uses; they take no part in the turn order.
    let messages: Vec<_> = messages
        .iter()
        .filter(|message| message["role"] != "system")
        .collect();
    let mut open = HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        let content = blocks(message);
        no_empty_text(index, message, content)?;
        close_calls(index, content, &mut open)?;
        open.extend(ids(content, "tool_use", "id"));
    }
    match messages.last().map(|message| &message["role"]) {
        Some(role) if role == "user" => Ok(()),
        _ => Err("messages: the conversation must end with a user message".to_owned()),
    }
}

fn blocks(message: &Value) -> &[Value] {
    message["content"].as_array().map_or(&[], Vec::as_slice)
}

fn no_empty_text(index: usize, message: &Value, content: &[Value]) -> Result<(), String> {
    let empty = |text: &Value| text.as_str().is_some_and(str::is_empty);
    let empty_block = content
        .iter()
        .any(|block| block["type"] == "text" && empty(&block["text"]));
    if empty_block || empty(&message["content"]) {
        return Err(format!(
            "messages.{index}: text content blocks must be non-empty"
        ));
    }
    Ok(())
}

/// Every call must have its result in the very next message, and every result its call in the one before.
fn close_calls(index: usize, content: &[Value], open: &mut HashSet<String>) -> Result<(), String> {
    for id in ids(content, "tool_result", "tool_use_id") {
        if !open.remove(&id) {
            return Err(format!(
                "messages.{index}: unexpected tool_use_id found in tool_result blocks: {id}"
            ));
        }
    }
    match open.iter().next() {
        Some(id) => Err(format!(
            "messages.{index}: tool_use ids were found without tool_result blocks immediately after: {id}"
        )),
        None => Ok(()),
    }
}

fn ids(content: &[Value], kind: &str, field: &str) -> Vec<String> {
    let of_kind = content.iter().filter(|block| block["type"] == kind);
    of_kind
        .filter_map(|block| block[field].as_str().map(str::to_owned))
        .collect()
}

fn openai(messages: &[Value]) -> Result<(), String> {
    let mut open = HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if !open.remove(id) {
                return Err(format!(
                    "messages.{index}: no preceding tool_calls entry has the id {id:?}"
                ));
            }
            continue;
        }
        if let Some(id) = open.iter().next() {
            return Err(format!(
                "messages.{index}: the tool call {id:?} has no response message"
            ));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str();
            arguments
                .ok_or_else(|| format!("messages.{index}: tool call arguments must be a string"))?;
            open.insert(call["id"].as_str().unwrap_or_default().to_owned());
        }
    }
    match open.iter().next() {
        Some(id) => Err(format!(
            "messages: the tool call {id:?} has no response message"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn anthropic(messages: Value) -> Result<(), String> {
        check(
            Api::Anthropic,
            &json!({"model": "m", "max_tokens": 5, "messages": messages}),
        )
    }

    #[test]
    fn tool_call_needs_its_result_next() {
        let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "x", "input": {}}]});
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "1"}]});
        let ask = json!({"role": "user", "content": "go"});
        assert!(anthropic(json!([ask, call, result])).is_ok());
        assert!(
            anthropic(json!([ask, call, ask]))
                .unwrap_err()
                .contains("without tool_result")
        );
        assert!(
            anthropic(json!([ask, result]))
                .unwrap_err()
                .contains("unexpected tool_use_id")
        );
    }

    #[test]
    fn empty_texts_and_a_trailing_assistant_are_refused() {
        assert!(anthropic(json!([{"role": "user", "content": ""}])).is_err());
        assert!(
            anthropic(
                json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
            )
            .is_err()
        );
    }

    #[test]
    fn outputs_of_responses_answer_their_calls() {
        let check = |input: Value| check(Api::Responses, &json!({"model": "m", "input": input}));
        let call = json!({"type": "function_call", "call_id": "c", "name": "x", "arguments": "{}"});
        let output = json!({"type": "function_call_output", "call_id": "c", "output": "1"});
        assert!(check(json!([call, output])).is_ok());
        assert!(
            check(json!([call]))
                .unwrap_err()
                .contains("No tool output found")
        );
        assert!(
            check(json!([output]))
                .unwrap_err()
                .contains("No tool call found")
        );
        assert!(check(json!([])).is_err());
    }

    #[test]
    fn openai_tool_messages_answer_their_calls() {
        let check =
            |messages: Value| check(Api::OpenAi, &json!({"model": "m", "messages": messages}));
        let call = json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "x", "arguments": "{}"}}]});
        let result = json!({"role": "tool", "tool_call_id": "c", "content": "1"});
        let ask = json!({"role": "user", "content": "go"});
        assert!(check(json!([ask, call, result])).is_ok());
        assert!(check(json!([ask, call])).is_err());
        assert!(check(json!([ask, result])).is_err());
    }
}
