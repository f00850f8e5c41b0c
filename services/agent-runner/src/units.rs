//! Starting processes of turns: by the service manager as transient units or, where there is none,
//! by the spawner.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::Environment;
use openclaw_proto::runner::{Alarm, Armed};
use openclaw_sandbox::identity;
use openclaw_settings::{AgentSettings, RunnerSettings};

mod spawner;
mod systemd;
mod timer;
mod unit_ref;

pub(crate) use spawner::Spawner;
pub(crate) use systemd::Systemd;
pub(crate) use unit_ref::UnitRef;

/// Variables of the daemon that a turn's process has too. Credentials are not among them.
const PASSED: [&str; 14] = [
    "HOME",
    "LANG",
    "PATH",
    "OPENCLAW_LOG",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
];

/// How long a process stands ready for a turn. A conversation goes on within minutes; a
/// machine that nobody talks to runs no agent.
pub(crate) const STANDBY: Duration = Duration::from_secs(300);

/// Why a turn's process was not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("start the unit {unit}")]
    Unit {
        unit: String,
        // It is large, and carried by every error of a turn's start.
        #[source]
        source: Box<zbus::Error>,
    },
    #[error("ask the spawner at {socket}")]
    Spawner {
        socket: String,
        #[source]
        source: std::io::Error,
    },
    #[error("find the programs of the suite")]
    Program(#[source] std::io::Error),
}

/// The kind of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The process of a turn.
    Turn,
    /// The process of a session's servers of tools.
    Servers,
}

impl Part {
    /// This program's argument.
    fn argument(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Servers => "servers",
        }
    }

    /// The name that its units log under.
    fn name(self) -> &'static str {
        match self {
            Self::Turn => "openclaw-turn",
            Self::Servers => "openclaw-servers",
        }
    }
}

/// A process that is to be started.
pub(crate) struct Request<'a> {
    pub(crate) part: Part,
    /// That of its turn, or another one.
    pub(crate) run_id: &'a str,
    pub(crate) settings: &'a RunnerSettings,
    pub(crate) agent: &'a AgentSettings,
    /// Paths that the unit may write: what its agent may, or its servers.
    pub(crate) writable: Vec<PathBuf>,
    /// Whether there is a sandbox around its agent. The unit's own confinement
    /// would hold an agent without one too.
    pub(crate) confined: bool,
    /// Its standard input: our line to it.
    pub(crate) stdin: OwnedFd,
}

/// Why a process that is gone ended, in the service manager's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Its memory limit.
    OutOfMemory,
    /// RuntimeMaxSec.
    Timeout,
    /// It could not have the users or the view that its unit is to have.
    NoNamespaces,
    /// A signal, or anything else.
    Other(String),
}

impl Verdict {
    pub(crate) fn to_words(&self) -> String {
        match self {
            Self::OutOfMemory => "out of memory".to_owned(),
            Self::Timeout => "timeout".to_owned(),
            Self::NoNamespaces => "without namespaces".to_owned(),
            Self::Other(result) => result.clone(),
        }
    }
}

/// The one that starts turns. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum Units {
    Systemd(Arc<Systemd>),
    Spawner(Arc<Spawner>),
}

impl Units {
    /// The service manager when it started this daemon, else the spawner.
    pub(crate) fn find(settings: &RunnerSettings, environment: &Environment) -> Self {
        match systemd::bus(environment) {
            Some(bus) => Self::Systemd(Arc::new(Systemd::new(bus, environment))),
            None => Self::Spawner(Arc::new(Spawner::new(settings.paths.spawner_socket()))),
        }
    }

    /// The name in `openclawctl status`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Systemd(_) => "systemd",
            Self::Spawner(_) => "spawner",
        }
    }

    /// The command that restarts this daemon.
    pub(crate) fn restart(&self) -> &'static str {
        match self {
            Self::Systemd(systemd) => systemd.restart(),
            Self::Spawner(_) => "openclawctl run --stop && openclawctl run",
        }
    }

    /// The unit of a run; empty without a service manager.
    pub(crate) fn unit(&self, run_id: &str) -> String {
        match self {
            Self::Systemd(_) => systemd::unit(Part::Turn, run_id),
            Self::Spawner(_) => String::new(),
        }
    }

    /// Whether turns go on when this daemon ends.
    pub(crate) fn outlive_us(&self) -> bool {
        match self {
            Self::Systemd(_) => true,
            Self::Spawner(spawner) => spawner.is_shared(),
        }
    }

    /// Starts a process: this program with the argument that says which. A
    /// service manager's unit is held.
    pub(crate) async fn start(&self, request: Request<'_>) -> Result<Option<UnitRef>, Error> {
        let program = openclaw_config::programs::own().map_err(Error::Program)?;
        let program = program.display().to_string();
        let environment = passed(&request.settings.environment);
        match self {
            Self::Systemd(systemd) => {
                let hold = systemd.start(request, program, environment).await?;
                Ok(Some(hold))
            }
            Self::Spawner(spawner) => {
                let order = openclaw_sandbox::spawner::Order {
                    program,
                    args: vec![request.part.argument().to_owned()],
                    env: environment,
                    answers: false,
                };
                spawner.start(&order, request.stdin.as_fd(), request.settings)?;
                Ok(None)
            }
        }
    }

    /// The spawner, where turns are run in another place than this daemon's: in the machine's
    /// own suite its unit is confined as turns need it, and this one's more strictly.
    pub(crate) fn elsewhere(&self) -> Option<&Spawner> {
        match self {
            Self::Spawner(spawner) if spawner.is_shared() && identity::can_change_user() => {
                Some(spawner)
            }
            Self::Spawner(_) | Self::Systemd(_) => None,
        }
    }

    /// Makes the user's service manager start the gateway at a time, or at none;
    /// without one, whoever runs the suite has the gateway there.
    pub(crate) async fn arm(&self, alarm: Option<Alarm>) -> Result<Armed, Error> {
        match self {
            Self::Systemd(systemd) if systemd.is_users() => systemd.arm(alarm).await,
            Self::Systemd(_) | Self::Spawner(_) => Ok(Armed::default()),
        }
    }

    /// Goes on without namespaces in units.
    pub(crate) fn without_namespaces(&self) {
        match self {
            Self::Systemd(systemd) => systemd.without_namespaces(),
            Self::Spawner(_) => {}
        }
    }

    /// Takes hold of the unit of a run that an earlier daemon started.
    pub(crate) async fn hold(&self, run_id: &str) -> Option<UnitRef> {
        match self {
            Self::Systemd(systemd) => {
                UnitRef::take(systemd, systemd::unit(Part::Turn, run_id)).await
            }
            Self::Spawner(_) => None,
        }
    }
}

fn passed(environment: &Environment) -> Vec<(String, String)> {
    PASSED
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), environment.get(name)?.to_owned())))
        .collect()
}
