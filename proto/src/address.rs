//! Connecting to a daemon's Unix socket.

use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use nix::sys::socket::{MsgFlags, recv};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::transport::channel::ResponseFuture;
use tonic::transport::{self, Endpoint, Uri};
use tower::Service;

use crate::call::NotConnected;

/// How long a connect may take. Under socket activation the manager accepts
/// the connection at once, so a connect that hangs means a full backlog.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);

/// The waits before one that was closed without a word is made again: its daemon was
/// leaving, and the next one takes it from the socket's queue. A daemon that serves
/// nobody of this user closes it each time.
const AGAIN: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(200)];

/// The status, for the service manager, of a daemon that ended because nobody needs
/// it; whoever connects starts it.
pub const AT_REST: &str = "idle, starts on demand";

/// How long a connection is kept for the next call: a daemon with which somebody
/// is connected does not end when it has nothing to do.
const KEPT: Duration = Duration::from_secs(10);

/// A channel to the daemon listening at `socket` that connects on first use,
/// again after the daemon was started again, and again when nothing was called
/// for a while: until then it has let go of the connection.
pub fn channel(socket: PathBuf) -> Channel {
    kept_for(socket, KEPT)
}

/// A channel as [`channel`]'s that keeps a connection for `kept`.
pub fn kept_for(socket: PathBuf, kept: Duration) -> Channel {
    Channel {
        shared: Arc::new(Shared {
            socket,
            kept,
            state: Mutex::default(),
        }),
        ready: None,
    }
}

/// A channel as [`channel`]'s that never lets go of its connection.
pub fn lasting(socket: PathBuf) -> transport::Channel {
    let socket = Arc::new(socket);
    // The authority is never looked up; gRPC only needs one to be there.
    let endpoint = Endpoint::from_static("http://openclaw.invalid");
    endpoint.connect_with_connector_lazy(tower::service_fn(move |_: Uri| {
        let socket = Arc::clone(&socket);
        async move {
            let stream = greeted(&socket).await;
            stream
                .map(TokioIo::new)
                .map_err(|error| NotConnected::new(&socket, &error))
        }
    }))
}

/// A connection whose daemon has said something: an HTTP/2 server begins with its
/// settings, whatever it hears. Nothing was asked before that, so it is made again
/// where the daemon was leaving, also for what may not be asked twice.
async fn greeted(socket: &Path) -> io::Result<UnixStream> {
    let mut pauses = AGAIN.iter();
    loop {
        let error = match attempt(socket).await {
            Err(error) if is_closed(&error) => error,
            made => return made,
        };
        match pauses.next() {
            Some(pause) => sleep(*pause).await,
            None => return Err(error),
        }
    }
}

async fn attempt(socket: &Path) -> io::Result<UnixStream> {
    let connecting = timeout(CONNECT_DEADLINE, UnixStream::connect(socket));
    let stream = connecting
        .await
        .map_err(|_| io::Error::from(ErrorKind::TimedOut))??;
    loop {
        // For as long as the daemon takes to start.
        stream.readable().await?;
        let peek = || Ok(recv(stream.as_raw_fd(), &mut [0], MsgFlags::MSG_PEEK)?);
        match stream.try_io(Interest::READABLE, peek) {
            Ok(0) => return Err(ErrorKind::ConnectionReset.into()),
            Ok(_) => return Ok(stream),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_closed(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionReset | ConnectionAborted | BrokenPipe
    )
}

/// See [`channel`]. Cheap to clone.
#[derive(Debug)]
pub struct Channel {
    shared: Arc<Shared>,
    /// The one that the next call goes through.
    ready: Option<transport::Channel>,
}

#[derive(Debug)]
struct Shared {
    socket: PathBuf,
    kept: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    channel: transport::Channel,
    used: Instant,
}

impl Clone for Channel {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            ready: None,
        }
    }
}

impl Service<Request<Body>> for Channel {
    type Response = Response<Body>;
    type Error = transport::Error;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        let shared = &self.shared;
        let channel = self.ready.get_or_insert_with(|| shared.take());
        channel.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // Each call has its own, so that what was made ready is not kept.
        let mut channel = self.ready.take().unwrap_or_else(|| self.shared.take());
        channel.call(request)
    }
}

impl Shared {
    /// The open one, from now on used, or a new one.
    fn take(self: &Arc<Self>) -> transport::Channel {
        let mut state = self.lock();
        if let Some(open) = &mut state.open {
            open.used = Instant::now();
            return open.channel.clone();
        }
        let channel = lasting(self.socket.clone());
        state.open = Some(Open {
            channel: channel.clone(),
            used: Instant::now(),
        });
        tokio::spawn(let_go(Arc::downgrade(self)));
        channel
    }

    /// Lets go of a connection that was not used for long. Calls that have not
    /// ended keep theirs, also those whose answer is a stream. Until when it is
    /// kept otherwise.
    fn let_go(&self) -> Option<Instant> {
        let mut state = self.lock();
        let until = state.open.as_ref()?.used + self.kept;
        if until <= Instant::now() {
            state.open = None;
            return None;
        }
        Some(until)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn let_go(shared: Weak<Shared>) {
    loop {
        let until = shared.upgrade().and_then(|shared| shared.let_go());
        let Some(until) = until else {
            return;
        };
        sleep_until(until).await;
    }
}
