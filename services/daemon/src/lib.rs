//! What every OpenClaw daemon needs from systemd: sockets by name, readiness,
//! the status line, the watchdog, the journal, signals, and a bounded drain.
//!
//! This is the only crate that reads LISTEN_*, NOTIFY_SOCKET, WATCHDOG_* and
//! CREDENTIALS_DIRECTORY (sd_listen_fds(3), sd_notify(3), systemd.exec(5)).

pub mod activity;
pub mod arguments;
pub mod client;
pub mod clock;
pub mod configuration;
pub mod connections;
pub mod credentials;
pub mod exit;
pub mod failure;
pub mod listeners;
pub mod notifier;
pub mod panics;
pub mod program;
mod reload;
mod rest;
pub mod server;
pub(crate) mod signals;
mod state;
pub mod telemetry;
pub(crate) mod watchdog;

pub use activity::Activity;
pub use configuration::Configuration;
pub use listeners::Listeners;
pub use notifier::Notifier;
pub use program::{Daemon, LastWord, main};
pub use server::{serve, serve_guests};
