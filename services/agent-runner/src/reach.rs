//! The network reach of an agent's process, from its policy.

use openclaw_handoff::proxies::{Proxies, Reach};
use openclaw_sandbox::{Level, Network};
use openclaw_settings::sandbox::Missing;
use openclaw_settings::{AgentSettings, Network as Policy, ServerNetwork};

use crate::confinement::{Confinement, Error};
use crate::plan::Bounds;

/// The reach of the agent's proxy, if it gets one. A list of hosts is not offered where nothing
/// enforces it: without a sandbox, or where no program can be kept to it.
pub(crate) async fn elsewhere(
    confinement: &Confinement,
    agent: &AgentSettings,
    level: Level,
    missing: Missing,
) -> Option<Reach> {
    let Policy::Allowlist(hosts) = &agent.sandbox.network else {
        return None;
    };
    if level == Level::Off || confinement.bars_proxies(&agent.sandbox, missing).await {
        return None;
    }
    Some(Reach::Listed(hosts.clone()))
}

/// The reach of a server of tools: its proxies and its sockets. Without a sandbox nothing would
/// keep it to them, and it reaches all that its user does.
pub(crate) fn of_server(network: &ServerNetwork, level: Level) -> (Proxies, Network) {
    let reach = match network {
        ServerNetwork::None => None,
        ServerNetwork::Allowlist(hosts) => Some(Reach::Listed(hosts.clone())),
        ServerNetwork::Full => Some(Reach::Elsewhere),
    };
    match (reach, level) {
        (None, _) => (Proxies::default(), Network::ModelOnly),
        (Some(_), Level::Off) => (Proxies::default(), Network::Full),
        (reach, _) => {
            let proxies = Proxies {
                elsewhere: reach,
                ..Proxies::default()
            };
            let ports = proxies.ports();
            (proxies, Network::Loopback(ports))
        }
    }
}

/// The sockets of a process that has these proxies.
pub(crate) fn network(agent: &AgentSettings, level: Level, proxies: &Proxies) -> Network {
    match (&agent.sandbox.network, proxies.ports()) {
        _ if level == Level::Text => Network::ModelOnly,
        (Policy::Full, _) => Network::Full,
        (_, ports) if ports.is_empty() => Network::ModelOnly,
        (_, ports) => Network::Loopback(ports),
    }
}

/// How far a process with these sockets gets. Fails where the machine cannot keep it to that.
pub(crate) async fn bounds(
    confinement: &Confinement,
    level: Level,
    network: Network,
    missing: Missing,
) -> Result<Bounds, Error> {
    let is_held_to_doors = match (level, &network) {
        (Level::Workspace, Network::Loopback(_)) => {
            confinement.require_ports(missing).await?;
            confinement.judges_addresses().await
        }
        _ => false,
    };
    Ok(Bounds {
        level,
        network,
        is_held_to_doors,
    })
}
