//! `memory eval`: a program of tests/retrieval does it, on files and without a daemon.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use openclaw_config::{Environment, programs};
use openclaw_terminal::Failure;

/// The program that evaluates. It comes with the source tree and is not installed.
const PROGRAM: &str = "openclaw-memory-eval";

/// Arguments of `memory eval`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Conversations with questions; the format is in services/memory/README.md
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What gives the vectors
    #[arg(long, value_enum, default_value = "static", value_name = "NAME")]
    embedder: Embedder,
    /// Without what age takes from a score
    #[arg(long)]
    no_decay: bool,
    /// By score alone, without diversity
    #[arg(long)]
    no_mmr: bool,
    /// Ask of each of several people a question names beside it
    #[arg(long)]
    split: bool,
    /// Ask each conversation with weights that were fitted to the others
    #[arg(long)]
    cross_validate: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Embedder {
    /// The table that is shipped
    Static,
    /// Keywords alone
    None,
}

/// Becomes the program that evaluates; returns only when that failed.
pub(super) fn run(arguments: Arguments, environment: &Environment) -> Result<ExitCode, Failure> {
    let program = programs::sibling(PROGRAM, environment).context(
        "cannot evaluate: openclaw-memory-eval comes with the source tree; build it there with \
             `cargo build --release` and use the openclawctl beside it",
    )?;
    let error = command(&program).args(told(arguments)).exec();
    let error = anyhow::Error::new(error);
    Err(error
        .context(format!("cannot start {}", program.display()))
        .into())
}

fn told(arguments: Arguments) -> Vec<OsString> {
    let embedder = match arguments.embedder {
        Embedder::Static => "static",
        Embedder::None => "none",
    };
    let mut told: Vec<OsString> = vec!["--embedder".into(), embedder.into()];
    let flags = [
        (arguments.no_decay, "--no-decay"),
        (arguments.no_mmr, "--no-mmr"),
        (arguments.split, "--split"),
        (arguments.cross_validate, "--cross-validate"),
        (arguments.json, "--json"),
    ];
    let set = flags.into_iter().filter(|(set, _)| *set);
    told.extend(set.map(|(_, flag)| flag.into()));
    told.push("--".into());
    told.extend(arguments.files.into_iter().map(PathBuf::into_os_string));
    told
}

#[expect(
    clippy::disallowed_methods,
    reason = "becomes a program of the suite, never an agent"
)]
fn command(program: &std::path::Path) -> Command {
    Command::new(program)
}
