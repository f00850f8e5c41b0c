//! What serves the clients.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use openclaw_devices::Devices;
use openclaw_doors::Doors;
use openclaw_doors::front::Peer;
use openclaw_runs::Core;

use crate::hub::Hub;
use crate::{subscriber, upgrade};

/// Serves the clients of the WebSocket protocol.
pub struct Server {
    pub(crate) core: Arc<Core>,
    /// Who is let in, and whether messages would be answered.
    pub(crate) doors: Arc<Doors>,
    pub(crate) hub: Hub,
    pub(crate) devices: Devices,
}

impl Server {
    /// A server over `core`, whose clients come in through `doors` and hear of
    /// what happens from now on.
    pub fn new(core: Arc<Core>, doors: Arc<Doors>) -> Arc<Self> {
        let server = Arc::new(Self {
            hub: Hub::new(),
            devices: Devices::new(core.database.clone()),
            core,
            doors,
        });
        subscriber::subscribe(&server);
        server
    }

    /// Says goodbye to every client; waits two seconds at most for it to be
    /// read.
    pub async fn close(&self) {
        self.hub.close().await;
    }
}

impl openclaw_doors::WebSocket for Server {
    fn upgrade(self: Arc<Self>, request: Request<Incoming>, peer: Peer) -> Response<Body> {
        upgrade::upgrade(request, peer, self)
    }
}
