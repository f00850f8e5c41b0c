//! The suite's daemons.

use std::fmt;
use std::path::{Path, PathBuf};

use openclaw_config::Paths;

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Daemon {
    Gateway,
    Runner,
    Memory,
}

impl Daemon {
    pub(crate) const ALL: [Self; 3] = [Self::Gateway, Self::Runner, Self::Memory];

    /// The file name of its program.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Gateway => "openclaw-gateway",
            Self::Runner => "openclaw-agent-runner",
            Self::Memory => "openclaw-memory",
        }
    }

    /// Where it is reached.
    pub(crate) fn socket(self, paths: &Paths) -> PathBuf {
        match self {
            Self::Gateway => paths.gateway_socket(),
            Self::Runner => paths.runner_socket(),
            Self::Memory => paths.memory_socket(),
        }
    }

    /// The daemon that `program` is.
    pub(crate) fn of(program: &Path) -> Option<Self> {
        let is_it = |daemon: &Self| program.ends_with(daemon.program());
        Self::ALL.into_iter().find(is_it)
    }
}

impl fmt::Display for Daemon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program())
    }
}
