//! The confinement of an agent's process, from the settings.

use std::path::Path;

use openclaw_backends::environment::Variables;
use openclaw_backends::places::Places;
use openclaw_sandbox::{Closed, Connections, Level, Limits, Network, Plan};
use openclaw_settings::{AgentSettings, RunnerSettings};

/// How far the process may get.
#[derive(Debug)]
pub(crate) struct Bounds {
    pub(crate) level: Level,
    pub(crate) network: Network,
    /// Whether it is kept to its doors, and not only to their ports, without a network of its own.
    pub(crate) is_held_to_doors: bool,
}

/// The plan for `program` as `agent`; `name` names the process.
pub(crate) fn for_agent(
    settings: &RunnerSettings,
    agent: &AgentSettings,
    places: &Places,
    name: &str,
    program: &Path,
    variables: &Variables,
    bounds: Bounds,
) -> Plan {
    let sandbox = &agent.sandbox;
    let mut plan = Plan::new(name, &agent.id, &places.workspace);
    plan.level = bounds.level;
    plan.network = bounds.network;
    if bounds.is_held_to_doors {
        plan.connections = Connections::Address;
    }
    plan.limits = limits(agent);
    let own = [&*places.workspace, &places.home, &places.temporary];
    plan.read_write = own.map(Path::to_owned).into();
    plan.read_write.extend(sandbox.read_write.iter().cloned());
    plan.read_only.extend(sandbox.read_only.iter().cloned());
    plan.contested = settings.where_agents_write().to_vec();
    plan.grant_program(program, &closed(settings));
    plan.environment = variables.iter().map(|(name, _)| name.clone()).collect();
    if let Some(identity) = &places.identity {
        plan.run_as(identity);
    }
    plan.hide = settings.paths.home.iter().cloned().collect();
    plan.hide.push("/tmp".into());
    plan.tmp = Some(places.temporary.clone());
    plan
}

/// The plan for the server of tools `name` of a turn: as the agent's, but with
/// nothing that is the agent's.
pub(crate) fn for_server(
    settings: &RunnerSettings,
    agent: &AgentSettings,
    own: &Places,
    (run_id, name): (&str, &str),
    program: &Path,
    variables: &Variables,
    bounds: Bounds,
) -> Plan {
    let name = format!("{run_id}-{name}");
    let mut plan = for_agent(settings, agent, own, &name, program, variables, bounds);
    plan.read_write = vec![own.home.clone(), own.temporary.clone()];
    plan.read_only = Plan::system_read_only();
    plan.grant_program(program, &closed(settings));
    // Many a runtime reserves ranges that it never touches.
    plan.limits.address_space = None;
    plan
}

/// Folders that no program's place opens to an agent.
pub(crate) fn closed(settings: &RunnerSettings) -> Closed {
    Closed::new(settings.paths.home.as_deref(), &settings.paths.state)
}

fn limits(agent: &AgentSettings) -> Limits {
    let limits = &agent.limits;
    Limits {
        address_space: Some(limits.address_space),
        processes: Some(limits.processes),
        open_files: Some(limits.open_files),
        file_size: Some(limits.file_size),
        cpu_seconds: Some(limits.cpu_seconds),
    }
}
