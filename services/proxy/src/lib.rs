//! The proxies of a sandbox: what its programs may reach over the network,
//! besides or instead of the network itself. Each is a TCP listener that the
//! process outside serves.
//!
//! In a network namespace of the turn's own the helper listens, on ports that
//! are always the same, and hands the listeners over; the agent has no other
//! way out. Elsewhere the turn's process listens on the machine's loopback, on
//! any port. In both cases a proxy serves who shows the turn's own token only: without
//! a namespace others on this machine could connect too.

mod accept;
mod addresses;
mod egress;
#[cfg(fuzzing)]
pub mod fuzz;
mod model;
mod serving;

pub use addresses::is_public;
pub use model::ModelAccess;
pub use serving::{Bound, Serving};
