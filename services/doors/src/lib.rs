//! The gateway's ways in: gRPC over the control socket, HTTP over TCP, and who is let in over TCP.
//! Each enters the core by [`Submitter::submit`]. WebSocket is a crate of its own above, which
//! takes over the connections that ask for it ([`WebSocket`]).
//!
//! [`Submitter::submit`]: openclaw_runs::Submitter::submit

mod answers;
pub mod auth_profile;
pub mod channels;
mod doors;
pub mod front;
#[cfg(fuzzing)]
pub mod fuzz;
mod grpc;
mod http;
mod listener;
mod readiness;
pub mod shown;
pub mod throttle;

pub use doors::Doors;
pub use grpc::{
    ChannelAdminService, ChannelsService, Classes, EventsService, GatewayService, OutboxService,
    ScheduleService, SessionsService,
};
pub use http::resident;
pub use listener::{Open, WebSocket, open};
pub use readiness::Report;
