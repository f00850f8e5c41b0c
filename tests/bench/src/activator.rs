//! A small service manager: holds the sockets and starts the daemons with them.

use std::fs;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::Child;
use tokio::time::timeout;

use crate::daemon::Daemon;
use crate::home::Home;
use crate::mark;
use crate::notify::Notify;
use crate::process::Process;
use crate::programs::Programs;

/// FileDescriptorName= of every socket unit.
const SOCKET_NAME: &str = "control";
/// Milliseconds until somebody connects; the message that leads to it is on its way.
const CONNECT_DEADLINE: u16 = 20_000;
/// TimeoutStopSec= of the units.
const STOP_DEADLINE: Duration = Duration::from_secs(30);

/// The daemons' listening sockets in one home.
#[derive(Debug)]
pub(crate) struct Activator<'a> {
    programs: &'a Programs,
    home: &'a Home,
    listeners: Vec<(Daemon, UnixListener)>,
}

/// A daemon's process. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) daemon: Daemon,
    child: Child,
}

impl<'a> Activator<'a> {
    pub(crate) fn bind(programs: &'a Programs, home: &'a Home) -> anyhow::Result<Self> {
        let folder = &home.paths.runtime;
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let listeners = Daemon::ALL.into_iter().map(|daemon| {
            let path = daemon.socket(&home.paths);
            let listener = UnixListener::bind(&path)
                .with_context(|| format!("cannot listen at {}", path.display()))?;
            Ok((daemon, listener))
        });
        Ok(Self {
            programs,
            home,
            listeners: listeners.collect::<anyhow::Result<_>>()?,
        })
    }

    /// Starts `daemon` without waiting for a connection; it tells `notify` when it was executed and when it is ready.
    pub(crate) fn start(&self, daemon: Daemon, notify: &Notify) -> anyhow::Result<Running> {
        let own = std::env::current_exe().context("cannot find this program")?;
        self.spawn(daemon, &own, |command| {
            command.env("NOTIFY_SOCKET", notify.path());
            command.env(mark::PROGRAM, self.programs.path(daemon.program()));
        })
    }

    /// Starts `daemon` at the first connection to its socket, as systemd would.
    pub(crate) async fn start_on_demand(&self, daemon: Daemon) -> anyhow::Result<Running> {
        let socket = self.hand_over(daemon)?;
        // On a thread of the pool; the daemon itself starts from this one.
        tokio::task::spawn_blocking(move || wait_for_connection(&socket))
            .await
            .context("the wait for a connection ended")?
            .with_context(|| format!("nobody connected to {daemon}"))?;
        self.spawn(daemon, &self.programs.path(daemon.program()), |_| {})
    }

    fn spawn(
        &self,
        daemon: Daemon,
        program: &Path,
        amend: impl FnOnce(&mut std::process::Command),
    ) -> anyhow::Result<Running> {
        let mut command = self.home.command(&self.programs.path("openclawctl"));
        command
            .arg("activate")
            .arg(std::process::id().to_string())
            .arg(SOCKET_NAME)
            .arg(program)
            .stdin(self.hand_over(daemon)?)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        amend(&mut command);
        let child = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {daemon}"))?;
        Ok(Running { daemon, child })
    }

    fn hand_over(&self, daemon: Daemon) -> anyhow::Result<OwnedFd> {
        let mut listeners = self.listeners.iter();
        let (_, listener) = listeners
            .find(|(owner, _)| *owner == daemon)
            .context("every daemon has a socket")?;
        let copy = listener.try_clone().context("cannot copy a socket")?;
        Ok(copy.into())
    }
}

impl Running {
    pub(crate) fn process(&self) -> anyhow::Result<Process> {
        let id = self.child.id();
        id.map(Process)
            .with_context(|| format!("{} has ended", self.daemon))
    }

    /// Tells it to end, and waits until it has.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        terminate(&self.child)?;
        let ended = timeout(STOP_DEADLINE, self.child.wait()).await;
        ended
            .with_context(|| format!("{} did not end in time", self.daemon))?
            .with_context(|| format!("cannot wait for {}", self.daemon))?;
        Ok(())
    }
}

/// Waits until a connection can be accepted; it is left to the daemon.
fn wait_for_connection(socket: &OwnedFd) -> Result<(), Errno> {
    let mut sockets = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    match poll(&mut sockets, PollTimeout::from(CONNECT_DEADLINE))? {
        0 => Err(Errno::ETIMEDOUT),
        _ => Ok(()),
    }
}

/// Sends SIGTERM, unless `child` has ended.
pub(crate) fn terminate(child: &Child) -> anyhow::Result<()> {
    if let Some(id) = child.id() {
        kill(Pid::from_raw(i32::try_from(id)?), Signal::SIGTERM)
            .with_context(|| format!("cannot end process {id}"))?;
    }
    Ok(())
}
