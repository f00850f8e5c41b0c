//! Accepting connections on the inherited sockets.

mod stream;

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use openclaw_daemon::{Activity, Listeners};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::doors::Doors;
use crate::front::{Admission, Misdirected, Peer, Strangers, TcpDoor, identify};
use crate::http;
use stream::Stream;

/// Connections at once over all TCP doors. A household has dozens; a page or a
/// script in a loop is stopped here, and waits in the backlog.
const CONNECTION_LIMIT: usize = 4096;
/// Of them those that have not shown that they may come in: the next one turns the oldest away.
const STRANGER_LIMIT: usize = CONNECTION_LIMIT / 2;
/// How long a request's head may take, also the next one's on a connection
/// that is kept: one byte a minute must not hold a place (Slowloris).
const HEAD_DEADLINE: Duration = Duration::from_secs(10);
/// Bytes of a request's head. Cookies of other services on the loopback come
/// along with a browser's requests.
const HEAD_LIMIT: usize = 32 * 1024;
/// Headers of a request.
const HEADER_LIMIT: usize = 64;
/// Bytes that hyper reads ahead of a connection; not below the head's limit.
const BUFFER: usize = 64 * 1024;
/// After a failed accept: the process is out of descriptors, and there is no
/// event that says when it has some again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// What answers under way get to be sent when the gateway stops; the runs they
/// wait for have ended by then, or go on without it.
const CLOSE_DEADLINE: Duration = Duration::from_millis(250);

/// Takes over the connections that ask for a WebSocket.
pub trait WebSocket: Send + Sync {
    /// Answers the handshake of `peer` on whatever path it was asked for, and serves the connection
    /// in a task of its own. A request that is no handshake is answered with what is wrong in it.
    fn upgrade(self: Arc<Self>, request: Request<Incoming>, peer: Peer) -> Response<Body>;
}

/// The open doors.
#[derive(Debug)]
pub struct Open {
    stop: CancellationToken,
    tasks: TaskTracker,
}

#[derive(Clone)]
struct Loop {
    doors: Arc<Doors>,
    websocket: Arc<dyn WebSocket>,
    door: TcpDoor,
    router: Router,
    places: Arc<Semaphore>,
    strangers: Strangers,
    stop: CancellationToken,
    activity: Activity,
    tasks: TaskTracker,
}

/// Serves every TCP socket that was passed until `stop`, or until `activity` ended,
/// of which each connection is a part.
pub fn open(
    doors: &Arc<Doors>,
    websocket: &Arc<dyn WebSocket>,
    listeners: &mut Listeners,
    stop: CancellationToken,
    activity: &Activity,
) -> anyhow::Result<Open> {
    let open = Open {
        stop,
        tasks: TaskTracker::new(),
    };
    let places = Arc::new(Semaphore::new(CONNECTION_LIMIT));
    let strangers = Strangers::new(STRANGER_LIMIT);
    for door in TcpDoor::ALL {
        for listener in listeners.take_tcp(door.name()) {
            let each = Loop {
                doors: Arc::clone(doors),
                websocket: Arc::clone(websocket),
                door,
                router: http::router(door, Arc::clone(doors)),
                places: Arc::clone(&places),
                strangers: strangers.clone(),
                stop: open.stop.clone(),
                activity: activity.clone(),
                tasks: open.tasks.clone(),
            };
            let what = || format!("take over the socket {:?}", door.name());
            start(each, listener).with_context(what)?;
        }
    }
    Ok(open)
}

impl Open {
    /// Waits until the connections have ended, but not for ever.
    pub async fn close(self) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(CLOSE_DEADLINE, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::debug!("connections were closed unfinished");
        }
    }
}

fn start(each: Loop, listener: TcpListener) -> anyhow::Result<()> {
    let address = listener.local_addr()?;
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    each.doors.front.note_address(each.door, address);
    each.tasks.clone().spawn(each.accept(listener));
    Ok(())
}

impl Loop {
    async fn accept(self, listener: tokio::net::TcpListener) {
        let stop = self.stop.clone();
        let accept = async {
            loop {
                // Before accept: who finds no place waits in the backlog.
                let place = Arc::clone(&self.places).acquire_owned().await;
                let Ok(place) = place else { return };
                match listener.accept().await {
                    Ok((stream, addr)) => self.serve(stream, addr, place),
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection, trying again");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                }
            }
        };
        tokio::select! {
            biased;
            // What is in the backlog is the next process's.
            () = self.activity.left() => {}
            () = stop.cancelled() => {}
            () = accept => {}
        }
    }

    fn serve(&self, stream: TcpStream, addr: SocketAddr, place: OwnedSemaphorePermit) {
        // Deltas are small and wanted at once.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection was gone before it was served");
            return;
        }
        let each = self.clone();
        let stranger = self.strangers.enter();
        let turned_away = stranger.turned_away();
        let admission = Admission::of(stranger);
        let service = service_fn(move |request| {
            let (each, admission) = (each.clone(), admission.clone());
            async move { Ok::<_, Infallible>(each.answer(request, (addr, admission)).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_DEADLINE)
            .max_headers(HEADER_LIMIT)
            .max_header_size(HEAD_LIMIT)
            .max_buf_size(BUFFER)
            .serve_connection(
                TokioIo::new(Stream::new(stream, place, self.activity.begin())),
                service,
            )
            .with_upgrades();
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            let mut connection = Box::pin(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = turned_away.cancelled() => Ok(()),
                () = stop.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, peer = %addr, "a connection ended early");
            }
        });
    }

    async fn answer(
        self,
        request: Request<Incoming>,
        from: (SocketAddr, Admission),
    ) -> Response<Body> {
        let doors = Arc::clone(&self.doors);
        let response = match self.respond(request, from).await {
            Ok(response) => response,
            Err(misdirected) => http::refuse(misdirected),
        };
        doors.answers.answered(response.status());
        http::secured(response)
    }

    async fn respond(
        self,
        request: Request<Incoming>,
        (addr, admission): (SocketAddr, Admission),
    ) -> Result<Response<Body>, Misdirected> {
        let settings = self.doors.front.settings();
        let mut peer = identify(request.headers(), addr, &settings.gateway)?;
        peer.admission = admission;
        if self.door == TcpDoor::Main && is_websocket(&request) {
            return Ok(self.websocket.upgrade(request, peer));
        }
        if let Some(origin) = peer.origin.clone().filter(|_| !peer.origin_ok) {
            return Err(Misdirected::Origin(origin));
        }
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer);
        match self.router.oneshot(request).await {
            Ok(response) => Ok(response),
            Err(never) => match never {},
        }
    }
}

fn is_websocket(request: &Request<Incoming>) -> bool {
    let upgrade = request.headers().get(axum::http::header::UPGRADE);
    upgrade.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}
