//! What an agent's process may reach over the network, from its policy.

use openclaw_config::settings::sandbox::Missing;
use openclaw_config::settings::{AgentSettings, Network as Policy, SandboxLevel, ServerNetwork};
use openclaw_sandbox::Network;

use crate::confinement::{Confinement, Error};
use crate::doors::{Doors, Reach};

/// Where the agent's proxy leads, if it is to have one. Without a sandbox a
/// list would promise what nothing enforces.
pub(crate) fn elsewhere(agent: &AgentSettings, level: SandboxLevel) -> Option<Reach> {
    match (&agent.sandbox.network, level) {
        (Policy::Allowlist(hosts), SandboxLevel::Strict | SandboxLevel::Workspace) => {
            Some(Reach::Listed(hosts.clone()))
        }
        _ => None,
    }
}

/// What a server of tools reaches: its doors and its sockets. Without a sandbox
/// nothing would hold it to them, and it has what its user has.
pub(crate) fn of_server(network: &ServerNetwork, level: SandboxLevel) -> (Doors, Network) {
    let reach = match network {
        ServerNetwork::None => None,
        ServerNetwork::Allowlist(hosts) => Some(Reach::Listed(hosts.clone())),
        ServerNetwork::Full => Some(Reach::Elsewhere),
    };
    match (reach, level) {
        (None, _) => (Doors::default(), Network::ModelOnly),
        (Some(_), SandboxLevel::Off) => (Doors::default(), Network::Full),
        (reach, SandboxLevel::Strict | SandboxLevel::Workspace) => {
            let doors = Doors {
                elsewhere: reach,
                ..Doors::default()
            };
            let ports = doors.ports();
            (doors, Network::Loopback(ports))
        }
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
