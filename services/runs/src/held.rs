//! The sandbox's verdict on an agent and the backend that answers it; only the agent-runner knows
//! them.

use std::time::Duration;

use openclaw_folder::ConfiguredFolder;
use openclaw_proto::call::{CallError, Patience};
use openclaw_proto::runner;
use openclaw_settings::{AgentSettings, Backend};
use openclaw_tools::Policy;
use openclaw_tools::catalog::COMMANDS;

/// The level at which there are neither commands nor files.
const TEXT: &str = "text";

/// The tools by either of which an agent reads files of its workspace.
const READING: [&str; 2] = ["read_file", COMMANDS];

/// How long a reply that names files waits for an agent-runner that is being started again.
const ABSENCE: Duration = Duration::from_secs(10);

/// An agent, as the agent-runner has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnerAgent {
    /// The level of its sandbox.
    pub level: String,
    /// When commands are asked about; empty: it starts no turn.
    pub ask: String,
    /// The backend that answers; empty: none.
    pub backend: String,
}

impl RunnerAgent {
    /// Whether no model answers, but memory alone.
    pub(crate) fn is_offline(&self) -> bool {
        self.backend == Backend::Offline.name()
    }
}

/// The agent-runner's report on the agent; `None`: it does not answer.
pub async fn agent(runner: &runner::Client, id: &str) -> Option<RunnerAgent> {
    reported(runner, id).await.ok()?
}

async fn reported(runner: &runner::Client, id: &str) -> Result<Option<RunnerAgent>, CallError> {
    let mut agents = runner.status().await?.agents.into_iter();
    let agent = agents.find(|agent| agent.agent_id == id);
    Ok(agent.map(|agent| RunnerAgent {
        level: agent.sandbox_level,
        ask: agent.ask,
        backend: agent.backend,
    }))
}

/// The workspace of which files are sent that an answer of the agent names: where it can
/// read them itself, by a tool or by commands. Who has an agent that reads no file say the
/// name of one would have the file otherwise. What answers without a model quotes files,
/// and names none.
pub async fn sent_from(
    runner: &runner::Client,
    configured: Option<&AgentSettings>,
) -> Option<ConfiguredFolder> {
    let configured = configured?;
    let asked = Patience::of(ABSENCE).with_absent();
    let held = asked
        .call(|| reported(runner, &configured.id))
        .await
        .ok()??;
    let policy = at(&held.level, openclaw_prompt::policy(configured));
    let reads = READING.iter().any(|tool| policy.denies(tool).is_none());
    (reads && !held.is_offline()).then(|| configured.workspace.clone())
}

/// What `level` leaves of a policy.
fn at(level: &str, policy: Policy) -> Policy {
    if level == TEXT {
        policy.of_text()
    } else {
        policy
    }
}

/// The tools that an agent may use, as the agent-runner has them.
pub async fn tool_policy(runner: &runner::Client, configured: Option<&AgentSettings>) -> Policy {
    let Some(configured) = configured else {
        return Policy::default();
    };
    let policy = openclaw_prompt::policy(configured);
    match agent(runner, &configured.id).await {
        Some(held) => at(&held.level, policy),
        None => policy,
    }
}
