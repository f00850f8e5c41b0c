//! HTTP beside WebSocket: health, the OpenAI-compatible API, hooks, metrics,
//! and the shared session of seed 000 on its own port.

mod answer;
mod authorized;
mod body;
mod chat;
mod cli;
mod content;
mod conversation;
mod health;
mod home;
mod hooks;
mod metrics;
mod models;
mod page;
mod problem;
mod responses;
mod routes;
mod sse;
mod target;
mod turn;

pub(crate) use answer::secured;
pub use metrics::resident;
pub(crate) use problem::refuse;
pub(crate) use routes::router;
