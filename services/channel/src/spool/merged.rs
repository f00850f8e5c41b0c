//! Which updates were handed in as one message. The gateway knows such a message
//! by the first one's key alone, so what was put together must be the same after a
//! crash, and the others must not come again by themselves.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::durable;

/// How long a provider's repetition is known.
pub(super) const KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1000;

#[derive(Serialize, Deserialize)]
struct Line {
    at: i64,
    keys: Vec<String>,
}

/// The updates that became one message, by each of their keys.
#[derive(Debug)]
pub struct Merged {
    path: PathBuf,
    groups: Mutex<HashMap<String, Arc<[String]>>>,
}

impl Merged {
    /// Reads the file `path`, without what is older than 30 days.
    pub fn open(path: &Path, now_ms: i64) -> io::Result<Self> {
        let content = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            content => content?,
        };
        let lines: Vec<Line> = content
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        let all = lines.len();
        let kept: Vec<Line> = lines
            .into_iter()
            .filter(|line| line.at > now_ms - KEPT_MS)
            .collect();
        if kept.len() < all {
            let text = kept
                .iter()
                .filter_map(|line| serde_json::to_string(line).ok());
            let text: String = text.map(|line| line + "\n").collect();
            durable::replace(path, text.as_bytes())?;
        }
        let merged = Self {
            path: path.to_owned(),
            groups: Mutex::default(),
        };
        kept.into_iter().for_each(|line| merged.know(line.keys));
        Ok(merged)
    }

    /// The updates that became one message with `key`, the first one first.
    pub(crate) fn group(&self, key: &str) -> Option<Arc<[String]>> {
        self.groups().get(key).cloned()
    }

    /// Remembers that these become one message.
    pub(crate) fn record(&self, keys: Vec<String>, now_ms: i64) -> io::Result<()> {
        let line = Line { at: now_ms, keys };
        durable::append(&self.path, &serde_json::to_string(&line)?)?;
        self.know(line.keys);
        Ok(())
    }

    fn know(&self, keys: Vec<String>) {
        let keys: Arc<[String]> = keys.into();
        let mut groups = self.groups();
        for key in keys.iter() {
            groups.insert(key.clone(), Arc::clone(&keys));
        }
    }

    fn groups(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<[String]>>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
