//! The suite's programs: release builds, beside this one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

/// All that a run needs.
const NAMES: [&str; 7] = [
    "openclaw-agent",
    "openclaw-agent-runner",
    "openclaw-gateway",
    "openclaw-memory",
    "openclaw-sandbox",
    "openclawctl",
    "scripted-model",
];

/// Installed copies of the programs.
#[derive(Debug)]
pub(crate) struct Programs(PathBuf);

impl Programs {
    /// Copies the programs beside this one into `folder`. Run from where they were built, they
    /// would be out of the agent user's reach in a home that is closed to it.
    pub(crate) fn install(folder: PathBuf) -> anyhow::Result<Self> {
        let own = std::env::current_exe().context("cannot find this program's own folder")?;
        let built = own.parent().context("this program is in no folder")?;
        check(built)?;
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        for name in NAMES {
            fs::copy(built.join(name), folder.join(name))
                .with_context(|| format!("cannot copy {name} to {}", folder.display()))?;
        }
        Ok(Self(folder))
    }

    /// The path of a program.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

fn check(built: &Path) -> anyhow::Result<()> {
    let folder = built.display();
    if cfg!(debug_assertions) {
        bail!(
            "this is a debug build, whose figures mean nothing: run cargo run --release -p suite-bench"
        );
    }
    let missing: Vec<&str> = NAMES
        .into_iter()
        .filter(|name| !built.join(name).is_file())
        .collect();
    if !missing.is_empty() {
        bail!(
            "not built yet in {folder}: {}; run cargo build --release first",
            missing.join(", ")
        );
    }
    Ok(())
}

/// A command with an empty environment.
#[expect(
    clippy::disallowed_methods,
    reason = "starts the suite's own programs, and for comparison the agent CLI without the suite"
)]
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command
}
