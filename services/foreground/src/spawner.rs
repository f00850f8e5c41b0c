//! The process that turns are started from. It is no child of the agent-runner,
//! so that turns outlive one that is started again, and a child of this
//! process, so that they do not outlive `run`.

use std::fs;
use std::io::ErrorKind;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use nix::sys::signal::Signal;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen, socket,
};
use nix::sys::stat::{Mode, umask};
use openclaw_config::{Environment, Paths, programs};
use openclaw_settings::LogLevel;
use openclaw_terminal::Failure;
use tokio::process::Child;
use tokio::time::{sleep, timeout};

use crate::child;
use crate::log::Log;

/// Before it is started again when it died.
const PAUSE: Duration = Duration::from_millis(100);
/// What it gets to end the turns; more than it gives them.
const END_DEADLINE: Duration = Duration::from_secs(12);
/// As log lines name it.
const NAME: &str = "turns";

/// The spawner's socket; its file is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Spawner<'a> {
    path: PathBuf,
    listener: OwnedFd,
    environment: &'a Environment,
    log: &'a Log,
}

impl<'a> Spawner<'a> {
    /// Binds the socket. The lock on the runtime directory is held: what is at
    /// its place is left over.
    pub(crate) fn bind(
        paths: &Paths,
        environment: &'a Environment,
        log: &'a Log,
    ) -> Result<Self, Failure> {
        let path = paths.spawner_socket();
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let context = format!("cannot remove the old socket {}", path.display());
                return Err(anyhow::Error::new(error).context(context).into());
            }
            _ => {}
        }
        let listener =
            listener(&path).with_context(|| format!("cannot listen at {}", path.display()))?;
        Ok(Self {
            path,
            listener,
            environment,
            log,
        })
    }

    /// Keeps it running until `until` ends, then ends it and all turns.
    pub(crate) async fn keep<T>(&self, until: impl Future<Output = T>) -> Result<T, Failure> {
        let mut process = self.start()?;
        tokio::pin!(until);
        loop {
            tokio::select! {
                result = &mut until => {
                    self.end(process).await;
                    return Ok(result);
                }
                _ = process.wait() => {
                    self.log.own(LogLevel::Warn, "turns: their spawner died and is started again");
                    sleep(PAUSE).await;
                    process = self.start()?;
                }
            }
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "starts the spawner, which is part of the sandbox"
    )]
    fn start(&self) -> Result<Child, Failure> {
        let program = programs::sibling("openclaw-sandbox", self.environment)
            .context("cannot find the program of the spawner")?;
        let mut command = Command::new(program);
        command
            .args(["spawner", "--parent", &std::process::id().to_string()])
            .env_clear()
            .stdin(
                self.listener
                    .try_clone()
                    .context("cannot pass the spawner's socket")?,
            )
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut process = tokio::process::Command::from(command)
            .spawn()
            .context("cannot start the spawner")?;
        if let Some(stderr) = process.stderr.take() {
            tokio::spawn(self.log.clone().forward(NAME, stderr));
        }
        Ok(process)
    }

    async fn end(&self, mut process: Child) {
        child::send(&process, Signal::SIGTERM);
        if timeout(END_DEADLINE, process.wait()).await.is_err() {
            self.log
                .own(LogLevel::Warn, "turns did not end in time and are killed");
            child::send(&process, Signal::SIGKILL);
            let _ = process.wait().await;
        }
    }
}

impl Drop for Spawner<'_> {
    fn drop(&mut self) {
        // What stays is removed by the next start.
        let _ = fs::remove_file(&self.path);
    }
}

fn listener(path: &std::path::Path) -> nix::Result<OwnedFd> {
    let listener = socket(
        AddressFamily::Unix,
        SockType::SeqPacket,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    // The only thread: nobody else makes a file meanwhile.
    let before = umask(Mode::from_bits_truncate(0o177));
    let bound = bind(listener.as_raw_fd(), &UnixAddr::new(path)?);
    umask(before);
    bound?;
    listen(&listener.as_fd(), Backlog::new(8)?)?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn socket_is_private_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        let environment: Environment =
            [("OPENCLAW_STATE_DIR", text), ("OPENCLAW_RUNTIME_DIR", text)]
                .into_iter()
                .collect();
        let paths = Paths::resolve(&environment).unwrap();
        let log = Log::open();
        let spawner = Spawner::bind(&paths, &environment, &log).unwrap();
        let mode = fs::metadata(paths.spawner_socket()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(spawner);
        assert!(!paths.spawner_socket().exists());
    }
}
