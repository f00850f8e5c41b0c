//! How models are asked on behalf of turns: what a request may hold, where it
//! is sent, what its answer used and cost.

pub mod bill;
#[cfg(fuzzing)]
pub mod fuzz;
pub mod relay;
pub mod route;
pub mod spending;
pub mod upstream;
pub mod wire;
