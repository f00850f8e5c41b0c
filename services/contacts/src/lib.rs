//! `openclawctl channels`, `pairing` and `send`: how channels do, who may talk
//! there, and what is said there.

mod accounts;
mod add;
mod gateway;
mod health;
mod logs;
mod name;
mod pairing;
mod send;
mod sent_file;
mod trial;

pub use accounts::Channels;
pub use gateway::Gateway;
pub use health::{Condition, Finding};
pub use pairing::Pairing;
pub use send::Send;
