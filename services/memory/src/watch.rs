//! Seeing changes as they happen: inotify(7).
//!
//! Directly, and not by the crate `notify`: that asks for IN_OPEN too, so that
//! every file we read would wake us, and it has a thread of its own.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inotify::{EventMask, EventOwned, EventStream, Inotify, WatchDescriptor, WatchMask, Watches};
use openclaw_folder::Folder;
use tokio_stream::StreamExt as _;

/// One mask for every folder: a second watch of the same folder replaces the
/// first one's.
const MASK: WatchMask = WatchMask::CREATE
    .union(WatchMask::MODIFY)
    .union(WatchMask::CLOSE_WRITE)
    .union(WatchMask::MOVED_FROM)
    .union(WatchMask::MOVED_TO)
    .union(WatchMask::DELETE)
    .union(WatchMask::DELETE_SELF)
    .union(WatchMask::MOVE_SELF)
    .union(WatchMask::ONLYDIR);
/// Room for some dozen events at once, in bytes; one has 272 at most.
const BUFFER: usize = 4096;

/// What a folder is watched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// The files in it, which are those of `folder` in place number `place`.
    Files {
        /// Which place.
        place: usize,
        /// Relative to the place; empty for the place itself.
        folder: String,
    },
    /// The place, which is not there yet, to appear below it.
    Arrival {
        /// Which place.
        place: usize,
    },
}

/// How far the writing of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It is there, and nobody has written to it yet.
    Created,
    /// Somebody is writing.
    Writing,
    /// The file was closed after writing, moved, or deleted.
    Settled,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// Something about one file.
    File {
        /// Which place.
        place: usize,
        /// Relative to the place.
        path: String,
        /// What.
        phase: Phase,
    },
    /// Folders came or went: all of the place is to be looked at.
    Folder {
        /// Which place.
        place: usize,
    },
    /// Events were lost: everything is to be looked at.
    Lost,
}

/// Why changes are not seen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// No watches at all.
    #[error("watch files: no inotify instance (fs.inotify.max_user_instances may be reached)")]
    Instances(#[source] io::Error),
    /// Not this one.
    #[error("watch {path}{}", advice(source))]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The descriptor itself.
    #[error("wait for changes of files")]
    Wait(#[source] io::Error),
}

impl Error {
    /// Whether there is nothing to watch.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Self::Folder { source, .. } if source.kind() == ErrorKind::NotFound)
    }
}

/// ENOSPC has nothing to do with the disk here (inotify_add_watch(2)).
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull => " (raise fs.inotify.max_user_watches)",
        _ => "",
    }
}

/// Watches folders. Adding is possible from any thread.
#[derive(Debug)]
pub(crate) struct Watcher {
    watches: Watches,
    folders: Mutex<Folders>,
}

#[derive(Debug, Default)]
struct Folders {
    of: HashMap<WatchDescriptor, Vec<Target>>,
    /// Those that were added since [`Watcher::begin`].
    seen: HashMap<WatchDescriptor, Vec<Target>>,
}

/// What happens in the folders that are watched.
pub(crate) struct Events {
    stream: EventStream<[u8; BUFFER]>,
    watcher: Arc<Watcher>,
}

impl Watcher {
    /// Watches nothing yet. Needs a runtime around it.
    pub(crate) fn new() -> Result<(Arc<Self>, Events), Error> {
        let inotify = Inotify::init().map_err(Error::Instances)?;
        let watcher = Arc::new(Self {
            watches: inotify.watches(),
            folders: Mutex::default(),
        });
        let stream = inotify
            .into_event_stream([0; BUFFER])
            .map_err(Error::Wait)?;
        let events = Events {
            stream,
            watcher: Arc::clone(&watcher),
        };
        Ok((watcher, events))
    }

    /// From here on, what is not added again by [`Watcher::end`] is dropped.
    pub(crate) fn begin(&self) {
        self.folders().seen.clear();
    }

    /// Drops the watches that were not added since [`Watcher::begin`]: of
    /// folders that were moved away, and would go on to tell of themselves.
    pub(crate) fn end(&self) {
        let mut folders = self.folders();
        let seen = std::mem::take(&mut folders.seen);
        let before = std::mem::replace(&mut folders.of, seen);
        for watch in before.into_keys() {
            if !folders.of.contains_key(&watch) {
                // Of a folder that is gone the kernel has dropped it.
                let _ = self.watches.clone().remove(watch);
            }
        }
    }

    /// Watches `open`, which is `folder` of place number `place`.
    pub(crate) fn add(&self, open: &Folder, place: usize, folder: &str) -> Result<(), Error> {
        let folder = folder.to_owned();
        // The folder that is open, whatever has its name by now.
        let path = format!("/proc/self/fd/{}", open.as_fd().as_raw_fd());
        let target = Target::Files { place, folder };
        self.insert(Path::new(&path), open.path(), target)
    }

    /// Watches for the place `path`, which is not there: its nearest folder
    /// that is there tells when the next one comes.
    pub(crate) fn await_arrival(&self, path: &Path, place: usize) -> Result<(), Error> {
        for above in path.ancestors().skip(1) {
            match self.insert(above, above, Target::Arrival { place }) {
                Err(Error::Folder { source, .. })
                    if matches!(
                        source.kind(),
                        ErrorKind::NotFound | ErrorKind::NotADirectory
                    ) => {}
                other => return other,
            }
        }
        Ok(())
    }

    /// Watches `path`, which people know as `shown`.
    fn insert(&self, path: &Path, shown: &Path, target: Target) -> Result<(), Error> {
        let mut folders = self.folders();
        let added = self.watches.clone().add(path, MASK);
        let watch = added.map_err(|source| Error::Folder {
            path: shown.to_owned(),
            source,
        })?;
        let Folders { of, seen } = &mut *folders;
        for targets in [
            of.entry(watch.clone()).or_default(),
            seen.entry(watch).or_default(),
        ] {
            if !targets.contains(&target) {
                targets.push(target.clone());
            }
        }
        Ok(())
    }

    fn translate(&self, event: &EventOwned) -> Vec<Event> {
        if event.mask.contains(EventMask::Q_OVERFLOW) {
            return vec![Event::Lost];
        }
        let mut folders = self.folders();
        let targets = if event.mask.contains(EventMask::IGNORED) {
            folders.of.remove(&event.wd)
        } else {
            folders.of.get(&event.wd).cloned()
        };
        let targets = targets.into_iter().flatten();
        targets.filter_map(|target| one(event, target)).collect()
    }

    fn folders(&self) -> MutexGuard<'_, Folders> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Events {
    /// Waits for what happens next.
    pub(crate) async fn next(&mut self) -> Result<Vec<Event>, Error> {
        loop {
            let event = self.stream.next().await;
            let event = event.unwrap_or_else(|| Err(ErrorKind::UnexpectedEof.into()));
            let events = self.watcher.translate(&event.map_err(Error::Wait)?);
            if !events.is_empty() {
                return Ok(events);
            }
        }
    }
}

fn one(event: &EventOwned, target: Target) -> Option<Event> {
    let has = |flags: EventMask| event.mask.intersects(flags);
    let is_folder = has(EventMask::ISDIR);
    let itself = has(EventMask::DELETE_SELF | EventMask::MOVE_SELF);
    let (place, folder) = match target {
        Target::Arrival { place } => {
            return (is_folder || itself).then_some(Event::Folder { place });
        }
        Target::Files { place, folder } => (place, folder),
    };
    if itself || is_folder {
        return Some(Event::Folder { place });
    }
    let name = event.name.as_deref().and_then(OsStr::to_str)?;
    let path = if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    };
    let phase = if has(EventMask::MODIFY) {
        Phase::Writing
    } else if has(EventMask::CREATE) {
        Phase::Created
    } else {
        Phase::Settled
    };
    Some(Event::File { place, path, phase })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write as _;
    use std::time::Duration;

    use super::*;

    fn open(path: &Path) -> Folder {
        Folder::open(path).unwrap().unwrap()
    }

    async fn next(events: &mut Events) -> Vec<Event> {
        let next = tokio::time::timeout(Duration::from_secs(5), events.next());
        next.await.unwrap().unwrap()
    }

    /// All events until one of `path` in `phase`.
    async fn until(events: &mut Events, path: &str, phase: Phase) -> Vec<Event> {
        let mut all = Vec::new();
        let wanted = Event::File {
            place: 0,
            path: path.to_owned(),
            phase,
        };
        while !all.contains(&wanted) {
            all.extend(next(events).await);
        }
        all
    }

    #[tokio::test]
    async fn file_is_settled_when_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let (watcher, mut events) = Watcher::new().unwrap();
        watcher.add(&open(folder.path()), 0, "memory").unwrap();
        let mut file = File::create(folder.path().join("a.md")).unwrap();
        until(&mut events, "memory/a.md", Phase::Created).await;
        file.write_all(b"half").unwrap();
        let written = until(&mut events, "memory/a.md", Phase::Writing).await;
        let settled = Event::File {
            place: 0,
            path: "memory/a.md".to_owned(),
            phase: Phase::Settled,
        };
        assert!(!written.contains(&settled));
        drop(file);
        until(&mut events, "memory/a.md", Phase::Settled).await;
        fs::remove_file(folder.path().join("a.md")).unwrap();
        until(&mut events, "memory/a.md", Phase::Settled).await;
    }

    #[tokio::test]
    async fn reading_does_not_wake_anybody() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.md"), "a").unwrap();
        let (watcher, mut events) = Watcher::new().unwrap();
        watcher.add(&open(folder.path()), 0, "").unwrap();
        fs::read(folder.path().join("a.md")).unwrap();
        fs::write(folder.path().join("b.md"), "").unwrap();
        let first = next(&mut events).await.swap_remove(0);
        assert!(matches!(first, Event::File { path, .. } if path == "b.md"));
    }

    #[tokio::test]
    async fn place_that_is_not_there_is_told_of_when_it_comes() {
        let folder = tempfile::tempdir().unwrap();
        let (watcher, mut events) = Watcher::new().unwrap();
        let place = folder.path().join("agents/main/sessions");
        watcher.await_arrival(&place, 7).unwrap();
        fs::create_dir(folder.path().join("agents")).unwrap();
        assert_eq!(next(&mut events).await, [Event::Folder { place: 7 }]);
        watcher.await_arrival(&place, 7).unwrap();
        fs::create_dir_all(&place).unwrap();
        assert_eq!(next(&mut events).await, [Event::Folder { place: 7 }]);
    }

    #[tokio::test]
    async fn folders_that_are_not_added_again_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, dropped) = (folder.path().join("kept"), folder.path().join("dropped"));
        fs::create_dir(&kept).unwrap();
        fs::create_dir(&dropped).unwrap();
        let (watcher, mut events) = Watcher::new().unwrap();
        watcher.add(&open(&kept), 0, "").unwrap();
        watcher.add(&open(&dropped), 0, "").unwrap();
        watcher.begin();
        watcher.add(&open(&kept), 0, "").unwrap();
        watcher.end();
        fs::write(dropped.join("a.md"), "").unwrap();
        fs::write(kept.join("b.md"), "").unwrap();
        let first = next(&mut events).await;
        assert!(!format!("{first:?}").contains("a.md"), "{first:?}");
        until(&mut events, "b.md", Phase::Settled).await;
    }
}
