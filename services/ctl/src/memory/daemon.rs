//! The memory daemon and its socket.

use std::path::PathBuf;

use openclaw_config::Paths;
use openclaw_proto::memory;
use openclaw_proto::origin::Origin;
use tonic::{Code, Status};

use crate::connection;
use crate::failure::Failure;

/// The memory daemon.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    pub(super) client: memory::Client,
    /// No run's.
    pub(super) origin: Origin,
    socket: PathBuf,
}

impl Memory {
    /// The daemon at its place in `paths`. Needs a runtime around it.
    pub(super) fn at(paths: &Paths) -> Self {
        let socket = paths.memory_socket();
        Self {
            client: memory::Client::new(socket.clone()),
            origin: Origin::default(),
            socket,
        }
    }

    /// The failure that `status` is.
    pub(super) fn failure(&self, status: &Status) -> Failure {
        if status.code() == Code::InvalidArgument {
            return Failure::usage(status.message());
        }
        let problem = connection::problem("memory daemon", &self.socket, status);
        let failure = Failure::new(problem);
        if connection::is_absent(status) {
            failure.hint(connection::START)
        } else {
            failure
        }
    }
}
