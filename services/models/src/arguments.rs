//! Arguments of `agents` and `models`.

use std::time::Duration;

use clap::{Args, Subcommand};
use openclaw_status::seconds;

/// Arguments of `agents`.
#[derive(Debug, Args)]
pub struct Agents {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `models`.
#[derive(Debug, Args)]
pub struct Models {
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with models.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the models that answer, and those that the configuration describes
    #[command(visible_alias = "ls")]
    List(List),
    /// Ask a model for a word, in a session that is removed afterwards
    Test(Test),
}

/// Arguments of `models list`.
#[derive(Debug, Args)]
pub struct List {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `models test`.
#[derive(Debug, Args)]
pub struct Test {
    /// The model [default: the one that answers the agent]
    #[arg(value_name = "PROVIDER/MODEL")]
    pub model: Option<String>,
    /// The agent whose keys and limits are used [default: the default agent]
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// How long it may take
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub timeout: Duration,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}
