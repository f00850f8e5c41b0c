//! One daemon with a socket passed and news heard, as by a service manager.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use tokio::net::UnixDatagram;
use tokio::process::{Child, Command};

use crate::{Site, processes, program, within};

/// A datagram with news; a status line is far shorter.
const LONGEST: usize = 4096;

/// The three daemons: program, socket, gRPC service.
pub const DAEMONS: [(&str, &str, &str); 3] = [
    (
        "openclaw-gateway",
        "gateway.sock",
        "openclaw.gateway.v1.Gateway",
    ),
    (
        "openclaw-agent-runner",
        "runner.sock",
        "openclaw.runner.v1.AgentRunner",
    ),
    (
        "openclaw-memory",
        "memory.sock",
        "openclaw.memory.v1.Memory",
    ),
];

/// A started daemon; it dies when this is dropped.
#[derive(Debug)]
pub struct Managed {
    /// Where the daemon listens.
    pub socket: PathBuf,
    child: Child,
    notify: UnixDatagram,
    /// Lines that were heard and are not asked for yet.
    heard: Vec<String>,
}

impl Managed {
    /// Starts `daemon` with a listening socket, and with a watchdog when
    /// `watchdog` is given.
    pub fn start(site: &Site, daemon: &str, socket: &str, watchdog: Option<Duration>) -> Self {
        let socket = site.runtime().join(socket);
        let listener = UnixListener::bind(&socket).expect("bind the socket");
        let address = site.runtime().join("notify");
        let notify = UnixDatagram::bind(&address).expect("bind the notify socket");
        let mut command = passing(site, daemon, listener);
        command.env("NOTIFY_SOCKET", address);
        if let Some(interval) = watchdog {
            command.env("WATCHDOG_USEC", interval.as_micros().to_string());
        }
        let mut child = command.spawn().expect("start openclawctl activate");
        site.log.follow(child.stderr.take().expect("a pipe"));
        Self {
            socket,
            child,
            notify,
            heard: Vec::new(),
        }
    }

    /// Waits for a line that begins with `begin`; lines before it are dropped,
    /// those after it stay to be heard.
    pub async fn hear(&mut self, begin: &str) -> String {
        within(&format!("{begin} from the daemon"), async {
            loop {
                let found = self.heard.iter().position(|line| line.starts_with(begin));
                if let Some(index) = found {
                    return self.heard.drain(..=index).next_back().expect("it is there");
                }
                self.listen().await;
            }
        })
        .await
    }

    async fn listen(&mut self) {
        let mut datagram = [0; LONGEST];
        let length = self.notify.recv(&mut datagram).await.expect("receive");
        let text = String::from_utf8_lossy(&datagram[..length]).into_owned();
        self.heard.extend(text.lines().map(str::to_owned));
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = self.child.id().expect("it was not waited for");
        processes::send(Pid::from_raw(pid.cast_signed()), signal);
    }

    /// Waits for its end; the exit code.
    pub async fn ended(&mut self) -> Option<i32> {
        let status = within("the end of the daemon", self.child.wait()).await;
        status.expect("wait for the daemon").code()
    }
}

/// Starts `daemon` with `listener`, through the part of `openclawctl run` that
/// passes sockets.
fn passing(site: &Site, daemon: &str, listener: UnixListener) -> Command {
    let mut command = site.command("openclawctl");
    command
        .arg("activate")
        .arg(std::process::id().to_string())
        .arg("control")
        .arg(program::path(daemon))
        .stdin(OwnedFd::from(listener));
    command
}
