//! Connecting to a daemon's Unix socket.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint, Uri};

use crate::call::NotConnected;

/// How long a connect may take. Under socket activation the manager accepts
/// the connection at once, so a connect that hangs means a full backlog.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);

/// A channel to the daemon listening at `socket` that connects on first use
/// and again after the daemon restarted.
pub fn channel(socket: PathBuf) -> Channel {
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
