//! Which agents have heartbeats.

use crate::keys::heartbeat::Heartbeat;
use crate::settings::Settings;

impl Settings {
    /// The heartbeat of an agent, if it has one that is not switched off. Where an
    /// agent's own settings have one, those without have none, as in OpenClaw.
    pub fn heartbeat(&self, agent: &str) -> Option<&Heartbeat> {
        let stated = &self.stated.agents;
        let own = |id: &str| {
            let mut listed = stated.list.iter();
            listed.any(|it| it.id == id && it.agent.heartbeat.is_some())
        };
        let merged = self.agent(agent)?.stated.heartbeat.as_ref()?;
        let is_meant = if stated.list.iter().any(|it| it.agent.heartbeat.is_some()) {
            own(agent)
        } else {
            let named = merged.agent_id.as_deref().map(str::trim);
            named.is_none_or(|it| it.is_empty() || it.eq_ignore_ascii_case(agent))
        };
        Some(merged).filter(|it| is_meant && !it.every.0.is_zero())
    }
}
