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
    /// The agent of the process.
    pub agent_id: String,
    /// The service unit this runs in; empty without a service manager.
    pub unit: String,
    /// The most memory that the unit may take, in bytes.
    pub memory_max: u64,
    /// The names of limits that are the session's.
    pub own_limits: Vec<String>,
    /// The path of the spool for events.
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
    /// Its network reach.
    pub proxies: Proxies,
    /// The requests that a CLI may make before there is a turn.
    pub waiting: Option<Waiting>,
}

/// The first request of a CLI's server of our tools.
#[derive(Debug, Serialize, Deserialize)]
pub struct Waiting {
    /// The FIFO of its requests.
    pub pipe: PathBuf,
    /// Which tools there are,
    pub offer: Offer,
    /// beside those of servers, to which a connection comes with this. Without
    /// one nobody answers before the turn.
    pub servers: Option<WaitingServers>,
}

/// The tools of servers that are offered before there is a turn.
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
    /// The channel of the message.
    pub channel: String,
    /// The backend's name.
    pub backend: String,
    /// The provider of the model that answers,
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
    /// The answer of the host tool `status`.
    pub status: String,
    /// Its budget.
    pub budget: Budget,
    /// Its search of memory.
    pub searches: Allowance,
    /// The provider's own tools that are granted.
    pub grants: Grants,
    /// The tools that there are.
    pub offer: Offer,
    /// Decides of the tools of servers, to which a connection comes with this.
    pub policy: Policy,
    /// The rules for commands.
    pub rules: Rules,
    /// How confined they run.
    pub terms: Terms,
    /// How long a call waits to be allowed, in milliseconds.
    pub approval_ms: u64,
    /// The path at which decisions arrive.
    pub decisions: PathBuf,
    /// How the agent is spoken to.
    pub speech: Speech,
}

/// The search of memory for a turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Allowance {
    /// Searches.
    pub limit: u32,
    /// Of the provider's vectors; `None`: they are made here, or nobody knows.
    pub price: Option<Price>,
}

impl Allowance {
    /// The configured limits.
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
        /// The request to the agent, without the tools of servers and the conversation.
        request: Box<TurnRequest>,
        /// The stops at which the model is asked, in order; empty: there is none.
        route: Vec<Stop>,
        /// The longest that all waits of one question may take, in milliseconds.
        patience_ms: u64,
    },
    /// A CLI that is not ours, over its standard input and output.
    Cli {
        /// The dialogue with it.
        dialogue: Box<Dialogue>,
        /// The path at which its MCP server finds the host tools.
        tools: PathBuf,
        /// The target of its proxy to the model; `None`: it has keys of its own, and no proxy.
        relay: Option<Box<Relay>>,
        /// How the model behind it is to be asked.
        wanted: Box<ModelOptions>,
        /// Its limits.
        limits: Limits,
        /// The prices of the models behind its proxy.
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

/// The first message of a process.
#[derive(Debug, Serialize, Deserialize)]
pub struct Hello {
    /// The number of the process.
    pub pid: i32,
}
