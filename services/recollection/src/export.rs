//! `memory export`.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use openclaw_proto::memory::Exported;
use openclaw_terminal::{Failure, output, words};
use tokio_stream::StreamExt as _;

use crate::daemon::Memory;
use crate::whose::Whose;

/// What is remembered is private.
const PRIVATE: u32 = 0o600;

/// Arguments of `memory export`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Write to this file, which must not be there yet, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    whose: Whose,
}

/// Prints every document.
pub(super) async fn run(arguments: &Arguments, memory: &Memory) -> Result<ExitCode, Failure> {
    let documents = memory.client.export(&arguments.whose.agent).await;
    let mut documents = documents.map_err(|status| memory.failure(&status))?;
    let mut out = Out::open(arguments.output.as_ref())?;
    let mut count = 0;
    while let Some(document) = documents.next().await {
        let document = document.map_err(|status| memory.failure(&status))?;
        if output::stderr_is_terminal() {
            output::stderr_progress(&format!("{} of {}", document.number, document.total));
        }
        out.write(&document)?;
        count += 1;
    }
    if output::stderr_is_terminal() {
        output::stderr_progress("");
    }
    out.close()?;
    if let Some(path) = &arguments.output {
        let documents = words::count(count, "document");
        output::stderr_line(&format!("wrote {documents} to {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

enum Out {
    Stdout,
    File(BufWriter<File>, PathBuf),
}

impl Out {
    fn open(path: Option<&PathBuf>) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self::Stdout);
        };
        let file = File::options()
            .write(true)
            .create_new(true)
            .mode(PRIVATE)
            .open(path)
            .with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self::File(BufWriter::new(file), path.clone()))
    }

    fn write(&mut self, document: &Exported) -> Result<(), Failure> {
        let line = serde_json::to_string(document).context("cannot write JSON")?;
        match self {
            Self::Stdout => output::json_line(&line),
            Self::File(file, path) => Ok(writeln!(file, "{line}")
                .with_context(|| format!("cannot write {}", path.display()))?),
        }
    }

    fn close(self) -> Result<(), Failure> {
        let Self::File(file, path) = self else {
            return Ok(());
        };
        let written = file
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error);
        let synced = written.and_then(|file| file.sync_all());
        Ok(synced.with_context(|| format!("cannot write {}", path.display()))?)
    }
}
