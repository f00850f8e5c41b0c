//! The memory daemon and its socket.

use openclaw_config::Paths;
use openclaw_proto::call::{CallError, RefusalCode};
use openclaw_proto::memory;
use openclaw_proto::origin::Origin;
use openclaw_terminal::Failure;

use openclaw_connection as connection;

/// The memory daemon.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    pub(super) client: memory::Client,
    /// No run's.
    pub(super) origin: Origin,
}

impl Memory {
    /// The daemon at its place in `paths`. Needs a runtime around it.
    pub(super) fn at(paths: &Paths) -> Self {
        Self {
            client: memory::Client::new(paths.memory_socket()),
            origin: Origin::default(),
        }
    }

    /// The failure that `error` is.
    pub(super) fn failure(&self, error: &CallError) -> Failure {
        if error.is_refused(RefusalCode::InvalidArgument) {
            return Failure::usage(error.to_string());
        }
        connection::failure("memory daemon", error)
    }
}
