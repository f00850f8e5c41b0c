//! The spawner's loop.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{SockFlag, accept4, getsockopt, sockopt};
use nix::unistd::{Pid, geteuid, getppid};

use super::{Answer, Received, answer, receive, start};
use crate::{sys, tree};

/// Daemons that talk to it: one, and for a moment its successor.
const CONNECTION_LIMIT: usize = 8;
/// What the processes get to end by themselves. Each ends a tree of its own.
const END_GRACE: Duration = Duration::from_secs(8);

pub(super) fn serve(parent: Option<i32>) -> io::Result<()> {
    sys::reset_signals()?;
    let mut watched: SigSet = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]
        .into_iter()
        .collect();
    watched.add(Signal::SIGCHLD);
    watched.thread_block()?;
    prctl::set_child_subreaper(true)?;
    if let Some(parent) = parent {
        prctl::set_pdeathsig(Signal::SIGTERM)?;
        if getppid() != Pid::from_raw(parent) {
            return Ok(());
        }
    }
    let signals = SignalFd::with_flags(&watched, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
    let mut spawner = Spawner {
        entrance: io::stdin().as_fd().try_clone_to_owned()?,
        connections: Vec::new(),
        children: Vec::new(),
        signals,
    };
    spawner.is_listening()?;
    spawner.work()?;
    spawner.end_all();
    Ok(())
}

struct Spawner {
    /// The listening socket; none of its own when it serves one connection.
    entrance: OwnedFd,
    connections: Vec<OwnedFd>,
    children: Vec<Pid>,
    signals: SignalFd,
}

impl Spawner {
    /// Takes a connected standard input as its only connection.
    fn is_listening(&mut self) -> io::Result<()> {
        if !getsockopt(&self.entrance, sockopt::AcceptConn)? {
            self.connections.push(self.entrance.try_clone()?);
        }
        Ok(())
    }

    fn work(&mut self) -> io::Result<()> {
        let listening = self.connections.is_empty();
        loop {
            let ready = self.wait(listening)?;
            if ready.signal && self.must_end()? {
                return Ok(());
            }
            if ready.entrance {
                self.admit();
            }
            for index in ready.connections.into_iter().rev() {
                self.hear(index);
            }
            if !listening && self.connections.is_empty() {
                return Ok(());
            }
        }
    }

    fn wait(&self, listening: bool) -> io::Result<Ready> {
        let of = |descriptor: BorrowedFd<'_>| descriptor.as_raw_fd();
        let mut watched = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        if listening && self.connections.len() < CONNECTION_LIMIT {
            watched.push(PollFd::new(self.entrance.as_fd(), PollFlags::POLLIN));
        }
        let first = watched.len();
        let each = self.connections.iter();
        watched.extend(each.map(|one| PollFd::new(one.as_fd(), PollFlags::POLLIN)));
        match poll(&mut watched, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |one: &PollFd<'_>| one.any().unwrap_or(false);
        let entrance = of(self.entrance.as_fd());
        Ok(Ready {
            signal: is_ready(&watched[0]),
            entrance: watched[1..first]
                .iter()
                .any(|one| of(one.as_fd()) == entrance && is_ready(one)),
            connections: watched[first..]
                .iter()
                .enumerate()
                .filter(|(_, one)| is_ready(one))
                .map(|(index, _)| index)
                .collect(),
        })
    }

    /// Reaps; true when a signal asked for the end.
    fn must_end(&mut self) -> io::Result<bool> {
        let mut end = false;
        while let Some(signal) = self.signals.read_signal()? {
            end |= i32::try_from(signal.ssi_signo) != Ok(Signal::SIGCHLD as i32);
        }
        let children = &mut self.children;
        tree::reap(&mut |status| children.retain(|child| status.pid() != Some(*child)));
        Ok(end)
    }

    fn admit(&mut self) {
        let Ok(descriptor) = accept4(self.entrance.as_raw_fd(), SockFlag::SOCK_CLOEXEC) else {
            return;
        };
        // SAFETY: accept4 just made it; nothing else owns it.
        let connection = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let peer = getsockopt(&connection, sockopt::PeerCredentials);
        if peer.is_ok_and(|peer| peer.uid() == geteuid().as_raw()) {
            self.connections.push(connection);
        }
    }

    fn hear(&mut self, index: usize) {
        let connection = self.connections[index].as_fd();
        match receive(connection) {
            Ok(Received::Order(order, stdin)) => {
                let started = start(&order, stdin);
                if let Answer::Started(pid) = started {
                    self.children.push(Pid::from_raw(pid));
                }
                answer(connection, &started);
            }
            Ok(Received::Nonsense(why)) => answer(connection, &Answer::Refused(why)),
            Err(error) if is_passing(&error) => {}
            Ok(Received::End) | Err(_) => {
                self.connections.remove(index);
            }
        }
    }

    /// Each child ends its own tree when it is told to; what is left after that is killed.
    fn end_all(&mut self) {
        for child in &self.children {
            let _ = kill(*child, Signal::SIGTERM);
        }
        let deadline = std::time::Instant::now() + END_GRACE;
        let mut signal = SigSet::empty();
        signal.add(Signal::SIGCHLD);
        while tree::reap(&mut |_| {}) == tree::Reaped::SomeLeft {
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                tree::end_all(|_| {});
                return;
            }
            let _ = sys::wait_signal(&signal, Some(left));
        }
    }
}

/// Whether the next look may find something.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

struct Ready {
    signal: bool,
    entrance: bool,
    connections: Vec<usize>,
}
