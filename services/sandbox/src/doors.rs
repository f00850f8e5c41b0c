//! Listening sockets on a turn's own loopback, handed back to who started the turn.
//!
//! A socket belongs to the network namespace it was made in, whoever holds it: the holder accepts
//! connections of the agent without being in its network, and the agent reaches nothing else.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::cmsg_space;
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg,
    sendmsg, socketpair,
};

use crate::failure::{StepError, io as in_io, system};
use crate::sys;

/// Doors of one turn: the model's, the proxy's, and room.
const DOORS_MAX: usize = 4;

/// Two ends: ours, to [`receive`] at, and theirs, for
/// [`Launcher::command_with_doors`](crate::Launcher::command_with_doors).
///
/// # Errors
/// What socketpair(2) says.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let pair = socketpair(
        AddressFamily::Unix,
        SockType::Stream,
        None,
        SockFlag::SOCK_CLOEXEC,
    );
    Ok(pair?)
}

/// The listeners, in the order of the plan's ports. Waits for the helper unless the descriptor is
/// non-blocking; then the error is `WouldBlock`.
///
/// # Errors
/// `UnexpectedEof`: the helper ended without, and says why on its standard error. Else what
/// recvmsg(2) says.
pub fn receive(ours: BorrowedFd<'_>) -> io::Result<Vec<TcpListener>> {
    let mut byte = [0];
    let mut space = cmsg_space!([RawFd; DOORS_MAX]);
    let mut parts = [IoSliceMut::new(&mut byte)];
    let message = recvmsg::<()>(
        ours.as_raw_fd(),
        &mut parts,
        Some(&mut space),
        MsgFlags::MSG_CMSG_CLOEXEC,
    )?;
    let mut doors = Vec::new();
    for passed in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(passed) = passed {
            doors.extend(passed.into_iter().map(own));
        }
    }
    match message.bytes {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(doors),
    }
}

fn own(descriptor: RawFd) -> TcpListener {
    // SAFETY: the kernel made this descriptor for the message just received; nothing else owns it.
    unsafe { TcpListener::from_raw_fd(descriptor) }
}

/// Brings up the loopback of this process's network and listens on `ports` of it for who is at the
/// other end of `line`.
pub(crate) fn open(ports: &[u16], line: Option<&OwnedFd>) -> Result<(), StepError> {
    sys::bring_up_loopback().map_err(system("bring up", "loopback"))?;
    let Some(line) = line else {
        return Ok(());
    };
    let listener = |port: &u16| {
        TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).map_err(in_io("listen on port", port))
    };
    let listeners: Vec<_> = ports.iter().map(listener).collect::<Result<_, _>>()?;
    let descriptors: Vec<_> = listeners.iter().map(AsRawFd::as_raw_fd).collect();
    let passed = [ControlMessage::ScmRights(&descriptors)];
    let parts = [IoSlice::new(b"x")];
    let sent = sendmsg::<()>(
        line.as_raw_fd(),
        &parts,
        &passed,
        MsgFlags::MSG_NOSIGNAL,
        None,
    );
    sent.map(drop).map_err(system("hand over", "listeners"))
}

/// The descriptor that `--doors` names.
pub(crate) fn inherited(number: RawFd) -> Option<OwnedFd> {
    /// The standard streams, which the standard library owns.
    const STANDARD: RawFd = 2;
    let open = number > STANDARD && is_open(number);
    // SAFETY: it is open, was passed to this program for this use alone, and nothing in it makes
    // or takes descriptors before the command line is read.
    open.then(|| unsafe { OwnedFd::from_raw_fd(number) })
}

fn is_open(number: RawFd) -> bool {
    std::fs::symlink_metadata(format!("/proc/self/fd/{number}")).is_ok()
}
