//! The promises of the sandbox, proved once at start (invariant 6), and the level that agents get
//! by them.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Output;

use openclaw_proto::approval::Terms;
use openclaw_proto::runner::{Purpose, Turn};
use openclaw_sandbox::probe::{Remedy, Report, State};
use openclaw_sandbox::{Launcher, Level};
use openclaw_settings::sandbox::Missing;
use openclaw_settings::{AgentSandbox, Network, RunnerSettings, SandboxLevel};
use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::units::Units;

/// How often it is tried where the process that tries is killed.
const ATTEMPTS: u8 = 3;
/// The helper's arguments for the proof.
const PROBE: [&str; 2] = ["probe", "--json"];
/// The check that TCP ports can be ruled.
const PORTS: &str = "landlock_tcp";
/// The check that connections are judged by their address, too.
const ADDRESSES: &str = "door_addresses";

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
        "the sandbox level {level:?} cannot be had on this machine: {failed}; mend that, or take \
         sandbox.level out of openclaw.json, which then is the strictest that holds here \
         ({instead:?}), or set sandbox.missing to \"weaken\""
    )]
    Lower {
        level: &'static str,
        failed: String,
        instead: &'static str,
    },
    #[error(
        "at the sandbox level \"workspace\" this kernel cannot keep a program that uses the network \
         to its model: that needs Linux 6.7 (Landlock version 4); use level \"strict\", or set \
         sandbox.network to \"full\", or sandbox.missing to \"weaken\""
    )]
    Ports,
}

/// The proof, made when first asked for. One that could not be made proves nothing:
/// the next who asks has it tried again.
#[derive(Debug)]
pub(crate) struct Confinement {
    launcher: Launcher,
    /// The place where turns, and with them the proof, are run.
    units: Units,
    report: OnceCell<Report>,
}

impl Confinement {
    pub(crate) fn new(launcher: Launcher, units: Units) -> Self {
        Self {
            launcher,
            units,
            report: OnceCell::new(),
        }
    }

    /// The result of the proof.
    pub(crate) async fn report(&self) -> Result<&Report, Error> {
        self.report.get_or_try_init(|| self.prove()).await
    }

    /// How confined a command runs. A turn that no sandbox is there for says so itself.
    pub(crate) async fn terms(&self, settings: &RunnerSettings, turn: &Turn) -> Option<Terms> {
        let agent = settings.agent(&turn.agent_id)?;
        if turn.purpose != Purpose::Command {
            return None;
        }
        let level = self.level(&agent.sandbox, settings.sandbox.missing);
        Some(openclaw_backends::tools::terms(agent, level.await.ok()?))
    }

    /// The level that an agent runs at: the one that is set for it, when
    /// everything that it promises holds, a lower one where the user permits that;
    /// where none is set the strictest that holds.
    pub(crate) async fn level(
        &self,
        agent: &AgentSandbox,
        missing: Missing,
    ) -> Result<Level, Error> {
        let wanted = match agent.level {
            Some(SandboxLevel::Off) => return Ok(Level::Off),
            wanted => wanted.map(named),
        };
        choose(self.report().await?, wanted, missing)
    }

    /// Fails where an agent without a network of its own could reach more than its proxies.
    pub(crate) async fn require_ports(&self, missing: Missing) -> Result<(), Error> {
        if rules_ports(self.report().await?) || missing == Missing::Weaken {
            Ok(())
        } else {
            Err(Error::Ports)
        }
    }

    /// Whether the machine keeps a program without a network of its own to its doors, and not only
    /// to their ports.
    pub(crate) async fn judges_addresses(&self) -> bool {
        self.report().await.is_ok_and(judges_addresses)
    }

    /// Whether the agent may have no proxy: nobody set the level, and at the one
    /// that this machine gives nothing would hold a program to it.
    pub(crate) async fn bars_proxies(&self, agent: &AgentSandbox, missing: Missing) -> bool {
        let (Ok(level), Ok(report)) = (self.level(agent, missing).await, self.report().await)
        else {
            return false;
        };
        match level {
            Level::Text => true,
            Level::Workspace => {
                agent.level.is_none() && !rules_ports(report) && missing == Missing::Refuse
            }
            Level::Strict | Level::Namespaces | Level::Off => false,
        }
    }

    /// Why the agent cannot be a program that is not ours, and what would permit
    /// that; `None`: it can.
    pub(crate) async fn bars_clis(&self, agent: &AgentSandbox, missing: Missing) -> Option<String> {
        let is_open = agent.network == Network::Full;
        let why = match self.level(agent, missing).await.ok()? {
            Level::Text => "at the sandbox level \"text\" no command runs",
            Level::Workspace if !is_open && self.bars_proxies(agent, missing).await => {
                "the strictest sandbox that this machine gives is \"workspace\", at which its \
                 kernel (before Linux 6.7, Landlock version 4) cannot keep a program that uses the \
                 network to its model"
            }
            _ => return None,
        };
        Some(match self.stricter().await {
            Some(stricter) => format!("{why}; what gives a stricter one: {stricter}"),
            None => why.to_owned(),
        })
    }

    /// What would give a stricter level than this machine has, if there is one: a
    /// command that also has it taken, or words.
    pub(crate) async fn stricter(&self) -> Option<String> {
        match self.report().await.ok()?.stricter.as_ref()? {
            Remedy::Command(command) => Some(format!("{command} && {}", self.units.restart())),
            Remedy::Words(words) => Some(words.clone()),
        }
    }

    async fn prove(&self) -> Result<Report, Error> {
        if let Some(spawner) = self.units.elsewhere() {
            let said = spawner.hear(&self.launcher.helper, &PROBE).await;
            let said = said.map_err(|error| Error::Probe(error.to_string()))?;
            return serde_json::from_slice(&said).map_err(|error| Error::Probe(error.to_string()));
        }
        let mut output = self.probe().await?;
        for _ in 1..ATTEMPTS {
            // Somebody killed it, the kernel for want of memory maybe.
            if output.status.signal().is_none() {
                break;
            }
            output = self.probe().await?;
        }
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let (status, complaint) = (output.status, complaint.trim());
            Error::Probe(format!(
                "{error}; it ended with {status} and says {complaint:?}"
            ))
        })
    }

    /// Not kill_on_drop: it ends by itself in a moment and then cleans up.
    async fn probe(&self) -> Result<Output, Error> {
        let output = Command::from(self.launcher.probe_command()).output().await;
        output.map_err(|error| {
            let helper = self.launcher.helper.display();
            Error::Probe(format!("{helper}: {error}"))
        })
    }
}

/// The level that is meant by a word of the configuration.
pub(crate) fn named(level: SandboxLevel) -> Level {
    match level {
        SandboxLevel::Strict => Level::Strict,
        SandboxLevel::Workspace => Level::Workspace,
        SandboxLevel::Text => Level::Text,
        SandboxLevel::Off => Level::Off,
    }
}

/// `wanted`: the level that is set.
fn choose(report: &Report, wanted: Option<Level>, missing: Missing) -> Result<Level, Error> {
    let strictest = report.strictest();
    let Some(wanted) = wanted else {
        return strictest.ok_or_else(|| unproved(report, Level::Text));
    };
    if report.holds_at(wanted) {
        return Ok(wanted);
    }
    let lower = wanted.below().find(|level| report.holds_at(*level));
    match (lower, strictest) {
        (Some(lower), _) if missing == Missing::Weaken => Ok(lower),
        (Some(_), Some(strictest)) => Err(Error::Lower {
            level: wanted.name(),
            failed: failed(report, wanted),
            instead: strictest.name(),
        }),
        _ => Err(unproved(report, wanted)),
    }
}

fn unproved(report: &Report, level: Level) -> Error {
    Error::Unproved {
        level: level.name(),
        failed: failed(report, level),
    }
}

/// The promises of `level` that do not hold.
fn failed(report: &Report, level: Level) -> String {
    let failed = report.failed_at(level);
    let failed: Vec<String> = failed
        .map(|check| format!("{} ({})", check.name, check.detail))
        .collect();
    failed.join(", ")
}

fn rules_ports(report: &Report) -> bool {
    is_enforced(report, PORTS)
}

fn judges_addresses(report: &Report) -> bool {
    is_enforced(report, ADDRESSES)
}

fn is_enforced(report: &Report, check: &str) -> bool {
    let check = report.get(check);
    check.is_some_and(|check| check.state == State::Enforced)
}

#[cfg(test)]
mod tests {
    use openclaw_sandbox::probe::{Check, Part};

    use super::*;

    /// The report of a machine on which everything in `failing` failed.
    fn report(failing: &[Part]) -> Report {
        let check = |part: Part| Check {
            name: format!("{part:?}"),
            part,
            state: if failing.contains(&part) {
                State::Failed
            } else {
                State::Enforced
            },
            detail: "why".to_owned(),
        };
        let parts = [
            Part::Base,
            Part::PathRules,
            Part::Namespaces,
            Part::Workspace,
            Part::Text,
        ];
        Report {
            landlock_abi: 0,
            agent_user: None,
            checks: parts.map(check).to_vec(),
            stricter: None,
        }
    }

    #[test]
    fn level_that_is_not_set_is_the_strictest_that_holds() {
        for (failing, expected) in [
            (&[][..], Level::Strict),
            (&[Part::PathRules], Level::Namespaces),
            (&[Part::Namespaces], Level::Workspace),
            (&[Part::PathRules, Part::Namespaces], Level::Text),
            // Root in a container.
            (&[Part::Workspace, Part::Namespaces], Level::Text),
        ] {
            for missing in [Missing::Refuse, Missing::Weaken] {
                let chosen = choose(&report(failing), None, missing);
                assert_eq!(chosen.unwrap(), expected, "{failing:?}");
            }
        }
        let none = choose(&report(&[Part::Base]), None, Missing::Weaken);
        assert!(matches!(none, Err(Error::Unproved { .. })), "{none:?}");
    }

    #[test]
    fn level_that_is_set_is_kept_or_refused() {
        let report = report(&[Part::Namespaces]);
        let kept = choose(&report, Some(Level::Text), Missing::Refuse);
        assert_eq!(kept.unwrap(), Level::Text);
        let refused = choose(&report, Some(Level::Strict), Missing::Refuse).unwrap_err();
        let words = refused.to_string();
        assert!(
            words.contains("Namespaces (why)") && words.contains("\"workspace\""),
            "{words}"
        );
    }

    #[test]
    fn level_that_may_be_weakened_is_the_next_lower_one_that_holds() {
        let weakened =
            |failing: &[Part], wanted| choose(&report(failing), Some(wanted), Missing::Weaken);
        for (failing, wanted, expected) in [
            (&[Part::PathRules][..], Level::Strict, Level::Namespaces),
            (&[Part::Namespaces], Level::Strict, Level::Workspace),
            // Never a stricter one than was asked for.
            (&[Part::PathRules], Level::Workspace, Level::Text),
        ] {
            assert_eq!(weakened(failing, wanted).unwrap(), expected, "{failing:?}");
        }
        assert!(weakened(&[Part::Text, Part::PathRules], Level::Workspace).is_err());
    }
}
