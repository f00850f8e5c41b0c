//! `tools.catalog`: the tools that agents have.

use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Call};

/// A tool: its name and what it is for.
type Tool = (&'static str, &'static str);

/// The groups. The agent-runner gives the native backend exactly these; other
/// backends bring their own beside the last group.
const GROUPS: [(&str, &str, &[Tool]); 3] = [
    (
        "fs",
        "Files",
        &[
            ("read_file", "Read a file of the workspace"),
            ("write_file", "Create or overwrite a file of the workspace"),
            ("list_directory", "List a folder of the workspace"),
        ],
    ),
    (
        "runtime",
        "Runtime",
        &[("execute_shell", "Run a shell command in the sandbox")],
    ),
    (
        "memory",
        "Memory",
        &[
            ("memory_search", "Search memory"),
            ("memory_remember", "Keep something in memory"),
            ("status", "Say how the assistant is set up"),
        ],
    ),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    agent_id: Option<Filled>,
    #[serde(rename = "includePlugins")]
    _include_plugins: Option<bool>,
}

/// `tools.catalog`
pub(super) async fn catalog(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.params()?;
    let settings = call.gateway.configuration.settings();
    let agent = params.agent_id.map(|id| id.0);
    let agent = agent.unwrap_or_else(|| settings.default_agent.clone());
    super::agents::known(&settings, &agent)?;
    let groups: Vec<Value> = GROUPS
        .iter()
        .map(|(id, label, tools)| {
            let tools: Vec<Value> = tools.iter().map(tool).collect();
            json!({ "id": id, "label": label, "source": "core", "tools": tools })
        })
        .collect();
    Ok(json!({
        "agentId": agent,
        "profiles": [{ "id": "full", "label": "Full" }],
        "groups": groups,
    })
    .into())
}

/// `/tools`
pub(super) fn words() -> String {
    let tools = GROUPS.iter().flat_map(|(_, _, tools)| tools.iter());
    let lines: Vec<String> = tools
        .map(|(name, description)| format!("- {name}: {description}"))
        .collect();
    format!("Tools:\n{}", lines.join("\n"))
}

fn tool((name, description): &Tool) -> Value {
    json!({
        "id": name,
        "label": name,
        "description": description,
        "source": "core",
        "defaultProfiles": ["full"],
    })
}
