//! The status as `--json` prints it.

use openclaw_proto::wire;
use serde::Serialize;

/// The three daemons.
#[derive(Debug, Serialize)]
pub(crate) struct Suite {
    pub(crate) gateway: Answer<Gateway>,
    pub(crate) runner: Answer<Runner>,
    pub(crate) memory: Answer<Memory>,
    /// Why nothing can be written to the state directory, so that no message
    /// is taken.
    #[serde(rename = "stateProblem")]
    pub(crate) state_problem: Option<String>,
}

/// What a daemon says, or why it says nothing.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer<T> {
    /// It answered.
    Given(T),
    /// It did not.
    Missing {
        /// Why.
        problem: String,
    },
}

/// The gateway's status.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Gateway {
    pub(crate) version: String,
    pub(crate) uptime_ms: u64,
    pub(crate) sessions: u64,
    pub(crate) turns_running: u64,
    pub(crate) turns_waiting: u64,
    pub(crate) state_dir: String,
    /// Its TCP sockets.
    pub(crate) listeners: Vec<Listener>,
    pub(crate) configuration_problem: Option<String>,
}

/// A TCP socket of the gateway.
#[derive(Debug, Serialize)]
pub(crate) struct Listener {
    /// http (WebSocket and HTTP) or cli.
    pub(crate) name: String,
    /// Address and port.
    pub(crate) address: String,
}

/// The agent-runner's status.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Runner {
    pub(crate) version: String,
    pub(crate) uptime_ms: u64,
    pub(crate) turns_running: u64,
    pub(crate) turns_ended: u64,
    pub(crate) backend: String,
    pub(crate) reason: String,
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) confinements: Vec<Confinement>,
    /// strict, workspace or off.
    pub(crate) sandbox_level: String,
    /// model-only, allowlist or full.
    pub(crate) sandbox_network: String,
    /// What is less than that sounds like.
    pub(crate) sandbox_weaker: Vec<String>,
    pub(crate) configuration_problem: Option<String>,
    /// `None`: agents run as the user that the daemon runs as.
    pub(crate) agent_user: Option<String>,
}

/// A backend that was looked at.
#[derive(Debug, Serialize)]
pub(crate) struct Candidate {
    pub(crate) backend: String,
    pub(crate) available: bool,
    pub(crate) reason: String,
}

/// One promise of the sandbox.
#[derive(Debug, Serialize)]
pub(crate) struct Confinement {
    pub(crate) name: String,
    /// enforced, unavailable or failed.
    pub(crate) state: String,
    pub(crate) detail: String,
}

/// The memory daemon's status.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Memory {
    pub(crate) version: String,
    pub(crate) uptime_ms: u64,
    pub(crate) files: u64,
    pub(crate) passages: u64,
    pub(crate) configuration_problem: Option<String>,
}

impl Suite {
    /// Whether every daemon answered and messages can be taken.
    pub(crate) fn is_whole(&self) -> bool {
        self.answers() && self.state_problem.is_none()
    }

    /// Whether every daemon answered.
    pub(crate) fn answers(&self) -> bool {
        self.gateway.given().is_some()
            && self.runner.given().is_some()
            && self.memory.given().is_some()
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

impl<T> Answer<T> {
    /// What was said, if anything.
    pub(crate) fn given(&self) -> Option<&T> {
        match self {
            Self::Given(answer) => Some(answer),
            Self::Missing { .. } => None,
        }
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

impl Confinement {
    /// Whether it holds.
    pub(crate) fn is_enforced(&self) -> bool {
        self.state == "enforced"
    }
}

impl From<wire::gateway::StatusResponse> for Gateway {
    fn from(status: wire::gateway::StatusResponse) -> Self {
        Self {
            version: status.version,
            uptime_ms: status.uptime_ms,
            sessions: status.sessions,
            turns_running: status.turns_running,
            turns_waiting: status.turns_waiting,
            state_dir: status.state_dir,
            listeners: status.listeners.into_iter().map(Into::into).collect(),
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
            sandbox_network: status.sandbox_network,
            sandbox_weaker: status.sandbox_weaker,
            configuration_problem: filled(status.configuration_problem),
            agent_user: filled(status.agent_user),
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

fn filled(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
