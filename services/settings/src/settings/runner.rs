//! What the agent-runner alone holds beside the settings: keys of providers,
//! profiles, servers of tools, and the environment.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use openclaw_config::environment::Environment;
use openclaw_config::error::Error;
use openclaw_config::key::KeyPath;
use openclaw_config::launch::{Gifts, Launch, Planted};
use openclaw_config::secret::Secret;
use openclaw_config::substitute::{self, Missing};
use openclaw_credentials::Listed;
use openclaw_credentials::{self as auth, Credential, Profile};

use super::workspaces::MAIN;
use super::{
    AgentSettings, Embedder, MEMORY_SEARCH, McpServer, ServerNetwork, Settings, Workspaces, agent,
    memory, now_ms, tools,
};
use crate::document;
use crate::keys::memory::Search;
use crate::keys::{self, Fragment};
use crate::provider::{self, Access, Provider};

mod logins;

/// A profile that a session chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// The provider that it is for.
    pub provider: String,
    /// Its id.
    pub id: String,
    /// Nothing else is used for that provider.
    pub is_only: bool,
}

/// The settings of the agent-runner: those of every daemon, which it derefs to,
/// and what only it may hold.
#[derive(Debug, Clone, PartialEq)]
pub struct RunnerSettings {
    /// Those of every daemon.
    pub base: Settings,
    /// Providers by id, with their keys.
    pub providers: BTreeMap<String, Provider>,
    /// Auth profiles by agent.
    pub profiles: BTreeMap<String, Vec<Profile>>,
    /// The orders that files of profiles say, by agent.
    pub stored_order: BTreeMap<String, Listed>,
    /// What is wrong with the orders, a line each; among the warnings, too.
    pub order_problems: Vec<String>,
    /// The profile that a session chose, in the settings of its turns.
    pub pinned: Option<Pinned>,
    /// Servers of tools by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Servers that cannot be used, and why.
    pub mcp_problems: Vec<(KeyPath, String)>,
    /// Who makes vectors of texts, or why that cannot be: memory goes on
    /// without. `None`: this machine does.
    pub embedding: Option<Result<Provider, String>>,
    /// The token by which receivers of webhooks know us.
    pub webhook_token: Option<Secret>,
    /// The environment with the file's `env.vars` behind it.
    pub environment: Environment,
}

impl Deref for RunnerSettings {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.base
    }
}

impl DerefMut for RunnerSettings {
    fn deref_mut(&mut self) -> &mut Settings {
        &mut self.base
    }
}

impl AsRef<Settings> for RunnerSettings {
    fn as_ref(&self) -> &Settings {
        &self.base
    }
}

impl Settings {
    /// The settings with providers' keys and the environment, for the
    /// agent-runner alone. `credentials` are systemd's, by file name.
    ///
    /// Reads the file again rather than keeping keys in every daemon.
    ///
    /// # Errors
    /// When the file or what it refers to cannot be used.
    pub fn with_credentials(
        self,
        environment: &Environment,
        credentials: &BTreeMap<String, Secret>,
    ) -> Result<RunnerSettings, Error> {
        let mut base = self;
        let path = &base.paths.configuration;
        let document = document::load(path, environment, Missing::KeptForGateway)?;
        let fragment = keys::typed(path, &document.value)?;
        base.warnings = document.warnings;
        let environment = document.environment;
        let origin = path.display().to_string();
        let invalid = |(key, problem)| Error::Value {
            origin: origin.clone(),
            key,
            problem,
        };
        let providers = provider::resolve(&fragment.models.providers, &environment, credentials)
            .map_err(invalid)?;
        // With the variables that this daemon alone has.
        base.provider_faults = provider::faults(&providers);
        base.warnings.extend(base.provider_faults.values().cloned());
        let embedding = match &base.memory.embedder {
            Embedder::Remote { provider, .. } => {
                let mut value = document.value;
                keys::without_nulls(&mut value);
                let source = agent::Source {
                    workspaces: &Workspaces::default(),
                    paths: &base.paths,
                    document: &value,
                    fragment: &fragment,
                };
                let search = source.search()?;
                let provider = embedding(provider, search, &fragment, &environment, credentials);
                Some(provider.map_err(|(key, problem)| format!("{key} {problem}")))
            }
            _ => None,
        };
        let (profiles, stored_order) = base.take_profiles(&environment, credentials);
        let order_problems = base.profile_order.problems(&profiles, &stored_order);
        base.warnings.extend(order_problems.clone());
        let (mcp_servers, mcp_problems) = tools::servers(&fragment.mcp, &base.paths);
        Ok(RunnerSettings {
            base,
            order_problems,
            providers,
            profiles,
            stored_order,
            pinned: None,
            mcp_servers,
            mcp_problems,
            embedding,
            webhook_token: fragment.cron.webhook_token.clone(),
            environment,
        })
    }

    /// The auth profiles of each agent and the order that it is to go by, with those that this
    /// daemon was given.
    fn take_profiles(
        &mut self,
        environment: &Environment,
        credentials: &BTreeMap<String, Secret>,
    ) -> (BTreeMap<String, Vec<Profile>>, BTreeMap<String, Listed>) {
        let passed = auth::passed(credentials, environment);
        self.warnings.extend(passed.warnings);
        let (mut profiles, mut stored_order) = (BTreeMap::new(), BTreeMap::new());
        for agent in self.agents.keys() {
            let own = auth::read_with(&self.paths, agent, environment, credentials);
            self.warnings.extend(own.warnings);
            let all = passed.list.iter().cloned().chain(own.list);
            profiles.insert(agent.clone(), all.collect());
            let mut order = own.order;
            order.extend(passed.order.clone());
            stored_order.insert(agent.clone(), order);
        }
        (profiles, stored_order)
    }
}

impl RunnerSettings {
    /// The provider `id` with the ways in that the agent has: its own profiles before those of the
    /// main agent, and all of them before variables and the configuration.
    pub fn provider(&self, agent_id: &str, id: &str) -> Option<Provider> {
        let mut provider = self.providers.get(id)?.clone();
        let profiles = self.ways_in(agent_id, id);
        let (passed, rest): (Vec<_>, Vec<_>) =
            provider.access.into_iter().partition(Access::is_passed);
        provider.access = rest;
        let provider = provider.with_access(passed.into_iter().chain(profiles).collect());
        Some(self.with_pinned(agent_id, provider))
    }

    /// The profile that leaves logging in to the AWS SDK, if the agent has one.
    pub fn aws_profile(&self, agent_id: &str) -> Option<&Profile> {
        let own = self.profiles.get(agent_id)?;
        own.iter()
            .filter(|profile| profile.credential == Credential::AwsSdk)
            .find(|it| !self.permitted(agent_id, agent_id, &it.provider).is_empty())
    }

    /// The agents whose profiles turns of the agent may use, first to last: its own, the
    /// default agent's, and the main agent's, where logins are that no agent was named for.
    pub fn holders<'a>(&'a self, agent_id: &'a str) -> [&'a str; 3] {
        [agent_id, self.default_agent.as_str(), MAIN]
    }

    /// A login at `provider` that would be used if it had not expired: of the
    /// agent, or else of those that it shares.
    pub fn expired_login(&self, agent_id: &str, provider: &str) -> Option<&Profile> {
        let now = now_ms();
        let agents = self.holders(agent_id);
        let profiles = agents.map(|of| self.permitted(agent_id, of, provider));
        let mut profiles = profiles.into_iter().flatten();
        profiles.find(|profile| !profile.is_usable(now))
    }

    /// The ways in by profiles: those of the agent, or else those that it shares.
    fn ways_in(&self, agent_id: &str, provider: &str) -> Vec<Access> {
        let now = now_ms();
        let agents = self.holders(agent_id);
        let of = |whose: &str| -> Vec<Access> {
            let all = self.permitted(agent_id, whose, provider).into_iter();
            all.filter(|profile| profile.is_usable(now))
                .filter_map(|profile| Access::of(profile, whose))
                .collect()
        };
        let mut all = agents.into_iter().map(of);
        all.find(|ways| !ways.is_empty()).unwrap_or_default()
    }

    /// The profiles of the agent `whose` that turns of the agent `agent_id` may ask
    /// the provider with, whether or not they have expired.
    fn permitted(&self, agent_id: &str, whose: &str, provider: &str) -> Vec<&Profile> {
        let agents = self.holders(agent_id);
        let of = |agent: &str| self.profiles.get(agent).into_iter().flatten();
        let is_known = |id: &str| agents.iter().any(|it| of(it).any(|it| it.id == id));
        let stored = agents
            .iter()
            .find_map(|it| self.stored_order.get(*it).filter(|it| !it.is_empty()));
        let order = &self.profile_order;
        order.permitted(provider, stored, of(whose), is_known)
    }

    /// What the servers of tools need of this machine and is not there: its key, and why.
    pub fn absent_of_servers(&self) -> Vec<(KeyPath, String)> {
        let mut problems = tools::absent(&self.mcp_servers, &self.environment);
        let planted = self.planted_servers().into_iter();
        problems.extend(planted.map(|(key, how)| (key, format!("is not started: {how}"))));
        problems
    }

    /// The servers of which an agent could choose what they run, and that are given what it has
    /// not; and how.
    pub fn planted_servers(&self) -> Vec<(KeyPath, Planted)> {
        let planted = |(name, server): (&String, &McpServer)| {
            let mut agents = self.agents.values();
            let how = agents.find_map(|agent| {
                let planted = self.planted(agent, name, server);
                planted.filter(Planted::is_given_more)
            });
            Some((
                ["mcp", "servers", name.as_str()].into_iter().collect(),
                how?,
            ))
        };
        self.mcp_servers.iter().filter_map(planted).collect()
    }

    /// How an agent could have chosen the program of a server that works for `agent`.
    pub fn planted(
        &self,
        agent: &AgentSettings,
        name: &str,
        server: &McpServer,
    ) -> Option<Planted> {
        let of_server = (name, server);
        self.launch(agent, of_server, |launch, gifts, written| {
            launch.planted(written.iter().copied(), gifts)
        })
    }

    /// Whether a server that works for `agent` has what that has not, and sees where agents write.
    pub fn is_among_agents(&self, agent: &AgentSettings, name: &str, server: &McpServer) -> bool {
        let of_server = (name, server);
        self.launch(agent, of_server, |launch, gifts, written| {
            launch.is_among(written.iter().copied(), gifts)
        })
    }

    /// How a server is started, what it is given, and where somebody else writes.
    fn launch<T>(
        &self,
        agent: &AgentSettings,
        (name, server): (&str, &McpServer),
        look: impl FnOnce(&Launch<'_>, &Gifts<'_>, &[&Path]) -> T,
    ) -> T {
        let launch = Launch {
            command: &server.command,
            path: self.environment.get("PATH").unwrap_or_default(),
            arguments: &server.arguments,
            variables: &server.variables,
            folder: server.folder.as_deref(),
            home: &self.paths.server_home(&agent.id, name),
        };
        let sandbox = &agent.sandbox;
        let paths = [&*server.read_only, &server.read_write].concat();
        let mut of_agent = [&*sandbox.read_only, &sandbox.read_write].concat();
        of_agent.push(agent.workspace.to_path_buf());
        let gifts = Gifts {
            network: server.network != ServerNetwork::None,
            paths: paths.iter().map(PathBuf::as_path).collect(),
            of_agent: of_agent.iter().map(PathBuf::as_path).collect(),
        };
        let written = self.where_agents_write().iter().map(PathBuf::as_path);
        let mut written: Vec<&Path> = written.collect();
        // What it alone writes is its own. Somebody else's place is there once more.
        for own in &server.read_write {
            if let Some(at) = written.iter().position(|folder| folder == own) {
                written.swap_remove(at);
            }
        }
        look(&launch, &gifts, &written)
    }
}

/// The configuration of profiles.
pub(super) fn order(auth: &keys::Auth) -> auth::Order {
    let declared = auth.profiles.iter().map(|(id, written)| {
        let declared = auth::order::Declared {
            provider: written.provider.clone(),
            mode: written.mode.clone(),
        };
        (id.clone(), declared)
    });
    auth::Order {
        listed: auth.order.clone(),
        declared: declared.collect(),
    }
}

/// The provider of embeddings: as the one of models of that name, but for what
/// `remote` says.
fn embedding(
    id: &str,
    search: Search,
    fragment: &Fragment,
    environment: &Environment,
    credentials: &BTreeMap<String, Secret>,
) -> Result<Provider, (String, String)> {
    let mut own = fragment
        .models
        .providers
        .get(id)
        .cloned()
        .unwrap_or_default();
    let known = || memory::base_url(id).map(str::to_owned);
    own.base_url = search
        .remote
        .base_url
        .clone()
        .or(own.base_url)
        .or_else(known);
    let mut providers = provider::resolve(
        &BTreeMap::from([(id.to_owned(), own)]),
        environment,
        credentials,
    )?;
    let missing = || {
        let problem = format!("is {id:?}, which is no provider");
        (format!("{MEMORY_SEARCH}.provider"), problem)
    };
    let mut provider = providers.remove(id).ok_or_else(missing)?;
    if let Some(url) = search.remote.base_url {
        provider.base_url = url.trim_end_matches('/').to_owned();
    }
    if let Some(key) = search.remote.api_key {
        if let Some(name) = substitute::unanswered(key.reveal()) {
            let problem = format!("refers to {name}, which is not set");
            return Err((format!("{MEMORY_SEARCH}.remote.apiKey"), problem));
        }
        provider.key = Some(key);
        provider.key_source = format!("{MEMORY_SEARCH}.remote.apiKey");
    }
    Ok(provider)
}
