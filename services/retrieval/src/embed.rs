//! From texts to vectors whose angle says how much alike the texts are.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::Options;
use crate::error::Error;

#[cfg(feature = "minilm")]
mod minilm;
pub(crate) mod table;
pub(crate) mod vector;
pub(crate) mod wordpiece;

use table::Table;

/// Makes vectors of texts, all of one size, that can be compared with each
/// other and with those of no other embedder.
pub(crate) trait Embedder: std::fmt::Debug + Send + Sync {
    /// Names the vectors it makes.
    fn model(&self) -> &str;
    /// The vectors of `texts`, in their order.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error>;
}

impl Embedder for Table {
    fn model(&self) -> &str {
        "static"
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        Ok(texts.iter().map(|text| self.sum(text).to_vec()).collect())
    }
}

/// The embedders there are, opened when they are needed: most of the time an
/// assistant is not searching.
#[derive(Debug)]
pub(crate) struct Embedders {
    options: Options,
    table: Mutex<Option<Arc<Table>>>,
    minilm: Mutex<Option<Arc<dyn Embedder>>>,
}

impl Embedders {
    /// Those that `options` name.
    pub(crate) fn new(options: Options) -> Self {
        Self {
            options,
            table: Mutex::default(),
            minilm: Mutex::default(),
        }
    }

    /// The static table, or why there is none.
    pub(crate) fn table(&self) -> Result<Arc<Table>, String> {
        let mut table = lock(&self.table);
        if let Some(table) = &*table {
            return Ok(Arc::clone(table));
        }
        let folder = self.options.table.as_deref();
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

    /// MiniLM, or why there is none.
    pub(crate) fn minilm(&self) -> Result<Arc<dyn Embedder>, String> {
        let mut minilm = lock(&self.minilm);
        if let Some(minilm) = &*minilm {
            return Ok(Arc::clone(minilm));
        }
        let folder = self.options.minilm.as_deref();
        let folder = folder.ok_or("no folder of MiniLM is configured; going on without it")?;
        let opened = open_minilm(folder)?;
        Ok(Arc::clone(minilm.insert(opened)))
    }

    /// Closes them until they are needed again.
    pub(crate) fn release(&self) {
        lock(&self.table).take();
        lock(&self.minilm).take();
    }
}

#[cfg(feature = "minilm")]
fn open_minilm(folder: &Path) -> Result<Arc<dyn Embedder>, String> {
    let opened = minilm::MiniLm::open(folder).map_err(|error| {
        format!(
            "MiniLM cannot be used, going on without it: {}",
            chain(&error)
        )
    })?;
    Ok(Arc::new(opened))
}

#[cfg(not(feature = "minilm"))]
fn open_minilm(_folder: &Path) -> Result<Arc<dyn Embedder>, String> {
    Err("this program was built without MiniLM (feature minilm); going on without it".to_owned())
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
