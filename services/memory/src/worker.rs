//! Blocking work, off the thread that answers health checks.

use std::sync::Arc;

use tokio::sync::{Notify, Semaphore};
use tracing::Span;

use crate::error::Error;
use crate::store::Store;

/// Calls that work at once; the others wait. Each has a thread, and threads
/// cost memory.
const AT_ONCE: usize = 4;

/// Runs what blocks.
#[derive(Debug, Clone)]
pub(crate) struct Worker {
    permits: Arc<Semaphore>,
    /// One at a time for what nobody waits for, so that those who wait are
    /// never all behind it.
    beside: Arc<Semaphore>,
    progress: Arc<Notify>,
}

impl Default for Worker {
    fn default() -> Self {
        Self {
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            beside: Arc::new(Semaphore::new(1)),
            progress: Arc::default(),
        }
    }
}

impl Worker {
    /// Runs `work` on `store` for somebody who waits; its log records are in
    /// the caller's span.
    pub(crate) async fn run<T, F>(&self, store: &Arc<Store>, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Store) -> Result<T, Error> + Send + 'static,
    {
        let store = Arc::clone(store);
        run(&self.permits, move || work(&store)).await?
    }

    /// Runs `work` that nobody waits for.
    pub(crate) async fn beside<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        run(&self.beside, work).await
    }

    /// Whether something is being done.
    pub(crate) fn is_busy(&self) -> bool {
        self.permits.available_permits() < AT_ONCE || self.beside.available_permits() == 0
    }

    /// What there is has changed.
    pub(crate) fn tell_progress(&self) {
        self.progress.notify_one();
    }

    /// Waits until what there is has changed.
    pub(crate) async fn progressed(&self) {
        self.progress.notified().await;
    }
}

async fn run<T, F>(permits: &Arc<Semaphore>, work: F) -> Result<T, Error>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let permit = Arc::clone(permits).acquire_owned().await;
    let permit = permit.map_err(|_| Error::Ending)?;
    let span = Span::current();
    let task = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        span.in_scope(work)
    });
    Ok(task.await?)
}
