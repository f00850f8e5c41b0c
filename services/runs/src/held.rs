//! The sandbox's verdict on an agent and the backend that answers it; only the agent-runner knows
//! them.

use openclaw_proto::runner;
use openclaw_settings::{AgentSettings, Backend};
use openclaw_tools::Policy;

/// The level at which there are neither commands nor files.
const TEXT: &str = "text";

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
    let status = runner.status().await.ok()?;
    let mut agents = status.agents.into_iter();
    let agent = agents.find(|agent| agent.agent_id == id)?;
    Some(RunnerAgent {
        level: agent.sandbox_level,
        ask: agent.ask,
        backend: agent.backend,
    })
}

/// The tools that an agent may use, as the agent-runner has them.
pub async fn tool_policy(runner: &runner::Client, configured: Option<&AgentSettings>) -> Policy {
    let Some(configured) = configured else {
        return Policy::default();
    };
    let policy = openclaw_prompt::policy(configured);
    match agent(runner, &configured.id).await {
        Some(held) if held.level == TEXT => policy.of_text(),
        _ => policy,
    }
}
