//! Announcements that were sent, so that a client that repeats one is noticed.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Announcements whose repetition is noticed. A client repeats at once or never.
const LIMIT: usize = 256;

/// The idempotency keys of announcements, the newest last.
#[derive(Debug, Default)]
pub(crate) struct RecentSends(Mutex<VecDeque<String>>);

impl RecentSends {
    /// Whether nothing with this idempotency key was sent yet.
    pub(crate) fn is_new(&self, key: &str) -> bool {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.iter().any(|known| known == key) {
            return false;
        }
        keys.push_back(key.to_owned());
        if keys.len() > LIMIT {
            keys.pop_front();
        }
        true
    }
}
