//! The arguments of `config`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `config`.
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do with the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show a value, or everything, as it is in use: file, environment and defaults together
    #[command(visible_alias = "show")]
    Get(Get),
    /// Set a value in the file
    Set(Set),
    /// Take a value out of the file
    Unset(Unset),
    /// Apply a JSON merge patch (RFC 7396) to the file
    Patch(Patch),
    /// Open the file in $VISUAL or $EDITOR, and check it before it is taken over
    Edit,
    /// Print where the file is
    #[command(visible_alias = "file")]
    Path,
    /// Check the file and everything that it refers to
    Validate(Validate),
    /// Print the JSON Schema of the configuration, or of one key
    Schema(Schema),
}

impl Config {
    /// Whether it only prints what there is.
    pub(crate) fn only_shows(&self) -> bool {
        matches!(self.command, Command::Get(_) | Command::Schema(_))
    }
}

/// Arguments of `config get`.
#[derive(Debug, Args)]
pub(crate) struct Get {
    /// The key, such as agents.defaults.model or agents.list[0].id
    pub(crate) key: Option<String>,
    /// Print JSON, also for a single string
    #[arg(long)]
    pub(crate) json: bool,
    /// Only what the file says, as it is written there
    #[arg(long)]
    pub(crate) file: bool,
    /// Do not hide keys, tokens and passwords
    #[arg(long)]
    pub(crate) show_secrets: bool,
}

/// Arguments of `config set`.
#[derive(Debug, Args)]
pub(crate) struct Set {
    /// The key, such as agents.defaults.model or agents.list[0].id
    pub(crate) key: String,
    /// The value, as JSON5 or as plain text; without it or with `-` standard input is read
    #[arg(allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
    /// The value must be JSON5, never plain text
    #[arg(long, visible_alias = "strict-json")]
    pub(crate) json: bool,
    /// Only say whether the result would be valid
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Arguments of `config unset`.
#[derive(Debug, Args)]
pub(crate) struct Unset {
    /// The key
    pub(crate) key: String,
    /// Only say whether the result would be valid
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Arguments of `config patch`.
#[derive(Debug, Args)]
pub(crate) struct Patch {
    /// The patch as JSON5, `null` takes a value away; without it or with `-` standard input is read
    pub(crate) patch: Option<String>,
    /// Read the patch from this file
    #[arg(long, value_name = "FILE", conflicts_with = "patch")]
    pub(crate) file: Option<PathBuf>,
    /// Only say whether the result would be valid
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Arguments of `config validate`.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// Another file than the one in use
    pub(crate) file: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `config schema`.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// The key
    pub(crate) key: Option<String>,
}
