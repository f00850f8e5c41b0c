//! News of spools: which file grew (inotify(7)).

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt as _;
use inotify::{EventMask, Inotify, WatchMask};
use tokio::sync::Notify;

/// Bytes of events that are read at once: some dozens.
const BUFFER: usize = 4096;

/// Tells readers of spools that there is something to read.
#[derive(Debug)]
pub(crate) struct Watcher {
    readers: Mutex<HashMap<String, Arc<Notify>>>,
}

impl Watcher {
    /// Watches the files in `folder`. Needs the event loop.
    pub(crate) fn new(folder: &Path) -> io::Result<Arc<Self>> {
        let inotify = Inotify::init()?;
        inotify.watches().add(folder, WatchMask::MODIFY)?;
        let mut news = inotify.into_event_stream([0; BUFFER])?;
        let watcher = Arc::new(Self {
            readers: Mutex::default(),
        });
        let teller = Arc::clone(&watcher);
        tokio::spawn(async move {
            while let Some(event) = news.next().await {
                match event {
                    Ok(event) if event.mask.contains(EventMask::Q_OVERFLOW) => teller.tell(None),
                    Ok(event) => teller.tell(event.name.as_deref()),
                    Err(error) => {
                        openclaw_daemon::failure::report("watch the spools", &error);
                    }
                }
            }
        });
        Ok(watcher)
    }

    /// What is notified when the file `name` grew; `forget` ends it.
    pub(crate) fn of(&self, name: &str) -> Arc<Notify> {
        let mut readers = self.lock();
        Arc::clone(readers.entry(name.to_owned()).or_default())
    }

    /// Nobody reads `name` any more.
    pub(crate) fn forget(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Without a name the queue ran over, and it may have been anybody.
    fn tell(&self, name: Option<&OsStr>) {
        let readers = self.lock();
        match name.and_then(OsStr::to_str) {
            Some(name) => {
                if let Some(reader) = readers.get(name) {
                    reader.notify_one();
                }
            }
            None => readers.values().for_each(|reader| reader.notify_one()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Notify>>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reader_is_told_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.events");
        std::fs::write(&file, "").unwrap();
        let watcher = Watcher::new(folder.path()).unwrap();
        let reader = watcher.of("r.events");
        std::fs::write(&file, "more").unwrap();
        tokio::time::timeout(std::time::Duration::from_secs(10), reader.notified())
            .await
            .unwrap();
    }
}
