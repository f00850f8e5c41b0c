//! What a turn's process is told, over its standard input: two lines of JSON.
//!
//! The first one starts the agent; a process that stands ready for the next
//! turn has had it already. The second one is the turn. Credentials go this
//! way and no other: not on the disk, not through the environment.

use std::path::PathBuf;

use openclaw_sandbox::Plan;
use openclaw_tools::Policy;
use openclaw_tools::approval::Rules;
use openclaw_turn::{Offer, TurnRequest};
use serde::{Deserialize, Serialize};

use crate::bill::Budget;
use crate::cli::{Dialogue, Limits};
use crate::doors::Doors;
use crate::doors::model::{Prices, Relay};
use crate::host::Allowance;
use crate::route::Stop;
use crate::servers::Pace;
use crate::wire::{Grants, Wanted};

/// Bytes of one line: a turn is at most one gRPC message, and JSON escapes at
/// worst double it.
pub(crate) const LINE_LIMIT: usize = 2 * openclaw_proto::MESSAGE_LIMIT;

/// The agent's process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ProcessSpec {
    pub(crate) run_id: String,
    pub(crate) agent_id: String,
    /// The service unit this runs in; empty without a service manager.
    pub(crate) unit: String,
    /// The most memory that the unit may take, in bytes.
    pub(crate) memory_max: u64,
    /// The names of limits that are the session's.
    pub(crate) own_limits: Vec<String>,
    /// Where events go.
    pub(crate) spool: PathBuf,
    /// Holds, when the turn is ended by somebody, the reason.
    pub(crate) reason: PathBuf,
    /// Least severe level that is logged: debug, info, warn or error.
    pub(crate) log_level: String,
    /// `openclaw-sandbox`.
    pub(crate) helper: PathBuf,
    pub(crate) plan: Plan,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
    /// Whether the agent's standard input is the turn socket.
    pub(crate) socket: bool,
    /// What it reaches over the network that it has.
    pub(crate) doors: Doors,
    /// What a CLI may ask for before there is a turn.
    pub(crate) waiting: Option<Waiting>,
}

/// What a CLI's server of our tools asks for at its start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    /// Where it asks.
    pub(crate) pipe: PathBuf,
    /// Which tools there are,
    pub(crate) offer: Offer,
    /// beside those of servers, to which a connection comes with this. Without
    /// one nobody answers before the turn.
    pub(crate) servers: Option<WaitingServers>,
}

/// What is taken of the servers of tools before there is a turn.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WaitingServers {
    /// Decides of their tools.
    pub(crate) policy: Policy,
    /// Which of them are waited for.
    pub(crate) patience: Pace,
}

/// The turn.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) session_key: String,
    pub(crate) session_id: String,
    /// When the message came, in Unix milliseconds; 0: not known.
    pub(crate) received_ms: i64,
    pub(crate) channel: String,
    /// The backend's name.
    pub(crate) backend: String,
    pub(crate) provider: String,
    pub(crate) model: String,
    /// Told before anything else.
    pub(crate) notes: Vec<String>,
    /// The longest the turn may take, in milliseconds.
    pub(crate) deadline_ms: u64,
    /// The longest it may be silent, in milliseconds.
    pub(crate) silence_ms: u64,
    /// The memory daemon's socket, for host tools.
    pub(crate) memory: PathBuf,
    /// What the host tool `status` says.
    pub(crate) status: String,
    pub(crate) budget: Budget,
    /// What it may search.
    pub(crate) searches: Allowance,
    /// What the model's provider may do beside answering.
    pub(crate) grants: Grants,
    /// The tools that there are.
    pub(crate) offer: Offer,
    /// Decides of the tools of servers, to which a connection comes with this.
    pub(crate) policy: Policy,
    /// What commands are judged by.
    pub(crate) rules: Rules,
    /// How long a call waits to be allowed, in milliseconds.
    pub(crate) approval_ms: u64,
    /// Where decisions come in.
    pub(crate) decisions: PathBuf,
    pub(crate) speech: Speech,
}

/// How the agent is spoken to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Speech {
    /// Our own agent, over the turn socket.
    Socket {
        /// What the agent is told, but for the tools of servers.
        request: Box<TurnRequest>,
        /// Where the model is asked, in order; empty: there is none.
        route: Vec<Stop>,
        /// The longest that all waits of one question may take, in
        /// milliseconds.
        patience_ms: u64,
    },
    /// A CLI that is not ours, over its standard input and output.
    Cli {
        dialogue: Box<Dialogue>,
        /// Where its MCP server finds the host tools.
        tools: PathBuf,
        /// What is behind its door to the model; `None`: it has keys of its
        /// own, and no door.
        relay: Option<Box<Relay>>,
        /// How the model behind it is to be asked.
        wanted: Box<Wanted>,
        /// What it may do at most.
        limits: Limits,
        /// What the models behind its door cost.
        prices: Prices,
    },
}

impl Speech {
    /// Which servers of tools the agent waits for.
    pub(crate) fn patience(&self) -> Pace {
        match self {
            // It is told of those that come later.
            Self::Socket { .. } => Pace::Prompt,
            Self::Cli { dialogue, .. } => dialogue.patience(),
        }
    }

    /// Whether the turn's process relays what the model is asked.
    pub(crate) fn is_relayed(&self) -> bool {
        match self {
            Self::Socket { .. } => true,
            Self::Cli { relay, .. } => relay.is_some(),
        }
    }
}

/// What a process says first.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) pid: i32,
}
