//! What the sandbox promises, proved once at start (invariant 6).

use openclaw_config::settings::sandbox::Missing;
use openclaw_config::settings::{AgentSandbox, SandboxLevel};
use openclaw_sandbox::probe::{Report, State};
use openclaw_sandbox::{Launcher, Level};
use tokio::process::Command;
use tokio::sync::OnceCell;

/// The check that TCP ports can be ruled.
const PORTS: &str = "landlock_tcp";

/// Why no agent may be started.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Error {
    #[error("the sandbox cannot be tried out: {0}")]
    Probe(String),
    #[error(
        "the sandbox level {level:?} does not hold on this machine: {failed}; see `openclawctl \
         doctor`, or set sandbox.level to \"off\" in openclaw.json to run agents unconfined"
    )]
    Unproved { level: &'static str, failed: String },
    #[error(
        "the sandbox level \"strict\" cannot be had on this machine: {0}; mend that, or set \
         sandbox.level to \"workspace\" in openclaw.json, which does without namespaces (agents then \
         see the names of other files and processes), or sandbox.missing to \"weaken\", which takes \
         that level where strict cannot be had"
    )]
    Strict(String),
    #[error(
        "at the sandbox level \"workspace\" this kernel cannot keep a program that uses the network \
         to its model: that needs Linux 6.7 (Landlock version 4); use level \"strict\", or set \
         sandbox.network to \"full\", or sandbox.missing to \"weaken\""
    )]
    Ports,
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

    /// The level that an agent runs at: its own, when everything that it
    /// promises holds; a lower one where the user permits that.
    pub(crate) async fn level(
        &self,
        agent: &AgentSandbox,
        missing: Missing,
    ) -> Result<SandboxLevel, Error> {
        if agent.level == SandboxLevel::Off {
            return Ok(SandboxLevel::Off);
        }
        let report = self.report().await?;
        let Err(error) = holds(report, agent.level) else {
            return Ok(agent.level);
        };
        let weaker = SandboxLevel::Workspace;
        match missing {
            Missing::Weaken if agent.level != weaker && holds(report, weaker).is_ok() => Ok(weaker),
            _ => Err(error),
        }
    }

    /// Fails where an agent without a network of its own could reach more
    /// than its doors.
    pub(crate) async fn require_ports(&self, missing: Missing) -> Result<(), Error> {
        let report = self.report().await?;
        let check = report.get(PORTS);
        let is_enforced = check.is_some_and(|check| check.state == State::Enforced);
        if is_enforced || missing == Missing::Weaken {
            Ok(())
        } else {
            Err(Error::Ports)
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

fn holds(report: &Report, level: SandboxLevel) -> Result<(), Error> {
    let of_sandbox = match level {
        SandboxLevel::Strict => Level::Strict,
        SandboxLevel::Workspace => Level::Workspace,
        SandboxLevel::Off => Level::Off,
    };
    let failed: Vec<String> = report
        .failed_at(of_sandbox)
        .map(|check| format!("{} ({})", check.name, check.detail))
        .collect();
    match (failed.is_empty(), level) {
        (true, _) => Ok(()),
        (false, SandboxLevel::Strict) if report.failed_at(Level::Workspace).next().is_none() => {
            Err(Error::Strict(failed.join(", ")))
        }
        (false, _) => Err(Error::Unproved {
            level: level.name(),
            failed: failed.join(", "),
        }),
    }
}
