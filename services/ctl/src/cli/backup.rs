//! The arguments of `backup` and `restore`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `backup`.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The file to write; it holds keys, and is for you alone
    /// [default: openclaw-backup-YYYY-MM-DD-HHMMSS.tar.zst here]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `restore`.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// A file that `backup` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Only look whether it is whole, and what is in it
    #[arg(long)]
    pub(crate) check: bool,
    /// What becomes of workspaces outside the state folder whose place is taken
    #[arg(long, value_name = "WHAT", value_enum, conflicts_with = "check")]
    pub(crate) workspaces: Option<Workspaces>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// What becomes of workspaces outside the state folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Workspaces {
    /// They are put back; what is there now is moved aside
    Replace,
    /// What is there now stays, and none is put back
    Keep,
}
