//! Counters for `/metrics`.

use std::sync::atomic::{AtomicU64, Ordering};

use openclaw_proto::event::Kind;

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// One more.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The number.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Everything that is counted.
#[derive(Debug, Default)]
pub struct Counters {
    /// Runs that ended.
    pub runs: Runs,
}

/// Runs by how they ended.
#[derive(Debug, Default)]
pub struct Runs {
    done: Counter,
    failed: Counter,
    aborted: Counter,
}

impl Runs {
    /// Counts a run that ended so.
    pub fn ended(&self, outcome: &Kind) {
        match outcome {
            Kind::Done(_) => self.done.add(),
            Kind::Aborted { .. } => self.aborted.add(),
            _ => self.failed.add(),
        }
    }

    /// Each outcome with its number.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = [
            ("done", &self.done),
            ("failed", &self.failed),
            ("aborted", &self.aborted),
        ];
        all.into_iter().map(|(name, counter)| (name, counter.get()))
    }
}
