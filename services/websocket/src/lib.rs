//! OpenClaw's WebSocket protocol: connections, what they may do, and what they are told.
//!
//! A connection is one task. What all of them hear is serialised once
//! ([`openclaw_protocol::Event`]) and shared; each has a queue with a limit
//! ([`outbox`]), and who does not read it is dropped.

mod audience;
mod channels;
mod client;
mod connect;
mod connection;
mod device_admin;
mod handshake;
mod health;
mod heartbeat;
mod hello;
mod hub;
mod injected;
mod meter;
mod methods;
mod outbox;
mod presence;
mod recent_sends;
mod refused;
mod reported_runs;
mod run_report;
mod server;
mod session_change;
mod session_row;
mod socket;
mod subscriber;
mod upgrade;

pub use device_admin::DeviceAdminService;
pub use server::Server;
