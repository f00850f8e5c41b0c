//! The gateway on real Unix sockets and a real state directory. The other two
//! daemons are doubles that speak their protocol, so that a test decides what
//! they say and when; the real ones are used in tests/integration.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy exempts test functions, not what they call"
)]

mod channel_decisions;
mod channels;
mod disk;
mod doubles;
mod endings;
mod events;
mod layers;
mod listed;
mod messages;
mod modules;
mod order;
mod outbox;
mod refusals;
mod restart;
mod sessions;
mod speakers;
mod suite;
mod taken_over;
