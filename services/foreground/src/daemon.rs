//! The daemons that `run` runs.

use std::path::PathBuf;
use std::time::Duration;

use openclaw_config::Paths;

/// How long the daemons may take to end, as TimeoutStopSec= of their units.
pub(crate) const STOP_DEADLINE: Duration = Duration::from_secs(30);

/// One of the suite's daemons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Daemon {
    /// openclaw-memory.
    Memory,
    /// openclaw-agent-runner.
    Runner,
    /// openclaw-gateway.
    Gateway,
}

impl Daemon {
    /// All, each before those that call it.
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Runner, Self::Gateway];

    /// As log lines name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Runner => "agent-runner",
            Self::Gateway => "gateway",
        }
    }

    /// The file name of its program.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Memory => "openclaw-memory",
            Self::Runner => "openclaw-agent-runner",
            Self::Gateway => "openclaw-gateway",
        }
    }

    /// Where it is reached.
    pub(crate) fn socket(self, paths: &Paths) -> PathBuf {
        match self {
            Self::Memory => paths.memory_socket(),
            Self::Runner => paths.runner_socket(),
            Self::Gateway => paths.gateway_socket(),
        }
    }
}
