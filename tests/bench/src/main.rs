//! `suite-bench`: measures the running suite and says which of its targets it meets.
//!
//! Real daemons, real sandbox, real disk; only the model's endpoint is scripted, in a process of its own.

mod activator;
mod arguments;
mod conversation;
mod daemon;
mod home;
mod machine;
mod mark;
mod model;
mod notify;
mod parts;
mod plain;
mod process;
mod programs;
mod recording;
mod sample;
mod socket;
mod stage;
mod suite;
mod table;
mod units;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use clap::Parser as _;
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::Arguments;
use crate::stage::Stage;
use crate::table::Table;

fn main() -> ExitCode {
    let result = match mark::program() {
        Some(program) => Err(mark::become_program(&program)),
        None => run(&Arguments::parse()),
    };
    result.unwrap_or_else(|error| {
        tell(&format!("{error:#}"));
        ExitCode::FAILURE
    })
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    // On this thread, which lives as long as the process: the daemons'
    // parent-death signal is bound to the thread that starts them (prctl(2)).
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot set up the event loop")?
        .block_on(async {
            tokio::select! {
                result = measure(arguments) => result,
                signal = interruption() => Err(signal?),
            }
        })
}

/// Waits for a signal that ends the run: everything that was started ends and the folder goes as
/// the other branch is dropped.
async fn interruption() -> anyhow::Result<anyhow::Error> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?;
    tokio::select! {
        _ = terminate.recv() => {}
        interrupted = tokio::signal::ctrl_c() => interrupted.context("cannot watch for SIGINT")?,
    }
    Ok(anyhow!("interrupted"))
}

async fn measure(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if let Some(agent) = &arguments.units {
        return measure_units(agent).await;
    }
    let stage = Stage::set()?;
    let facts = machine::facts(stage.folder());
    let mut table = Table::default();
    for part in arguments.parts() {
        tell(&format!("measuring {part}"));
        if let Err(error) = part.measure(&stage, arguments, &mut table).await {
            table.failed(part, &error);
        }
    }
    show(&facts, &table)
}

async fn measure_units(agent: &str) -> anyhow::Result<ExitCode> {
    let mut table = Table::default();
    units::measure(agent, &mut table).await?;
    show(&machine::facts(&std::env::temp_dir()), &table)
}

fn show(facts: &str, table: &Table) -> anyhow::Result<ExitCode> {
    write!(std::io::stdout(), "{facts}\n{table}").context("cannot write to stdout")?;
    Ok(if table.is_complete() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Progress, beside the table on standard output.
fn tell(what: &str) {
    // Nobody reads it: the figures still count.
    let _ = writeln!(std::io::stderr(), "suite-bench: {what}");
}
