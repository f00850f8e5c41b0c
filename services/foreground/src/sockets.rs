//! The daemons' sockets. `run` keeps them open, so that a client that comes
//! while a daemon is started again waits instead of being refused.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use openclaw_config::{Paths, state_lock};
use openclaw_settings::LogLevel;
use openclaw_terminal::Failure;
use tokio::time::{Instant, sleep};

use crate::daemon::{Daemon, STOP_DEADLINE};
use crate::doors::Doors;
use crate::log::Log;
use crate::obstacle;

/// Connecting needs write permission (unix(7)): only the owner has it.
const MODE: u32 = 0o600;
/// FileDescriptorName= of the units.
const CHANNELS: &str = "channels";
/// Between two looks at a socket that daemons of a killed `run` still hold.
/// There is no event for it: they are not this process's children.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Listening sockets; their files are removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Sockets {
    control: Vec<(Daemon, Socket)>,
    /// The gateway's, for channel daemons.
    of_channels: Socket,
    /// The gateway's.
    doors: Doors,
}

/// What a daemon is given.
#[derive(Debug)]
pub(crate) struct Passed {
    pub(crate) control: OwnedFd,
    /// By name.
    pub(crate) more: Vec<(&'static str, OwnedFd)>,
}

#[derive(Debug)]
struct Socket {
    path: PathBuf,
    listener: UnixListener,
}

impl Sockets {
    /// Binds every daemon's socket. `patient`: whoever still answers there is
    /// about to end and is waited for.
    pub(crate) async fn bind(paths: &Paths, patient: bool, log: &Log) -> Result<Self, Failure> {
        let mut control = Vec::new();
        let patience = if patient {
            STOP_DEADLINE
        } else {
            Duration::ZERO
        };
        let until = Instant::now() + patience;
        for daemon in Daemon::ALL {
            let path = daemon.socket(paths);
            clear(&path, until, log).await?;
            control.push((daemon, Socket::bind(path)?));
        }
        let path = paths.channel_socket();
        clear(&path, until, log).await?;
        Ok(Self {
            control,
            of_channels: Socket::bind(path)?,
            doors: Doors::default(),
        })
    }

    /// With the gateway's TCP sockets.
    pub(crate) fn with_doors(self, doors: Doors) -> Self {
        Self { doors, ..self }
    }

    /// The daemon's sockets, to be handed to it.
    pub(crate) fn hand_over(&self, daemon: Daemon) -> io::Result<Passed> {
        let (_, socket) = self
            .control
            .iter()
            .find(|(owner, _)| *owner == daemon)
            .ok_or(ErrorKind::NotFound)?;
        Ok(Passed {
            control: socket.listener.try_clone()?.into(),
            more: match daemon {
                Daemon::Gateway => {
                    let of_channels = self.of_channels.listener.try_clone()?;
                    let mut more = vec![(CHANNELS, of_channels.into())];
                    more.extend(self.doors.hand_over()?);
                    more
                }
                Daemon::Memory | Daemon::Runner => Vec::new(),
            },
        })
    }
}

impl Socket {
    fn bind(path: PathBuf) -> Result<Self, Failure> {
        let shown = path.display();
        // The directory is 0700, so nobody else comes between these two.
        let listener = UnixListener::bind(&path)
            .with_context(|| format!("cannot listen at {shown}"))
            .map_err(|error| {
                Failure::from(error).hint(
                    "a socket's path has at most 107 bytes; OPENCLAW_RUNTIME_DIR sets a shorter one",
                )
            })?;
        fs::set_permissions(&path, Permissions::from_mode(MODE))
            .with_context(|| format!("cannot close {shown} to other users"))?;
        Ok(Self { path, listener })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // What stays is found unanswered and removed by the next start.
        let _ = fs::remove_file(&self.path);
    }
}

/// Waits until the daemons of a killed `run`, which have closed their sockets,
/// have let go of the state too, or have had the time for it.
pub(crate) async fn left(paths: &Paths, log: &Log) {
    let until = Instant::now() + STOP_DEADLINE;
    for program in obstacle::OWNERS {
        let mut told = false;
        while let Some(holder) = state_lock::holder(paths, program) {
            if Instant::now() >= until {
                return;
            }
            if !told {
                let pid = holder.pid;
                log.own(
                    LogLevel::Info,
                    &format!("waiting for {program} (process {pid}) to end"),
                );
                told = true;
            }
            sleep(LOOK_AGAIN).await;
        }
    }
}

/// Removes a socket that nobody answers at.
async fn clear(path: &Path, until: Instant, log: &Log) -> Result<(), Failure> {
    let shown = path.display();
    let mut told = false;
    while is_answered(path).with_context(|| format!("cannot look who answers at {shown}"))? {
        if Instant::now() >= until {
            return Err(Failure::taken(format!("somebody answers at {shown} already")).hint(
                "if it is systemd: systemctl --user stop openclaw.target, or use it instead of run",
            ));
        }
        if !told {
            log.own(
                LogLevel::Info,
                &format!("waiting for the daemons of a killed openclawctl run to leave {shown}"),
            );
            told = true;
        }
        sleep(LOOK_AGAIN).await;
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            let context = format!("cannot remove the old socket {shown}");
            Err(anyhow::Error::new(error).context(context).into())
        }
        _ => Ok(()),
    }
}

/// Whether a connection to `path` is taken. Something that is no socket is
/// an error: it is not removed.
fn is_answered(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::FileTypeExt as _;
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(io::Error::other("it is not a socket"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    match UnixStream::connect(path) {
        Ok(_) => Ok(true),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::ConnectionRefused | ErrorKind::NotFound
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn paths(folder: &Path) -> Paths {
        let text = folder.to_str().unwrap();
        let variables = [("OPENCLAW_STATE_DIR", text), ("OPENCLAW_RUNTIME_DIR", text)];
        Paths::resolve(&variables.into_iter().collect()).unwrap()
    }

    async fn bind(paths: &Paths) -> Result<Sockets, Failure> {
        Sockets::bind(paths, false, &Log::open()).await
    }

    #[tokio::test]
    async fn sockets_are_private_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let sockets = bind(&paths).await.unwrap();
        for daemon in Daemon::ALL {
            let mode = fs::metadata(daemon.socket(&paths)).unwrap().mode();
            assert_eq!(mode & 0o777, MODE);
        }
        drop(sockets);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn sockets_only_what_nobody_answers_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let other = UnixListener::bind(paths.runner_socket()).unwrap();
        let refused = bind(&paths).await.unwrap_err().text();
        assert!(refused.contains("runner.sock"), "{refused}");
        assert!(
            !paths.memory_socket().exists(),
            "bound before, removed again"
        );

        drop(other);
        bind(&paths).await.unwrap();

        fs::write(paths.gateway_socket(), "precious").unwrap();
        assert!(bind(&paths).await.is_err());
        assert_eq!(fs::read(paths.gateway_socket()).unwrap(), b"precious");
    }
}
