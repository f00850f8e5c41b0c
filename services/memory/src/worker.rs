//! Blocking work, off the thread that answers health checks.

use std::sync::Arc;

use openclaw_daemon::{Notifier, failure};
use tokio::sync::Semaphore;
use tracing::Span;

use crate::agents::Agents;
use crate::error::Error;
use crate::store::Store;

/// Calls that work at once; the others wait. Each has a thread, and threads
/// cost memory.
const AT_ONCE: usize = 4;

/// Runs work on stores and shows what they hold.
#[derive(Debug, Clone)]
pub(crate) struct Worker {
    agents: Arc<Agents>,
    notifier: Notifier,
    permits: Arc<Semaphore>,
}

impl Worker {
    /// Works for `agents`, and tells `notifier` of them.
    pub(crate) fn new(agents: Arc<Agents>, notifier: Notifier) -> Self {
        Self {
            agents,
            notifier,
            permits: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Runs `work` on `store`; its log records are in the caller's span.
    pub(crate) async fn run<T, F>(&self, store: &Arc<Store>, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Store) -> Result<T, Error> + Send + 'static,
    {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_| Error::Ending)?;
        let store = Arc::clone(store);
        let span = Span::current();
        let task = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            span.in_scope(|| work(&store))
        });
        let result = task.await?;
        self.show();
        result
    }

    /// Takes in what has changed in every workspace, beside everything else.
    pub(crate) fn catch_up_with_all(&self) {
        for store in self.agents.stores() {
            self.catch_up(store);
        }
        self.show();
    }

    /// Takes in what has changed in `store`, a bit at a time so that searches
    /// get between.
    pub(crate) fn catch_up(&self, store: Arc<Store>) {
        if !store.begin_catching_up() {
            return;
        }
        let worker = self.clone();
        tokio::spawn(async move {
            loop {
                match worker.run(&store, Store::refresh).await {
                    Ok(true) => break,
                    Ok(false) => {}
                    Err(error) => {
                        let path = store.path().display();
                        tracing::warn!(
                            "{path} is not searched until it can be: {}",
                            failure::chain(&error)
                        );
                        break;
                    }
                }
            }
            store.caught_up();
        });
    }

    fn show(&self) {
        self.notifier.status(&line(self.agents.size()));
    }
}

fn line((files, passages): (usize, usize)) -> String {
    let of = |count, one: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {one}s"),
    };
    format!("{}, {} indexed", of(files, "file"), of(passages, "passage"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_status_line_counts() {
        assert_eq!(super::line((3, 12)), "3 files, 12 passages indexed");
        assert_eq!(super::line((1, 1)), "1 file, 1 passage indexed");
    }
}
