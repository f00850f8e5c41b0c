//! The installed suite under a real systemd user manager, used as an ordinary user would.
//!
//! Ignored by default because they need root and a minute for the first machine: `tests/run` runs them, or
//! `cargo test --workspace --test booted -- --ignored`. They share one machine and take turns in it.

mod activation;
mod channels;
mod clis;
mod confinement;
mod containers;
mod escape;
mod front;
mod gap;
mod grants;
mod homes;
mod installation;
mod jobs;
mod jobs_asleep;
mod jobs_month;
mod journal;
mod kernels;
mod keys;
mod kills;
mod levels;
mod lifecycle;
mod matrix;
mod packages;
mod rest;
mod round_trip;
mod setup;
mod stage;
mod system_manager;
mod system_mode;
mod torture;
mod turns;
mod two_users;
