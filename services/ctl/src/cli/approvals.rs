//! Arguments of `approvals`.

use clap::{Args, Subcommand};

/// Arguments of `approvals`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Approvals {
    #[command(subcommand)]
    pub(crate) action: Option<Action>,
    #[command(flatten)]
    pub(crate) list: List,
}

/// What to do with them.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List what waits, and what is allowed from now on; as without a command
    List(List),
    /// Let a call run
    Allow(Allow),
    /// Do not let a call run
    Deny(Deny),
    /// Ask again about a command that was allowed from now on
    Revoke(Revoke),
}

/// Arguments of `approvals list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Also list this many that were decided, the newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) decided: u32,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `approvals allow`.
#[derive(Debug, Args)]
pub(crate) struct Allow {
    /// What waits; the beginning of its id is enough
    #[arg(value_name = "APPROVAL")]
    pub(crate) id: String,
    /// Allow the same command in the same directory from now on, word for word
    #[arg(long)]
    pub(crate) always: bool,
}

/// Arguments of `approvals deny`.
#[derive(Debug, Args)]
pub(crate) struct Deny {
    /// What waits; the beginning of its id is enough
    #[arg(value_name = "APPROVAL")]
    pub(crate) id: String,
}

/// Arguments of `approvals revoke`.
#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// The command, as the list shows it
    #[arg(value_name = "COMMAND")]
    pub(crate) command: String,
    /// The agent whose command it is [default: all]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// The directory that it was allowed in [default: all]
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<String>,
}
