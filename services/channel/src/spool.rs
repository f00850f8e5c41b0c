//! Updates that came and are not handed in yet, in files: a batch is on disk
//! before its provider is told that it came, and is removed when the gateway has
//! it.
//!
//! A batch is a file of lines, `{"key", "raw"}` for an update and at the end
//! `{"position"}`: how far the provider was read, with the batch. A file without
//! that end was cut off by a crash; the provider was not told then, and gives the
//! same again.

mod batch;
mod merged;

pub use merged::Merged;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tokio::sync::{Notify, watch};

use crate::durable;

/// Updates that may wait: so many strangers' do not keep a known chat's from coming.
/// A provider keeps what is not taken, for a day.
const BACKLOG_LIMIT: usize = 20_000;
/// Bytes of updates that may wait.
const BYTES_LIMIT: usize = 16 * 1024 * 1024;
/// Where the position is kept while no batch has it.
const POSITION: &str = "position";

/// What a provider gave, as it gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Unique for the account.
    pub key: String,
    /// The update.
    pub raw: String,
}

/// An update that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) update: Update,
    /// It came after this process began.
    pub(crate) is_fresh: bool,
}

/// The updates that wait.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    state: Mutex<State>,
    /// Held while files are made and removed.
    files: Mutex<()>,
    came: Notify,
    left: Notify,
    emptied: Notify,
    has_more: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// The batches that are there, with the number of updates that wait in each.
    batches: BTreeMap<u64, usize>,
    /// Those of which nothing waits any more, whose files are still there.
    emptied: Vec<u64>,
    /// The batch and the size of each update that waits.
    waiting: HashMap<String, (u64, usize)>,
    bytes: usize,
    /// Those that nobody has taken up.
    queue: VecDeque<Entry>,
    position: Option<String>,
}

impl Spool {
    /// Opens that in `folder`, with what waits in it. What cannot be read is
    /// logged and left out.
    pub fn open(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let mut state = State {
            position: std::fs::read_to_string(folder.join(POSITION)).ok(),
            ..State::default()
        };
        for (number, path) in batch::list(folder)? {
            state.next = state.next.max(number + 1);
            let read = batch::read(&path)?;
            if let Some(problem) = &read.problem {
                let name = path.display();
                tracing::warn!("{name}: {problem}; the rest of it is handed in");
            }
            if read.position.is_some() {
                state.position = read.position;
            }
            state.take(number, read.updates, false);
            if !state.batches.contains_key(&number) {
                durable::remove(&path)?;
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            state: Mutex::new(state),
            files: Mutex::default(),
            came: Notify::new(),
            left: Notify::new(),
            emptied: Notify::new(),
            has_more: watch::Sender::new(false),
        })
    }

    /// How far the provider was read.
    pub fn position(&self) -> Option<String> {
        self.state().position.clone()
    }

    /// Updates that wait.
    pub(crate) fn backlog(&self) -> usize {
        self.state().waiting.len()
    }

    /// Whether the provider has more than it gave, among which may be what a known chat
    /// says: strangers wait until that is here.
    pub fn set_has_more(&self, has_more: bool) {
        self.has_more.send_replace(has_more);
    }

    /// What was said last by [`Self::set_has_more`].
    pub(crate) fn has_more(&self) -> watch::Receiver<bool> {
        self.has_more.subscribe()
    }

    /// Waits until more may come; nobody waits for that meanwhile.
    pub async fn room(&self) {
        loop {
            let left = self.left.notified();
            {
                let state = self.state();
                if state.waiting.len() < BACKLOG_LIMIT && state.bytes < BYTES_LIMIT {
                    return;
                }
            }
            self.set_has_more(false);
            left.await;
        }
    }

    /// Waits until nothing waits.
    pub(crate) async fn drained(&self) {
        loop {
            let left = self.left.notified();
            if self.backlog() == 0 {
                return;
            }
            left.await;
        }
    }

    /// Keeps what came, and how far the provider was read with it. It is on disk
    /// when this returns; an update that waits already is not kept twice.
    pub fn append(&self, updates: Vec<Update>, position: Option<String>) -> io::Result<()> {
        let _files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, updates) = {
            let mut state = self.state();
            let mut updates = updates;
            updates.retain(|update| !state.waiting.contains_key(&update.key));
            if updates.is_empty() && position == state.position {
                return Ok(());
            }
            let number = state.next;
            state.next += 1;
            (number, updates)
        };
        if updates.is_empty() {
            if let Some(position) = &position {
                durable::replace(&self.folder.join(POSITION), position.as_bytes())?;
            }
            self.state().position = position;
            return Ok(());
        }
        let content = batch::write(&updates, position.as_deref());
        durable::create(&batch::path(&self.folder, number), content.as_bytes())?;
        let mut state = self.state();
        if position.is_some() {
            state.position = position;
        }
        state.take(number, updates, true);
        self.came.notify_one();
        Ok(())
    }

    /// The next update that nobody has taken up.
    pub(crate) async fn next(&self) -> Entry {
        loop {
            let came = self.came.notified();
            if let Some(entry) = self.state().queue.pop_front() {
                return entry;
            }
            came.await;
        }
    }

    /// Whether nobody has taken up some.
    pub(crate) fn has_next(&self) -> bool {
        !self.state().queue.is_empty()
    }

    /// Those that waited when the spool was opened.
    pub(crate) fn recovered(&self) -> Vec<Entry> {
        let mut state = self.state();
        let (old, fresh): (Vec<_>, Vec<_>) =
            state.queue.drain(..).partition(|entry| !entry.is_fresh);
        state.queue = fresh.into();
        old
    }

    /// The gateway has these, or nobody will. Their files go with [`Self::clean`].
    pub(crate) fn done(&self, keys: &[String]) {
        let mut state = self.state();
        for key in keys {
            let Some((number, size)) = state.waiting.remove(key) else {
                continue;
            };
            state.bytes -= size;
            if let Some(left) = state.batches.get_mut(&number) {
                *left -= 1;
                if *left == 0 {
                    state.batches.remove(&number);
                    state.emptied.push(number);
                    self.emptied.notify_one();
                }
            }
        }
        drop(state);
        self.left.notify_waiters();
    }

    /// Waits until there is something to clean.
    pub(crate) async fn is_to_clean(&self) {
        self.emptied.notified().await;
    }

    /// Removes the files of which nothing waits any more.
    pub(crate) fn clean(&self) -> io::Result<()> {
        let _files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let (emptied, position) = {
            let mut state = self.state();
            let emptied = std::mem::take(&mut state.emptied);
            if state.waiting.is_empty() {
                // What a flood needed is not kept for the next one.
                state.waiting.shrink_to_fit();
                state.queue.shrink_to_fit();
            }
            let newest = state.batches.keys().next_back();
            // No other batch has the position then.
            let is_last = emptied.iter().max() > newest;
            (emptied, state.position.clone().filter(|_| is_last))
        };
        if let Some(position) = position {
            durable::replace(&self.folder.join(POSITION), position.as_bytes())?;
        }
        for number in emptied {
            durable::remove(&batch::path(&self.folder, number))?;
        }
        Ok(())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, number: u64, updates: Vec<Update>, is_fresh: bool) {
        for update in updates {
            let size = update.raw.len();
            if self.waiting.contains_key(&update.key) {
                continue;
            }
            self.waiting.insert(update.key.clone(), (number, size));
            self.bytes += size;
            *self.batches.entry(number).or_default() += 1;
            self.queue.push_back(Entry { update, is_fresh });
        }
    }
}

#[cfg(test)]
mod tests;
