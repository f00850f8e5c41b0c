//! The spawner: the one of `openclawctl run`, which outlives this daemon, or a
//! child of this daemon, which does not.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket, socketpair};
use openclaw_config::programs;
use openclaw_sandbox::spawner::{Order, ask};
use openclaw_settings::RunnerSettings;
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use super::Error;

/// Bytes of what a program says in [`Spawner::hear`], and how long it may take to.
const ANSWER_LIMIT: u64 = 1 << 20;
const ANSWER_DEADLINE: Duration = Duration::from_secs(60);

/// The line to the spawner, made when it is first needed.
#[derive(Debug)]
pub(crate) struct Spawner {
    socket: PathBuf,
    line: Mutex<Option<OwnedFd>>,
    own: AtomicBool,
}

impl Spawner {
    pub(super) fn new(socket: PathBuf) -> Self {
        Self {
            socket,
            line: Mutex::default(),
            own: AtomicBool::new(false),
        }
    }

    /// Runs `program` to its end, and returns what it says.
    pub(crate) async fn hear(&self, program: &Path, args: &[&str]) -> io::Result<Vec<u8>> {
        let (ours, theirs) = tokio::net::UnixStream::pair()?;
        let order = Order {
            program: program.display().to_string(),
            args: args.iter().map(|&it| it.to_owned()).collect(),
            env: Vec::new(),
            answers: true,
        };
        // Blocking, as in a socket's own mode: it is for whatever is started.
        let theirs = theirs.into_std()?;
        theirs.set_nonblocking(false)?;
        ask(dial(&self.socket)?.as_fd(), &order, theirs.as_fd())?;
        drop(theirs);
        let mut said = Vec::new();
        let mut ours = ours.take(ANSWER_LIMIT);
        timeout(ANSWER_DEADLINE, ours.read_to_end(&mut said))
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        Ok(said)
    }

    /// Whether it goes on without this daemon.
    pub(super) fn is_shared(&self) -> bool {
        !self.own.load(Ordering::Relaxed) && self.socket.exists()
    }

    /// Starts a process. Blocks for as long as starting one takes, some tenths of a millisecond.
    pub(super) fn start(
        &self,
        order: &Order,
        stdin: BorrowedFd<'_>,
        settings: &RunnerSettings,
    ) -> Result<(), Error> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match &*line {
            Some(line) => ask(line.as_fd(), order, stdin),
            None => Err(io::ErrorKind::NotConnected.into()),
        };
        let result = match result {
            Ok(pid) => Ok(pid),
            // It is not there yet, or a new one has taken its place.
            Err(_) => self.open(settings).and_then(|fresh| {
                let pid = ask(fresh.as_fd(), order, stdin)?;
                *line = Some(fresh);
                Ok(pid)
            }),
        };
        result.map(drop).map_err(|source| Error::Spawner {
            socket: self.socket.display().to_string(),
            source,
        })
    }

    fn open(&self, settings: &RunnerSettings) -> io::Result<OwnedFd> {
        match dial(&self.socket) {
            Ok(line) => {
                self.own.store(false, Ordering::Relaxed);
                Ok(line)
            }
            Err(_) => {
                self.own.store(true, Ordering::Relaxed);
                raise(settings)
            }
        }
    }
}

fn dial(path: &Path) -> io::Result<OwnedFd> {
    let line = socket(
        AddressFamily::Unix,
        SockType::SeqPacket,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    connect(line.as_raw_fd(), &UnixAddr::new(path)?)?;
    Ok(line)
}

/// A spawner of our own: it ends when the line is closed, and everything that it started with it.
#[expect(
    clippy::disallowed_methods,
    reason = "the spawner is what agent processes start from here"
)]
fn raise(settings: &RunnerSettings) -> io::Result<OwnedFd> {
    let (ours, theirs) = socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )?;
    let helper = programs::sibling("openclaw-sandbox", &settings.environment)?;
    std::process::Command::new(helper)
        .args(["spawner", "--parent", &std::process::id().to_string()])
        .env_clear()
        .stdin(Stdio::from(theirs))
        .spawn()?;
    Ok(ours)
}
