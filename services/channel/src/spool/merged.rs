//! Which updates were handed in as one message. The gateway knows such a message
//! by the first one's key alone, so what was put together must be the same after a
//! crash, and the others must not come again by themselves.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::durable;

/// How long a provider's repetition is known.
pub(super) const KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1000;
/// Updates that are known so; beyond that the oldest are forgotten. A provider that
/// was told of an update repeats it within hours, if at all.
pub(super) const KEYS_LIMIT: usize = 20_000;
/// Lines of the file that say nothing any more, before it is written anew.
const STALE_LINES: usize = 1000;

/// The updates that became one message, the first one first.
type Group = Arc<[Arc<str>]>;

#[derive(Serialize, Deserialize)]
struct Line<K> {
    at: i64,
    keys: Vec<K>,
}

/// The updates that became one message, by each of their keys.
#[derive(Debug)]
pub struct Merged {
    path: PathBuf,
    /// Lines of the file. Held while it is written.
    lines: Mutex<usize>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    groups: HashMap<Arc<str>, Group>,
    /// The oldest first.
    order: VecDeque<(i64, Group)>,
}

impl Merged {
    /// Reads the file `path`, without what is older than 30 days.
    pub fn open(path: &Path, now_ms: i64) -> io::Result<Self> {
        let content = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            content => content?,
        };
        let lines: Vec<Line<String>> = content
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        let all = lines.len();
        let mut known = Known::default();
        for line in lines {
            known.add(line.at, group(&line.keys));
        }
        known.forget_old(now_ms);
        if known.order.len() < all {
            durable::replace(path, known.text().as_bytes())?;
        }
        Ok(Self {
            path: path.to_owned(),
            lines: Mutex::new(known.order.len()),
            known: Mutex::new(known),
        })
    }

    /// The updates that became one message with `key`, the first one first.
    pub(crate) fn group(&self, key: &str) -> Option<Group> {
        lock(&self.known).groups.get(key).cloned()
    }

    /// Remembers that these become one message.
    pub(crate) fn record(&self, keys: &[String], now_ms: i64) -> io::Result<()> {
        let mut lines = lock(&self.lines);
        let kept = {
            let mut known = lock(&self.known);
            known.add(now_ms, group(keys));
            known.forget_old(now_ms);
            let is_stale = *lines > 2 * known.order.len() + STALE_LINES;
            is_stale.then(|| known.text())
        };
        let written = match kept {
            Some(text) => {
                *lines = text.lines().count();
                durable::replace(&self.path, text.as_bytes())
            }
            None => {
                *lines += 1;
                let keys = keys.iter().map(String::as_str).collect();
                let line = serde_json::to_string(&Line { at: now_ms, keys })?;
                durable::append(&self.path, &line)
            }
        };
        if written.is_err() {
            self.forget(&keys[0]);
        }
        written
    }

    /// These are no message that anybody knows; `first` is the first one's key. The
    /// file still has them, for a while.
    pub(crate) fn forget(&self, first: &str) {
        let mut known = lock(&self.known);
        let Some(group) = known.groups.get(first).cloned() else {
            return;
        };
        // It was added a moment ago.
        let place = known
            .order
            .iter()
            .rposition(|(_, it)| Arc::ptr_eq(it, &group));
        if let Some((_, group)) = place.and_then(|at| known.order.remove(at)) {
            known.remove(&group);
        }
    }
}

impl Known {
    fn add(&mut self, at: i64, group: Group) {
        for key in group.iter() {
            self.groups.insert(Arc::clone(key), Arc::clone(&group));
        }
        self.order.push_back((at, group));
    }

    /// Forgets what is older than 30 days, and what is more than may be known.
    fn forget_old(&mut self, now_ms: i64) {
        while let Some((at, _)) = self.order.front()
            && (*at <= now_ms - KEPT_MS || self.groups.len() > KEYS_LIMIT)
            && let Some((_, group)) = self.order.pop_front()
        {
            self.remove(&group);
        }
    }

    fn remove(&mut self, group: &Group) {
        for key in group.iter() {
            // Not where it became part of another one since.
            if self
                .groups
                .get(key)
                .is_some_and(|it| Arc::ptr_eq(it, group))
            {
                self.groups.remove(key);
            }
        }
    }

    fn text(&self) -> String {
        let lines = self.order.iter().filter_map(|(at, group)| {
            let keys: Vec<&str> = group.iter().map(|key| &**key).collect();
            serde_json::to_string(&Line { at: *at, keys }).ok()
        });
        lines.map(|line| line + "\n").collect()
    }
}

fn group(keys: &[String]) -> Group {
    keys.iter().map(|key| key.as_str().into()).collect()
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
