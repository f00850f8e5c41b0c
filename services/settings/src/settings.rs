//! Validated settings: typed, with the units in the types.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use openclaw_config::environment::Environment;
use openclaw_config::error::Error;
use openclaw_config::key::KeyPath;
use openclaw_config::paths::Paths;
use openclaw_config::pipeline::include::Source;
use openclaw_config::problem::Problem;
use openclaw_config::redact;
use openclaw_config::secret::Secret;
use openclaw_config::substitute::Missing;
use openclaw_effect::Unused;
use openclaw_folder::ConfiguredFolder;
use serde_json::Value;

use crate::document::{self, Document};
use crate::keys::{self, Fragment};
use crate::provider;

mod absent;
mod agent;
pub mod channels;
mod exposed;
pub mod gateway;
mod heartbeat;
mod known_models;
mod maintenance;
pub mod memory;
pub mod models;
mod named_agents;
mod own_limits;
mod persona;
mod queue;
pub mod recipient;
mod runner;
pub mod sandbox;
mod session;
mod told;
pub(crate) mod tools;
mod workspaces;

pub use crate::keys::cron::WebhookPolicy;
pub use crate::keys::heartbeat::{ActiveHours, DirectPolicy, Heartbeat};
pub use crate::keys::maintenance::MaintenanceMode;
pub use crate::keys::messages::{QueueDrop, QueueMode};
pub use crate::keys::send_policy::{SendPolicy, SendTarget};
pub use crate::keys::session::{DmScope, Interrupted, SessionScope};
pub use crate::keys::tools::{Ask, SafeBinProfile};
pub use crate::keys::{Backend, Limits, LogLevel, MAX_TOKENS, SandboxLevel};
pub use agent::{AgentSettings, Bootstrap};
pub use channels::ChannelSettings;
pub use gateway::Gateway;
pub use known_models::{KnownModels, UnknownModel};
pub use maintenance::{DiskBudget, Maintenance};
pub use memory::{Embedder, Memory, MemorySearch};
pub use models::{ModelFacts, ModelList};
pub use openclaw_agent_clis::AgentCli;
pub use own_limits::{InvalidLimit, check as check_limit};
pub use persona::{ModelParams, Persona};
pub use queue::{DEBOUNCE_LIMIT, QueueSettings};
pub use runner::{Pinned, RunnerSettings};
pub use sandbox::{AgentSandbox, Host, Network, ProviderTool, Sandbox};
pub use session::{Price, ResetPolicies, ResetPolicy, SessionSettings};
pub use tools::{McpServer, ServerNetwork, ToolLayer, ToolSettings};
use workspaces::Workspaces;

/// The key of the search of all agents.
const MEMORY_SEARCH: &str = "agents.defaults.memorySearch";

/// The whole configuration, validated.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The paths of the state.
    pub paths: Paths,
    /// The least severe level that is logged.
    pub log_level: LogLevel,
    /// Whether the log may say what was said.
    pub log_content: bool,
    /// Turns that may run at once, over all sessions.
    pub concurrent_turns: u32,
    /// The gateway's doors. Without their secrets, see [`Settings::with_gateway_secrets`].
    pub gateway: Gateway,
    /// Agents by id, the default one among them.
    pub agents: BTreeMap<String, AgentSettings>,
    /// The agent that messages without one go to.
    pub default_agent: String,
    /// `provider/model` for agents that name none.
    pub default_model: Option<String>,
    /// Which models may be named, as far as the configuration tells.
    pub known_models: KnownModels,
    /// The list of models.
    pub models: ModelList,
    /// Which profiles providers may be asked with, and in which order.
    pub profile_order: openclaw_credentials::Order,
    /// Whether models.json keeps what others put into it.
    pub models_are_merged: bool,
    /// The settings of the sandbox for all agents.
    pub sandbox: Sandbox,
    /// How long servers of tools stay up after a message; `None`: as long as
    /// there is a place for them.
    pub mcp_idle: Option<Duration>,
    /// The settings of memory and its embedder.
    pub memory: Memory,
    /// Whether jobs run when they are due.
    pub cron_enabled: bool,
    /// Which messages share a conversation, and when one begins anew.
    pub session: SessionSettings,
    /// The queue: messages that arrive while their session is busy.
    pub queue: QueueSettings,
    /// The channels, and which agent answers there.
    pub channels: ChannelSettings,
    /// Providers that cannot be asked, and why, a sentence.
    pub provider_faults: BTreeMap<String, String>,
    /// The APIs of the providers.
    pub provider_apis: BTreeMap<String, provider::Api>,
    /// Failures while the configuration was read that are not fatal.
    pub warnings: Vec<String>,
    /// Values with which a part of the suite stays off until they are corrected.
    pub faults: Vec<Problem>,
    /// Keys of the files that have no effect. Empty unless the settings were
    /// read by [`crate::load`] or one of its neighbours.
    pub unused: Vec<Unused>,
    /// Probable mistakes that have another effect than they seem to, each a line.
    pub doubts: Vec<String>,
    /// The keys as they are stated, for what has no field above. Without those that
    /// may hold credentials.
    pub stated: Fragment,
    /// The values that are fixed from a daemon's start to its end, by key; see [`SOCKETS_ADVICE`].
    pub fixed: BTreeMap<&'static str, String>,
    /// The folders in which agents and their servers of tools may write; see [`Settings::folder`].
    pub(crate) written: Arc<[PathBuf]>,
}

impl AsRef<Settings> for Settings {
    fn as_ref(&self) -> &Settings {
        self
    }
}

impl Settings {
    /// Those of `document`, whose files no confined agent may write. Credentials are not kept:
    /// only the agent-runner may hold them, see [`Settings::with_credentials`].
    pub fn of(paths: Paths, document: &Document, environment: &Environment) -> Result<Self, Error> {
        let settings = Self::assemble(paths, document.value.clone(), environment)?;
        settings.with_sources(&document.sources)
    }

    /// These, unless what they were read from is a confined agent's.
    pub(crate) fn with_sources(self, sources: &[Source]) -> Result<Self, Error> {
        match exposed::check_sources(&self, sources) {
            Ok(()) => Ok(self),
            Err((key, problem)) => Err(Error::Value {
                origin: self.paths.configuration.display().to_string(),
                key,
                problem,
            }),
        }
    }

    /// Validates `document`, wherever it comes from. Credentials are not kept, as with
    /// [`Settings::of`].
    pub fn assemble(
        paths: Paths,
        mut document: Value,
        environment: &Environment,
    ) -> Result<Self, Error> {
        let fragment = keys::typed(&paths.configuration, &document)?;
        keys::without_nulls(&mut document);
        let with_token = channels::tokens(&document).into_keys().collect();
        let unset_tokens = channels::unset_tokens(&document);
        let faults = openclaw_effect::faults(&document);
        take_credentials(&mut document);
        let origin = paths.configuration.display().to_string();
        let invalid = |(key, problem): (String, String)| Error::Value {
            origin: origin.clone(),
            key,
            problem,
        };
        let provider_faults = provider_faults(&fragment, environment).map_err(invalid)?;
        let workspaces = Workspaces::of(&fragment.agents, &paths);
        let source = agent::Source {
            workspaces: &workspaces,
            paths: &paths,
            document: &document,
            fragment: &fragment,
        };
        let mut agents = source.agents()?;
        if let Some(unknown) = named_agents::unknown(&fragment, &agents) {
            return Err(invalid(unknown));
        }
        exposed::check(&agents, &fragment, &paths).map_err(invalid)?;
        let written = written(&paths, &fragment, &agents);
        confine_workspaces(&mut agents, &written);
        let search = source.search()?;
        let doors = Gateway::resolve(&fragment.gateway, &fragment.hooks, &origin)?;
        check_sections(&paths, &fragment, &agents).map_err(invalid)?;
        let known_models = KnownModels::of(&fragment.models, agents.values(), &provider_faults);
        Ok(Self {
            log_level: fragment.logging.level,
            log_content: fragment.logging.content,
            concurrent_turns: fragment.gateway.max_concurrent_turns,
            fixed: fixed(&paths, &doors, &fragment.gateway.cli),
            gateway: doors,
            agents,
            default_agent: workspaces::default_agent(&fragment.agents).to_owned(),
            known_models,
            models: ModelList::of(&fragment.models),
            default_model: fragment.models.default.clone(),
            profile_order: runner::order(&fragment.auth),
            models_are_merged: fragment.models.mode == keys::ModelsMode::Merge,
            sandbox: sandbox::whole(&fragment.sandbox)
                .map_err(|(key, problem)| (format!("sandbox.{key}"), problem))
                .map_err(invalid)?,
            cron_enabled: fragment.cron.enabled,
            mcp_idle: tools::idle(&fragment.mcp),
            memory: memory::whole(&fragment.memory, &search)
                .map_err(|(key, problem)| (format!("{MEMORY_SEARCH}.{key}"), problem))
                .map_err(invalid)?,
            session: SessionSettings::of(&fragment.session, &fragment.models, &fragment.cron),
            queue: QueueSettings::of(&fragment.messages.queue),
            channels: ChannelSettings::of(&paths, &document, &fragment, with_token, unset_tokens)?,
            warnings: Vec::new(),
            unused: Vec::new(),
            doubts: workspaces.notes,
            faults,
            provider_faults,
            provider_apis: provider::apis(&fragment.models.providers),
            written,
            stated: keys::section(&paths.configuration, "", &document)?,
            paths,
        })
    }

    /// The settings with the secrets of the gateway's doors, for the gateway
    /// alone. `credentials` are systemd's, by file name; they come before those
    /// in the state directory's own `credentials` folder.
    pub fn with_gateway_secrets(
        mut self,
        environment: &Environment,
        credentials: &BTreeMap<String, Secret>,
    ) -> Result<Self, Error> {
        let path = &self.paths.configuration;
        let document = document::read(path, environment, Missing::KeptForOwner)?;
        let fragment = keys::typed(path, &document)?;
        let origin = path.display().to_string();
        let (gateway, hooks) = (&fragment.gateway, &fragment.hooks);
        let mut all = gateway::files::read(&self.paths.state)?;
        all.extend(credentials.clone());
        self.gateway.with_secrets(gateway, hooks, &all, &origin)?;
        self.channels.tokens = channels::tokens(&document);
        self.channels.webhook_secrets = channels::webhook_secrets(&document);
        Ok(self)
    }

    /// Takes over what only the files tell: keys without effect, what is most likely a
    /// mistake, and by which keys agents are written.
    pub(crate) fn take_names(&mut self, document: &Document) {
        self.unused = document.unused();
        self.doubts.extend(document.doubts());
        let unlisted = document.lines(self.unlisted_models());
        self.doubts.extend(unlisted);
        document.name_as_written(&mut self.faults);
        let keys = self.agents.values_mut();
        for key in keys.flat_map(|it| [&mut it.model_key, &mut it.backend_key]) {
            let path = KeyPath::parse(key).unwrap_or_default();
            let written = document.as_written(&path);
            if written != path {
                *key = written.to_string();
            }
        }
    }

    /// The agent `id`; `None` when the configuration does not name it.
    pub fn agent(&self, id: &str) -> Option<&AgentSettings> {
        self.agents.get(id)
    }

    /// The folders in which agents, and their servers of tools, may write, whichever of
    /// them: what one leaves there, others find.
    pub fn where_agents_write(&self) -> &[PathBuf] {
        &self.written
    }

    /// The folder at `path`, which may lie where agents write.
    pub fn folder(&self, path: PathBuf) -> ConfiguredFolder {
        ConfiguredFolder::new(path, Arc::clone(&self.written))
    }
}

/// Why providers cannot be asked. Checked by every daemon, so that a mistake shows at the first
/// start; what refers to the agent-runner's variables only it can check.
fn provider_faults(
    fragment: &Fragment,
    environment: &Environment,
) -> Result<BTreeMap<String, String>, (String, String)> {
    let mut providers = fragment.models.providers.clone();
    providers.retain(|_, provider| !provider.has_references());
    let checked = provider::resolve(&providers, environment, &BTreeMap::new())?;
    Ok(provider::faults(&checked))
}

/// Has each agent's workspace know where agents write.
fn confine_workspaces(agents: &mut BTreeMap<String, AgentSettings>, written: &Arc<[PathBuf]>) {
    for agent in agents.values_mut() {
        let path = agent.workspace.to_path_buf();
        agent.workspace = ConfiguredFolder::new(path, Arc::clone(written));
    }
}

/// Checks the sections that no field of [`Settings`] is made of.
fn check_sections(
    paths: &Paths,
    fragment: &Fragment,
    agents: &BTreeMap<String, AgentSettings>,
) -> Result<(), (String, String)> {
    tools::check_paths(&fragment.mcp, paths)?;
    fragment.cron.checked()?;
    heartbeat::checked(fragment, agents)
}

/// The value of [`Settings::where_agents_write`].
fn written(
    paths: &Paths,
    fragment: &Fragment,
    agents: &BTreeMap<String, AgentSettings>,
) -> Arc<[PathBuf]> {
    let of_agent = |agent: &AgentSettings| exposed::written_by(agent, paths);
    let servers = fragment.mcp.servers.values();
    let of_servers = servers.flat_map(|server| &server.paths.rw);
    let of_agents = agents.values().flat_map(of_agent);
    of_agents
        .chain(of_servers.map(|path| paths.expand(path)))
        .collect()
}

/// How sockets are brought in line with what [`Settings::fixed`] says.
pub const SOCKETS_ADVICE: &str = "run `openclawctl sockets`, then `systemctl --user daemon-reload` \
     and `systemctl --user restart openclaw.target 'openclaw-*.socket'` (without systemd: start `openclawctl run` again)";

/// What holds from a daemon's start to its end: sockets are made before, by the
/// service manager. By the value that holds, however it is written, and
/// whether or not it is: a default that is written down is no change.
fn fixed(
    paths: &Paths,
    gateway: &Gateway,
    cli: &keys::gateway::Cli,
) -> BTreeMap<&'static str, String> {
    let mut fixed = BTreeMap::from([
        ("gateway.bind", gateway.address.to_string()),
        ("gateway.port", gateway.port.to_string()),
    ]);
    let written = cli.secret.as_ref();
    let is_open = written.is_some_and(|secret| !secret.reveal().trim().is_empty())
        || gateway::files::is_there(&paths.state, gateway::CLI_CREDENTIAL);
    if is_open {
        fixed.insert("gateway.cli.secret", "set".to_owned());
        fixed.insert("gateway.cli.port", gateway.cli.port.to_string());
    }
    fixed
}

/// Now, in milliseconds since 1970, as credentials say when they end.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let milliseconds = since.unwrap_or_default().as_millis();
    u64::try_from(milliseconds).unwrap_or(u64::MAX)
}

/// Sections that only the agent-runner may hold.
const OF_THE_RUNNER: [&str; 3] = ["env", "mcp.servers", "models.providers"];

/// Takes out what may be a credential.
fn take_credentials(document: &mut Value) {
    let secrets = redact::credentials(document).into_iter();
    let secrets: Vec<KeyPath> = secrets.map(|(place, _)| place).collect();
    let sections = OF_THE_RUNNER.map(|section| section.split('.').collect());
    for place in secrets.into_iter().chain(sections) {
        place.take(document);
    }
}

#[cfg(test)]
mod tests;
