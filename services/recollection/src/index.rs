//! `memory index`.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use openclaw_proto::memory::Progress;
use openclaw_terminal::{Failure, output, words};
use tokio_stream::StreamExt as _;

use crate::daemon::Memory;
use crate::whose::Whose;

/// Arguments of `memory index`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Forget the index and make it anew from the files
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    whose: Whose,
    /// Print one JSON document at the end
    #[arg(long)]
    json: bool,
}

/// Asks memory to look at everything, and waits.
pub(super) async fn run(arguments: &Arguments, memory: &Memory) -> Result<ExitCode, Failure> {
    let begin = Instant::now();
    let agent = &arguments.whose.agent;
    let progress = memory.client.index(agent, arguments.force).await;
    let mut progress = progress.map_err(|status| memory.failure(&status))?;
    let mut last = Progress::default();
    let shown = output::stderr_is_terminal() && !arguments.json;
    while let Some(news) = progress.next().await {
        last = news.map_err(|status| memory.failure(&status))?;
        if shown {
            output::stderr_progress(&line(&last));
        }
    }
    if shown {
        output::stderr_progress("");
    }
    if !last.done {
        return Err(Failure::new(
            "the memory daemon ended before everything was indexed",
        ));
    }
    if arguments.json {
        output::document(&last)?;
    } else {
        let seconds = begin.elapsed().as_secs_f64();
        output::stdout_line(&format!("indexed {} in {seconds:.1} s", line(&last)))?;
    }
    Ok(match last.failed {
        0 => ExitCode::SUCCESS,
        failed => {
            let files = words::count(failed, "file");
            output::stderr_line(&format!(
                "warning: {files} could not be read; openclawctl memory status says why"
            ));
            ExitCode::FAILURE
        }
    })
}

fn line(progress: &Progress) -> String {
    format!(
        "{} of {}, {}",
        progress.files_done,
        words::count(progress.files_total, "file"),
        words::count(progress.chunks, "passage")
    )
}
