//! What was said and done, on the disk: transcripts, the index of sessions and
//! the ledger. Knows neither how a turn runs nor who asks.

pub(crate) mod auth_profile;
pub(crate) mod database;
pub(crate) mod lanes;
pub(crate) mod paragraphs;
pub(crate) mod refusal;
pub(crate) mod route;
mod schema;
pub(crate) mod sessions;
pub(crate) mod storage;
