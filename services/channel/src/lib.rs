//! What every channel daemon shares: what comes is on disk before its provider is
//! told so, and stays there until the gateway has it ([`spool`]); what is to be
//! said is taken from the gateway's outbox, and what of it the provider has is
//! recorded ([`progress`]); how the connection does is told ([`health`]). A channel
//! is a [`Provider`].

pub mod account;
pub mod daemon;
mod durable;
pub mod health;
mod intake;
pub mod link;
mod outgoing;
pub mod progress;
pub mod provider;
pub mod recent;
pub mod rich;
pub mod spool;

pub use daemon::{Post, run};
pub use link::Link;
pub use provider::Provider;
