//! Reaching the daemons, and what it means when they do not answer.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use openclaw_config::Paths;
use openclaw_foreground::obstacle;
use openclaw_proto::call::{Broken, CallError, RefusalCode};
use openclaw_proto::{gateway, sessions};
use openclaw_terminal::Failure;
use tokio::runtime::{Builder, Runtime};

/// How the suite is started.
pub use openclaw_doctor::START;

/// How long a gateway that was lost is asked again: one that is started again
/// takes the connection at once, because its socket stays.
pub const PATIENCE: Duration = Duration::from_secs(13);

/// The gateway.
#[derive(Debug, Clone)]
pub struct Gateway {
    /// What it is asked with,
    pub client: gateway::Client,
    /// and about sessions.
    pub sessions: sessions::Client,
    paths: Paths,
}

impl Gateway {
    /// The gateway at its place in `paths`. Needs a runtime around it.
    pub fn at(paths: &Paths) -> Self {
        let socket = paths.gateway_socket();
        Self {
            client: gateway::Client::new(socket.clone()),
            sessions: sessions::Client::new(socket),
            paths: paths.clone(),
        }
    }

    /// Its socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.paths.gateway_socket()
    }

    /// What keeps the suite from answering, if that can be seen from here.
    pub fn obstacle(&self) -> Option<Failure> {
        obstacle::of_client(&self.paths)
    }

    /// The failure that `error` is.
    pub fn failure(&self, error: &CallError) -> Failure {
        let obstacle = error.code().is_none().then(|| self.obstacle()).flatten();
        obstacle.unwrap_or_else(|| failure("gateway", error))
    }

    /// The failure that `error` is where what the gateway says of a session is the whole
    /// story.
    pub fn refused(&self, error: &CallError) -> Failure {
        use RefusalCode::{AlreadyExists, FailedPrecondition, InvalidArgument, NotFound};
        let CallError::Refused {
            code,
            message,
            remedy,
        } = error
        else {
            return self.failure(error);
        };
        let failure = match code {
            InvalidArgument => Failure::usage(message),
            AlreadyExists | FailedPrecondition | NotFound => Failure::new(message),
            _ => return self.failure(error),
        };
        match remedy {
            Some(remedy) => failure.hint(remedy),
            None => failure,
        }
    }
}

/// One thread is enough for one conversation and starts faster than many.
pub fn runtime() -> Result<Runtime, Failure> {
    Ok(Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot set up the event loop")?)
}

/// The failure that `error` of `daemon` is, with what can be done about it.
pub fn failure(daemon: &str, error: &CallError) -> Failure {
    let failure = Failure::new(problem(daemon, error));
    match error {
        CallError::Absent(socket) if socket.kind() != ErrorKind::PermissionDenied => {
            failure.hint(START)
        }
        CallError::Refused {
            remedy: Some(remedy),
            ..
        } => failure.hint(remedy),
        _ => failure,
    }
}

/// Why `daemon` did not do what it was asked, in words.
pub fn problem(daemon: &str, error: &CallError) -> String {
    match error {
        CallError::Absent(absent) => {
            let socket = absent.socket().display();
            match absent.kind() {
                ErrorKind::NotFound => {
                    format!("the {daemon} is not running: there is no socket {socket}")
                }
                ErrorKind::PermissionDenied => {
                    format!("{socket} belongs to another user: the {daemon} answers only its own")
                }
                _ => format!("the {daemon} is not running: nobody listens at {socket}"),
            }
        }
        CallError::Broken(Broken::Lost(why)) => {
            format!("the connection to the {daemon} broke: {why}")
        }
        CallError::Broken(Broken::Late(limit)) => {
            format!("the {daemon} has not answered for {} s", limit.as_secs())
        }
        CallError::Refused { code, .. } if *code == RefusalCode::Unimplemented => {
            format!("the {daemon} is of another version, which does not know this request")
        }
        CallError::Refused { message, .. } => format!("the {daemon} refused: {message}"),
    }
}
