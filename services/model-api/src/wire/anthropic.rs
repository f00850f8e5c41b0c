//! Requests of the Messages API.

use openclaw_settings::ProviderTool;
use serde_json::Value;

use super::body::Body;
use super::tools::{self, Need};
use super::tree::{Fields, Tree};
use super::{Grants, Unfit, betas, fields, links};

/// Fields that reach the model alone.
const FIELDS: [&str; 19] = [
    "anthropic_beta",
    "anthropic_version",
    "cache_control",
    "context_management",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];
/// Beginnings of the types of tools that whoever asks runs itself, and of the
/// one that looks through the tools of the request.
const RUN_BY_THE_CLIENT: [&str; 5] = [
    "bash_",
    "computer_",
    "memory_",
    "text_editor_",
    "tool_search_tool_",
];
/// Beginnings of the types of those that the provider runs.
const RUN_BY_THE_PROVIDER: [(&str, ProviderTool); 4] = [
    ("code_execution_", ProviderTool::CodeExecution),
    ("mcp_toolset", ProviderTool::Mcp),
    ("web_fetch_", ProviderTool::WebFetch),
    ("web_search_", ProviderTool::WebSearch),
];
/// Where a request of Bedrock's names the features it uses.
const BETA: &str = "anthropic_beta";

/// Judges a request, and takes out of it what it can do without.
pub(super) fn judge(body: &mut Body<'_>, grants: &Grants) -> Result<(), Unfit> {
    let request = &mut body.fields;
    fields::need(request, "mcp_servers", ProviderTool::Mcp, grants)?;
    fields::need(request, "container", ProviderTool::CodeExecution, grants)?;
    let granted = [
        ("mcp_servers", ProviderTool::Mcp),
        ("container", ProviderTool::CodeExecution),
    ];
    let granted = granted.into_iter().filter(|(_, tool)| grants.has(*tool));
    let known: Vec<&str> = FIELDS
        .into_iter()
        .chain(granted.map(|(name, _)| name))
        .collect();
    fields::keep(request, &known, grants);
    fields::keep_price(request);
    for name in ["messages", "system"] {
        links::check(body.said.get(name), grants)?;
    }
    if let Some(features) = request.get_mut(BETA) {
        let Value::Array(names) = features else {
            return Err(Unfit::Shape { what: BETA });
        };
        names.retain(|name| {
            name.as_str()
                .is_some_and(|name| betas::passes(name, grants))
        });
    }
    tools::keep_within(body.said.get_mut("messages"), need, grants)?;
    tools::keep(&mut body.said, need, grants)
}

fn need(tool: &Fields<'_>) -> Need {
    match tool.get("type") {
        None | Some(Tree::Null) => Need::Nothing,
        Some(Tree::Text(kind)) => need_of(kind),
        Some(_) => Need::Unknown,
    }
}

fn need_of(kind: &str) -> Need {
    let begins = |beginning: &str| kind.starts_with(beginning);
    if kind == "custom" || RUN_BY_THE_CLIENT.into_iter().any(begins) {
        return Need::Nothing;
    }
    let mut known = RUN_BY_THE_PROVIDER.iter();
    known
        .find(|(beginning, _)| begins(beginning))
        .map_or(Need::Unknown, |(_, tool)| Need::Grant(*tool))
}
