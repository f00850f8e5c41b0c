//! Reaching the daemons, and what it means when they do not answer.

mod signals;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use nix::unistd::geteuid;
use openclaw_config::{Environment, Paths};
use openclaw_foreground::obstacle;
use openclaw_proto::call::{Broken, CallError, RefusalCode};
use openclaw_proto::{gateway, sessions};
use openclaw_terminal::Failure;
use tokio::runtime::{Builder, Runtime};

/// How the suite is started.
pub use openclaw_doctor::START;
/// What ends a program at a terminal.
pub use signals::{Signals, ended_by};

/// How the suite of the machine is started, by root.
const START_OF_MACHINE: &str = "start it with: sudo systemctl start openclaw.target";

/// For the suite of the machine: its places, and the modes of what is written there.
#[must_use]
pub fn of_machine(environment: Environment) -> Environment {
    openclaw_modes::share_with_group();
    environment.of_machine()
}

/// Whether only the gateway's socket is open to whoever runs this: the machine's suite is for
/// people of its group, the sockets of the other daemons for these daemons and root.
#[must_use]
pub fn asks_gateway_alone() -> bool {
    openclaw_modes::are_shared() && !geteuid().is_root()
}

/// Fails for whoever may not look at the files of the machine's suite.
///
/// # Errors
/// It is the suite of the machine, and this is not root.
pub fn root_alone(command: &str, environment: &Environment) -> Result<(), Failure> {
    if !environment.is_of_machine() || geteuid().is_root() {
        return Ok(());
    }
    let what = format!("the files of the machine's suite are for root to look at: {command}");
    Err(Failure::new(what).hint(format!("sudo openclawctl --system {command}")))
}

/// The failure that a command is which knows of a user's own suite alone.
#[must_use]
pub fn of_users_alone(command: &str) -> Failure {
    Failure::usage(format!(
        "openclawctl {command} is for the suite of a user, not for that of the machine"
    ))
    .hint("man openclaw.target says how that is set up, and where its keys are")
}

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
            failure.hint(if openclaw_modes::are_shared() {
                START_OF_MACHINE
            } else {
                START
            })
        }
        CallError::Absent(_) if openclaw_modes::are_shared() && daemon == "gateway" => {
            failure.hint("sudo adduser NAME openclaw lets NAME in, from the next login on")
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
                ErrorKind::PermissionDenied if openclaw_modes::are_shared() => {
                    let whom = match daemon {
                        "gateway" => "the group openclaw, and you are not in it",
                        _ => "root",
                    };
                    format!("{socket} is closed to you: the {daemon} answers {whom}")
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
