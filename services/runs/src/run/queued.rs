//! A message that found its session busy.

use std::time::{Duration, Instant};

use openclaw_settings::QueueMode;

/// A message that found its session busy, and what becomes of it.
#[derive(Debug)]
pub struct Queued {
    pub(crate) text: String,
    pub(crate) arrived: Instant,
    pub(crate) mode: QueueMode,
    /// How long is waited for more, where they are answered together.
    pub(crate) debounce: Duration,
}
