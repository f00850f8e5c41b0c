//! `tools.catalog`: the tools that agents have.

use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_runs::held;
use openclaw_tools::catalog::{GROUPS, KNOWN, Known, Profile};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Call};

methods! { "tools.catalog" => READ, catalog; }

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    agent_id: Option<Filled>,
    #[serde(rename = "includePlugins")]
    _include_plugins: Option<bool>,
}

/// `tools.catalog`: those that the agent's policy leaves.
async fn catalog(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.params()?;
    let settings = call.context.core.configuration.settings();
    let agent = params.agent_id.map(|id| id.0);
    let agent = agent.unwrap_or_else(|| settings.default_agent.clone());
    super::agents::known(&settings, &agent)?;
    let runner = &call.context.core.runner;
    let policy = held::tool_policy(runner, settings.agent(&agent)).await;
    let groups = GROUPS.iter().map(|(id, label)| {
        let own = KNOWN.iter().filter(|tool| tool.group == *id);
        let allowed = own.filter(|tool| policy.denies(tool.name).is_none());
        let tools: Vec<Value> = allowed.map(tool).collect();
        json!({ "id": id, "label": label, "source": "core", "tools": tools })
    });
    Ok(json!({
        "agentId": agent,
        "profiles": Profile::ALL.map(|profile| json!({
            "id": profile.name(),
            "label": label(profile),
        })),
        "groups": groups.collect::<Vec<_>>(),
    })
    .into())
}

fn label(profile: Profile) -> &'static str {
    match profile {
        Profile::Minimal => "Minimal",
        Profile::Coding => "Coding",
        Profile::Messaging => "Messaging",
        Profile::Full => "Full",
    }
}

fn tool(tool: &Known) -> Value {
    let profiles = Profile::ALL.into_iter().filter(|it| it.has(tool.group));
    json!({
        "id": tool.name,
        "label": tool.name,
        "description": tool.summary,
        "source": "core",
        "defaultProfiles": profiles.map(Profile::name).collect::<Vec<_>>(),
    })
}
