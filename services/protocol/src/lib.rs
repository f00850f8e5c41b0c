//! OpenClaw's gateway protocol, version 4, as a client of the real gateway
//! sees it: the frames, the errors, the parameters of the handshake, and the
//! identity of a device.
//!
//! Everything here is pure: bytes in, values or errors out. What the gateway
//! does with a frame is the gateway's.

pub mod client;
pub mod connect;
pub mod device;
pub mod event;
pub mod failure;
pub mod params;
pub mod request;
pub mod response;
pub mod scope;
pub mod versions;

pub use event::Event;
pub use failure::{Code, Failure};
pub use request::{Malformed, Request};

/// The version spoken here.
pub const VERSION: u64 = 4;

/// The oldest version that a node may speak.
pub const OLDEST_NODE_VERSION: u64 = 3;
