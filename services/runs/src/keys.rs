//! Which conversation a message belongs to.

use openclaw_conversations::Refusal;
use openclaw_conversations::route;
use openclaw_proto::gateway;
use openclaw_sessions::{AgentId, SessionKey};
use openclaw_settings::SessionScope;
use openclaw_settings::Settings;

/// The canonical key, of an agent that is configured.
pub fn named(
    settings: &Settings,
    session_key: &str,
    agent_id: &str,
) -> Result<SessionKey, Refusal> {
    let named = Some(agent_id).filter(|agent| !agent.is_empty());
    let agent: AgentId = named.unwrap_or(&settings.default_agent).parse()?;
    let key = route::scoped(SessionKey::parse(session_key, &agent)?, &settings.session);
    if named.is_some() && *key.agent() != agent {
        return Err(Refusal::OtherAgent { key, agent });
    }
    of_configured_agent(settings, key)
}

/// The key of the conversation that a message from `route` belongs to.
pub fn routed(
    settings: &Settings,
    channel: &str,
    route: gateway::Route,
    agent_id: &str,
) -> Result<SessionKey, Refusal> {
    let agent = match agent_id {
        "" => settings.default_agent.as_str(),
        agent => agent,
    };
    let agent: AgentId = agent.parse()?;
    let session = &settings.session;
    let scope = route::scope(session.dm_scope);
    let key = match session.scope {
        SessionScope::Global => SessionKey::global(&agent),
        SessionScope::PerSender => {
            route::of(channel, route).key(&agent, scope, &session.identity_links)?
        }
    };
    of_configured_agent(settings, key)
}

fn of_configured_agent(settings: &Settings, key: SessionKey) -> Result<SessionKey, Refusal> {
    if settings.agent(key.agent().as_str()).is_none() {
        return Err(Refusal::UnknownAgent {
            agent: key.agent().clone(),
            configured: settings.agents.keys().cloned().collect(),
        });
    }
    Ok(key)
}
