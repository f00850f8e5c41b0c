//! Sockets on their way from `run` to the process that becomes a daemon
//! (SCM_RIGHTS, unix(7)): a message with their names and them.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Sockets in one message; there are two TCP doors.
const LIMIT: usize = 8;
/// Bytes of all names.
const NAMES_LIMIT: usize = 256;

/// A socket that the sockets have been sent into, to be the standard output of
/// the process that receives them.
pub(crate) fn send(sockets: &[(&str, OwnedFd)]) -> io::Result<OwnedFd> {
    let (ours, theirs) = UnixDatagram::pair()?;
    let names: Vec<&str> = sockets.iter().map(|(name, _)| *name).collect();
    let names = names.join(":");
    let fds: Vec<BorrowedFd<'_>> = sockets.iter().map(|(_, fd)| fd.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(LIMIT))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if fds.len() > LIMIT || !control.push(SendAncillaryMessage::ScmRights(&fds)) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "too many sockets"));
    }
    let text = [IoSlice::new(names.as_bytes())];
    sendmsg(&ours, &text, &mut control, SendFlags::empty())?;
    Ok(theirs.into())
}

/// What was sent into `socket`, which stays open over exec.
pub(crate) fn receive(socket: impl AsFd) -> io::Result<Vec<(String, OwnedFd)>> {
    let mut text = [0; NAMES_LIMIT];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(LIMIT))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut text)],
        &mut control,
        RecvFlags::empty(),
    )?;
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    let names = String::from_utf8_lossy(&text[..received.bytes]).into_owned();
    let names = names.split(':').map(str::to_owned);
    Ok(names.zip(fds).collect())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn sockets_arrive_under_their_names() {
        let listeners = ["127.0.0.1:0"; 2].map(|at| TcpListener::bind(at).unwrap());
        let addresses = listeners.each_ref().map(|l| l.local_addr().unwrap());
        let [one, two] = listeners;
        let socket = send(&[("http", one.into()), ("cli", two.into())]).unwrap();
        let received = receive(&socket).unwrap();
        let names: Vec<_> = received.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["http", "cli"]);
        for ((_, fd), address) in received.into_iter().zip(addresses) {
            assert_eq!(TcpListener::from(fd).local_addr().unwrap(), address);
        }
    }
}
