//! What a turn's process is told, over its standard input: lines of JSON.
//!
//! The first one starts the agent; a process that stands ready for the next turn has had it
//! already. The second one is the turn. For an agent of ours a third one is the conversation before
//! it, which the process passes on unread. Credentials go this way and no other: not on the disk,
//! not through the environment.

use std::path::PathBuf;

use openclaw_agent_clis::Dialogue;
use openclaw_model_api::bill::Budget;
use openclaw_model_api::relay::{Prices, Relay};
use openclaw_model_api::route::Stop;
use openclaw_model_api::wire::{Grants, ModelOptions};
use openclaw_prices::Price;
use openclaw_proto::approval::Terms;
use openclaw_sandbox::Plan;
use openclaw_settings::{AgentSettings, Embedder, LogLevel, RunnerSettings};
use openclaw_tools::Policy;
use openclaw_tools::approval::Rules;
use openclaw_turn::{Offer, TurnRequest};
use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::proxies::Proxies;
use crate::servers::Pace;

/// Bytes of one line: a turn is at most one gRPC message, and JSON escapes at worst double it.
pub const LINE_LIMIT: usize = 2 * openclaw_proto::MESSAGE_LIMIT;

/// The FIFO through which a CLI's server of our tools asks, in the folder that the CLI is given.
pub const REQUEST_PIPE: &str = "request";
/// The FIFO through which it hears the answers.
pub const RESPONSE_PIPE: &str = "response";

/// The agent's process.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// The run that it is for.
    pub run_id: String,
    /// Whose process it is.
    pub agent_id: String,
    /// The service unit this runs in; empty without a service manager.
    pub unit: String,
    /// The most memory that the unit may take, in bytes.
    pub memory_max: u64,
    /// The names of limits that are the session's.
    pub own_limits: Vec<String>,
    /// Where events go.
    pub spool: PathBuf,
    /// Holds, when the turn is ended by somebody, the reason.
    pub reason: PathBuf,
    /// Least severe level that is logged.
    pub log_level: LogLevel,
    /// Whether the log may say what tools are asked and answer.
    pub log_content: bool,
    /// `openclaw-sandbox`.
    pub helper: PathBuf,
    /// How the agent is confined.
    pub plan: Plan,
    /// The agent's program,
    pub program: PathBuf,
    /// its arguments,
    pub arguments: Vec<String>,
    /// and its whole environment.
    pub variables: Vec<(String, String)>,
    /// Whether the agent's standard input is the turn socket.
    pub socket: bool,
    /// What it may reach over its network.
    pub proxies: Proxies,
    /// What a CLI may ask for before there is a turn.
    pub waiting: Option<Waiting>,
}

/// What a CLI's server of our tools asks for at its start.
#[derive(Debug, Serialize, Deserialize)]
pub struct Waiting {
    /// Where it asks.
    pub pipe: PathBuf,
    /// Which tools there are,
    pub offer: Offer,
    /// beside those of servers, to which a connection comes with this. Without
    /// one nobody answers before the turn.
    pub servers: Option<WaitingServers>,
}

/// What is taken of the servers of tools before there is a turn.
#[derive(Debug, Serialize, Deserialize)]
pub struct WaitingServers {
    /// Decides of their tools.
    pub policy: Policy,
    /// Which of them are waited for.
    pub patience: Pace,
}

/// The turn.
#[derive(Debug, Serialize, Deserialize)]
pub struct Order {
    /// The session's key,
    pub session_key: String,
    /// and which of the conversations under it.
    pub session_id: String,
    /// When the message came, in Unix milliseconds; 0: not known.
    pub received_ms: i64,
    /// Where the message came from.
    pub channel: String,
    /// The backend's name.
    pub backend: String,
    /// Who answers: the provider of the model,
    pub provider: String,
    /// and the model.
    pub model: String,
    /// Told before anything else.
    pub notes: Vec<String>,
    /// The longest the turn may take, in milliseconds.
    pub deadline_ms: u64,
    /// The longest it may be silent, in milliseconds.
    pub silence_ms: u64,
    /// The memory daemon's socket, for host tools.
    pub memory: PathBuf,
    /// The gateway's socket, for the tools that are about jobs.
    pub gateway: PathBuf,
    /// What the host tool `status` says.
    pub status: String,
    /// What it may spend.
    pub budget: Budget,
    /// What it may search.
    pub searches: Allowance,
    /// What the model's provider may do beside answering.
    pub grants: Grants,
    /// The tools that there are.
    pub offer: Offer,
    /// Decides of the tools of servers, to which a connection comes with this.
    pub policy: Policy,
    /// What commands are judged by.
    pub rules: Rules,
    /// How confined they run.
    pub terms: Terms,
    /// How long a call waits to be allowed, in milliseconds.
    pub approval_ms: u64,
    /// Where decisions come in.
    pub decisions: PathBuf,
    /// How the agent is spoken to.
    pub speech: Speech,
}

/// What a turn may search.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Allowance {
    /// Searches.
    pub limit: u32,
    /// Of the provider's vectors; `None`: they are made here, or nobody knows.
    pub price: Option<Price>,
}

impl Allowance {
    /// What the configuration says.
    pub fn of(settings: &RunnerSettings, agent: &AgentSettings) -> Self {
        let price = match (&settings.memory.embedder, &settings.embedding) {
            (Embedder::Remote { model, .. }, Some(Ok(provider))) => Price::find(provider, model),
            _ => None,
        };
        Self {
            limit: agent.limits.memory_searches,
            price,
        }
    }
}

/// How the agent is spoken to.
#[derive(Debug, Serialize, Deserialize)]
pub enum Speech {
    /// Our own agent, over the turn socket.
    Socket {
        /// What the agent is told, but for the tools of servers and the conversation.
        request: Box<TurnRequest>,
        /// Where the model is asked, in order; empty: there is none.
        route: Vec<Stop>,
        /// The longest that all waits of one question may take, in milliseconds.
        patience_ms: u64,
    },
    /// A CLI that is not ours, over its standard input and output.
    Cli {
        /// What is said to it.
        dialogue: Box<Dialogue>,
        /// Where its MCP server finds the host tools.
        tools: PathBuf,
        /// What is behind its proxy to the model; `None`: it has keys of its own, and no proxy.
        relay: Option<Box<Relay>>,
        /// How the model behind it is to be asked.
        wanted: Box<ModelOptions>,
        /// What it may do at most.
        limits: Limits,
        /// What the models behind its proxy cost.
        prices: Prices,
    },
}

impl Speech {
    /// Which servers of tools the agent waits for.
    pub fn patience(&self) -> Pace {
        match self {
            // It is told of those that come later.
            Self::Socket { .. } => Pace::Prompt,
            Self::Cli { dialogue, .. } => Pace::of(dialogue.cli()),
        }
    }

    /// Whether the turn's process relays what the model is asked.
    pub fn is_relayed(&self) -> bool {
        match self {
            Self::Socket { .. } => true,
            Self::Cli { relay, .. } => relay.is_some(),
        }
    }
}

/// What a process says first.
#[derive(Debug, Serialize, Deserialize)]
pub struct Hello {
    /// The number of the process.
    pub pid: i32,
}
