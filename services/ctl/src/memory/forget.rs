//! `memory forget`.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use tonic::Code;

use super::place::Place;
use super::{Memory, Whose};
use crate::failure::Failure;
use crate::output;
use crate::words;

/// Arguments of `memory forget`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A note, with lines when not all of it is to go: memory/2026-03-04.md:3-5
    #[arg(value_name = "PATH[:FROM[-TO]]")]
    place: Place,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    whose: Whose,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Takes a note away.
pub(super) async fn run(arguments: &Arguments, memory: &Memory) -> Result<ExitCode, Failure> {
    if !arguments.yes && !confirmed(&arguments.place)? {
        return Err(Failure::new("nothing was forgotten"));
    }
    let Place { path, lines } = &arguments.place;
    let agent = &arguments.whose.agent;
    let forgotten = memory.client.forget(agent, path, lines.unwrap_or_default());
    let forgotten = forgotten.await.map_err(|status| match status.code() {
        Code::NotFound | Code::FailedPrecondition => Failure::new(status.message()),
        _ => memory.failure(&status),
    })?;
    if arguments.json {
        output::document(&forgotten)?;
        return Ok(ExitCode::SUCCESS);
    }
    let lines = words::count(forgotten.lines.into(), "line");
    let path = output::line(path);
    output::stdout_line(&if forgotten.removed {
        format!("removed {path} with its {lines}")
    } else {
        format!("removed {lines} of {path}")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Files are the truth, so what is forgotten is gone for good.
fn confirmed(place: &Place) -> Result<bool, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::usage("say --yes to forget without being asked"));
    }
    let what = match place.lines {
        None => place.path.clone(),
        Some((from, to)) => format!("lines {from} to {to} of {}", place.path),
    };
    output::stderr_line(&format!("Remove {} for good? [y/N]", output::line(&what)));
    let mut answer = String::new();
    stdin
        .lock()
        .read_line(&mut answer)
        .context("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
