//! The process that asks for a connection: its memory, and the socket that it means.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::FileExt as _;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl, open, openat, readlinkat};
use nix::sys::stat::Mode;
use nix::unistd::Pid;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};
use rustix::process::{PidfdGetfdFlags, pidfd_getfd};

use super::address::{LONGEST, Wanted};
use crate::sys::{self, errno};

/// Bytes of the kernel's lists of TCP sockets that are read: some hundred thousand sockets.
const SOCKETS_MAX: u64 = 32 << 20;
/// Bytes of a file about one process or descriptor.
const ABOUT_MAX: u64 = 64 << 10;
/// The attribute of a socket's file that names its protocol, and room for that.
const PROTOCOL: &str = "system.sockprotoname";
const PROTOCOL_MAX: usize = 32;
/// Where such a list has the inode, counted by fields.
const INODE: usize = 9;

/// One thread, by its folder in /proc: unlike its number that never becomes another one's.
pub(super) struct Target {
    folder: OwnedFd,
    thread: i32,
}

/// A socket to be connected.
pub(super) struct Taken {
    /// The agent's own; where that cannot be had, one in its place.
    pub(super) socket: OwnedFd,
    /// Whether it waits, and whether it is closed by execve.
    pub(super) mode: OFlag,
    /// The agent's descriptor that is to be replaced by it, where it stands in for that.
    pub(super) put_back: Option<RawFd>,
}

impl Target {
    pub(super) fn open(thread: i32) -> Result<Self, Errno> {
        let flags = OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_RDONLY;
        let path = format!("/proc/{thread}");
        let folder = open(path.as_str(), flags, Mode::empty())?;
        Ok(Self { folder, thread })
    }

    /// Where the socket is to be connected, copied out of the process's memory.
    pub(super) fn wanted(&self, address: u64, length: i32) -> Result<Wanted, Errno> {
        let length = usize::try_from(length).map_err(|_| Errno::EINVAL)?;
        let mut bytes = [0; LONGEST];
        let bytes = bytes.get_mut(..length).ok_or(Errno::EINVAL)?;
        // A process that hides its memory is connected nowhere.
        let memory = self.file("mem").map_err(|_| Errno::EACCES)?;
        memory
            .read_exact_at(bytes, address)
            .map_err(|_| Errno::EFAULT)?;
        Wanted::read(bytes)
    }

    /// The agent's own socket where this process may have a copy of its descriptor (ptrace(2), and
    /// a filter of the container that this runs in); else another one that takes its place when it
    /// is connected, which only what the agent set on the first does not survive.
    pub(super) fn take(&self, number: RawFd, family: AddressFamily) -> Result<Taken, Errno> {
        match self.copy(number) {
            Ok(socket) => {
                let mode = fcntl(&socket, FcntlArg::F_GETFL)?;
                Ok(Taken {
                    socket,
                    mode: OFlag::from_bits_retain(mode),
                    put_back: None,
                })
            }
            Err(Errno::EPERM | Errno::EACCES | Errno::ENOSYS) => self.stand_in(number, family),
            Err(error) => Err(error),
        }
    }

    /// Ends what the socket is connected to.
    pub(super) fn disconnect(&self, number: RawFd) -> Result<(), Errno> {
        net::connect_unspec(self.copy(number)?).map_err(errno)
    }

    /// A copy of its descriptor, which is a TCP socket's.
    fn copy(&self, number: RawFd) -> Result<OwnedFd, Errno> {
        if number < 0 {
            return Err(Errno::EBADF);
        }
        let process = sys::pidfd_open(Pid::from_raw(self.process()?))?;
        // The thread lives, and with it the process whose number was read: it is the same one.
        self.file("status")?;
        let socket = pidfd_getfd(&process, number, PidfdGetfdFlags::empty()).map_err(errno)?;
        let family = sockopt::socket_domain(&socket).map_err(errno)?;
        let is_internet = [AddressFamily::INET, AddressFamily::INET6].contains(&family);
        let kind = sockopt::socket_type(&socket).map_err(errno)?;
        if is_internet && kind == SocketType::STREAM {
            Ok(socket)
        } else {
            Err(Errno::EAFNOSUPPORT)
        }
    }

    /// The number of the thread's process.
    fn process(&self) -> Result<i32, Errno> {
        let status = self.read("status", ABOUT_MAX)?;
        let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
        let number = line.and_then(|line| line.trim().parse().ok());
        Ok(number.unwrap_or(self.thread))
    }

    fn stand_in(&self, number: RawFd, family: AddressFamily) -> Result<Taken, Errno> {
        let link = readlinkat(&self.folder, format!("fd/{number}").as_str());
        let link = link.map_err(|error| match error {
            Errno::ENOENT => Errno::EBADF,
            _ => Errno::EACCES,
        })?;
        let link = link.to_string_lossy();
        let inode = link.strip_prefix("socket:[");
        let inode = inode.and_then(|rest| rest.strip_suffix(']'));
        let inode = inode.ok_or(Errno::ENOTSOCK)?;
        self.check_protocol(number, family)?;
        if self.is_connected(inode, family) {
            return Err(Errno::EISCONN);
        }
        let mode = self.mode(number)?;
        let socket = net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None);
        let socket = socket.map_err(errno)?;
        let status = FcntlArg::F_SETFL(mode & OFlag::O_NONBLOCK);
        fcntl(&socket, status)?;
        Ok(Taken {
            socket,
            mode,
            put_back: Some(number),
        })
    }

    /// Fails where the socket is not TCP's of this family, as the file of a socket says.
    fn check_protocol(&self, number: RawFd, family: AddressFamily) -> Result<(), Errno> {
        let folder = self.folder.as_raw_fd();
        let path = format!("/proc/self/fd/{folder}/fd/{number}");
        let mut name = [0; PROTOCOL_MAX];
        let length = rustix::fs::getxattr(path, PROTOCOL, &mut name).map_err(errno)?;
        let wanted: &[u8] = if family == AddressFamily::INET {
            b"TCP\0"
        } else {
            b"TCPv6\0"
        };
        let is_wanted = name.get(..length) == Some(wanted);
        is_wanted.then_some(()).ok_or(Errno::EAFNOSUPPORT)
    }

    /// The flags of a descriptor, proc_pid_fdinfo(5).
    fn mode(&self, number: RawFd) -> Result<OFlag, Errno> {
        let about = self.read(&format!("fdinfo/{number}"), ABOUT_MAX)?;
        let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
        Ok(OFlag::from_bits_retain(flags.ok_or(Errno::EACCES)?))
    }

    /// Whether a TCP socket is connected, or about to be: only then it is in the list of its
    /// family (proc_pid_net(5)), which takes the kernel milliseconds to make.
    fn is_connected(&self, inode: &str, family: AddressFamily) -> bool {
        let list = if family == AddressFamily::INET {
            "net/tcp"
        } else {
            "net/tcp6"
        };
        let list = self.read(list, SOCKETS_MAX).unwrap_or_default();
        list.lines()
            .any(|line| line.split_whitespace().nth(INODE) == Some(inode))
    }

    fn read(&self, name: &str, most: u64) -> Result<String, Errno> {
        let mut text = Vec::new();
        let read = self.file(name)?.take(most).read_to_end(&mut text);
        read.map_err(|_| Errno::ESRCH)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn file(&self, name: &str) -> Result<File, Errno> {
        let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
        let opened = openat(self.folder.as_fd(), name, flags, Mode::empty())?;
        Ok(File::from(opened))
    }
}
