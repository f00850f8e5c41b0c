//! What of a run is shown before its answer stands.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_channel::Link;
use openclaw_channel::progress::Progress;

/// The runs that are shown.
#[derive(Debug, Default)]
pub(crate) struct Live(Mutex<HashMap<String, Arc<tokio::sync::Mutex<Shown>>>>);

/// What a run shows.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) is_over: bool,
    pub(crate) message: Option<i64>,
    pub(crate) record: Option<Progress>,
}

impl Shown {
    /// The message that the answer takes the place of.
    pub(crate) fn take_message(&mut self) -> Option<i64> {
        self.message.take()
    }

    /// The answer stands there.
    pub(crate) fn forget(&mut self) {
        if let Some(record) = self.record.take()
            && let Err(error) = record.forget()
        {
            openclaw_daemon::failure::report("remove the record of a run", &error);
        }
    }
}

impl Live {
    pub(crate) fn of(&self, run_id: &str) -> Arc<tokio::sync::Mutex<Shown>> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody holds any more are over.
        runs.retain(|_, shown| Arc::strong_count(shown) > 1);
        Arc::clone(runs.entry(run_id.to_owned()).or_default())
    }

    /// Ends what is shown of a run, of which an earlier daemon may have begun it;
    /// nothing is shown as long as it is held.
    pub(crate) async fn end(
        &self,
        run_id: &str,
        link: &Link,
    ) -> tokio::sync::OwnedMutexGuard<Shown> {
        let mut shown = self.of(run_id).lock_owned().await;
        shown.is_over = true;
        if shown.record.is_none() && !run_id.is_empty() {
            shown.open(run_id, link);
        }
        shown
    }
}

impl Shown {
    pub(crate) fn open(&mut self, run_id: &str, link: &Link) {
        match link.records.of_run(run_id) {
            Ok(record) => {
                if record.is_doubtful() {
                    tracing::warn!(
                        openclaw_run = run_id,
                        "ended while the beginning of an answer was being shown: it may be left, and \
                         may be there twice"
                    );
                }
                let last = record.ids().pop();
                self.message = last.and_then(|id| id.parse().ok());
                self.record = Some(record);
            }
            Err(error) => openclaw_daemon::failure::report("read the record of a run", &error),
        }
    }
}
