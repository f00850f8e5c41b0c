//! OpenClaw's WebSocket protocol: connections, what they may do, and what they
//! are told.
//!
//! A connection is one task. What all of them hear is serialised once
//! ([`openclaw_protocol::Event`]) and shared; each has a queue with a limit
//! ([`outbox`]), and who does not read it is dropped.

mod audience;
mod client;
mod connect;
mod connection;
mod handshake;
mod health;
mod hello;
mod hub;
mod meter;
mod methods;
mod narrations;
mod narrator;
mod outbox;
mod presence;
mod refused;
mod server;
mod subscriber;
mod throttle;
mod upgrade;

pub use hub::follow_secret;
pub use server::Server;
