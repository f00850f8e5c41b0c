//! `openclawctl channels`, `pairing`, `devices` and `send`: how channels do, who may talk
//! there, which clients have a token of their own, and what is said.

mod accounts;
mod add;
mod devices;
mod gateway;
mod health;
mod logs;
mod name;
mod pairing;
mod send;
mod sent_file;
mod token;
mod trial;

pub use accounts::Channels;
pub use devices::Devices;
pub use gateway::ContactsGateway;
pub use health::{Condition, Finding};
pub use pairing::Pairing;
pub use send::Send;
pub use token::Token;
