//! The folder of the profiles.

use std::path::PathBuf;

use openclaw_config::paths::Paths;

/// Where an agent's profiles are.
pub fn folder(paths: &Paths, agent_id: &str) -> PathBuf {
    paths.agent(agent_id).join("auth")
}
