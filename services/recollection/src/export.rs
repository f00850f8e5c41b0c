//! `memory export`.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use openclaw_proto::call::CallError;
use openclaw_proto::memory::Exported;
use openclaw_terminal::{Failure, output, words};
use tokio_stream::{Stream, StreamExt as _};

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
    let documents = documents.map_err(|status| memory.failure(&status))?;
    let count = write(documents, arguments.output.as_ref(), memory).await?;
    if let Some(path) = &arguments.output {
        let documents = words::count(count, "document");
        output::stderr_line(&format!("wrote {documents} to {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes each document to a file that is not there yet, or to standard output; how many there
/// were. Of an export that fails there is no file: it would be taken for a whole one, and be in
/// the way of whoever tries again.
async fn write(
    documents: impl Stream<Item = Result<Exported, CallError>>,
    path: Option<&PathBuf>,
    memory: &Memory,
) -> Result<u64, Failure> {
    let out = Out::open(path)?;
    let written = write_to(out, documents, memory).await;
    if let (Err(_), Some(path)) = (&written, path) {
        // The error that is told is the first one.
        let _ = fs::remove_file(path);
    }
    written
}

async fn write_to(
    mut out: Out,
    documents: impl Stream<Item = Result<Exported, CallError>>,
    memory: &Memory,
) -> Result<u64, Failure> {
    let mut documents = std::pin::pin!(documents);
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
    Ok(count)
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

#[cfg(test)]
mod tests {
    use openclaw_config::{Environment, Paths};

    use super::*;

    #[test]
    fn export_that_fails_leaves_no_file_and_none_of_others_goes() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let file = folder.path().join("export.jsonl");
        let document = || Exported {
            path: "MEMORY.md".to_owned(),
            source: "memory".to_owned(),
            modified_ms: 1,
            text: "a note".to_owned(),
            number: 1,
            total: 2,
        };
        let runtime = openclaw_connection::runtime().unwrap();
        runtime.block_on(async {
            let memory = Memory::at(&paths);
            let broken = [Ok(document()), Err(CallError::cut_off())];
            let written = write(tokio_stream::iter(broken), Some(&file), &memory).await;
            assert!(written.is_err() && !file.exists());
            let whole = tokio_stream::iter([Ok(document())]);
            assert_eq!(write(whole, Some(&file), &memory).await.unwrap(), 1);
            let again = tokio_stream::iter([Ok(document())]);
            assert!(write(again, Some(&file), &memory).await.is_err());
        });
        assert!(fs::read_to_string(&file).unwrap().contains("a note"));
    }
}
