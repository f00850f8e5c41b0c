//! From texts to vectors whose angle says how much alike the texts are.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) mod spelling;
pub(crate) mod table;
pub(crate) mod vector;

use table::Table;

/// The static table, opened when it is needed: most of the time an assistant is
/// not searching.
#[derive(Debug)]
pub(crate) struct LazyTable {
    folder: Option<PathBuf>,
    table: Mutex<Option<Arc<Table>>>,
}

impl LazyTable {
    /// That of `folder`, if there is one.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            table: Mutex::default(),
        }
    }

    /// The table, or why there is none.
    pub(crate) fn get(&self) -> Result<Arc<Table>, String> {
        let mut table = lock(&self.table);
        if let Some(table) = &*table {
            return Ok(Arc::clone(table));
        }
        let folder = self.folder.as_deref();
        let folder =
            folder.ok_or("no embedding table is configured; only keywords are searched")?;
        let opened = Table::open(folder).map_err(|error| {
            format!(
                "the embedding table cannot be used, only keywords are searched: {}",
                chain(&error)
            )
        })?;
        Ok(Arc::clone(table.insert(Arc::new(opened))))
    }

    /// Closes it until it is needed again.
    pub(crate) fn release(&self) {
        lock(&self.table).take();
    }
}

/// An error with everything it comes from.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text.push_str(": ");
        text.push_str(&source.to_string());
        next = source.source();
    }
    text
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
