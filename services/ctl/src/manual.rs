//! `manual`: writes the man pages.

use std::process::ExitCode;

use anyhow::Context as _;
use jiff::Timestamp;
use openclaw_config::Environment;
use openclaw_manual::Manual;
use openclaw_terminal::{Failure, output};

use crate::cli;

/// Writes them, and says which.
pub(crate) fn execute(
    arguments: &cli::Manual,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let manual = Manual {
        command: cli::whole(),
        examples: openclaw_manual::examples::of,
        schema: openclaw_config::schema::TEXT,
        date: &date(environment),
    };
    let folder = &arguments.folder;
    let written = manual
        .write(folder)
        .with_context(|| format!("cannot write the pages into {}", folder.display()))?;
    for path in written {
        output::stdout_line(&path.display().to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The day of the source, where the build says it (reproducible-builds.org), else the one on
/// which this program was made.
fn date(environment: &Environment) -> String {
    let of_source = environment.get("SOURCE_DATE_EPOCH");
    let of_source = of_source.and_then(|it| Timestamp::from_second(it.parse().ok()?).ok());
    let of_program = || {
        let program = openclaw_config::programs::own().ok()?;
        let made = program.metadata().ok()?.modified().ok()?;
        Timestamp::try_from(made).ok()
    };
    let time = of_source.or_else(of_program);
    let time = time.unwrap_or_else(Timestamp::now);
    time.strftime("%Y-%m-%d").to_string()
}
