//! Accepted connections: counted, and only from those who may.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{self, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::transport::server::Connected;

/// Connections at once. Clients are the other daemons and a few command
/// lines; more than this is somebody's loop.
const CONNECTION_LIMIT: usize = 256;

/// A connection from a peer that may connect.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    _permit: OwnedSemaphorePermit,
}

/// The connections of `listener` whose peer is this user or root
/// (SO_PEERCRED, unix(7)). Others are closed and logged.
pub fn accepted(listener: UnixListener) -> impl Stream<Item = io::Result<Connection>> {
    let permits = Arc::new(Semaphore::new(CONNECTION_LIMIT));
    stream::unfold((listener, permits), |(listener, permits)| async move {
        loop {
            // Before accept: a connection that cannot be served yet waits in
            // the backlog and costs nothing.
            let permit = Arc::clone(&permits).acquire_owned().await.ok()?;
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => return Some((Err(error), (listener, permits))),
            };
            if is_allowed(&stream) {
                let connection = Connection {
                    stream,
                    _permit: permit,
                };
                return Some((Ok(connection), (listener, permits)));
            }
        }
    })
}

fn is_allowed(stream: &UnixStream) -> bool {
    let own = nix::unistd::geteuid().as_raw();
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == own || peer.uid() == 0 => true,
        Ok(peer) => {
            tracing::warn!(
                peer_uid = peer.uid(),
                peer_pid = peer.pid(),
                "refused a connection from another user"
            );
            false
        }
        Err(error) => {
            tracing::warn!(%error, "refused a connection whose peer is not known");
            false
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
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

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
