//! A limit for what a connection may send before it has said who it is.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes a client may send before it is let in: the protocol's 64 KiB for the
/// one frame, and the frame's header.
const ALLOWANCE: usize = 64 * 1024 + 64;

/// Lifts the limit.
#[derive(Debug, Clone)]
pub(super) struct Allowance(Arc<AtomicUsize>);

impl Allowance {
    /// The client is let in.
    pub(super) fn lift(&self) {
        self.0.store(usize::MAX, Ordering::Relaxed);
    }

    /// Whether the client has sent more than it may.
    pub(super) fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// A stream that fails to read after so many bytes. Writing goes on, so that
/// the client can be told.
#[derive(Debug)]
pub(super) struct Metered<S> {
    stream: S,
    left: Arc<AtomicUsize>,
}

impl<S> Metered<S> {
    pub(super) fn new(stream: S) -> (Self, Allowance) {
        let left = Arc::new(AtomicUsize::new(ALLOWANCE));
        let allowance = Allowance(Arc::clone(&left));
        (Self { stream, left }, allowance)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let left = self.left.load(Ordering::Relaxed);
        if left == usize::MAX {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        if left == 0 {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let read = buffer.filled().len() - before;
        self.left
            .store(left.saturating_sub(read), Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[tokio::test]
    async fn stranger_may_send_so_much_and_a_client_what_it_likes() {
        let (mut far, near) = tokio::io::duplex(4 * ALLOWANCE);
        let (mut metered, allowance) = Metered::new(near);
        far.write_all(&vec![7; 3 * ALLOWANCE]).await.unwrap();
        let mut bytes = vec![0; ALLOWANCE];
        metered.read_exact(&mut bytes).await.unwrap();
        assert!(allowance.is_spent());
        assert!(metered.read(&mut bytes).await.is_err());
        allowance.lift();
        assert!(!allowance.is_spent());
        metered.read_exact(&mut bytes).await.unwrap();
    }
}
