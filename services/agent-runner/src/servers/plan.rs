//! The confinement of a server of tools, from the settings: its own folder,
//! what was granted to it, and none of the agent's.

use std::io;
use std::path::PathBuf;

use openclaw_backends::environment;
use openclaw_backends::places::{self, Places};
use openclaw_config::launch::Planted;
use openclaw_config::programs;
use openclaw_handoff::proxies::Proxies;
use openclaw_handoff::servers::Server;
use openclaw_sandbox::identity::{Identity, IdentityError};
use openclaw_sandbox::{Level, Network};
use openclaw_settings::sandbox::Missing;
use openclaw_settings::{McpServer, RunnerSettings, ServerNetwork};

use super::{ServersRequest, python};
use crate::plan::{self, Bounds};
use crate::reach;

/// Why a server cannot be started.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("there is no program {0}")]
    NoProgram(String),
    #[error("make its folder")]
    Folder(#[from] places::Error),
    #[error("find the user that agents run as")]
    Identity(#[from] IdentityError),
    #[error("find its program")]
    Program(#[from] io::Error),
    #[error(
        "it has a network in the configuration, and at the sandbox level \"workspace\" nothing \
         keeps it from the services of this machine; use level \"strict\", set its network to \
         \"none\", or sandbox.missing to \"weaken\""
    )]
    Network,
    #[error("{0}")]
    Planted(Planted),
}

/// The program that confines them.
pub(super) fn helper(settings: &RunnerSettings) -> io::Result<PathBuf> {
    programs::sibling("openclaw-sandbox", &settings.environment)
}

/// Those that can be started, and what is wrong with the others. `id` names their process.
pub(super) fn servers(wanted: &ServersRequest<'_>, id: &str) -> (Vec<Server>, Vec<String>) {
    let settings = wanted.settings;
    let (mut servers, mut notes) = (Vec::new(), Vec::new());
    for (name, server) in &settings.mcp_servers {
        match one(wanted, (id, name), server) {
            Ok(server) => servers.push(server),
            Err(problem) => notes.push(format!(
                "the MCP server {name} cannot be used: {}",
                openclaw_daemon::failure::chain(&problem)
            )),
        }
    }
    (servers, notes)
}

/// The folders of a server, none of which an agent sees.
fn own(
    settings: &RunnerSettings,
    agent_id: &str,
    (run_id, name): (&str, &str),
    identity: Option<Identity>,
) -> Places {
    let home = settings.paths.server_home(agent_id, name);
    Places {
        workspace: home.clone().into(),
        home,
        temporary: settings.paths.server_temporary(agent_id, run_id, name),
        identity,
    }
}

fn one(
    wanted: &ServersRequest<'_>,
    (run_id, name): (&str, &str),
    server: &McpServer,
) -> Result<Server, Problem> {
    let (settings, agent) = (&**wanted.settings, wanted.agent);
    let program = programs::on_path(&server.command, &settings.environment)
        .ok_or_else(|| Problem::NoProgram(server.command.clone()))?;
    let file = program.canonicalize()?;
    // Its code would have what is given to it.
    let planted = settings.planted(agent, name, server);
    let is_planted = planted.is_some();
    if let Some(planted) = planted.filter(Planted::is_given_more) {
        return Err(Problem::Planted(planted));
    }
    let identity = places::agent_identity(settings)?;
    let own = own(settings, &agent.id, (run_id, name), identity);
    own.make(settings)?;
    let mut variables = environment::common(&settings.environment, &own);
    for (name, value) in &server.variables {
        variables.retain(|(known, _)| known != name);
        variables.push((name.clone(), value.clone()));
    }
    if settings.is_among_agents(agent, name, server) {
        environment::among_agents(&mut variables);
    }
    let (proxies, bounds) = bounds(wanted, server)?;
    let names = (run_id, name);
    let mut plan = plan::for_server(settings, agent, &own, names, &file, &variables, bounds);
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
    let environment = python::environment(&plan, &program, &plan::closed(settings));
    plan.read_only.extend(environment);
    // By the name it was given, where it sees that: a program may go by it, as
    // Python does in a virtual environment.
    let mut granted = plan.read_only.iter().chain(&plan.read_write);
    let is_seen = granted.any(|folder| program.starts_with(folder));
    Ok(Server {
        name: name.to_owned(),
        plan,
        proxies,
        program: if is_seen { program } else { file },
        arguments: server.arguments.clone(),
        // What an agent could have written is not believed of itself.
        trusted: server.trusted && !is_planted,
        // Nor has it a life after the turn, which its author has not.
        passing: is_planted,
        reach: reach_of(server),
        call_limit: server.call_limit,
        variables,
    })
}

/// What confines a server, and the proxies that are its way out.
fn bounds(wanted: &ServersRequest<'_>, server: &McpServer) -> Result<(Proxies, Bounds), Problem> {
    let level = wanted.level;
    let (proxies, network) = reach::of_server(&server.network, level);
    let has_doors = matches!(network, Network::Loopback(_));
    let is_shared = has_doors && level == Level::Workspace;
    if is_shared && !wanted.judges_addresses && is_refused(wanted.settings) {
        return Err(Problem::Network);
    }
    let bounds = Bounds {
        level,
        network,
        is_held_to_doors: is_shared && wanted.judges_addresses,
    };
    Ok((proxies, bounds))
}

/// What `server` may reach of network and files, in words: what is allowed for good of its calls
/// is so for a server that reaches this.
fn reach_of(server: &McpServer) -> String {
    let network = match &server.network {
        ServerNetwork::None => "none".to_owned(),
        ServerNetwork::Allowlist(hosts) => {
            let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
            hosts.join(" ")
        }
        ServerNetwork::Full => "full".to_owned(),
    };
    let paths = |what: &str, paths: &[PathBuf]| match paths {
        [] => String::new(),
        paths => {
            let paths: Vec<String> = paths.iter().map(|it| it.display().to_string()).collect();
            format!("; {what} {}", paths.join(" "))
        }
    };
    let reads = paths("reads", &server.read_only);
    let writes = paths("writes", &server.read_write);
    format!("network {network}{reads}{writes}")
}

/// Whether what a level cannot give is done without only when the user says so.
fn is_refused(settings: &RunnerSettings) -> bool {
    settings.sandbox.missing == Missing::Refuse
}
