//! The daemons that `run` runs.

use std::path::PathBuf;

use openclaw_config::Paths;

/// One of the suite's daemons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Daemon {
    /// openclaw-memory.
    Memory,
    /// openclaw-agent-runner.
    Runner,
    /// openclaw-gateway.
    Gateway,
}

impl Daemon {
    /// All, each before those that call it.
    pub(super) const ALL: [Self; 3] = [Self::Memory, Self::Runner, Self::Gateway];

    /// As log lines name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Runner => "agent-runner",
            Self::Gateway => "gateway",
        }
    }

    /// The file name of its program.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Memory => "openclaw-memory",
            Self::Runner => "openclaw-agent-runner",
            Self::Gateway => "openclaw-gateway",
        }
    }

    /// Where it is reached.
    pub(super) fn socket(self, paths: &Paths) -> PathBuf {
        match self {
            Self::Memory => paths.memory_socket(),
            Self::Runner => paths.runner_socket(),
            Self::Gateway => paths.gateway_socket(),
        }
    }
}
