//! The server: the parts that serve clients.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use openclaw_devices::Devices;
use openclaw_doors::Doors;
use openclaw_doors::front::Peer;
use openclaw_doors::throttle::Throttle;
use openclaw_runs::Core;

use crate::connect::Admission;
use crate::device_admin::DeviceAdminService;
use crate::handshake::Handshake;
use crate::health::Health;
use crate::hub::Hub;
use crate::methods::Context;
use crate::presence::Presence;
use crate::recent_sends::RecentSends;
use crate::run_report::RunReporter;
use crate::subscriber::Clients;
use crate::upgrade;

/// Serves the clients of the WebSocket protocol.
pub struct Server {
    core: Arc<Core>,
    doors: Arc<Doors>,
    hub: Arc<Hub>,
    devices: Arc<Devices>,
    handshake: Arc<Handshake>,
}

impl Server {
    /// A server over `core`, whose clients come in through `doors` and hear of
    /// what happens from now on.
    pub fn new(core: Arc<Core>, doors: Arc<Doors>) -> Arc<Self> {
        let hub = Arc::new(Hub::new());
        let devices = Arc::new(Devices::new(core.database.clone()));
        let reporter = RunReporter::new(Arc::clone(&core), Arc::clone(&hub));
        let clients = Clients::new(&hub, &reporter);
        core.bus.subscribe(Box::new(clients));
        let context = Arc::new(Context {
            presence: Presence::new(Arc::clone(&hub)),
            health: Health::new(Arc::clone(&core), Arc::clone(&doors), Arc::clone(&hub)),
            core: Arc::clone(&core),
            channels: Arc::clone(&doors.channels),
            schedule: Arc::clone(&doors.schedule),
            hub: Arc::clone(&hub),
            devices: Arc::clone(&devices),
            reporter,
            config_writes: Throttle::default(),
            sends: RecentSends::default(),
        });
        let admission = Admission {
            doors: Arc::clone(&doors),
            devices: Arc::clone(&devices),
            hub: Arc::clone(&hub),
        };
        Arc::new(Self {
            core,
            doors,
            hub,
            devices,
            handshake: Arc::new(Handshake::new(context, admission)),
        })
    }

    /// Ends the connections of those who came in with the shared secret when that changes.
    pub async fn follow_secret(self: Arc<Self>) {
        let mut configuration = self.core.configuration.clone();
        let mut rotations = self.doors.front.rotations();
        let secret = || self.doors.front.secrets().reveal().map(str::to_owned);
        let mut known = secret();
        loop {
            let goes_on = tokio::select! {
                changed = configuration.changed() => changed,
                changed = rotations.changed() => changed.is_ok(),
            };
            if !goes_on {
                return;
            }
            let now = secret();
            if now != known {
                known = now;
                self.hub.expel_secret_holders();
            }
        }
    }

    /// Administration of devices over the control socket.
    pub fn device_admin(&self) -> DeviceAdminService {
        DeviceAdminService {
            devices: Arc::clone(&self.devices),
            hub: Arc::clone(&self.hub),
        }
    }

    /// Says goodbye to every client. Nobody waits for it to be read.
    pub fn close(&self) {
        self.hub.close();
    }
}

impl openclaw_doors::WebSocket for Server {
    fn upgrade(self: Arc<Self>, request: Request<Incoming>, peer: Peer) -> Response<Body> {
        upgrade::upgrade(request, peer, Arc::clone(&self.handshake))
    }
}
