//! Private chats in which one message is sent at a time, so that what the bot says there
//! has numbers in the order of the notes that are made before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_channel::progress::{Progress, Records};
use tokio::sync::OwnedMutexGuard;

use crate::shown::Spot;

/// Held as long as something is sent in a private chat; None: the chat is none.
pub(crate) type Entered = Option<OwnedMutexGuard<()>>;

/// Those in which something is sent.
#[derive(Debug, Default)]
pub(crate) struct Chats {
    open: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// Records of beginnings that the daemon before may have shown; None: they were not
    /// read yet.
    left: Mutex<Option<Vec<Left>>>,
}

/// The beginning of an answer that may have been shown.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) record: Progress,
    pub(crate) beginning: Beginning,
    /// Attempts at looking for it.
    pub(crate) attempts: u32,
}

/// What is noted of a beginning before it is shown.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Beginning {
    /// The last number that was known.
    pub(crate) after: i64,
    pub(crate) chat: String,
    pub(crate) html: String,
}

/// Whether numbers of messages say something about `spot`.
pub(crate) fn is_numbered(spot: &Spot) -> bool {
    spot.chat.parse::<i64>().is_ok_and(|id| id > 0) && spot.thread.is_none()
}

impl Chats {
    /// Waits until nothing else is sent at `spot`.
    pub(crate) async fn enter(&self, spot: &Spot) -> Entered {
        if !is_numbered(spot) {
            return None;
        }
        Some(self.of(&spot.chat).lock_owned().await)
    }

    /// Error: something else is sent at `spot`.
    pub(crate) fn try_enter(&self, spot: &Spot) -> Result<Entered, ()> {
        if !is_numbered(spot) {
            return Ok(None);
        }
        let entered = self.of(&spot.chat).try_lock_owned();
        entered.map(Some).map_err(|_| ())
    }

    /// Takes what the daemon before may have left in `chat`.
    pub(crate) fn take_left(&self, chat: &str, records: &Records) -> Vec<Left> {
        let mut left = lock(&self.left);
        let left = left.get_or_insert_with(|| read(records));
        left.extract_if(.., |it| it.beginning.chat == chat)
            .collect()
    }

    /// Lets it be looked for again.
    pub(crate) fn put_left(&self, again: Left) {
        if let Some(left) = &mut *lock(&self.left) {
            left.push(again);
        }
    }

    fn of(&self, chat: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut open = lock(&self.open);
        // Those that nobody holds any more are free.
        open.retain(|_, it| Arc::strong_count(it) > 1);
        Arc::clone(open.entry(chat.to_owned()).or_default())
    }
}

/// Nothing is shown yet when they are read: what is in doubt is of the daemon before.
fn read(records: &Records) -> Vec<Left> {
    let runs = records.of_runs().unwrap_or_else(|error| {
        openclaw_daemon::failure::report("read the records of runs", &error);
        Vec::new()
    });
    let left = runs.into_iter().filter_map(|record| {
        let beginning = serde_json::from_str(record.doubt()?).ok()?;
        Some(Left {
            record,
            beginning,
            attempts: 0,
        })
    });
    left.collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
