//! What the sandbox promises, proved once at start (invariant 6).

use openclaw_config::settings::SandboxLevel;
use openclaw_sandbox::Launcher;
use openclaw_sandbox::probe::Report;
use tokio::process::Command;
use tokio::sync::OnceCell;

/// Why no agent may be started.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Error {
    #[error("the sandbox cannot be tried out: {0}")]
    Probe(String),
    #[error(
        "the sandbox does not hold on this machine: {0}; see `openclawctl doctor`, or set \
         sandbox.level to \"off\" in openclaw.json to run agents unconfined"
    )]
    Unproved(String),
}

/// The proof, made when first asked for.
#[derive(Debug)]
pub(crate) struct Confinement {
    launcher: Launcher,
    report: OnceCell<Result<Report, Error>>,
}

impl Confinement {
    pub(crate) fn new(launcher: Launcher) -> Self {
        Self {
            launcher,
            report: OnceCell::new(),
        }
    }

    /// What was proved.
    pub(crate) async fn report(&self) -> Result<&Report, Error> {
        let report = self.report.get_or_init(|| self.prove()).await;
        report.as_ref().map_err(Clone::clone)
    }

    /// Fails unless everything that `level` promises holds.
    pub(crate) async fn require(&self, level: SandboxLevel) -> Result<(), Error> {
        if level == SandboxLevel::Off {
            return Ok(());
        }
        let report = self.report().await?;
        let failed: Vec<String> = report
            .failed()
            .map(|check| format!("{} ({})", check.name, check.detail))
            .collect();
        match failed.is_empty() {
            true => Ok(()),
            false => Err(Error::Unproved(failed.join(", "))),
        }
    }

    async fn prove(&self) -> Result<Report, Error> {
        let probe = |error: String| Error::Probe(error);
        // Not kill_on_drop: it ends by itself in a moment and then cleans up.
        let output = Command::from(self.launcher.probe_command())
            .output()
            .await
            .map_err(|error| probe(format!("{}: {error}", self.launcher.helper.display())))?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let complaint = String::from_utf8_lossy(&output.stderr);
            probe(format!("{error}; it says {:?}", complaint.trim()))
        })
    }
}
