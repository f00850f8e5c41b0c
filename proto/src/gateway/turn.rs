//! A turn and what it cost.

use serde::Serialize;

use crate::event::Resources;
use crate::wire::gateway as wire;

/// A turn as the ledger has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// The run.
    pub run_id: String,
    /// Its session.
    pub session_key: String,
    /// Its agent.
    pub agent_id: String,
    /// Where the message came from.
    pub channel: String,
    /// `accepted`, `running`, `done`, `failed`, `aborted` or `interrupted`.
    pub state: String,
    /// When the message was accepted, in Unix milliseconds.
    pub created_ms: i64,
    /// When it ended, in Unix milliseconds; none while it goes on.
    pub ended_ms: Option<i64>,
    /// What its processes used; none when it is not known.
    pub resources: Option<Resources>,
    /// Tokens sent to the model, those of its cache too.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// US dollars; none when the model's price is not known.
    pub cost_usd: Option<f64>,
    /// The model that answered.
    pub model: String,
    /// `claude-cli`, `codex-cli`, `native` or `offline`.
    pub backend: String,
    /// Why there is no whole reply; empty when there is one.
    pub reason: String,
}

impl From<wire::Turn> for Turn {
    fn from(turn: wire::Turn) -> Self {
        Self {
            run_id: turn.run_id,
            session_key: turn.session_key,
            agent_id: turn.agent_id,
            channel: turn.channel,
            state: turn.state,
            created_ms: turn.created_ms,
            ended_ms: (turn.ended_ms != 0).then_some(turn.ended_ms),
            resources: turn.resources.map(Into::into),
            input_tokens: turn.input_tokens,
            output_tokens: turn.output_tokens,
            cost_usd: turn.cost_usd,
            model: turn.model,
            backend: turn.backend,
            reason: turn.reason,
        }
    }
}

impl From<Turn> for wire::Turn {
    fn from(turn: Turn) -> Self {
        Self {
            run_id: turn.run_id,
            session_key: turn.session_key,
            agent_id: turn.agent_id,
            channel: turn.channel,
            state: turn.state,
            created_ms: turn.created_ms,
            ended_ms: turn.ended_ms.unwrap_or_default(),
            resources: turn.resources.map(Into::into),
            input_tokens: turn.input_tokens,
            output_tokens: turn.output_tokens,
            cost_usd: turn.cost_usd,
            model: turn.model,
            backend: turn.backend,
            reason: turn.reason,
        }
    }
}
