//! One agent's settings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use openclaw_agent_clis::CliPaths;
use openclaw_config::error::Error;
use openclaw_config::paths::Paths;
use openclaw_config::pipeline::merge;
use openclaw_folder::ConfiguredFolder;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::keys::memory::Search;
use crate::keys::tools::Ask;
use crate::keys::{self, Agent, Backend, Fragment, Limits, Missing, SandboxLevel};
use crate::settings::DmScope;
use crate::settings::memory::{self, MemorySearch};
use crate::settings::persona::{ModelParams, Persona};
use crate::settings::sandbox::{self, AgentSandbox, Network};
use crate::settings::tools::{self, ToolSettings};
use crate::settings::workspaces::{MAIN, Workspaces};

/// Agent ids are folder names and parts of session keys.
const ID_LENGTH: usize = 64;
/// The bootstrap files of conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// The most characters of each file.
    pub file: usize,
    /// The most characters of all files together.
    pub total: usize,
    /// Whether a fresh workspace is filled from templates.
    pub templates: bool,
}

impl Bootstrap {
    fn of(agent: &Agent) -> Self {
        Self {
            file: agent.bootstrap_max_chars,
            total: agent.bootstrap_total_max_chars,
            templates: !agent.skip_bootstrap,
        }
    }
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self::of(&Agent::default())
    }
}

/// One agent's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSettings {
    /// The agent.
    pub id: String,
    /// The folder it works in.
    pub workspace: ConfiguredFolder,
    /// Which backend answers.
    pub backend: Backend,
    /// `provider/model`, when the agent names one itself.
    pub model: Option<String>,
    /// Models to be used when that one cannot be, in their order.
    pub fallbacks: Vec<String>,
    /// The key of the configuration that says which, or that could.
    pub model_key: String,
    /// The key that says which backend answers, or that could.
    pub backend_key: String,
    /// The most tokens one model response may have; `None`: nobody said so, see [`MAX_TOKENS`].
    pub max_tokens: Option<u32>,
    /// Who it is.
    pub persona: Persona,
    /// How its model is asked.
    pub params: ModelParams,
    /// The longest a turn may take.
    pub timeout: Duration,
    /// The longest a turn may be silent.
    pub no_output: Duration,
    /// Where the programs of agent CLIs are.
    pub cli_paths: CliPaths,
    /// How long a CLI stands ready for a conversation's next message; zero: not at all.
    pub cli_warm: Duration,
    /// Limits of its processes and its loop.
    pub limits: Limits,
    /// How its memory is searched.
    pub memory: MemorySearch,
    /// The bootstrap files of its conversations.
    pub bootstrap: Bootstrap,
    /// Which tools it has, and when somebody is asked.
    pub tools: ToolSettings,
    /// How it is confined.
    pub sandbox: AgentSandbox,
    /// All its keys, as they are stated; those that have a field above are to be read there.
    pub stated: Agent,
}

impl AgentSettings {
    /// When somebody is asked before a command of this agent runs; `is_apart`: in
    /// namespaces of the turn's own.
    ///
    /// Without a word about it: never, where the sandbox leaves nothing but the workspace to be
    /// written, which the agent's file tools may write unasked too, and nothing to be reached but
    /// the model and the hosts that the user listed, so that asking would only teach people to say
    /// yes; otherwise unless the command only reads.
    pub fn ask(&self, is_apart: bool) -> Ask {
        let sandbox = &self.sandbox;
        let is_confined =
            is_apart && sandbox.read_write.is_empty() && sandbox.network != Network::Full;
        let unsaid = if is_confined { Ask::Off } else { Ask::OnMiss };
        self.tools.ask.unwrap_or(unsaid)
    }

    /// The same for whoever does not know the machine: a level that is not set, or
    /// may be weakened, may come out as one without namespaces.
    pub fn may_ask(&self, missing: Missing) -> Ask {
        let is_kept = self.sandbox.level == Some(SandboxLevel::Strict);
        self.ask(is_kept && missing == Missing::Refuse)
    }
}

/// What agents are made from: the configuration as it is written, whose parts
/// are merged as documents, and with its types.
pub(super) struct Source<'a> {
    pub(super) paths: &'a Paths,
    pub(super) document: &'a Value,
    pub(super) fragment: &'a Fragment,
    pub(super) workspaces: &'a Workspaces,
}

/// Keys of the defaults that a listed agent does not take over. Tools are layers,
/// which are not merged: see `tools`.
const NOT_TAKEN_OVER: [&str; 4] = ["identity", "name", "tools", "workspace"];

impl Source<'_> {
    /// All agents by id.
    pub(super) fn agents(&self) -> Result<BTreeMap<String, AgentSettings>, Error> {
        let fragment = self.fragment;
        let mut agents = BTreeMap::new();
        for (index, listed) in fragment.agents.list.iter().enumerate() {
            self.check_id(&listed.id, index)?;
            let settings = self.agent(&listed.id, Some((index, &listed.agent)))?;
            agents.insert(listed.id.clone(), settings);
        }
        if !agents.contains_key(MAIN) {
            agents.insert(MAIN.to_owned(), self.agent(MAIN, None)?);
        }
        for (id, folder) in self.workspaces.folders.clone() {
            if let Some(agent) = agents.get_mut(&id) {
                agent.workspace = folder.into();
            }
        }
        Ok(agents)
    }

    /// The search of all agents.
    pub(super) fn search(&self) -> Result<Search, Error> {
        self.section(
            "agents.defaults.memorySearch",
            &merge::layered(self.searches()),
        )
    }

    fn agent(&self, id: &str, own: Option<(usize, &Agent)>) -> Result<AgentSettings, Error> {
        let key = match own {
            Some((index, _)) => format!("agents.list.{index}"),
            None => "agents.defaults".to_owned(),
        };
        let written = own.and_then(|(index, _)| self.part(&format!("/agents/list/{index}")));
        let agent: Agent = self.section(&key, &self.merged(written))?;
        let paths = self.paths;
        // The key that says it, or that could.
        let says = |name: &str| match (own, written) {
            (Some((index, _)), Some(it)) if it.get(name).is_some() => {
                format!("agents.list[{index}].{name}")
            }
            _ => format!("agents.defaults.{name}"),
        };
        let unsaid = memory::Unsaid {
            half_life_days: self.fragment.memory.temporal_decay_half_life,
            across: self.fragment.session.dm_scope == DmScope::Main,
        };
        let memory = memory::search(&agent.memory_search, unsaid, paths);
        let own = own.map(|(_, agent)| agent);
        Ok(AgentSettings {
            id: id.to_owned(),
            // Where it is, all of them together say.
            workspace: PathBuf::new().into(),
            backend: agent.backend,
            model: agent
                .model
                .as_ref()
                .and_then(|it| it.name().map(str::to_owned)),
            fallbacks: agent
                .model
                .as_ref()
                .map_or(&[][..], keys::Model::fallbacks)
                .to_vec(),
            model_key: says("model"),
            backend_key: says("backend"),
            max_tokens: match agent.max_tokens.chosen() {
                None => ModelParams::max_tokens(&agent.params),
                set => set.copied(),
            },
            persona: Persona::of(&agent),
            params: ModelParams::of(&agent.params),
            timeout: Duration::from_secs(agent.timeout_seconds),
            no_output: Duration::from_secs(agent.no_output_seconds),
            cli_paths: agent.cli_paths.resolved(|it| tools::program(paths, it)),
            cli_warm: Duration::from_secs(agent.cli_warm_seconds),
            limits: agent.limits,
            memory: memory.map_err(|it| self.fault(&format!("{key}.memorySearch"), it))?,
            bootstrap: Bootstrap::of(&agent),
            tools: tools::resolve(&self.layers(own, |it| &it.tools, &self.fragment.tools)),
            sandbox: self.sandbox(&key, written, own)?,
            stated: agent,
        })
    }

    /// The layers of a setting: for all, the agents' default, and the agent's own.
    fn layers<'a, T>(
        &'a self,
        own: Option<&'a Agent>,
        of: impl Fn(&'a Agent) -> &'a T,
        all: &'a T,
    ) -> Vec<&'a T> {
        let defaults = of(&self.fragment.agents.defaults);
        [all, defaults].into_iter().chain(own.map(of)).collect()
    }

    /// An agent's keys over the defaults.
    fn merged(&self, own: Option<&Value>) -> Value {
        let mut defaults = self.part("/agents/defaults").cloned().unwrap_or_default();
        if let (Some(own), Some(fields)) = (own, defaults.as_object_mut()) {
            fields.retain(|key, _| !NOT_TAKEN_OVER.contains(&key.as_str()));
            // A model of one's own comes without the fallbacks of another.
            fields.retain(|key, _| key != "model" || own.get(key).is_none());
        }
        let mut merged = merge::layered([Some(&defaults), own]);
        let own = own.unwrap_or(&Value::Null);
        let searches = [own.pointer("/memory/search"), own.get("memorySearch")];
        let searches = self.searches().into_iter().chain(searches);
        merged["memorySearch"] = merge::layered(searches);
        merged
    }

    /// The search of all agents, from the general to the particular.
    fn searches(&self) -> [Option<&Value>; 3] {
        [
            "/memory/search",
            "/agents/defaults/memory/search",
            "/agents/defaults/memorySearch",
        ]
        .map(|place| self.part(place))
    }

    fn sandbox(
        &self,
        key: &str,
        written: Option<&Value>,
        own: Option<&Agent>,
    ) -> Result<AgentSandbox, Error> {
        let key = format!("{key}.sandbox");
        let own_keys = written.and_then(|it| it.get("sandbox"));
        let layers = ["/sandbox", "/agents/defaults/sandbox"].map(|place| self.part(place));
        let merged = merge::layered(layers.into_iter().chain([own_keys]));
        let merged: keys::Sandbox = self.section(&key, &merged)?;
        // Folders add up.
        let paths = self.layers(own, |it| &it.sandbox.paths, &self.fragment.sandbox.paths);
        sandbox::of_agent(&merged, &paths, self.paths).map_err(|it| self.fault(&key, it))
    }

    fn part(&self, place: &str) -> Option<&Value> {
        self.document.pointer(place)
    }

    fn section<T: DeserializeOwned>(&self, key: &str, document: &Value) -> Result<T, Error> {
        keys::section(&self.paths.configuration, key, document)
    }

    fn fault(&self, key: &str, (below, problem): (&'static str, String)) -> Error {
        Error::Value {
            origin: self.paths.configuration.display().to_string(),
            key: format!("{key}.{below}"),
            problem,
        }
    }

    fn check_id(&self, id: &str, index: usize) -> Result<(), Error> {
        let allowed =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if !id.is_empty() && id.len() <= ID_LENGTH && id.chars().all(allowed) {
            return Ok(());
        }
        let problem = format!(
            "is {id:?}; allowed are 1 to {ID_LENGTH} lowercase letters, digits, '-' and '_'"
        );
        Err(self.fault(&format!("agents.list.{index}"), ("id", problem)))
    }
}
