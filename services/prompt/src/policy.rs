//! Which tools an agent's settings leave it.

use openclaw_policy::catalog::Profile;
use openclaw_policy::{Layer, Policy};
use openclaw_settings::{AgentSettings, ToolLayer};

/// The agent's policy.
pub fn policy(agent: &AgentSettings) -> Policy {
    let layer = |layer: &ToolLayer| Layer {
        profile: layer.profile.as_deref().and_then(Profile::parse),
        allow: layer.allow.clone(),
        also_allow: layer.also_allow.clone(),
        deny: layer.deny.clone(),
        off: layer
            .off
            .iter()
            .map(|(entry, key)| ((*entry).to_owned(), (*key).to_owned()))
            .collect(),
    };
    Policy::new(agent.tools.layers.iter().map(layer).collect())
}
