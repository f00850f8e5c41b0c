//! The ways in: gRPC over the control socket, WebSocket and HTTP over TCP. Each
//! enters the core by [`Core::submit`] and hears of it over its bus.

mod devices;
pub(crate) mod front;
mod grpc;
mod http;
mod ws;

use std::sync::Arc;

use crate::runs::core::Core;
use devices::Devices;
use front::Front;
use http::{Answers, Health};
use ws::Hub;

pub(crate) use front::open;
pub(crate) use grpc::{Classes, GatewayService, SessionsService};
pub(crate) use ws::follow_secret;

/// What the doors share.
pub(crate) struct Doors {
    pub(crate) core: Arc<Core>,
    /// The TCP side.
    pub(crate) front: Arc<Front>,
    health: Health,
    /// What HTTP was answered.
    answers: Answers,
    /// The clients of the WebSocket protocol.
    pub(crate) hub: Hub,
    devices: Devices,
}

impl Doors {
    /// Doors of `core`, which hear of what happens from now on.
    pub(crate) fn of(core: Arc<Core>) -> Arc<Self> {
        let doors = Arc::new(Self {
            front: Front::new(core.configuration.clone()),
            health: Health::default(),
            answers: Answers::default(),
            hub: Hub::new(),
            devices: Devices::new(core.database.clone()),
            core,
        });
        ws::subscribe(&doors);
        doors
    }
}
