//! Which files make the configuration, and news of them.

pub mod files;
mod watch;

pub use watch::Watch;
