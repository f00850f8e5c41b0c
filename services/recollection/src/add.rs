//! `memory add`.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use openclaw_terminal::{Failure, output};

use crate::daemon::Memory;
use crate::whose::Whose;

/// Read from standard input at most, in bytes; the daemon takes less, and says
/// how much.
const INPUT: u64 = 1 << 20;

/// Arguments of `memory add`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The note, several words are joined; `-` reads standard input
    #[arg(required = true)]
    text: Vec<String>,
    #[command(flatten)]
    whose: Whose,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Appends a note.
pub(super) async fn run(arguments: &Arguments, memory: &Memory) -> Result<ExitCode, Failure> {
    let text = match arguments.text.as_slice() {
        [dash] if dash == "-" => read()?,
        words => words.join(" "),
    };
    let agent = &arguments.whose.agent;
    let noted = memory.client.remember(&memory.origin, agent, &text);
    let noted = noted.await.map_err(|status| memory.failure(&status))?;
    if arguments.json {
        output::document(&noted)?
    } else {
        output::stdout_line(&format!(
            "noted in {}:{}",
            output::line(&noted.path),
            noted.line
        ))?
    }
    Ok(ExitCode::SUCCESS)
}

fn read() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(INPUT)
        .read_to_string(&mut text)
        .context("cannot read the note from standard input")?;
    Ok(text)
}
