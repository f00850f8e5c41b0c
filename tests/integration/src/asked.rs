//! What the model was asked.

use scripted_model::{Recorded, Server};
use serde_json::Value;

use crate::within;

/// Fields that hold no words.
const MARKUP: [&str; 2] = ["type", "cache_control"];

/// The turns the model was asked, once there are `count`.
pub async fn turns(model: &Server, count: usize) -> Vec<Recorded> {
    let what = format!("{count} requests to the model");
    within(&what, model.wait_for_turns(count)).await
}

/// Every text in a request, one after the other.
pub fn words(request: &Recorded) -> String {
    let mut words = String::new();
    collect(&request.json(), &mut words);
    words
}

/// The roles and texts of a request's messages, in any API.
pub fn messages(request: &Recorded) -> Vec<(String, String)> {
    let body = request.json();
    let messages = body["messages"].as_array().or(body["input"].as_array());
    let messages = messages.cloned().unwrap_or_default();
    let pair = |message: &Value| {
        let mut words = String::new();
        collect(&message["content"], &mut words);
        collect(&message["tool_calls"], &mut words);
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        (role, words)
    };
    messages.iter().map(pair).collect()
}

/// The names of the tools that a request offers, in any API; those of a
/// namespace as `NAMESPACE__TOOL`.
pub fn tools(request: &Recorded) -> Vec<String> {
    let body = request.json();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| {
        let name = tool["name"].as_str().or(tool["function"]["name"].as_str());
        name.or(tool["type"].as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let names = |tool: &Value| match tool["tools"].as_array() {
        Some(inner) => inner
            .iter()
            .map(|one| format!("{}__{}", name(tool), name(one)))
            .collect(),
        None => vec![name(tool)],
    };
    tools.iter().flat_map(names).collect()
}

fn collect(value: &Value, words: &mut String) {
    match value {
        Value::String(text) => {
            words.push_str(text);
            words.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !MARKUP.contains(&name.as_str()))
            .for_each(|(_, field)| collect(field, words)),
        _ => {}
    }
}
