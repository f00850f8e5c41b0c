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

/// Who calls, as the kernel says (SO_PEERCRED). It is in the extensions of
/// every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The user.
    pub uid: u32,
}

impl Caller {
    /// Whether it is the user that this daemon runs as, or root, who could
    /// become that user.
    pub fn is_owner(self) -> bool {
        self.uid == 0 || self.uid == nix::unistd::geteuid().as_raw()
    }
}

/// Which other users may connect. What they may call there is for the service
/// to say.
pub type Guests = Arc<dyn Fn(u32) -> bool + Send + Sync>;

/// No other user.
pub fn no_guests() -> Guests {
    Arc::new(|_| false)
}

/// A connection from a peer that may connect.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    caller: Caller,
    _permit: OwnedSemaphorePermit,
}

/// The connections of `listener` whose peer is this user, root or one of
/// `guests` (SO_PEERCRED, unix(7)). Others are closed and logged.
pub fn accepted(
    listener: UnixListener,
    guests: Guests,
) -> impl Stream<Item = io::Result<Connection>> {
    let permits = Arc::new(Semaphore::new(CONNECTION_LIMIT));
    let state = (listener, permits, guests);
    stream::unfold(state, |(listener, permits, guests)| async move {
        loop {
            // Before accept: a connection that cannot be served yet waits in
            // the backlog and costs nothing.
            let permit = Arc::clone(&permits).acquire_owned().await.ok()?;
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => return Some((Err(error), (listener, permits, guests))),
            };
            if let Some(caller) = allowed(&stream, &guests) {
                let connection = Connection {
                    stream,
                    caller,
                    _permit: permit,
                };
                return Some((Ok(connection), (listener, permits, guests)));
            }
        }
    })
}

fn allowed(stream: &UnixStream, guests: &Guests) -> Option<Caller> {
    match stream.peer_cred() {
        Ok(peer) => {
            let caller = Caller { uid: peer.uid() };
            if caller.is_owner() || guests(caller.uid) {
                return Some(caller);
            }
            tracing::warn!(
                peer_uid = peer.uid(),
                peer_pid = peer.pid(),
                "refused a connection from another user"
            );
            None
        }
        Err(error) => {
            tracing::warn!(%error, "refused a connection whose peer is not known");
            None
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = Caller;

    fn connect_info(&self) -> Caller {
        self.caller
    }
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
