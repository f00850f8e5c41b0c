//! The agent-runner: owns turns. It chooses what answers one, starts its process,
//! follows and ends it, keeps what turns cost and how credentials did, and is the
//! only daemon that holds model credentials.

mod adoption;
mod answering;
mod catalog;
mod confinement;
mod cooling;
mod embedding;
mod log;
mod models_file;
mod path_snapshot;
mod pinned;
mod plan;
mod promises;
mod reach;
mod removal;
mod renewal;
mod servers;
mod service;
mod spare;
mod table;
mod turn;
mod turn_handle;
mod units;
mod warm;
mod watcher;
mod webhook;

pub use openclaw_backends::settings::load;
pub use service::run;
