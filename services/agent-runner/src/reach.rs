//! What an agent's process may reach over the network, from its policy.

use openclaw_config::settings::sandbox::Missing;
use openclaw_config::settings::{AgentSettings, Host, Network as Policy, SandboxLevel};
use openclaw_sandbox::Network;

use crate::confinement::{Confinement, Error};
use crate::doors::Doors;

/// The hosts for the agent's proxy, if it is to have one. Without a sandbox a
/// list would promise what nothing enforces.
pub(crate) fn hosts(agent: &AgentSettings, level: SandboxLevel) -> Option<Vec<Host>> {
    match (&agent.sandbox.network, level) {
        (Policy::Allowlist(hosts), SandboxLevel::Strict | SandboxLevel::Workspace) => {
            Some(hosts.clone())
        }
        _ => None,
    }
}

/// The sockets of a process that has these doors.
pub(crate) fn network(agent: &AgentSettings, doors: &Doors) -> Network {
    match (&agent.sandbox.network, doors.ports()) {
        (Policy::Full, _) => Network::Full,
        (_, ports) if ports.is_empty() => Network::ModelOnly,
        (_, ports) => Network::Loopback(ports),
    }
}

/// Fails where the machine cannot keep it to that.
pub(crate) async fn require(
    confinement: &Confinement,
    level: SandboxLevel,
    network: &Network,
    missing: Missing,
) -> Result<(), Error> {
    match (level, network) {
        (SandboxLevel::Workspace, Network::Loopback(_)) => confinement.require_ports(missing).await,
        _ => Ok(()),
    }
}
