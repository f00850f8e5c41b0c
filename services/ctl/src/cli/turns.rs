//! Arguments of `turns`.

use clap::{Args, Subcommand};

/// Arguments of `turns`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Turns {
    #[command(subcommand)]
    pub(crate) action: Option<Action>,
    #[command(flatten)]
    pub(crate) list: List,
}

/// What to do with them.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List them, as without a command
    #[command(visible_alias = "ls")]
    List(List),
    /// Show all that is known of one
    Show(One),
    /// Print what one says, from its beginning and until it ends
    #[command(visible_alias = "follow")]
    Attach(One),
}

/// Arguments of `turns list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// The most turns that are listed, the newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
    /// Print a document instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Why turns have no whole reply: all of it, instead of its beginning
    #[arg(short, long)]
    pub(crate) wide: bool,
}

/// Arguments of `turns show` and `turns attach`.
#[derive(Debug, Args)]
pub(crate) struct One {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN_ID")]
    pub(crate) run_id: String,
    /// Print JSON: of `show` one document, of `attach` a line for each event
    #[arg(long)]
    pub(crate) json: bool,
}
