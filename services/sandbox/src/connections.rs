//! Connections of a turn without a network of its own: made by its supervisor, to its doors.
//!
//! Landlock rules TCP ports and not addresses, and a filter sees numbers and not what pointers lead
//! to. So the filter leaves each connect(2) to the supervisor (seccomp_unotify(2)). It copies the
//! address, and where that is a door, connects the agent's own socket there, by a copy of the
//! descriptor and an address of its own making. The call itself is never let through: the agent
//! could change the address after it was looked at.
//!
//! Everything is done in the supervisor and nowhere else, because a process may look into those
//! that it started alone, where Yama is strict.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{setfsgid, setfsuid};
use rustix::net;

use self::address::Wanted;
use self::target::{Taken, Target};
use crate::identity::Identity;
use crate::notify::{Call, Listener};
use crate::passing;
use crate::sys::errno;

mod address;
mod target;

/// Connections of blocking sockets that may wait at once, each in a thread of the supervisor; the
/// next ones wait for these. One waits only while its door has more callers than it takes.
const WAITING_MAX: usize = 64;
/// Stack of such a thread, which makes a few system calls.
const STACK: usize = 128 << 10;

/// What connections are let through to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doors {
    ports: Vec<u16>,
    /// Whose sockets they are; absent where it is this process's own user.
    agent: Option<Identity>,
}

impl Doors {
    pub(crate) fn new(ports: &[u16], agent: Option<&Identity>) -> Self {
        Self {
            ports: ports.to_vec(),
            agent: agent.cloned(),
        }
    }

    /// Takes the agent's listener from `line` and answers what comes to it, in a thread of its own,
    /// until the turn has ended or this process does.
    ///
    /// # Errors
    /// No thread can be made.
    pub(crate) fn attend(self, line: OwnedFd) -> std::io::Result<()> {
        let serve = move || {
            let mut byte = [0];
            let received = passing::receive(line.as_fd(), &mut byte);
            // None comes from an agent that failed before, which it says itself.
            if let Some(listener) = received.ok().and_then(|received| received.descriptor) {
                self.serve(listener.into());
            }
        };
        let thread = thread::Builder::new().stack_size(STACK);
        thread.spawn(serve).map(drop)
    }

    /// Answers until nobody is left who could ask.
    fn serve(self, listener: Listener) {
        if let Some(agent) = &self.agent {
            // Of this thread alone, and without CAP_SYS_PTRACE what opens the agent's /proc/PID.
            setfsgid(agent.gid);
            setfsuid(agent.uid);
        }
        let connector = Arc::new(Connector {
            listener,
            ports: self.ports,
            waiting: AtomicUsize::new(0),
        });
        while connector.has_next() {
            match connector.listener.receive() {
                Ok(call) => Connector::take(&connector, call),
                Err(Errno::ENOENT | Errno::EINTR) => {}
                Err(_) => return,
            }
        }
    }
}

struct Connector {
    listener: Listener,
    ports: Vec<u16>,
    waiting: AtomicUsize,
}

/// A socket, and where it is to be connected.
struct Connection {
    socket: Taken,
    to: SocketAddr,
}

impl Connector {
    /// Waits for a call; false when none can come any more.
    fn has_next(&self) -> bool {
        loop {
            let mut watched = [PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
            match poll(&mut watched, PollTimeout::NONE) {
                Ok(_) => {
                    let found = watched[0].revents().unwrap_or(PollFlags::empty());
                    return found.contains(PollFlags::POLLIN);
                }
                Err(Errno::EINTR) => {}
                Err(_) => return false,
            }
        }
    }

    fn take(this: &Arc<Self>, call: Call) {
        match this.judge(&call) {
            Ok(Some(connection)) => Self::connect(this, call, connection),
            Ok(None) => this.answer(&call, Ok(())),
            Err(error) => this.answer(&call, Err(error)),
        }
    }

    /// What is to be connected; `None`: the call is done.
    fn judge(&self, call: &Call) -> Result<Option<Connection>, Errno> {
        let [descriptor, address, length, ..] = call.arguments;
        let target = Target::open(call.thread)?;
        // From here on it is the one that asks, and not another one of the same number.
        if !self.listener.is_waiting(call) {
            return Err(Errno::ESRCH);
        }
        // The kernel reads 32 bits of both.
        let descriptor = (descriptor as u32).cast_signed();
        match target.wanted(address, (length as u32).cast_signed())? {
            Wanted::Nothing => target.disconnect(descriptor).map(|()| None),
            Wanted::Address(to) if self.is_door(to) => {
                let family = net::AddressFamily::from_raw(if to.is_ipv4() {
                    nix::libc::AF_INET as u16
                } else {
                    nix::libc::AF_INET6 as u16
                });
                let socket = target.take(descriptor, family)?;
                Ok(Some(Connection { socket, to }))
            }
            // As Landlock answers.
            Wanted::Address(_) | Wanted::Other => Err(Errno::EACCES),
        }
    }

    /// A door as it is, or as a socket of IPv6 names it.
    fn is_door(&self, to: SocketAddr) -> bool {
        let host = match to.ip() {
            IpAddr::V4(host) => Some(host),
            IpAddr::V6(host) => host.to_ipv4_mapped(),
        };
        host == Some(Ipv4Addr::LOCALHOST) && self.ports.contains(&to.port())
    }

    /// Connects, in a thread of its own where that may wait.
    fn connect(this: &Arc<Self>, call: Call, connection: Connection) {
        let is_short = connection.socket.mode.contains(OFlag::O_NONBLOCK);
        if is_short || this.waiting.load(Ordering::Acquire) >= WAITING_MAX {
            return this.finish(&call, connection);
        }
        this.waiting.fetch_add(1, Ordering::AcqRel);
        let connector = Arc::clone(this);
        let wait = move || {
            connector.finish(&call, connection);
            connector.waiting.fetch_sub(1, Ordering::AcqRel);
        };
        if thread::Builder::new()
            .stack_size(STACK)
            .spawn(wait)
            .is_err()
        {
            this.waiting.fetch_sub(1, Ordering::AcqRel);
            this.answer(&call, Err(Errno::EAGAIN));
        }
    }

    fn finish(&self, call: &Call, Connection { socket, to }: Connection) {
        let mut connected = net::connect(&socket.socket, &to).map_err(errno);
        let is_under_way = matches!(connected, Ok(()) | Err(Errno::EINPROGRESS));
        if let Some(place) = socket.put_back.filter(|_| is_under_way) {
            let is_closed = socket.mode.contains(OFlag::O_CLOEXEC);
            let source = socket.socket.as_fd();
            let put = self.listener.replace(call, place, source, is_closed);
            connected = put.and(connected);
        }
        self.answer(call, connected);
    }

    /// Whoever has ended meanwhile needs none.
    fn answer(&self, call: &Call, answer: Result<(), Errno>) {
        let _ = self.listener.answer(call, answer);
    }
}
