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

use crate::activity::{Activity, UnderWay};

/// Connections at once. Clients are the other daemons and a few command
/// lines; more than this is somebody's loop.
const CONNECTION_LIMIT: usize = 256;

/// Who calls, as the kernel says (SO_PEERCRED). It is in the extensions of
/// every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The user.
    pub uid: u32,
    /// Whether whoever may open the socket speaks for the owner, as in the machine's own suite:
    /// there the group of the socket's file says who may.
    pub is_admitted: bool,
    /// Whether it came by the socket of channel daemons, whoever it is: there nobody is the owner.
    pub is_channel: bool,
    /// Its process; None: the kernel does not say.
    pub pid: Option<i32>,
}

impl Caller {
    /// Whether it is the user that this daemon runs as, or root, who could
    /// become that user, or one who speaks for the owner.
    pub fn is_owner(self) -> bool {
        !self.is_channel && self.is_trusted()
    }

    /// Whether it may connect at all, other users that are let in apart.
    fn is_trusted(self) -> bool {
        self.is_admitted || self.uid == 0 || self.uid == nix::unistd::geteuid().as_raw()
    }
}

/// Which other users may connect. What they may call there is for the service
/// to say.
pub type Guests = Arc<dyn Fn(u32) -> bool + Send + Sync>;

/// No other user.
pub(crate) fn no_guests() -> Guests {
    Arc::new(|_| false)
}

/// A listening socket, and what it is for.
#[derive(Debug)]
pub struct ServedListener {
    /// The socket.
    pub listener: UnixListener,
    /// Whether it is that of channel daemons.
    pub is_channel: bool,
}

/// A connection from a peer that may connect.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    caller: Caller,
    _permit: OwnedSemaphorePermit,
    _under_way: Option<UnderWay>,
}

/// The connections of `served` whose peer is this user, root or one of
/// `guests` (SO_PEERCRED, unix(7)). Others are closed and logged. When `activity`
/// has ended none is accepted any more; until then each of another process is a
/// part of it.
pub fn accepted(
    served: ServedListener,
    guests: Guests,
    activity: Activity,
) -> impl Stream<Item = io::Result<Connection>> {
    let permits = Arc::new(Semaphore::new(CONNECTION_LIMIT));
    let state = (served, permits, guests, activity);
    stream::unfold(state, |(served, permits, guests, activity)| async move {
        loop {
            // Before accept: a connection that cannot be served yet waits in
            // the backlog and costs nothing.
            let permit = Arc::clone(&permits).acquire_owned().await.ok()?;
            let accepted = tokio::select! {
                biased;
                () = activity.left() => std::future::pending().await,
                accepted = served.listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => return Some((Err(error), (served, permits, guests, activity))),
            };
            let under_way = (!is_own(&stream)).then(|| activity.begin());
            if let Some(caller) = allowed(&stream, served.is_channel, &guests) {
                let connection = Connection {
                    stream,
                    caller,
                    _permit: permit,
                    _under_way: under_way,
                };
                return Some((Ok(connection), (served, permits, guests, activity)));
            }
        }
    })
}

/// Whether it is this process that asks itself whether it is alive.
fn is_own(stream: &UnixStream) -> bool {
    let peer = stream.peer_cred().ok().and_then(|peer| peer.pid());
    peer == Some(nix::unistd::getpid().as_raw())
}

fn allowed(stream: &UnixStream, is_channel: bool, guests: &Guests) -> Option<Caller> {
    match stream.peer_cred() {
        Ok(peer) => {
            let caller = Caller {
                uid: peer.uid(),
                // The daemon itself declares it, by who shares its state.
                is_admitted: openclaw_modes::are_shared(),
                is_channel,
                pid: peer.pid(),
            };
            if caller.is_trusted() || guests(caller.uid) {
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures_util::StreamExt as _;
    use openclaw_proto::address;
    use tonic::transport::Server;
    use tonic_health::ServingStatus;
    use tonic_health::pb::HealthCheckRequest;
    use tonic_health::pb::health_client::HealthClient;

    use super::*;

    /// The control socket.
    fn control(listener: UnixListener) -> ServedListener {
        ServedListener {
            listener,
            is_channel: false,
        }
    }

    /// A health service at a socket, how many connections it accepted, and the
    /// reporter of what it says.
    fn serve(
        socket: &std::path::Path,
        activity: Activity,
    ) -> (Arc<AtomicUsize>, tonic_health::server::HealthReporter) {
        let (reporter, health) = tonic_health::server::health_reporter();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let listener = UnixListener::bind(socket).unwrap();
        let connections = accepted(control(listener), no_guests(), activity).inspect(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let server = Server::builder().add_service(health);
        tokio::spawn(server.serve_with_incoming(connections));
        (count, reporter)
    }

    #[tokio::test]
    async fn channel_keeps_its_connection_and_lets_go_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let (count, _) = serve(&socket, Activity::default());
        let asked = async |channel: &address::Channel| {
            let mut client = HealthClient::new(channel.clone());
            client.check(HealthCheckRequest::default()).await.unwrap();
            count.load(Ordering::Relaxed)
        };
        let keeps = address::kept_for(socket.clone(), Duration::from_secs(3600));
        assert_eq!((asked(&keeps).await, asked(&keeps).await), (1, 1));
        let lets_go = address::kept_for(socket, Duration::ZERO);
        assert_eq!((asked(&lets_go).await, asked(&lets_go).await), (2, 3));
    }

    /// A server that is about to leave has accepted and says nothing more. The call
    /// reaches the next one, and no other does twice.
    #[tokio::test]
    async fn channel_connects_again_when_it_is_closed_without_a_word() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let leaving = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let next = leaving.try_clone().unwrap();
        let (reporter, health) = tonic_health::server::health_reporter();
        reporter
            .set_service_status("", ServingStatus::Serving)
            .await;
        let runtime = tokio::runtime::Handle::current();
        let closed = std::thread::spawn(move || {
            drop(leaving.accept().unwrap());
            next.set_nonblocking(true).unwrap();
            let _entered = runtime.enter();
            let next = UnixListener::from_std(next).unwrap();
            let connections = accepted(control(next), no_guests(), Activity::default());
            let server = Server::builder().add_service(health);
            tokio::spawn(server.serve_with_incoming(connections));
        });
        let mut client = HealthClient::new(address::channel(socket));
        let answer = client.check(HealthCheckRequest::default()).await.unwrap();
        assert_eq!(answer.into_inner().status, ServingStatus::Serving as i32);
        closed.join().unwrap();
    }

    /// One that closes every connection is not connected to for ever.
    #[tokio::test]
    async fn channel_gives_up_where_it_is_always_closed() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        let closed = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&closed);
        tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut client = HealthClient::new(address::channel(socket));
        let refused = client.check(HealthCheckRequest::default()).await;
        let error = openclaw_proto::call::CallError::from(refused.unwrap_err());
        assert!(error.is_lost(), "{error}");
        assert_eq!(closed.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn channel_that_lets_go_leaves_streams_their_connection() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let (count, reporter) = serve(&socket, Activity::default());
        let channel = address::kept_for(socket, Duration::ZERO);
        let mut client = HealthClient::new(channel);
        let watched = client.watch(HealthCheckRequest::default()).await;
        let mut watched = watched.unwrap().into_inner();
        watched.message().await.unwrap().unwrap();
        client.check(HealthCheckRequest::default()).await.unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 2);
        reporter
            .set_service_status("", ServingStatus::NotServing)
            .await;
        let told = watched.message().await.unwrap().unwrap();
        assert_eq!(told.status, ServingStatus::NotServing as i32);
    }

    #[tokio::test]
    async fn connection_after_the_gate_was_closed_waits_in_the_queue() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        let next = listener.try_clone().unwrap();
        let activity = Activity::default();
        let listener = UnixListener::from_std(listener).unwrap();
        let mut connections = Box::pin(accepted(control(listener), no_guests(), activity.clone()));
        let client = UnixStream::connect(&socket).await.unwrap();
        activity.rest(|| Some(Duration::ZERO)).await;
        let accepted = futures_util::poll!(connections.next());
        assert!(accepted.is_pending());
        // The next process, which has the same queue.
        next.accept().unwrap();
        drop(client);
    }
}
