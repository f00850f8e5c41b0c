//! Conversations on the disk: transcripts, the index of sessions and the ledger. Knows neither how
//! a turn runs nor who asks.

pub mod auth_profile;
pub mod channels;
pub mod database;
mod fault;
pub mod feed;
mod lanes;
pub mod notices;
pub mod outbox;
mod refusal;
pub mod route;
mod schema;
pub mod sessions;
pub mod storage;

pub use lanes::{Crowded, Lanes, Ticket};
pub use refusal::{Missed, MissingSession, Refusal};
pub use schema::SchemaError;
