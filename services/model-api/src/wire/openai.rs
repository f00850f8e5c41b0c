//! Requests of OpenAI's APIs.

use openclaw_settings::ProviderTool;

use super::body::Body;
use super::tools::{self, Need};
use super::tree::{Fields, Tree};
use super::{Grants, Unfit, fields, links};

/// Fields of the responses API that reach the model alone.
const RESPONSES: [&str; 26] = [
    "client_metadata",
    "context_management",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
    "verbosity",
];
/// What the responses API would look up or keep at the provider.
const KEPT: [&str; 3] = ["conversation", "previous_response_id", "prompt"];
/// Fields of chat completions that reach the model alone.
const CHAT: [&str; 21] = [
    "frequency_penalty",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "parallel_tool_calls",
    "presence_penalty",
    "prompt_cache_key",
    "reasoning",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "stream",
    "stream_options",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_p",
    "user",
];
/// Tools that whoever asks runs itself, and the one that looks through the
/// tools of the request.
const RUN_BY_THE_CLIENT: [&str; 9] = [
    "apply_patch",
    "computer",
    "computer_use",
    "computer_use_preview",
    "custom",
    "function",
    "local_shell",
    "namespace",
    "tool_search",
];
/// Beginnings of the names of those that the provider runs.
const RUN_BY_THE_PROVIDER: [(&str, ProviderTool); 5] = [
    ("code_interpreter", ProviderTool::CodeExecution),
    ("file_search", ProviderTool::FileSearch),
    ("image_generation", ProviderTool::ImageGeneration),
    ("mcp", ProviderTool::Mcp),
    ("web_search", ProviderTool::WebSearch),
];

/// Judges a request of the responses API, and takes out of it what it can do
/// without.
pub(super) fn judge_responses(body: &mut Body<'_>, grants: &Grants) -> Result<(), Unfit> {
    let request = &mut body.fields;
    // Its answer comes to another request, past the count of what it costs.
    if fields::is_set(request, "background") {
        let what = "background".to_owned();
        return Err(Unfit::NotPassed { what });
    }
    for name in KEPT {
        fields::need_all(request, name, grants)?;
    }
    fields::keep(request, &RESPONSES, grants);
    fields::keep_price(request);
    if !grants.has_all() {
        // Kept at the provider unless said otherwise.
        request.insert("store".to_owned(), false.into());
    }
    for name in ["input", "instructions"] {
        links::check(body.said.get(name), grants)?;
    }
    if !grants.has_all() && has_nameless_items(body.said.get("input")) {
        let what = "an item of the input without type and role".to_owned();
        return Err(Unfit::NotPassed { what });
    }
    tools::keep_within(body.said.get_mut("input"), need, grants)?;
    tools::keep(&mut body.said, need, grants)
}

/// Whether `input` has an item that says neither what it is nor whose: the API takes such
/// a one for a reference to what is kept at the provider, maybe of somebody else's.
fn has_nameless_items(input: Option<&Tree<'_>>) -> bool {
    let Some(Tree::List(items)) = input else {
        return false;
    };
    items.iter().any(|item| {
        let has = |name| matches!(item.get(name), Some(Tree::Text(text)) if !text.is_empty());
        matches!(item, Tree::Object(_)) && !has("type") && !has("role")
    })
}

/// Judges a request for a chat completion, and takes out of it what it can do
/// without.
pub(super) fn judge_chat(body: &mut Body<'_>, grants: &Grants) -> Result<(), Unfit> {
    const SEARCH: &str = "web_search_options";
    let request = &mut body.fields;
    fields::need(request, SEARCH, ProviderTool::WebSearch, grants)?;
    let search = grants.has(ProviderTool::WebSearch).then_some(SEARCH);
    let known: Vec<&str> = CHAT.into_iter().chain(search).collect();
    fields::keep(request, &known, grants);
    fields::keep_price(request);
    links::check(body.said.get("messages"), grants)?;
    tools::keep_within(body.said.get_mut("messages"), need, grants)?;
    tools::keep(&mut body.said, need, grants)
}

fn need(tool: &Fields<'_>) -> Need {
    let Some(Tree::Text(kind)) = tool.get("type") else {
        return Need::Unknown;
    };
    if kind == "shell" {
        let place = tool
            .get("environment")
            .and_then(|it| it.get("type")?.as_str());
        // Elsewhere it runs in a container of the provider's.
        return match place {
            Some("local") => Need::Nothing,
            _ => Need::Grant(ProviderTool::CodeExecution),
        };
    }
    if RUN_BY_THE_CLIENT.contains(&&**kind) {
        return Need::Nothing;
    }
    let mut known = RUN_BY_THE_PROVIDER.iter();
    known
        .find(|(beginning, _)| kind.starts_with(beginning))
        .map_or(Need::Unknown, |(_, tool)| Need::Grant(*tool))
}
