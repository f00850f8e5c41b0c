//! What the process of a session's servers of tools is told, over its standard
//! input, and what it tells the daemon.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use openclaw_agent_clis::AgentCli;
use openclaw_sandbox::Plan;
use openclaw_settings::LogLevel;
use serde::{Deserialize, Serialize};

use crate::proxies::Proxies;

/// What it is told first.
#[derive(Debug, Serialize, Deserialize)]
pub struct ServersOrder {
    /// `openclaw-sandbox`.
    pub helper: PathBuf,
    /// Those that it is to start.
    pub servers: Vec<Server>,
    /// How long messages wait for each, where that is known.
    pub paces: BTreeMap<String, Pace>,
    /// Least severe level that is logged.
    pub log_level: LogLevel,
}

/// What it says after its [`Hello`](crate::order::Hello), whenever it is otherwise.
#[derive(Debug, Serialize, Deserialize)]
pub struct Paces {
    /// How long the latest start of each server took.
    pub paces: BTreeMap<String, Pace>,
}

/// A line after which a connection came along.
pub const CONNECTION: &[u8] = b"\n";

/// A server as its pool is told of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Server {
    /// Its name in the configuration.
    pub name: String,
    /// How it is confined.
    pub plan: Plan,
    /// What it reaches over the network.
    pub proxies: Proxies,
    /// The program,
    pub program: PathBuf,
    /// and its arguments.
    pub arguments: Vec<String>,
    /// Credentials may be among them.
    pub variables: Vec<(String, String)>,
    /// Whether it is believed which of its tools only read.
    pub trusted: bool,
    /// What it may reach of network and files, in words.
    pub reach: String,
    /// Whether it runs while a turn has it, and no longer.
    pub passing: bool,
    /// What one call may take.
    pub call_limit: Duration,
}

/// How long messages wait for a server that is being started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Pace {
    /// It may be there in a moment: all do.
    #[default]
    Prompt,
    /// It takes longer: only those whose agent cannot be told of tools that come later.
    Late,
    /// Nobody does.
    Slow,
}

impl Pace {
    /// Which servers of tools are waited for before a CLI asks its model.
    pub fn of(cli: &AgentCli) -> Self {
        if cli.hears_of_tools {
            Self::Prompt
        } else {
            Self::Late
        }
    }
}
