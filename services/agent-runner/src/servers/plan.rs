//! The confinement of a server of tools, from the settings: its own folder,
//! what was granted to it, and none of the agent's.

use std::io;
use std::path::PathBuf;

use openclaw_config::programs;
use openclaw_config::settings::{AgentSettings, McpServer, SandboxLevel, Settings};
use openclaw_sandbox::Network;

use super::Server;
use crate::environment;
use crate::places::{self, Places};
use crate::plan::{self, Bounds};

/// Why a server cannot be started.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("there is no program {0}")]
    NoProgram(String),
    #[error("make its folder")]
    Folder(#[from] places::Error),
    #[error("find its program")]
    Program(#[from] io::Error),
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
    let own = Places {
        workspace: settings.paths.server_home(&agent.id, name),
        home: settings.paths.server_home(&agent.id, name),
        temporary: places.temporary.join("mcp").join(name),
        identity: places.identity.clone(),
    };
    own.make(settings)?;
    let mut variables = environment::common(&settings.environment, &own);
    for (name, value) in &server.variables {
        variables.retain(|(known, _)| known != name);
        variables.push((name.clone(), value.clone()));
    }
    let bounds = Bounds {
        level,
        network: match server.network {
            true => Network::Full,
            false => Network::ModelOnly,
        },
    };
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
        program,
        arguments: server.arguments.clone(),
        trusted: server.trusted,
        variables,
    })
}
