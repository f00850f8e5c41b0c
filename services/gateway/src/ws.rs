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
mod narrator;
mod outbox;
mod presence;
mod refused;
mod throttle;
mod upgrade;

use openclaw_protocol::scope::Scope;
use serde_json::Value;

use crate::gateway::Gateway;
use audience::Audience;

pub(crate) use hub::{Hub, follow_secret};
pub(crate) use methods::inject;
pub(crate) use narrator::narrate;
pub(crate) use upgrade::upgrade;

/// Tells the clients of a scheduled job that changed.
pub(crate) fn tell_cron(gateway: &Gateway, payload: impl FnOnce() -> Value) {
    gateway.hub.tell(Audience::Readers, "cron", payload);
}

/// Tells the clients how an agent took it that was woken.
pub(crate) fn tell_heartbeat(gateway: &Gateway, payload: impl FnOnce() -> Value) {
    gateway.hub.tell(Audience::Readers, "heartbeat", payload);
}

/// Tells the clients that may decide about approvals.
pub(crate) fn tell_approvers(gateway: &Gateway, event: &str, payload: impl FnOnce() -> Value) {
    let audience = Audience::Holders(Scope::Approvals);
    gateway.hub.tell(audience, event, payload);
}
