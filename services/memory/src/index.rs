//! The index of one agent: opened when it is first needed, made anew when it
//! is broken.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_retrieval::{Engine, Error, Opened, Options};

/// An index in a folder that can be deleted at any time.
#[derive(Debug)]
pub(crate) struct Index {
    folder: PathBuf,
    options: Options,
    engine: Mutex<Option<Arc<Engine>>>,
}

impl Index {
    /// The index in `folder`, not opened yet.
    pub(crate) fn new(folder: PathBuf, options: Options) -> Self {
        Self {
            folder,
            options,
            engine: Mutex::default(),
        }
    }

    /// Where it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The engine; whoever opens it first waits.
    pub(crate) fn engine(&self) -> Result<Arc<Engine>, Error> {
        let mut engine = self.lock();
        if let Some(engine) = &*engine {
            return Ok(Arc::clone(engine));
        }
        let (opened, how) = Engine::open(&self.folder, self.options.clone())?;
        if let Opened::Rebuilt { reason } = how {
            tracing::warn!(
                index = %self.folder.display(),
                "the index was broken ({reason}) and is made anew from the files"
            );
        }
        let opened = Arc::new(opened);
        *engine = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// The engine, if it is open.
    pub(crate) fn opened(&self) -> Option<Arc<Engine>> {
        self.lock().clone()
    }

    /// The next user opens it again, which makes a broken one anew.
    pub(crate) fn close(&self) {
        self.lock().take();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Engine>>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
