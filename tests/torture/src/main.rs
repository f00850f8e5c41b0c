//! `torture`: kills parts of the suite while it is spoken to.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use torture::{Plan, RunningSuite, torture};

/// Sends messages while it kills random daemons and turns, then checks that
/// nothing was lost and nothing was done twice. Build the workspace first.
#[derive(Debug, Parser)]
#[command(name = "torture", version)]
struct Arguments {
    /// How many processes to kill
    #[arg(long, default_value_t = 500)]
    kills: usize,
    /// Repeats what an earlier run sent and killed [default: a new one]
    #[arg(long)]
    seed: Option<u64>,
    /// Senders at once [default: 6, on Telegram 20]
    #[arg(long)]
    talkers: Option<usize>,
    /// Messages come by a double of Telegram, and its daemon is killed too
    #[arg(long, conflicts_with = "units")]
    telegram: bool,
    /// The longest wait of a chat between an answer and its next message, in seconds
    /// [default: 40]
    #[arg(long)]
    rest: Option<f64>,
    /// The suite of this user's service manager instead of an own one; this
    /// agent of it speaks with a scripted model
    #[arg(long, value_name = "AGENT")]
    units: Option<String>,
    /// Where the daemons' log goes when something is wrong
    #[arg(long, value_name = "FILE", default_value = "torture.log")]
    log: PathBuf,
}

fn main() -> ExitCode {
    let result = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot set up the event loop")
        .and_then(|runtime| runtime.block_on(run(&Arguments::parse())));
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "torture: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// True when nothing is wrong.
async fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..));
    let mut stdout = std::io::stdout();
    writeln!(stdout, "seed {seed}").context("write to stdout")?;
    let suite = match &arguments.units {
        Some(agent) => RunningSuite::units(agent)?,
        None if arguments.telegram => RunningSuite::telegram().await?,
        None => RunningSuite::own().await?,
    };
    let mut plan = if arguments.telegram {
        Plan::telegram(seed, arguments.kills)
    } else {
        Plan::new(seed, arguments.kills)
    };
    plan.talkers = arguments.talkers.unwrap_or(plan.talkers);
    if let Some(rest) = arguments.rest {
        plan.rest = Duration::try_from_secs_f64(rest).context("--rest")?;
    }
    let report = torture(&suite, &plan).await?;
    write!(stdout, "{report}").context("write to stdout")?;
    if report.wrong.is_empty() {
        return Ok(true);
    }
    if !suite.has_units() {
        std::fs::write(&arguments.log, suite.log().join("\n"))
            .with_context(|| format!("write {}", arguments.log.display()))?;
        writeln!(stdout, "the daemons' log: {}", arguments.log.display())?;
    }
    Ok(false)
}
