//! The daemon as a process, between the double of the Bot API and a gateway that
//! keeps the contract of `openclaw/channel/v1`.

mod daemon;
mod gateway;
mod inward;
mod outward;
mod survival;
