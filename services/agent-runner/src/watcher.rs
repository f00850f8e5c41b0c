//! News of spools: which file grew (inotify(7)).

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use inotify::{EventMask, EventStream, Inotify, WatchMask};
use tokio::sync::Notify;
use tokio::time::interval;

/// Bytes of events that are read at once: some dozens.
const BUFFER: usize = 4096;
/// Between two looks where there is no news: the kernel counts watchers for each user, and
/// others of this one may have them all.
const PAUSE: Duration = Duration::from_millis(100);

/// Tells readers of spools that there is something to read.
#[derive(Debug)]
pub(crate) struct Watcher {
    readers: Mutex<HashMap<String, Arc<Notify>>>,
}

impl Watcher {
    /// Watches the files in `folder`, or has them looked at again and again where that cannot be
    /// had. Needs the event loop.
    pub(crate) fn new(folder: &Path) -> Arc<Self> {
        let watcher = Arc::new(Self {
            readers: Mutex::default(),
        });
        let teller = Arc::clone(&watcher);
        match news(folder) {
            Ok(news) => tokio::spawn(teller.follow(news)),
            Err(error) => {
                tracing::warn!(
                    %error,
                    folder = %folder.display(),
                    "there is no news of spools: they are looked at every 100 ms"
                );
                tokio::spawn(teller.look())
            }
        };
        watcher
    }

    async fn follow(self: Arc<Self>, mut news: EventStream<[u8; BUFFER]>) {
        while let Some(event) = news.next().await {
            match event {
                Ok(event) if event.mask.contains(EventMask::Q_OVERFLOW) => self.tell(None),
                Ok(event) => self.tell(event.name.as_deref()),
                Err(error) => openclaw_daemon::failure::report("watch the spools", &error),
            }
        }
    }

    /// What is read again without news is read for nothing, and does no harm.
    async fn look(self: Arc<Self>) {
        let mut looks = interval(PAUSE);
        loop {
            looks.tick().await;
            self.tell(None);
        }
    }

    /// A notification for each growth of the file `name`; `forget` ends it.
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

fn news(folder: &Path) -> io::Result<EventStream<[u8; BUFFER]>> {
    let inotify = Inotify::init()?;
    inotify.watches().add(folder, WatchMask::MODIFY)?;
    inotify.into_event_stream([0; BUFFER])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reader_is_told_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.events");
        std::fs::write(&file, "").unwrap();
        let watcher = Watcher::new(folder.path());
        let reader = watcher.of("r.events");
        std::fs::write(&file, "more").unwrap();
        tokio::time::timeout(Duration::from_secs(10), reader.notified())
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn reader_is_told_again_and_again_without_news() {
        let folder = tempfile::tempdir().unwrap();
        // Nothing is watched there.
        let watcher = Watcher::new(&folder.path().join("absent"));
        let reader = watcher.of("r.events");
        for _ in 0..2 {
            tokio::time::timeout(Duration::from_secs(10), reader.notified())
                .await
                .unwrap();
        }
    }
}
