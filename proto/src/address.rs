//! Connecting to a daemon's Unix socket.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep_until};
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::transport::channel::ResponseFuture;
use tonic::transport::{self, Endpoint, Uri};
use tower::Service;

use crate::call::NotConnected;

/// How long a connect may take. Under socket activation the manager accepts
/// the connection at once, so a connect that hangs means a full backlog.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);

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
    let endpoint =
        Endpoint::from_static("http://openclaw.invalid").connect_timeout(CONNECT_DEADLINE);
    endpoint.connect_with_connector_lazy(tower::service_fn(move |_: Uri| {
        let socket = Arc::clone(&socket);
        async move {
            let stream = UnixStream::connect(&*socket).await;
            stream
                .map(TokioIo::new)
                .map_err(|error| NotConnected::new(&socket, &error))
        }
    }))
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
