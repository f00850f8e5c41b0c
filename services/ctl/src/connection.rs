//! Reaching the daemons, and what it means when they do not answer.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use openclaw_config::Paths;
use openclaw_proto::{gateway, sessions};
use tokio::runtime::{Builder, Runtime};
use tonic::{Code, Status};

use crate::failure::Failure;
use crate::obstacle;

/// How the suite is started.
pub(crate) const START: &str =
    "start it with: systemctl --user start openclaw.target (without systemd: openclawctl run)";

/// The gateway and its socket.
#[derive(Debug, Clone)]
pub(crate) struct Gateway {
    pub(crate) client: gateway::Client,
    pub(crate) sessions: sessions::Client,
    socket: PathBuf,
    paths: Paths,
}

impl Gateway {
    /// The gateway at its place in `paths`. Needs a runtime around it.
    pub(crate) fn at(paths: &Paths) -> Self {
        let socket = paths.gateway_socket();
        Self {
            client: gateway::Client::new(socket.clone()),
            sessions: sessions::Client::new(socket.clone()),
            socket,
            paths: paths.clone(),
        }
    }

    /// What keeps the suite from answering, if that can be seen from here.
    pub(crate) fn obstacle(&self) -> Option<Failure> {
        obstacle::find(&self.paths)
    }

    /// The failure that `status` is.
    pub(crate) fn failure(&self, status: &Status) -> Failure {
        let obstacle = is_broken(status).then(|| self.obstacle()).flatten();
        if let Some(obstacle) = obstacle {
            return obstacle;
        }
        let failure = Failure::new(problem("gateway", &self.socket, status));
        match connect_error(status) {
            Some(ErrorKind::NotFound | ErrorKind::ConnectionRefused) => failure.hint(START),
            _ => failure,
        }
    }
}

/// One thread is enough for one conversation and starts faster than many.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    Ok(Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot set up the event loop")?)
}

/// Why `daemon` at `socket` did not do what it was asked, in words.
pub(crate) fn problem(daemon: &str, socket: &Path, status: &Status) -> String {
    let socket = socket.display();
    match (connect_error(status), status.code()) {
        (Some(ErrorKind::NotFound), _) => {
            format!("the {daemon} is not running: there is no socket {socket}")
        }
        (Some(ErrorKind::ConnectionRefused), _) => {
            format!("the {daemon} is not running: nobody listens at {socket}")
        }
        (Some(ErrorKind::PermissionDenied), _) => {
            format!("{socket} belongs to another user: the {daemon} answers only its own")
        }
        (_, Code::Unimplemented) => {
            format!("the {daemon} is of another version, which does not know this request")
        }
        _ if is_broken(status) => format!("the connection to the {daemon} broke: {}", last(status)),
        _ => format!("the {daemon} refused: {}", status.message()),
    }
}

/// Whether the connection broke rather than the daemon having answered, so
/// that asking again may help.
pub(crate) fn is_broken(status: &Status) -> bool {
    // A status that came over the wire has no cause; one that tonic made of an
    // error has. Unavailable is what a daemon answers while it drains.
    status.source().is_some() || status.code() == Code::Unavailable
}

/// Whether there is no daemon to talk to.
pub(crate) fn is_absent(status: &Status) -> bool {
    use ErrorKind::{ConnectionRefused, NotFound, PermissionDenied};
    matches!(
        connect_error(status),
        Some(NotFound | ConnectionRefused | PermissionDenied)
    )
}

/// Why the connection could not be made, when that is what `status` says.
fn connect_error(status: &Status) -> Option<ErrorKind> {
    causes(status)
        .find_map(|cause| cause.downcast_ref::<io::Error>())
        .map(io::Error::kind)
}

/// The innermost cause, which says most.
fn last(status: &Status) -> String {
    causes(status)
        .last()
        .map_or_else(|| status.message().to_owned(), ToString::to_string)
}

fn causes(status: &Status) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(status.source(), |cause| (*cause).source())
}
