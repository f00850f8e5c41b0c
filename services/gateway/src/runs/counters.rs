//! What is counted, for `/metrics`.

use std::sync::atomic::{AtomicU64, Ordering};

use openclaw_proto::event::Kind;

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Everything that is counted.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Runs that ended.
    pub(crate) runs: Runs,
}

/// Runs by how they ended.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    done: Counter,
    failed: Counter,
    aborted: Counter,
}

impl Runs {
    pub(crate) fn ended(&self, outcome: &Kind) {
        match outcome {
            Kind::Done(_) => self.done.add(),
            Kind::Aborted { .. } => self.aborted.add(),
            _ => self.failed.add(),
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = [
            ("done", &self.done),
            ("failed", &self.failed),
            ("aborted", &self.aborted),
        ];
        all.into_iter().map(|(name, counter)| (name, counter.get()))
    }
}
