//! Our end of a process's line, read with the descriptors that are passed along.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use openclaw_sandbox::passing;
use tokio::io::{AsyncRead, Interest, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;

/// Descriptors that may wait to be taken; more are closed.
const WAITING: usize = 16;

/// The descriptors that came so far. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Passed(Arc<Mutex<VecDeque<OwnedFd>>>);

impl Passed {
    /// Takes the first one.
    pub fn take(&self) -> Option<OwnedFd> {
        self.lock().pop_front()
    }

    fn put(&self, descriptor: OwnedFd) {
        let mut waiting = self.lock();
        if waiting.len() < WAITING {
            waiting.push_back(descriptor);
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<OwnedFd>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads text, and keeps what is passed along with it.
#[derive(Debug)]
pub struct Reader {
    half: OwnedReadHalf,
    passed: Passed,
}

impl Reader {
    /// Reads from `half`, and puts the descriptors that come along into `passed`.
    pub fn new(half: OwnedReadHalf, passed: Passed) -> Self {
        Self { half, passed }
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream: &UnixStream = self.half.as_ref();
        loop {
            ready!(stream.poll_read_ready(context))?;
            let received = stream.try_io(Interest::READABLE, || {
                passing::receive(stream.as_fd(), buffer.initialize_unfilled())
            });
            match received {
                Ok(received) => {
                    buffer.advance(received.length);
                    if let Some(descriptor) = received.descriptor {
                        self.passed.put(descriptor);
                    }
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

/// Writes `text`, the beginning of it with `descriptor`.
pub async fn write(stream: &UnixStream, text: &[u8], descriptor: &OwnedFd) -> io::Result<()> {
    let sending = stream.async_io(Interest::WRITABLE, || {
        passing::send(stream.as_fd(), text, descriptor.as_fd())
    });
    let mut sent = sending.await?;
    while sent < text.len() {
        stream.writable().await?;
        match stream.try_write(&text[sent..]) {
            Ok(more) => sent += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
