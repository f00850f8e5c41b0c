//! The confinement of a server of tools, from the settings: its own folder,
//! what was granted to it, and none of the agent's.

use std::io;
use std::path::PathBuf;

use openclaw_config::programs;
use openclaw_config::settings::sandbox::Missing;
use openclaw_config::settings::{AgentSettings, McpServer, SandboxLevel, Settings};
use openclaw_sandbox::Network;
use openclaw_sandbox::identity::Identity;

use super::Server;
use crate::environment;
use crate::places::{self, Places};
use crate::plan::{self, Bounds};
use crate::reach;

/// Why a server cannot be started.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("there is no program {0}")]
    NoProgram(String),
    #[error("make its folder")]
    Folder(#[from] places::Error),
    #[error("find its program")]
    Program(#[from] io::Error),
    #[error(
        "it has a network in the configuration, and at the sandbox level \"workspace\" nothing \
         keeps it from the services of this machine; use level \"strict\", set its network to \
         \"none\", or sandbox.missing to \"weaken\""
    )]
    Network,
}

/// Those that can be started, and what is wrong with the others.
pub(crate) fn servers(
    settings: &Settings,
    agent: &AgentSettings,
    places: &Places,
    (run_id, level): (&str, SandboxLevel),
) -> (Vec<Server>, Vec<String>) {
    let (mut servers, mut notes) = (Vec::new(), Vec::new());
    for (name, server) in &settings.mcp_servers {
        match one(settings, agent, places, (run_id, name, level), server) {
            Ok(server) => servers.push(server),
            Err(problem) => notes.push(format!(
                "the MCP server {name} cannot be used: {}",
                openclaw_daemon::failure::chain(&problem)
            )),
        }
    }
    (servers, notes)
}

/// Makes the folders that the servers of a turn write to, and says which those
/// are: whatever confines the turn's process confines its servers, which it
/// starts later. What cannot be made is told when its server is to start.
pub(crate) fn writable(settings: &Settings, agent_id: &str, run_id: &str) -> Vec<PathBuf> {
    let identity = places::agent_identity(settings).ok().flatten();
    let of = |(name, server): (&String, &McpServer)| {
        let own = own(settings, agent_id, (run_id, name), identity.clone());
        own.make(settings).ok()?;
        let granted = server.read_write.iter().cloned();
        Some(granted.chain([own.home, own.temporary]).collect())
    };
    let all: Vec<Vec<PathBuf>> = settings.mcp_servers.iter().filter_map(of).collect();
    all.concat()
}

/// The folders of a server, none of which an agent sees.
fn own(
    settings: &Settings,
    agent_id: &str,
    (run_id, name): (&str, &str),
    identity: Option<Identity>,
) -> Places {
    let home = settings.paths.server_home(agent_id, name);
    Places {
        workspace: home.clone(),
        home,
        temporary: settings.paths.server_temporary(agent_id, run_id, name),
        identity,
    }
}

fn one(
    settings: &Settings,
    agent: &AgentSettings,
    places: &Places,
    (run_id, name, level): (&str, &str, SandboxLevel),
    server: &McpServer,
) -> Result<Server, Problem> {
    let program = programs::on_path(&server.command, &settings.environment)
        .ok_or_else(|| Problem::NoProgram(server.command.clone()))?
        .canonicalize()?;
    let own = own(settings, &agent.id, (run_id, name), places.identity.clone());
    own.make(settings)?;
    let mut variables = environment::common(&settings.environment, &own);
    for (name, value) in &server.variables {
        variables.retain(|(known, _)| known != name);
        variables.push((name.clone(), value.clone()));
    }
    let (doors, network) = reach::of_server(&server.network, level);
    let is_apart = level != SandboxLevel::Workspace;
    if matches!(network, Network::Loopback(_)) && !is_apart && is_refused(settings) {
        return Err(Problem::Network);
    }
    let bounds = Bounds { level, network };
    let names = (run_id, name);
    let mut plan = plan::for_server(settings, agent, &own, names, &program, &variables, bounds);
    plan.read_write.extend(server.read_write.iter().cloned());
    plan.read_only.extend(server.read_only.iter().cloned());
    // A script is an argument of its interpreter.
    let files = server.arguments.iter().map(PathBuf::from);
    let files = files.filter(|path| path.is_absolute() && path.is_file());
    plan.read_only.extend(files);
    if let Some(folder) = &server.folder {
        plan.cwd.clone_from(folder);
        plan.read_only.push(folder.clone());
    }
    Ok(Server {
        name: name.to_owned(),
        plan,
        doors,
        program,
        arguments: server.arguments.clone(),
        trusted: server.trusted,
        variables,
    })
}

/// Whether what a level cannot give is done without only when the user says so.
fn is_refused(settings: &Settings) -> bool {
    settings.sandbox.missing == Missing::Refuse
}
