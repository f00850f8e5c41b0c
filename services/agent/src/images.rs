//! Pictures that tools give back. A tool's result is text; they wait here for
//! whoever hands it on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_turn::Image;

/// Those of calls that have ended, by the calls' ids. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Images(Arc<Mutex<HashMap<String, Vec<Image>>>>);

impl Images {
    /// Keeps those of a call.
    pub(crate) fn put(&self, call_id: &str, images: Vec<Image>) {
        if !images.is_empty() {
            self.lock().insert(call_id.to_owned(), images);
        }
    }

    /// Takes those of a call.
    pub(crate) fn take(&self, call_id: &str) -> Vec<Image> {
        self.lock().remove(call_id).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<Image>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
