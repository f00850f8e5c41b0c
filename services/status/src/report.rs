//! The status as `--json` prints it.

use std::net::SocketAddr;

use openclaw_contacts::Finding;
use openclaw_proto::channel_admin::AccountState;
use openclaw_proto::wire;
use serde::Serialize;

/// The three daemons.
#[derive(Debug, Serialize)]
pub struct Suite {
    /// Gateway.
    pub gateway: Answer<GatewayStatus>,
    /// Runner.
    pub runner: Answer<Runner>,
    /// Memory.
    pub memory: Answer<Memory>,
    /// The accounts of channels, as the gateway knows them.
    #[serde(skip_serializing_if = "is_nothing")]
    pub channels: Answer<Vec<AccountState>>,
    /// Why nothing can be written to the state directory, so that no message
    /// is taken.
    #[serde(rename = "stateProblem")]
    pub state_problem: Option<String>,
}

/// What a daemon says, or why it says nothing.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer<T> {
    /// It answered.
    Given(T),
    /// It did not.
    Missing {
        /// Why.
        problem: String,
    },
    /// It was not asked: it ended because nobody needs it, and asking starts it.
    Resting {
        /// It is.
        idle: bool,
    },
}

/// The gateway's status.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayStatus {
    /// Version.
    pub version: String,
    /// Uptime ms.
    pub uptime_ms: u64,
    /// Sessions.
    pub sessions: u64,
    /// Turns running.
    pub turns_running: u64,
    /// Turns waiting.
    pub turns_waiting: u64,
    /// State dir.
    pub state_dir: String,
    /// Its TCP sockets.
    pub listeners: Vec<Listener>,
    /// What `session.maintenance` would do, where it is only to say so.
    pub maintenance: Vec<String>,
    /// Whether jobs run when they are due.
    pub cron_enabled: bool,
    /// Configuration problem.
    pub configuration_problem: Option<String>,
}

/// A TCP socket of the gateway.
#[derive(Debug, Serialize)]
pub struct Listener {
    /// http (WebSocket and HTTP) or cli.
    pub name: String,
    /// Address and port.
    pub address: String,
}

/// The agent-runner's status.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Runner {
    /// Version.
    pub version: String,
    /// Uptime ms.
    pub uptime_ms: u64,
    /// Turns running.
    pub turns_running: u64,
    /// Turns ended.
    pub turns_ended: u64,
    /// Backend.
    pub backend: String,
    /// Reason.
    pub reason: String,
    /// Provider.
    pub provider: String,
    /// Model.
    pub model: String,
    /// Candidates.
    pub candidates: Vec<Candidate>,
    /// Confinements.
    pub confinements: Vec<Confinement>,
    /// strict, namespaces, workspace, text or off.
    pub sandbox_level: String,
    /// Why that one.
    pub sandbox_reason: Option<String>,
    /// What gives a stricter one here: a command, or words.
    pub sandbox_stricter: Option<String>,
    /// model-only, allowlist or full.
    pub sandbox_network: String,
    /// What is weaker than the level's name suggests, in words.
    pub sandbox_weaker: Vec<String>,
    /// Configuration problem.
    pub configuration_problem: Option<String>,
    /// `None`: agents run as the user that the daemon runs as.
    pub agent_user: Option<String>,
    /// What would answer each agent's next message.
    pub agents: Vec<AgentModel>,
    /// What servers of tools need and is not there.
    pub servers: Vec<ServerProblem>,
}

/// What a server of tools needs and is not there.
#[derive(Debug, Serialize)]
pub struct ServerProblem {
    /// The key of the configuration.
    pub key: String,
    /// Problem.
    pub problem: String,
}

/// What would answer an agent's next message.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentModel {
    /// Agent id.
    pub agent_id: String,
    /// Empty: nobody answers.
    pub backend: String,
    /// Provider.
    pub provider: String,
    /// Model.
    pub model: String,
    /// What of the configured models cannot be used.
    pub problems: Vec<ModelProblem>,
    /// The ids of its auth profiles.
    pub auth_profiles: Vec<String>,
}

/// A configured model that cannot be used.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelProblem {
    /// The key of the configuration.
    pub key: String,
    /// Why, and the way out.
    pub problem: String,
    /// No model answers because of it.
    pub is_fatal: bool,
}

/// A backend that was looked at.
#[derive(Debug, Serialize)]
pub struct Candidate {
    /// Backend.
    pub backend: String,
    /// Available.
    pub available: bool,
    /// Reason.
    pub reason: String,
}

/// One promise of the sandbox.
#[derive(Debug, Serialize)]
pub struct Confinement {
    /// Name.
    pub name: String,
    /// enforced, unavailable, `not_applicable` or failed.
    pub state: String,
    /// Detail.
    pub detail: String,
}

/// The memory daemon's status.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Version.
    pub version: String,
    /// Uptime ms.
    pub uptime_ms: u64,
    /// Files.
    pub files: u64,
    /// Passages.
    pub passages: u64,
    /// Configuration problem.
    pub configuration_problem: Option<String>,
}

impl Suite {
    /// Whether every daemon answered and messages can be taken.
    pub fn is_whole(&self) -> bool {
        self.answers() && self.state_problem.is_none()
    }

    /// Whether every daemon answered, or will.
    pub fn answers(&self) -> bool {
        !self.gateway.is_missing() && !self.runner.is_missing() && !self.memory.is_missing()
    }

    /// What is said of each account of a channel.
    pub fn channels(&self) -> Vec<Finding> {
        let accounts = self.channels.given().into_iter().flatten();
        accounts.map(Finding::of).collect()
    }

    /// Each different problem with the configuration once.
    pub(crate) fn configuration_problems(&self) -> Vec<&str> {
        let gateway = self.gateway.given();
        let runner = self.runner.given();
        let memory = self.memory.given();
        let problems = [
            gateway.and_then(|answer| answer.configuration_problem.as_deref()),
            runner.and_then(|answer| answer.configuration_problem.as_deref()),
            memory.and_then(|answer| answer.configuration_problem.as_deref()),
        ];
        let mut all = Vec::new();
        for problem in problems.into_iter().flatten() {
            if !all.contains(&problem) {
                all.push(problem);
            }
        }
        all
    }
}

impl GatewayStatus {
    /// Whether one of its sockets is at `address`.
    pub fn listens_at(&self, address: SocketAddr) -> bool {
        let text = address.to_string();
        self.listeners.iter().any(|it| it.address == text)
    }

    /// Where WebSocket and HTTP are served.
    pub fn http(&self) -> impl Iterator<Item = &str> {
        let listeners = self.listeners.iter();
        let of_http = listeners.filter(|it| it.name == "http");
        of_http.map(|it| it.address.as_str())
    }
}

impl<T> Answer<T> {
    /// What was said, if anything.
    pub fn given(&self) -> Option<&T> {
        match self {
            Self::Given(answer) => Some(answer),
            Self::Missing { .. } | Self::Resting { .. } => None,
        }
    }

    /// Whether nothing was said although it was asked.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    /// That of a daemon at rest.
    pub(crate) fn resting() -> Self {
        Self::Resting { idle: true }
    }
}

impl<T> From<Result<T, String>> for Answer<T> {
    fn from(result: Result<T, String>) -> Self {
        match result {
            Ok(answer) => Self::Given(answer),
            Err(problem) => Self::Missing { problem },
        }
    }
}

/// Confinements with what is said of them; those that lack the same are one.
pub fn grouped(confinements: &[Confinement]) -> Vec<(String, &Confinement)> {
    let may_be_many = |it: &Confinement| it.state == "unavailable" || !it.is_for_this_user();
    let mut groups: Vec<(String, &Confinement)> = Vec::new();
    for confinement in confinements {
        let is_same = |other: &Confinement| {
            (&other.state, &other.detail) == (&confinement.state, &confinement.detail)
        };
        let mut others = groups.iter_mut();
        match others.find(|(_, other)| may_be_many(other) && is_same(other)) {
            Some((names, _)) => names.push_str(&format!(", {}", confinement.name)),
            None => groups.push((confinement.name.clone(), confinement)),
        }
    }
    groups
}

impl Confinement {
    /// Whether it holds.
    pub(crate) fn is_enforced(&self) -> bool {
        self.state == "enforced"
    }

    /// Whether there is anything that it would take away: another kind of user has it.
    pub fn is_for_this_user(&self) -> bool {
        self.state != "not_applicable"
    }
}

impl From<wire::gateway::StatusResponse> for GatewayStatus {
    fn from(status: wire::gateway::StatusResponse) -> Self {
        Self {
            version: status.version,
            uptime_ms: status.uptime_ms,
            sessions: status.sessions,
            turns_running: status.turns_running,
            turns_waiting: status.turns_waiting,
            state_dir: status.state_dir,
            listeners: status.listeners.into_iter().map(Into::into).collect(),
            maintenance: status.maintenance,
            cron_enabled: !status.jobs_are_off,
            configuration_problem: filled(status.configuration_problem),
        }
    }
}

impl From<wire::gateway::Listener> for Listener {
    fn from(listener: wire::gateway::Listener) -> Self {
        Self {
            name: listener.name,
            address: listener.address,
        }
    }
}

impl From<wire::runner::StatusResponse> for Runner {
    fn from(status: wire::runner::StatusResponse) -> Self {
        Self {
            version: status.version,
            uptime_ms: status.uptime_ms,
            turns_running: status.turns_running,
            turns_ended: status.turns_ended,
            backend: status.backend,
            reason: status.reason,
            provider: status.provider,
            model: status.model,
            candidates: status.candidates.into_iter().map(Into::into).collect(),
            confinements: status.confinements.into_iter().map(Into::into).collect(),
            sandbox_level: status.sandbox_level,
            sandbox_reason: filled(status.sandbox_reason),
            sandbox_stricter: filled(status.sandbox_stricter),
            sandbox_network: status.sandbox_network,
            sandbox_weaker: status.sandbox_weaker,
            configuration_problem: filled(status.configuration_problem),
            agent_user: filled(status.agent_user),
            agents: status.agents.into_iter().map(Into::into).collect(),
            servers: status.servers.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<wire::runner::ServerProblem> for ServerProblem {
    fn from(server: wire::runner::ServerProblem) -> Self {
        Self {
            key: server.key,
            problem: server.problem,
        }
    }
}

impl From<wire::runner::AgentModel> for AgentModel {
    fn from(answering: wire::runner::AgentModel) -> Self {
        Self {
            agent_id: answering.agent_id,
            backend: answering.backend,
            provider: answering.provider,
            model: answering.model,
            problems: answering.problems.into_iter().map(Into::into).collect(),
            auth_profiles: answering.auth_profiles,
        }
    }
}

impl From<wire::runner::ModelProblem> for ModelProblem {
    fn from(problem: wire::runner::ModelProblem) -> Self {
        Self {
            key: problem.key,
            problem: problem.problem,
            is_fatal: problem.is_fatal,
        }
    }
}

impl From<wire::runner::BackendCandidate> for Candidate {
    fn from(candidate: wire::runner::BackendCandidate) -> Self {
        Self {
            backend: candidate.backend,
            available: candidate.available,
            reason: candidate.reason,
        }
    }
}

impl From<wire::runner::Confinement> for Confinement {
    fn from(confinement: wire::runner::Confinement) -> Self {
        Self {
            name: confinement.name,
            state: confinement.state,
            detail: confinement.detail,
        }
    }
}

impl From<wire::memory::StatusResponse> for Memory {
    fn from(status: wire::memory::StatusResponse) -> Self {
        Self {
            version: status.version,
            uptime_ms: status.uptime_ms,
            files: status.files,
            passages: status.chunks,
            configuration_problem: filled(status.configuration_problem),
        }
    }
}

fn is_nothing(accounts: &Answer<Vec<AccountState>>) -> bool {
    accounts.given().is_some_and(Vec::is_empty)
}

fn filled(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
