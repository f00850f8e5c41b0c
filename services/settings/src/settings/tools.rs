//! Which tools an agent has, when somebody is asked, and servers of tools.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use openclaw_config::environment::Environment;
use openclaw_config::guarded::Guarded;
use openclaw_config::key::KeyPath;
use openclaw_config::paths::Paths;
use openclaw_config::programs;

use super::sandbox::{self, Host};
use crate::keys::tools::{Ask, Mcp, SafeBinProfile, Server, Tools};

/// Characters of a server's name, which begins its tools' names; those have 64.
const SERVER_NAME_LENGTH: usize = 24;

/// One layer of what is allowed: names, `group:NAME`, patterns with `*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolLayer {
    /// `minimal`, `coding`, `messaging` or `full`.
    pub profile: Option<String>,
    /// Empty: everything.
    pub allow: Vec<String>,
    /// Beside those.
    pub also_allow: Vec<String>,
    /// Not, whatever else is said.
    pub deny: Vec<String>,
    /// Neither, and the key that says so.
    pub off: Vec<(&'static str, &'static str)>,
}

/// An agent's tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSettings {
    /// From the general to the agent's own; a tool must pass each.
    pub layers: Vec<ToolLayer>,
    /// When somebody is asked; `None`: what the sandbox makes reasonable, see
    /// [`super::AgentSettings::ask`].
    pub ask: Option<Ask>,
    /// Commands that may run.
    pub allowlist: Vec<String>,
    /// Whether only what is listed, granted or a safe bin runs unasked, and not
    /// also what only reads.
    pub only_listed: bool,
    /// Whether everything else is refused, and nobody asked.
    pub refuses: bool,
    /// Programs that may run as filters; `None`: nothing is said.
    pub safe_bins: Option<Vec<String>>,
    /// What they may be given, where that is not known.
    pub safe_bin_profiles: BTreeMap<String, SafeBinProfile>,
    /// Folders whose programs are trusted to be what they are called.
    pub trusted_folders: Vec<String>,
    /// How long a command waits to be allowed.
    pub patience: Duration,
    /// How long a command may take that names no time; `None`: as whoever runs it has it.
    pub command_time: Option<Duration>,
    /// Whether the file tools stay in the workspace.
    pub workspace_only: bool,
}

/// What a server of tools may reach. In every case through a proxy that checks
/// addresses, and never this machine's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerNetwork {
    /// Nothing.
    None,
    /// These hosts.
    Allowlist(Vec<Host>),
    /// Everything but loopback and link-local addresses.
    Full,
}

/// A server of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// The program: a path or a name on the PATH.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its variables; credentials may be among them.
    pub variables: BTreeMap<String, String>,
    /// Its working directory; `None`: its own folder.
    pub folder: Option<PathBuf>,
    /// Its network reach.
    pub network: ServerNetwork,
    /// Granted read-only beside the system.
    pub read_only: Vec<PathBuf>,
    /// Granted read-write beside its own folder.
    pub read_write: Vec<PathBuf>,
    /// Whether it is believed which of its tools only read.
    pub trusted: bool,
    /// The longest time of one call.
    pub call_limit: Duration,
}

/// A problem: the key below `tools` or `mcp`, and the reason.
type Problem = (String, String);

/// The tools of an agent, from the general layer to its own.
pub(super) fn resolve(layers: &[&Tools]) -> ToolSettings {
    let by_default = Tools::default();
    let patience = *by_default.exec.approval_timeout_sec.value();
    let mut asks_nobody = false;
    let mut settings = ToolSettings {
        patience: Duration::from_secs(patience),
        ..ToolSettings::default()
    };
    for tools in layers {
        settings.layers.push(layer(tools));
        let exec = &tools.exec;
        settings.ask = ask(tools).or(settings.ask);
        asks_nobody = self::asks_nobody(tools).unwrap_or(asks_nobody);
        settings.allowlist.extend(exec.allowlist.iter().cloned());
        settings.only_listed = only_listed(tools).unwrap_or(settings.only_listed);
        if let Some(names) = &exec.safe_bins {
            settings.safe_bins = Some(names.clone());
        }
        let profiles = exec.safe_bin_profiles.clone();
        settings.safe_bin_profiles.extend(profiles);
        let folders = exec.safe_bin_trusted_dirs.iter().cloned();
        settings.trusted_folders.extend(folders);
        if let Some(seconds) = exec.timeout_sec.or(exec.timeout_seconds) {
            settings.command_time = Some(Duration::from_secs(seconds));
        }
        // No layer lets out what one keeps in.
        settings.workspace_only |= tools.fs.workspace_only == Some(true);
        if let Some(seconds) = exec.approval_timeout_sec.chosen() {
            settings.patience = Duration::from_secs(*seconds);
        }
    }
    if settings.only_listed && asks_nobody {
        settings.refuses = true;
        settings.ask = settings.ask.max(Some(Ask::OnMiss));
    }
    if let Some(general) = settings.layers.first_mut() {
        let profile = by_default.profile.value();
        general.profile.get_or_insert_with(|| profile.clone());
    }
    settings
}

fn layer(tools: &Tools) -> ToolLayer {
    let (exec, web) = (&tools.exec, &tools.web);
    let denies = |word: &Option<String>| word.as_deref() == Some("deny");
    let switches = [
        (
            denies(&exec.security),
            "group:runtime",
            "tools.exec.security is \"deny\"",
        ),
        (
            denies(&exec.mode),
            "group:runtime",
            "tools.exec.mode is \"deny\"",
        ),
        (
            web.search.enabled == Some(false),
            "web_search",
            "tools.web.search.enabled is false",
        ),
        (
            web.fetch.enabled == Some(false),
            "web_fetch",
            "tools.web.fetch.enabled is false",
        ),
    ];
    let off = switches.into_iter().filter(|(is_off, ..)| *is_off);
    ToolLayer {
        profile: tools.profile.chosen().cloned(),
        allow: tools.allow.clone(),
        also_allow: tools.also_allow.clone(),
        deny: tools.deny.clone(),
        off: off.map(|(_, entry, key)| (entry, key)).collect(),
    }
}

/// What a layer says; OpenClaw's other words for it never make it less strict than its `ask`.
fn ask(tools: &Tools) -> Option<Ask> {
    let exec = &tools.exec;
    let implied = match (exec.mode.as_deref(), exec.security.as_deref()) {
        (Some("allowlist" | "ask" | "auto"), _) | (_, Some("allowlist" | "safe-bin")) => {
            Some(Ask::OnMiss)
        }
        (Some("full"), _) if exec.ask.is_none() => Some(Ask::Off),
        _ => None,
    };
    exec.ask.max(implied)
}

/// Whether a layer says that nobody is asked; `None`: it says nothing.
fn asks_nobody(tools: &Tools) -> Option<bool> {
    let exec = &tools.exec;
    match (exec.ask, exec.mode.as_deref()) {
        (Some(ask), _) => Some(ask == Ask::Off),
        (None, Some(mode)) => Some(mode == "allowlist"),
        (None, None) => None,
    }
}

/// Whether a layer says that only what is listed runs; `None`: it says nothing.
fn only_listed(tools: &Tools) -> Option<bool> {
    let exec = &tools.exec;
    match (exec.mode.as_deref(), exec.security.as_deref()) {
        (Some("allowlist" | "ask" | "auto"), _) | (_, Some("allowlist" | "safe-bin")) => Some(true),
        (None, None) => None,
        _ => Some(false),
    }
}

/// The servers, and why some cannot be used, which takes only them away.
pub(super) fn servers(
    mcp: &Mcp,
    paths: &Paths,
) -> (BTreeMap<String, McpServer>, Vec<(KeyPath, String)>) {
    let (mut servers, mut problems) = (BTreeMap::new(), Vec::new());
    for (name, server) in &mcp.servers {
        if !server.enabled || server.disabled {
            continue;
        }
        match one(name, server, paths) {
            Ok(server) => _ = servers.insert(name.clone(), server),
            Err((key, problem)) => {
                let server = KeyPath::default().child("mcp").child("servers").child(name);
                problems.push((
                    key.iter().fold(server, |path, key| path.child(key)),
                    problem,
                ));
            }
        }
    }
    (servers, problems)
}

/// What the servers need of this machine and is not there: its key, and why. Programs are looked
/// for as the agent-runner does, on the PATH of the environment.
pub(super) fn absent(
    servers: &BTreeMap<String, McpServer>,
    environment: &Environment,
) -> Vec<(KeyPath, String)> {
    let mut problems = Vec::new();
    for (name, server) in servers {
        let key = ["mcp", "servers", name].into_iter().collect::<KeyPath>();
        if let Some(problem) = programs::absence(&server.command, environment) {
            problems.push((key.child("command"), problem));
        }
        let folder = server.folder.as_deref().filter(|folder| !folder.is_dir());
        if let Some(folder) = folder {
            let problem = if folder.exists() {
                format!("is {}, which is no folder", folder.display())
            } else {
                format!("is {}, which is not there; make it", folder.display())
            };
            problems.push((key.child("cwd"), problem));
        }
        for (list, paths) in [("ro", &server.read_only), ("rw", &server.read_write)] {
            for path in paths.iter().filter(|path| !path.exists()) {
                let problem = format!("has {}, which is not there", path.display());
                problems.push((key.child("paths").child(list), problem));
            }
        }
    }
    problems
}

pub(super) fn idle(mcp: &Mcp) -> Option<Duration> {
    let idle = mcp.session_idle_ttl_ms;
    (idle > 0).then(|| Duration::from_millis(idle))
}

/// The first server that is elsewhere, and why it cannot be.
pub(crate) fn elsewhere(mcp: &Mcp, paths: &Paths) -> Option<(KeyPath, String)> {
    let (_, problems) = servers(mcp, paths);
    problems.into_iter().find(|(key, _)| key.last() == "url")
}

/// The problems of a server: the keys below it, and the reasons.
type ServerProblem = (Vec<String>, String);

fn one(name: &str, server: &Server, paths: &Paths) -> Result<McpServer, ServerProblem> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > SERVER_NAME_LENGTH || !name.chars().all(allowed) {
        let problem =
            format!("is a name of other than 1 to {SERVER_NAME_LENGTH} of A-Z a-z 0-9 _ -");
        return Err((Vec::new(), problem));
    }
    let Some(command) = server.command.as_deref().filter(|it| !it.is_empty()) else {
        return Err(match server.url {
            Some(_) => (
                vec!["url".to_owned()],
                "is a server elsewhere, which is not supported; give the command of a program \
                 that talks to it"
                    .to_owned(),
            ),
            None => (vec!["command".to_owned()], "is missing".to_owned()),
        });
    };
    if let Some((name, value)) = server.env.iter().find(|(_, value)| value.contains("${")) {
        let problem = format!("refers to {value}, which is not set in the environment");
        return Err((vec!["env".to_owned(), name.clone()], problem));
    }
    let expanded = |folders: &[String]| folders.iter().map(|it| paths.expand(it)).collect();
    Ok(McpServer {
        command: program(paths, command),
        arguments: server.args.clone(),
        variables: server.env.clone(),
        folder: server.cwd.as_deref().map(|path| paths.expand(path)),
        network: network(server)?,
        trusted: server.trusted,
        call_limit: Duration::from_millis(server.request_timeout_ms),
        read_only: expanded(&server.paths.ro),
        read_write: expanded(&server.paths.rw),
    })
}

/// Nothing, unless the configuration says otherwise: a server that needs no
/// network is not to have one.
fn network(server: &Server) -> Result<ServerNetwork, ServerProblem> {
    let hosts = || {
        let hosts = sandbox::hosts(&server.hosts);
        hosts.map_err(|problem| (vec!["hosts".to_owned()], problem))
    };
    match server.network.as_deref() {
        None if server.hosts.is_empty() => Ok(ServerNetwork::None),
        None | Some("allowlist") => Ok(ServerNetwork::Allowlist(hosts()?)),
        Some("none") => Ok(ServerNetwork::None),
        Some("full") => Ok(ServerNetwork::Full),
        Some(other) => {
            let problem = format!("is {other:?}; allowed are \"none\", \"allowlist\" and \"full\"");
            Err((vec!["network".to_owned()], problem))
        }
    }
}

/// A path of a server's that would open what is not its business: its key, and why. Where it starts
/// is granted whole, so that may be no home and nothing above one; nothing that is granted may have
/// the state folder in it, where the credentials are.
pub(super) fn check_paths(mcp: &Mcp, paths: &Paths) -> Result<(), Problem> {
    let servers = mcp.servers.iter();
    servers
        .filter_map(|(name, server)| {
            let (key, problem) = misplaced(server, paths)?;
            Some((format!("mcp.servers.{name}.{key}"), problem))
        })
        .next()
        .map_or(Ok(()), Err)
}

fn misplaced(server: &Server, paths: &Paths) -> Option<(&'static str, String)> {
    let guarded = Guarded::of(paths);
    if let Some(cwd) = &server.cwd
        && guarded.is_wide(&paths.expand(cwd))
    {
        let problem = format!(
            "is {cwd:?}, which is a home or a folder of everybody's, and all of it would be \
             granted to the server; name a folder of its own, or leave it out"
        );
        return Some(("cwd", problem));
    }
    let lists = [
        ("cwd", server.cwd.as_slice()),
        ("paths.ro", server.paths.ro.as_slice()),
        ("paths.rw", server.paths.rw.as_slice()),
    ];
    let mut all = lists
        .into_iter()
        .flat_map(|(key, list)| list.iter().map(move |path| (key, path)));
    let (key, path) = all.find(|(_, path)| guarded.holds_state(&paths.expand(path)))?;
    let problem = format!(
        "has {path:?}, in which the state folder {} lies with every credential; name narrower \
         folders",
        paths.state.display()
    );
    Some((key, problem))
}

/// A program's name stays: it is looked for on the PATH.
pub(super) fn program(paths: &Paths, path: &str) -> String {
    if path.contains('/') {
        paths.expand(path).display().to_string()
    } else {
        path.to_owned()
    }
}

#[cfg(test)]
mod tests;
