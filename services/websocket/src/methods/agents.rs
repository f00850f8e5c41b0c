//! `agents.*` and `agent.identity.get`.

use openclaw_protocol::Failure;
use openclaw_settings::Settings;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Answer, Call};

pub(super) mod identity;

methods! { "agents.list" => READ, list; }

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// `agents.list`
async fn list(mut call: Call) -> Result<Answer, Failure> {
    let Nothing {} = call.params()?;
    let settings = call.context.core.configuration.settings();
    let agents: Vec<Value> = settings
        .agents
        .values()
        .map(|it| agent(it, &settings))
        .collect();
    let sole = settings.agents.len() == 1;
    Ok(json!({
        "defaultId": settings.default_agent,
        "ownership": if sole { "sole" } else { "explicit" },
        "selectionRequired": false,
        "mainKey": "main",
        "scope": settings.session.scope.name(),
        "agents": agents,
    })
    .into())
}

fn agent(agent: &openclaw_settings::AgentSettings, settings: &Settings) -> Value {
    let mut value = json!({
        "id": agent.id,
        "kind": "agent",
        "workspace": agent.workspace.display().to_string(),
    });
    let persona = &agent.persona;
    if let Some(name) = &persona.name {
        value["name"] = json!(name);
    }
    let identity: Map<String, Value> = [
        ("name", &persona.name),
        ("theme", &persona.theme),
        ("emoji", &persona.emoji),
        ("avatar", &persona.avatar),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some((name.to_owned(), json!(text.as_ref()?))))
    .collect();
    if !identity.is_empty() {
        value["identity"] = Value::Object(identity);
    }
    if let Some(model) = agent.model.as_ref().or(settings.default_model.as_ref()) {
        value["model"] = json!({ "primary": model });
    }
    value
}

/// An error that names the agents there are, unless `id` is one.
pub(super) fn known(settings: &Settings, id: &str) -> Result<(), Failure> {
    if settings.agent(id).is_some() {
        return Ok(());
    }
    let there: Vec<&str> = settings.agents.keys().map(String::as_str).collect();
    let failure = Failure::invalid(format!(
        "unknown agent id \"{id}\"; configured: {}",
        there.join(", ")
    ));
    Err(failure.with_details(json!({ "code": "UNKNOWN_AGENT_ID", "agentId": id })))
}
