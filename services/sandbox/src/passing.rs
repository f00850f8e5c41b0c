//! A descriptor that is passed along with text over a connected Unix socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use nix::cmsg_space;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

/// Sends the beginning of `text` with `descriptor`; how many bytes were sent.
///
/// # Errors
/// As sendmsg(2), also when it would block.
pub fn send(socket: BorrowedFd<'_>, text: &[u8], descriptor: BorrowedFd<'_>) -> io::Result<usize> {
    let descriptors = [descriptor.as_raw_fd()];
    let passed = [ControlMessage::ScmRights(&descriptors)];
    let flags = MsgFlags::MSG_NOSIGNAL;
    let sent = sendmsg::<()>(
        socket.as_raw_fd(),
        &[IoSlice::new(text)],
        &passed,
        flags,
        None,
    )?;
    Ok(sent)
}

/// What came over a socket.
#[derive(Debug)]
pub struct Received {
    /// Bytes of text.
    pub length: usize,
    /// The descriptor that came along with it.
    pub descriptor: Option<OwnedFd>,
    /// Whether a message was longer than there was room for.
    pub is_cut: bool,
}

/// Receives text, and a descriptor where one came along with it.
///
/// # Errors
/// As recvmsg(2), also when it would block.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    // What is passed beyond one is closed by the kernel (unix(7)).
    let mut space = cmsg_space!([RawFd; 1]);
    let mut parts = [IoSliceMut::new(buffer)];
    let message = recvmsg::<()>(
        socket.as_raw_fd(),
        &mut parts,
        Some(&mut space),
        MsgFlags::MSG_CMSG_CLOEXEC,
    )?;
    let descriptor = message.cmsgs()?.find_map(|passed| match passed {
        ControlMessageOwned::ScmRights(passed) => passed.first().copied(),
        _ => None,
    });
    Ok(Received {
        length: message.bytes,
        // SAFETY: the kernel made it for the message just received; nothing else owns it.
        descriptor: descriptor.map(|it| unsafe { OwnedFd::from_raw_fd(it) }),
        is_cut: message.flags.contains(MsgFlags::MSG_TRUNC),
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn descriptor_comes_with_its_text() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (passed, mut kept) = UnixStream::pair().unwrap();
        assert_eq!(send(ours.as_fd(), b"text", passed.as_fd()).unwrap(), 4);
        drop(passed);
        (&ours).write_all(b"more").unwrap();
        let mut buffer = [0; 64];
        let received = receive(theirs.as_fd(), &mut buffer).unwrap();
        assert_eq!(&buffer[..received.length], b"text");
        UnixStream::from(received.descriptor.unwrap())
            .write_all(b"hello")
            .unwrap();
        let mut heard = String::new();
        kept.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "hello");
        let received = receive(theirs.as_fd(), &mut buffer).unwrap();
        assert_eq!(&buffer[..received.length], b"more");
        assert!(received.descriptor.is_none());
        drop(ours);
        assert_eq!(receive(theirs.as_fd(), &mut buffer).unwrap().length, 0);
    }
}
