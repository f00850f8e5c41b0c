//! `tools.catalog`: the tools that agents have.

use openclaw_config::settings::AgentSettings;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::SessionKey;
use openclaw_tools::catalog::{GROUPS, KNOWN, Known, Profile};
use openclaw_tools::{Layer, Policy};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Call};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    agent_id: Option<Filled>,
    #[serde(rename = "includePlugins")]
    _include_plugins: Option<bool>,
}

/// `tools.catalog`: those that the agent's policy leaves.
pub(super) async fn catalog(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.params()?;
    let settings = call.server.core.configuration.settings();
    let agent = params.agent_id.map(|id| id.0);
    let agent = agent.unwrap_or_else(|| settings.default_agent.clone());
    super::agents::known(&settings, &agent)?;
    let policy = settings.agent(&agent).map(policy).unwrap_or_default();
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

/// `/tools`: those that the policy of the session's agent leaves.
pub(super) fn words(call: &Call, key: &SessionKey) -> String {
    let settings = call.server.core.configuration.settings();
    let policy = settings.agent(key.agent().as_str()).map(policy);
    let policy = policy.unwrap_or_default();
    let allowed = KNOWN
        .iter()
        .filter(|tool| policy.denies(tool.name).is_none());
    let lines: Vec<String> = allowed
        .map(|tool| format!("- {}: {}", tool.name, tool.summary))
        .collect();
    format!("Tools:\n{}", lines.join("\n"))
}

/// As the agent-runner has it.
fn policy(agent: &AgentSettings) -> Policy {
    let layers = agent.tools.layers.iter().map(|layer| Layer {
        profile: layer.profile.as_deref().and_then(Profile::parse),
        allow: layer.allow.clone(),
        also_allow: layer.also_allow.clone(),
        deny: layer.deny.clone(),
    });
    Policy::new(layers.collect())
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
