//! A pseudo-terminal, our end of it (pty(7)).

use std::io;
use std::os::fd::OwnedFd;

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::pty::{Winsize, openpty};
use tokio::net::unix::pipe::{Receiver, Sender};

/// What programs take for a usual window.
const SIZE: Winsize = Winsize {
    ws_row: 24,
    ws_col: 120,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// A terminal: what is said on it, what is typed, and the end that a program
/// has.
pub(super) struct Terminal {
    pub(super) output: Receiver,
    pub(super) input: Sender,
    pub(super) program: OwnedFd,
}

impl Terminal {
    pub(super) fn open() -> io::Result<Self> {
        let pair = openpty(Some(&SIZE), None)?;
        for end in [&pair.master, &pair.slave] {
            fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        }
        let flags = OFlag::O_RDWR | OFlag::O_NONBLOCK;
        fcntl(&pair.master, FcntlArg::F_SETFL(flags))?;
        // Unchecked: it is not a pipe, but is read and written like one.
        Ok(Self {
            output: Receiver::from_owned_fd_unchecked(pair.master.try_clone()?)?,
            input: Sender::from_owned_fd_unchecked(pair.master)?,
            program: pair.slave,
        })
    }
}
