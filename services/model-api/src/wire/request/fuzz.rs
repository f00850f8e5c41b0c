//! Requests to a model, as a program in the sandbox may write them.

use serde_json::{Map, json};

use super::*;

/// The APIs; the first byte chooses.
const APIS: [Api; 4] = [Api::Anthropic, Api::Bedrock, Api::Responses, Api::Chat];
/// Beginnings of the kinds of tools that the provider runs.
const PROVIDERS: [&str; 7] = [
    "code_execution",
    "code_interpreter",
    "file_search",
    "image_generation",
    "mcp",
    "web_fetch",
    "web_search",
];
/// Fields that cost more, are kept at the provider, or reach others.
const NEVER_SENT: [&str; 10] = [
    "background",
    "container",
    "conversation",
    "fallbacks",
    "mcp_servers",
    "previous_response_id",
    "prompt",
    "service_tier",
    "speed",
    "web_search_options",
];
/// What a number may grow by when it is written anew: `1e15` is written with
/// all its digits.
const GROWTH: usize = 8;

/// Any body after a byte that chooses the API. What may go out is JSON that is
/// judged the same again, says nothing of the provider's own tools, names nothing
/// to be fetched, and goes out too where everything is granted.
pub fn model_request(bytes: &[u8]) {
    let Some((api, body)) = bytes.split_first() else {
        return;
    };
    let api = APIS[usize::from(*api) % APIS.len()];
    let nothing = Grants::default();
    let Ok(judged) = judge(api, body, &nothing, None, &ModelOptions::default()) else {
        return;
    };
    assert!(judged.bytes.len() <= GROWTH * body.len() + 64);
    let again = judge(api, &judged.bytes, &nothing, None, &ModelOptions::default())
        .expect("it may go out again");
    assert_eq!(again.bytes, judged.bytes);
    assert_eq!(again.most_output, judged.most_output);
    let everything = json!({"all": true, "tools": [], "hosts": []});
    let everything = serde_json::from_value(everything).expect("grants");
    judge(api, body, &everything, None, &ModelOptions::default())
        .expect("where all is granted, it is too");
    let fields = serde_json::from_slice(&judged.bytes).expect("it is a JSON object");
    check(api, &fields);
    let named = judge(api, body, &nothing, Some("m"), &ModelOptions::default())
        .expect("a model changes nothing");
    assert_eq!(named.model, "m");
}

fn check(api: Api, fields: &Map<String, Value>) {
    for name in NEVER_SENT {
        let is_custom = name == "prompt" && api != Api::Responses;
        assert!(
            is_custom || !fields.contains_key(name) || is_nothing(&fields[name]),
            "{name}"
        );
    }
    assert!(api != Api::Responses || fields["store"] == false);
    tools(fields.get("tools").unwrap_or(&Value::Null));
    for name in ["messages", "system", "input", "instructions"] {
        content(fields.get(name).unwrap_or(&Value::Null));
        brought(fields.get(name).unwrap_or(&Value::Null));
    }
}

/// What was said before brings none of the provider's tools.
fn brought(value: &Value) {
    const DATA: [&str; 5] = ["arguments", "input", "input_schema", "parameters", "schema"];
    match value {
        Value::Array(items) => items.iter().for_each(brought),
        Value::Object(fields) => {
            tools(&value["tools"]);
            let said = fields
                .iter()
                .filter(|(name, _)| !DATA.contains(&name.as_str()));
            said.for_each(|(_, inner)| brought(inner));
        }
        _ => {}
    }
}

fn is_nothing(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || *value == json!([])
}

fn tools(tools: &Value) {
    for tool in tools.as_array().into_iter().flatten() {
        let kind = tool["type"].as_str().unwrap_or_default();
        assert!(!PROVIDERS.iter().any(|it| kind.starts_with(it)), "{kind}");
        self::tools(&tool["tools"]);
    }
}

/// What the model is to read names nothing that lies elsewhere. What a tool was
/// called with is the tool's own.
fn content(value: &Value) {
    match value {
        Value::Array(items) => items.iter().for_each(content),
        Value::Object(fields) => {
            let kind = value["type"].as_str().unwrap_or_default();
            assert!(!["container_upload", "item_reference"].contains(&kind));
            let is_call = kind.ends_with("_call") || kind.ends_with("tool_use");
            for (name, inner) in fields {
                let is_url = name.ends_with("_url") || (name == "url" && is_source(value));
                let url = inner.as_str().filter(|_| is_url).unwrap_or("data:");
                let scheme = url.get(..5).unwrap_or_default();
                assert!(scheme.eq_ignore_ascii_case("data:"), "{name}: {url}");
                assert!(name != "file_id" || !inner.is_string());
                assert!(
                    is_call || is_said(name, kind) || !names_a_place(inner),
                    "{name}: {inner}"
                );
                if !is_call {
                    content(inner);
                }
            }
        }
        _ => {}
    }
}

/// Whether a value says how an image or a document is given.
fn is_source(value: &Value) -> bool {
    let fields = value.as_object().map(Map::len);
    fields == Some(2) && value["type"] == "url"
}

/// Whether what is under `name` is read by the model, or tells where something was found.
fn is_said(name: &str, kind: &str) -> bool {
    const SAID: [&str; 24] = [
        "arguments",
        "cited_text",
        "content",
        "context",
        "data",
        "description",
        "encrypted_content",
        "filename",
        "id",
        "input",
        "instructions",
        "lines",
        "name",
        "output",
        "queries",
        "query",
        "reasoning",
        "reasoning_content",
        "refusal",
        "signature",
        "stderr",
        "stdout",
        "text",
        "thinking",
    ];
    let was_found = ["_location", "_result", "_citation", "_page", "search"];
    let was_found = was_found.iter().any(|end| kind.ends_with(end));
    SAID.contains(&name) || name == "title" || was_found && matches!(name, "source" | "url")
}

fn names_a_place(value: &Value) -> bool {
    let all: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    };
    let mut texts = all.into_iter().filter_map(Value::as_str);
    let schemes = ["http://", "https://", "s3://", "gs://", "file://"];
    texts.any(|text| schemes.iter().any(|it| text.trim_start().starts_with(it)))
}
