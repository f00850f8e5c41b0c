//! A connection that can break off after any byte that is sent.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Bytes that may still be sent; None: all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Valve(Arc<Mutex<Option<usize>>>);

impl Valve {
    /// It does not break.
    pub(crate) fn open(&self) {
        *self.left() = None;
    }

    /// The connection breaks after so many more bytes.
    pub(crate) fn close_after(&self, bytes: usize) {
        *self.left() = Some(bytes);
    }

    fn left(&self) -> std::sync::MutexGuard<'_, Option<usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection with a valve.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) stream: TcpStream,
    pub(crate) valve: Valve,
}

impl AsyncRead for Cut {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Cut {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let left = *self.valve.left();
        let allowed = left.unwrap_or(bytes.len()).min(bytes.len());
        if allowed == 0 && !bytes.is_empty() {
            return Poll::Ready(Err(io::Error::other("the connection is to break off")));
        }
        let written = Pin::new(&mut self.stream).poll_write(context, &bytes[..allowed]);
        if let (Poll::Ready(Ok(written)), Some(left)) = (&written, left) {
            *self.valve.left() = Some(left - written);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
