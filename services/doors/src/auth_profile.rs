//! Which auth profiles there are only the agent-runner knows, which has the credentials.

use openclaw_conversations::Refusal;
use openclaw_proto::runner;
use openclaw_sessions::AgentId;
use openclaw_sessions::store::Patch;

/// Refuses a profile that turns of the agent could not use.
pub async fn check(runner: &runner::Client, agent: &AgentId, patch: &Patch) -> Result<(), Refusal> {
    let Some(id) = patch.auth_profile() else {
        return Ok(());
    };
    let status = runner.status().await;
    let status = status.map_err(Refusal::NoRunner)?;
    let mut agents = status.agents.into_iter();
    let own = agents.find(|known| known.agent_id == agent.as_str());
    let known = own.map(|known| known.auth_profiles).unwrap_or_default();
    if known.iter().any(|known| known == id) {
        Ok(())
    } else {
        Err(Refusal::UnknownAuthProfile {
            id: id.to_owned(),
            agent: agent.clone(),
            known: if known.is_empty() {
                "it has none".to_owned()
            } else {
                format!("it has {}", known.join(", "))
            },
        })
    }
}
