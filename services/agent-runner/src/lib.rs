//! The agent-runner: owns turns. It starts, feeds, watches and ends agent
//! subprocesses, serves their tool and model requests, and is the only daemon
//! that holds model credentials.

mod activity;
mod adoption;
mod answering;
mod approvals;
mod backend;
mod bill;
mod catalog;
mod claude;
mod cli;
mod codex;
mod confinement;
mod cooling;
mod disk;
mod doors;
mod embedding;
mod environment;
#[cfg(fuzzing)]
pub mod fuzz;
mod host;
mod job;
mod log;
mod message_id;
mod meter;
mod model;
mod native;
mod own_limits;
mod passed;
mod path_snapshot;
mod pinned;
mod places;
mod plan;
mod process;
mod promises;
mod prompt;
mod reach;
mod renewal;
mod report;
mod route;
mod servers;
mod service;
mod settings;
mod spare;
mod spending;
mod spool;
mod stdio;
mod steering;
mod table;
mod thinking;
mod tools;
mod torn;
mod translate;
mod turn;
mod turn_handle;
mod turn_process;
mod units;
mod warm;
mod watcher;
mod wire;

pub use servers::main as run_servers;
pub use service::run;
pub use settings::load;
pub use turn_process::main as run_turn;
