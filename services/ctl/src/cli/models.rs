//! Arguments of `agents` and `models`.

use std::time::Duration;

use clap::{Args, Subcommand};
use openclaw_status::seconds;

/// Arguments of `agents`.
#[derive(Debug, Args)]
pub(crate) struct Agents {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `models`.
#[derive(Debug, Args)]
pub(crate) struct Models {
    #[command(subcommand)]
    pub(crate) action: Action,
}

/// What to do with models.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the models that answer, and those that the configuration describes
    #[command(visible_alias = "ls")]
    List(List),
    /// Ask a model for a word, in a session that is removed afterwards
    Test(Test),
}

/// Arguments of `models list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `models test`.
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The model [default: the one that answers the agent]
    #[arg(value_name = "PROVIDER/MODEL")]
    pub(crate) model: Option<String>,
    /// The agent whose keys and limits are used [default: the default agent]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// How long it may take
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
