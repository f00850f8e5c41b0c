//! Where things are (seed 003 §1).

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::error::Error;

/// The state folder in a home, and those of OpenClaw's earlier names, looked for when that is
/// not there (seed 003 §1.2).
const STATE: &str = ".openclaw";
const LEGACY_STATE: [&str; 3] = [".clawdbot", ".moldbot", ".moltbot"];
/// What is in an agent's folder that it and its servers of tools write to and that stays:
/// its home, a folder for each server, and what agent CLIs keep of each session.
pub const KEPT_OF_AGENTS: [&str; 3] = ["home", "mcp", "cli"];
/// The same of what ends with a turn.
const TURNS_OF_AGENTS: [&str; 2] = ["tmp", "turns"];
/// What of both is written by other turns and servers than the one that looks: no agent is given it
/// for its own.
pub(crate) const WRITTEN_BESIDE_HOME: [&str; 4] = [
    KEPT_OF_AGENTS[1],
    KEPT_OF_AGENTS[2],
    TURNS_OF_AGENTS[0],
    TURNS_OF_AGENTS[1],
];
/// Configuration files in the order they are looked for (seed 003 §2.1).
const CONFIGURATION: [&str; 4] = [
    "openclaw.json",
    "clawdbot.json",
    "moldbot.json",
    "moltbot.json",
];

/// Resolved locations. Nothing is created here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The user's home, if one is known.
    pub home: Option<PathBuf>,
    /// The state directory.
    pub state: PathBuf,
    /// Where agents write: workspaces, homes, what is of one turn. The state directory,
    /// unless agents and daemons are different users.
    pub agent_places: PathBuf,
    /// Where the daemons' sockets are.
    pub runtime: PathBuf,
    /// The configuration file, whether or not it is there.
    pub configuration: PathBuf,
}

impl Paths {
    /// OPENCLAW_STATE_DIR, else ~/.openclaw, else a legacy folder that exists;
    /// OPENCLAW_AGENT_DIR, else the state directory;
    /// OPENCLAW_CONFIG_PATH, else a configuration that exists there;
    /// OPENCLAW_RUNTIME_DIR, else $XDG_RUNTIME_DIR/openclaw, else
    /// /run/user/UID/openclaw where that is this user's, else `run` in the state
    /// directory.
    pub fn resolve(environment: &Environment) -> Result<Self, Error> {
        let home = absolute(environment, "HOME")?;
        let state = without_links(Self::named_state(environment)?);
        let runtime = match absolute(environment, "OPENCLAW_RUNTIME_DIR")? {
            Some(runtime) => runtime,
            None => match runtime_of_user(environment)? {
                Some(runtime) => runtime.join("openclaw"),
                None => state.join("run"),
            },
        };
        let agent_places = match absolute(environment, "OPENCLAW_AGENT_DIR")? {
            Some(folder) => folder,
            None => state.clone(),
        };
        let configuration = match absolute(environment, "OPENCLAW_CONFIG_PATH")? {
            Some(path) => path,
            None => CONFIGURATION
                .iter()
                .map(|name| state.join(name))
                .find(|path| path.exists())
                .unwrap_or_else(|| state.join(CONFIGURATION[0])),
        };
        Ok(Self {
            home,
            state,
            agent_places,
            runtime,
            configuration,
        })
    }

    /// The state directory as it is named, which may be a link: to another disk, or of
    /// another program's.
    pub fn named_state(environment: &Environment) -> Result<PathBuf, Error> {
        match absolute(environment, "OPENCLAW_STATE_DIR")? {
            Some(state) => Ok(state),
            None => {
                let home = absolute(environment, "HOME")?;
                Ok(state_in(home.as_deref().ok_or(Error::NoStateDirectory)?))
            }
        }
    }

    /// The configuration as it last was valid, beside the file; kept by the
    /// gateway.
    pub fn last_good(&self) -> PathBuf {
        let mut name = self.configuration.as_os_str().to_owned();
        name.push(".last-good");
        PathBuf::from(name)
    }

    /// The gateway's control socket.
    pub fn gateway_socket(&self) -> PathBuf {
        self.runtime.join("gateway.sock")
    }

    /// The gateway's socket for channel daemons, by which it knows what they are.
    pub fn channel_socket(&self) -> PathBuf {
        self.runtime.join("channel.sock")
    }

    /// Where a channel daemon reaches the gateway. Units of an earlier version have the control
    /// socket alone in their view.
    pub fn gateway_of_channels(&self) -> PathBuf {
        let own = self.channel_socket();
        if own.exists() {
            own
        } else {
            self.gateway_socket()
        }
    }

    /// The agent-runner's socket.
    pub fn runner_socket(&self) -> PathBuf {
        self.runtime.join("runner.sock")
    }

    /// The memory daemon's socket.
    pub fn memory_socket(&self) -> PathBuf {
        self.runtime.join("memory.sock")
    }

    /// Where turns are started from when there is no service manager.
    pub fn spawner_socket(&self) -> PathBuf {
        self.runtime.join("spawner.sock")
    }

    /// The spools of turns: what running and unclosed turns said.
    pub fn turns(&self) -> PathBuf {
        self.state.join("state").join("turns")
    }

    /// The home session's view (seed 000).
    pub fn home_session(&self) -> PathBuf {
        self.state.join("sessions").join("default.json")
    }

    /// The folder with a folder for each agent.
    pub fn agents(&self) -> PathBuf {
        self.state.join("agents")
    }

    /// What is kept of an agent: sessions, keys.
    pub fn agent(&self, agent_id: &str) -> PathBuf {
        self.agents().join(agent_id)
    }

    /// What an agent's processes write, or are given, beside its workspace.
    fn agent_own(&self, agent_id: &str) -> PathBuf {
        self.agent_places.join("agents").join(agent_id)
    }

    /// An agent's sessions.json and transcripts.
    pub fn sessions(&self, agent_id: &str) -> PathBuf {
        self.agent(agent_id).join("sessions")
    }

    /// What of that the agent and its servers of tools write to, whichever turn it is.
    pub fn written_by_agent(&self, agent_id: &str) -> [PathBuf; 5] {
        let ([home, servers, clis], [temporary, turns]) = (KEPT_OF_AGENTS, TURNS_OF_AGENTS);
        let folder = self.agent_own(agent_id);
        [home, servers, clis, temporary, turns].map(|name| folder.join(name))
    }

    /// HOME of the agent's processes.
    pub fn agent_home(&self, agent_id: &str) -> PathBuf {
        self.agent_own(agent_id).join(KEPT_OF_AGENTS[0])
    }

    /// HOME of a server of tools that works for the agent.
    pub fn server_home(&self, agent_id: &str, server: &str) -> PathBuf {
        self.agent_own(agent_id)
            .join(KEPT_OF_AGENTS[1])
            .join(server)
    }

    /// What agent CLIs keep, a folder for each session: a turn sees its own alone.
    pub fn cli_sessions(&self, agent_id: &str) -> PathBuf {
        self.agent_own(agent_id).join(KEPT_OF_AGENTS[2])
    }

    /// The folder in which each turn of an agent has its TMPDIR.
    pub fn temporaries(&self, agent_id: &str) -> PathBuf {
        self.agent_own(agent_id).join(TURNS_OF_AGENTS[0])
    }

    /// TMPDIR of one turn.
    pub fn turn_temporary(&self, agent_id: &str, run_id: &str) -> PathBuf {
        self.temporaries(agent_id).join(run_id)
    }

    /// The folder in which each turn of an agent has one for what is not the
    /// agent's to name: see [`Paths::turn_given`] and its neighbours. The host's.
    pub fn turn_folders(&self, agent_id: &str) -> PathBuf {
        self.agent_own(agent_id).join(TURNS_OF_AGENTS[1])
    }

    /// The folder of one turn that ends with it.
    pub fn turn_folder(&self, agent_id: &str, run_id: &str) -> PathBuf {
        self.turn_folders(agent_id).join(run_id)
    }

    /// What a turn's CLI reads and must not write.
    pub fn turn_given(&self, agent_id: &str, run_id: &str) -> PathBuf {
        self.turn_folder(agent_id, run_id).join("given")
    }

    /// Where a turn's CLI finds its settings: none, in every turn anew.
    pub fn turn_cli(&self, agent_id: &str, run_id: &str) -> PathBuf {
        self.turn_folder(agent_id, run_id).join("cli")
    }

    /// TMPDIR of a server of tools in one turn; no agent sees it.
    pub fn server_temporary(&self, agent_id: &str, run_id: &str, server: &str) -> PathBuf {
        self.turn_folder(agent_id, run_id).join("mcp").join(server)
    }

    /// What the agents' turns of this day cost; the agent-runner's.
    pub fn spending(&self) -> PathBuf {
        self.state.join("state").join("usage.json")
    }

    /// The gateway's run ledger.
    pub fn ledger(&self) -> PathBuf {
        self.state.join("state").join("ledger.sqlite")
    }

    /// There while a job is due at some time, for whoever starts the gateway.
    #[must_use]
    pub fn scheduled(&self) -> PathBuf {
        self.state.join("state").join("scheduled")
    }

    /// Where a state directory says that it was restored.
    #[must_use]
    pub fn restored(&self) -> PathBuf {
        self.state.join("state").join("restored.json")
    }

    /// The same places in another state directory.
    #[must_use]
    pub fn in_state(&self, state: &Path) -> Self {
        let is_apart = self.agent_places != self.state;
        Self {
            state: state.to_owned(),
            agent_places: if is_apart {
                self.agent_places.clone()
            } else {
                state.to_owned()
            },
            ..self.clone()
        }
    }

    /// Where the gateway makes entries of many transcripts durable at once,
    /// without the extension.
    pub fn transcript_journal(&self) -> PathBuf {
        self.state.join("state").join("transcripts")
    }

    /// The log of `openclawctl run`: what a journal is to the units.
    pub fn run_log(&self) -> PathBuf {
        self.state.join("logs").join("run.jsonl")
    }

    /// The lock of the daemon `program` on its part of the state.
    pub fn state_lock(&self, program: &str) -> PathBuf {
        let name = program.strip_prefix("openclaw-").unwrap_or(program);
        self.state.join("state").join(format!("{name}.lock"))
    }

    /// The workspace of the default agent, where nothing else is said.
    pub fn default_workspace(&self) -> PathBuf {
        self.agent_places.join("workspace")
    }

    /// That of any other agent.
    pub fn workspace_of(&self, agent_id: &str) -> PathBuf {
        self.agent_places.join(format!("workspace-{agent_id}"))
    }

    /// A path of the configuration: `~` is the home, a relative path is
    /// relative to the configuration file.
    pub fn expand(&self, path: &str) -> PathBuf {
        let in_home = path
            .strip_prefix('~')
            .filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let expanded = match (in_home, &self.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
            _ => PathBuf::from(path),
        };
        if expanded.is_absolute() {
            return expanded;
        }
        let folder = self.configuration.parent().unwrap_or(&self.state);
        folder.join(expanded)
    }
}

/// The folder that is really meant. Of one that is not there yet its parent may be a link.
/// What an agent may write is reached without following any.
pub fn without_links(path: PathBuf) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    match (parent, path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path,
    }
}

/// Whether an entry of a home is a state folder by its name.
pub(crate) fn is_state(name: &str) -> bool {
    name == STATE || LEGACY_STATE.contains(&name)
}

fn state_in(home: &Path) -> PathBuf {
    let preferred = home.join(STATE);
    if preferred.exists() {
        return preferred;
    }
    LEGACY_STATE
        .iter()
        .map(|name| home.join(name))
        .find(|path| path.is_dir())
        .unwrap_or(preferred)
}

/// The user's runtime directory. A shell of su(1) or sudo(8) has no variable
/// for it, though it is there.
pub fn runtime_of_user(environment: &Environment) -> Result<Option<PathBuf>, Error> {
    let named = absolute(environment, "XDG_RUNTIME_DIR")?;
    Ok(named.or_else(|| environment.runtime_fallback().map(Path::to_owned)))
}

fn absolute(environment: &Environment, variable: &'static str) -> Result<Option<PathBuf>, Error> {
    match environment.get(variable) {
        None => Ok(None),
        Some(value) if value.starts_with('/') => Ok(Some(PathBuf::from(value))),
        Some(value) => Err(Error::RelativePath {
            variable,
            value: value.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(variables: &[(&str, &str)]) -> Result<Paths, Error> {
        Paths::resolve(&variables.iter().copied().collect())
    }

    #[test]
    fn state_directory_that_is_a_link_is_the_folder_behind_it() {
        let home = tempfile::tempdir().unwrap();
        let data = home.path().join("disk/data");
        std::fs::create_dir_all(&data).unwrap();
        std::os::unix::fs::symlink("disk", home.path().join("link")).unwrap();
        std::os::unix::fs::symlink("link/data", home.path().join(".openclaw")).unwrap();
        let real = data.canonicalize().unwrap();
        let state = |name: &str, value: &Path| {
            let value = value.to_str().unwrap();
            let paths = Paths::resolve(&[(name, value)].into_iter().collect());
            paths.unwrap().state
        };
        assert_eq!(state("HOME", home.path()), real);
        let new = home.path().join("link/new");
        let expected = real.parent().unwrap().join("new");
        assert_eq!(state("OPENCLAW_STATE_DIR", &new), expected);
    }

    #[test]
    fn state_directory_has_the_order_of_the_seed() {
        let home = tempfile::tempdir().unwrap();
        let home_text = home.path().to_str().unwrap();
        let preferred = home.path().join(".openclaw");
        assert_eq!(resolve(&[("HOME", home_text)]).unwrap().state, preferred);

        std::fs::create_dir(home.path().join(".moltbot")).unwrap();
        let legacy = resolve(&[("HOME", home_text)]).unwrap().state;
        assert_eq!(legacy, home.path().join(".moltbot"));

        std::fs::create_dir(&preferred).unwrap();
        assert_eq!(resolve(&[("HOME", home_text)]).unwrap().state, preferred);

        let named = resolve(&[("HOME", home_text), ("OPENCLAW_STATE_DIR", "/srv/claw")]).unwrap();
        assert_eq!(named.state, Path::new("/srv/claw"));
    }

    #[test]
    fn runtime_directory_falls_back_to_the_state() {
        let with = resolve(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/run/user/7")]).unwrap();
        assert_eq!(with.runtime, Path::new("/run/user/7/openclaw"));
        let without = resolve(&[("HOME", "/h")]).unwrap();
        assert_eq!(without.runtime, Path::new("/h/.openclaw/run"));
    }

    #[test]
    fn relative_directories_are_refused_by_name() {
        let error = resolve(&[("OPENCLAW_STATE_DIR", "claw")]).unwrap_err();
        assert!(error.to_string().contains("OPENCLAW_STATE_DIR"), "{error}");
        assert!(resolve(&[]).is_err());
    }

    #[test]
    fn everything_has_its_place() {
        let paths = resolve(&[("OPENCLAW_STATE_DIR", "/s"), ("OPENCLAW_RUNTIME_DIR", "/r")]);
        let paths = paths.unwrap();
        for (path, expected) in [
            (paths.configuration.clone(), "/s/openclaw.json"),
            (paths.last_good(), "/s/openclaw.json.last-good"),
            (paths.gateway_socket(), "/r/gateway.sock"),
            (paths.runner_socket(), "/r/runner.sock"),
            (paths.memory_socket(), "/r/memory.sock"),
            (paths.spawner_socket(), "/r/spawner.sock"),
            (paths.turns(), "/s/state/turns"),
            (paths.home_session(), "/s/sessions/default.json"),
            (paths.agents(), "/s/agents"),
            (paths.agent("a"), "/s/agents/a"),
            (paths.sessions("a"), "/s/agents/a/sessions"),
            (paths.agent_home("a"), "/s/agents/a/home"),
            (paths.server_home("a", "m"), "/s/agents/a/mcp/m"),
            (paths.turn_temporary("a", "r"), "/s/agents/a/tmp/r"),
            (paths.turn_folders("a"), "/s/agents/a/turns"),
            (paths.turn_folder("a", "r"), "/s/agents/a/turns/r"),
            (paths.turn_given("a", "r"), "/s/agents/a/turns/r/given"),
            (paths.turn_cli("a", "r"), "/s/agents/a/turns/r/cli"),
            (
                paths.server_temporary("a", "r", "m"),
                "/s/agents/a/turns/r/mcp/m",
            ),
            (paths.spending(), "/s/state/usage.json"),
            (paths.ledger(), "/s/state/ledger.sqlite"),
            (paths.restored(), "/s/state/restored.json"),
            (
                paths.in_state(Path::new("/x")).ledger(),
                "/x/state/ledger.sqlite",
            ),
            (paths.transcript_journal(), "/s/state/transcripts"),
            (paths.state_lock("openclaw-x"), "/s/state/x.lock"),
            (paths.state_lock("x"), "/s/state/x.lock"),
            (paths.default_workspace(), "/s/workspace"),
            (paths.workspace_of("a"), "/s/workspace-a"),
        ] {
            assert_eq!(path, Path::new(expected));
        }
    }

    #[test]
    fn places_of_agents_may_be_apart_from_the_state() {
        let apart = [
            ("OPENCLAW_STATE_DIR", "/s"),
            ("OPENCLAW_RUNTIME_DIR", "/r"),
            ("OPENCLAW_AGENT_DIR", "/a"),
        ];
        let paths = resolve(&apart).unwrap();
        for (path, expected) in [
            (paths.sessions("x"), "/s/agents/x/sessions"),
            (paths.turns(), "/s/state/turns"),
            (paths.agent_home("x"), "/a/agents/x/home"),
            (paths.server_home("x", "m"), "/a/agents/x/mcp/m"),
            (paths.turn_temporary("x", "r"), "/a/agents/x/tmp/r"),
            (paths.turn_given("x", "r"), "/a/agents/x/turns/r/given"),
            (paths.default_workspace(), "/a/workspace"),
            (
                paths.in_state(Path::new("/t")).workspace_of("x"),
                "/a/workspace-x",
            ),
        ] {
            assert_eq!(path, Path::new(expected));
        }
        let together = resolve(&apart[..2]).unwrap().in_state(Path::new("/t"));
        assert_eq!(together.default_workspace(), Path::new("/t/workspace"));
    }

    #[test]
    fn paths_of_the_configuration_are_expanded() {
        let expanded = |variables: &[(&str, &str)], path: &str| {
            let paths = resolve(variables).unwrap();
            paths.expand(path).display().to_string()
        };
        let home = [("HOME", "/h"), ("OPENCLAW_CONFIG_PATH", "/etc/claw/c.json")];
        for (path, expected) in [
            ("~", "/h/"),
            ("~/a", "/h/a"),
            ("~//a", "/h/a"),
            ("~a", "/etc/claw/~a"),
            ("a/~", "/etc/claw/a/~"),
            ("/a", "/a"),
        ] {
            assert_eq!(expanded(&home, path), expected, "{path}");
        }
        let homeless = [("OPENCLAW_STATE_DIR", "/s")];
        assert_eq!(expanded(&homeless, "~/a"), "/s/~/a");
    }

    #[test]
    fn configuration_is_the_first_that_is_there() {
        let state = tempfile::tempdir().unwrap();
        let variables = [("OPENCLAW_STATE_DIR", state.path().to_str().unwrap())];
        for name in CONFIGURATION.into_iter().rev() {
            std::fs::write(state.path().join(name), "").unwrap();
            let configuration = resolve(&variables).unwrap().configuration;
            assert_eq!(configuration, state.path().join(name));
        }
    }

    #[test]
    fn legacy_state_is_a_folder() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".clawdbot"), "").unwrap();
        let variables = [("HOME", home.path().to_str().unwrap())];
        let state = resolve(&variables).unwrap().state;
        assert_eq!(state, home.path().join(".openclaw"));
    }

    #[test]
    fn runtime_of_the_user_is_the_variables_or_what_is_there() {
        let none = Environment::default();
        assert_eq!(runtime_of_user(&none).unwrap(), None);
        let named = [("XDG_RUNTIME_DIR", "/run/x")].into_iter().collect();
        let expected = Some(PathBuf::from("/run/x"));
        assert_eq!(runtime_of_user(&named).unwrap(), expected);
        let wrong = [("XDG_RUNTIME_DIR", "x")].into_iter().collect();
        assert!(runtime_of_user(&wrong).is_err());
    }
}
