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
    pub(crate) message: Option<Preview>,
    /// What the message says, where that is certain.
    pub(crate) content: Option<String>,
    pub(crate) record: Option<Progress>,
}

/// A chat, and the topic in it. Numbers of messages count in a chat alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The chat.
    pub(crate) chat: String,
    /// The topic.
    pub(crate) thread: Option<i64>,
}

/// A message that shows a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Preview {
    /// Its number, which other chats have too.
    pub(crate) id: i64,
    /// Where it stands.
    pub(crate) spot: Spot,
}

impl Preview {
    /// As it is recorded.
    pub(crate) fn record(&self) -> Vec<String> {
        let Spot { chat, thread } = self.spot.clone();
        let thread = thread.map(|it| it.to_string()).unwrap_or_default();
        vec![self.id.to_string(), chat, thread]
    }

    fn parse(record: &[String]) -> Option<Self> {
        let [id, chat, thread] = record else {
            return None;
        };
        let spot = Spot {
            chat: chat.clone(),
            thread: thread.parse().ok(),
        };
        let id = id.parse().ok()?;
        Some(Self { id, spot })
    }
}

impl Shown {
    /// The message that something which is said at `spot` may take the place of.
    pub(crate) fn at(&self, spot: &Spot) -> Option<i64> {
        let message = self.message.as_ref().filter(|it| it.spot == *spot);
        message.map(|it| it.id)
    }

    /// What was shown is nobody's any more: something else stands there.
    pub(crate) fn forget(&mut self) {
        self.message = None;
        self.content = None;
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
        shown.known(run_id, link);
        shown
    }

    /// What a run that goes on shows, held as long as something takes its place.
    pub(crate) async fn pause(
        &self,
        run_id: &str,
        link: &Link,
    ) -> tokio::sync::OwnedMutexGuard<Shown> {
        let mut shown = self.of(run_id).lock_owned().await;
        shown.known(run_id, link);
        shown
    }
}

impl Shown {
    fn known(&mut self, run_id: &str, link: &Link) {
        if self.record.is_none() && !run_id.is_empty() {
            self.open(run_id, link);
        }
    }

    /// No later daemon knows of the message: something else will stand there.
    pub(crate) fn unrecord(&mut self, run_id: &str, link: &Link) {
        let message = self.message.take();
        self.forget();
        self.open(run_id, link);
        self.message = message;
    }

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
                self.message = record.parts().last().and_then(|it| Preview::parse(it));
                self.record = Some(record);
            }
            Err(error) => openclaw_daemon::failure::report("read the record of a run", &error),
        }
    }
}
