//! A process that is meant for good.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::sys;

/// A handle on one process (pidfd_open(2)): unlike its number it never means another one. The
/// descriptor becomes readable when the process ends.
#[derive(Debug)]
pub struct Process(OwnedFd);

impl Process {
    /// The process that has the number `pid` now.
    ///
    /// # Errors
    /// There is none (`ESRCH`), or no descriptor is left.
    pub fn open(pid: i32) -> io::Result<Self> {
        Ok(Self(sys::pidfd_open(Pid::from_raw(pid))?))
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// It has ended (`ESRCH`), or belongs to somebody else (`EPERM`).
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(sys::pidfd_send(&self.0, signal)?)
    }
}

impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Process {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
