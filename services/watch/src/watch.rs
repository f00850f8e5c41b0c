//! News of the configuration's files (inotify(7)).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt as _;
use inotify::{Event, EventMask, EventStream, Inotify, WatchDescriptor, WatchMask};
use openclaw_config::Environment;
use tokio::time::{Instant, timeout, timeout_at};

use crate::files;

/// Room for some events with their names; more come with the next read.
const BUFFER: usize = 4096;
/// Files that are saved together are read together: so long nothing more may
/// happen before they are read.
const QUIET: Duration = Duration::from_millis(100);
/// But this long at most.
const LONGEST: Duration = Duration::from_secs(1);

/// Watches the files that make the configuration.
#[derive(Debug)]
pub struct Watch {
    events: EventStream<[u8; BUFFER]>,
    environment: Environment,
    folders: Vec<(WatchDescriptor, PathBuf)>,
    files: BTreeSet<PathBuf>,
    stamp: u64,
}

impl Watch {
    /// Begins to watch.
    ///
    /// # Errors
    /// There is no further inotify instance for this user.
    pub fn new(environment: &Environment) -> io::Result<Self> {
        let events = Inotify::init()?.into_event_stream([0; BUFFER])?;
        let mut watch = Self {
            events,
            environment: environment.clone(),
            folders: Vec::new(),
            files: BTreeSet::new(),
            stamp: 0,
        };
        watch.look();
        Ok(watch)
    }

    /// Waits until what the files say has changed.
    ///
    /// # Errors
    /// No further news can be read.
    pub async fn changed(&mut self) -> io::Result<()> {
        loop {
            let before = self.stamp;
            self.touched().await?;
            if self.stamp != before {
                return Ok(());
            }
        }
    }

    /// Waits until something was done with the files, whatever they say after that: what
    /// was changed and changed back is told, too, once.
    ///
    /// # Errors
    /// No further news can be read.
    pub async fn touched(&mut self) -> io::Result<()> {
        self.concerned().await?;
        self.settle().await?;
        self.look();
        Ok(())
    }

    /// Which files and folders there are now, and what the files say.
    pub fn look(&mut self) {
        let files::Files { paths, stamp } = files::of(&self.environment);
        self.stamp = stamp;
        self.files = paths.into_iter().collect();
        let folders: BTreeSet<PathBuf> = self
            .files
            .iter()
            .filter_map(|path| path.parent())
            .map(Path::to_owned)
            .collect();
        let mut watches = self.events.watches();
        self.folders.retain(|(watch, folder)| {
            let wanted = folders.contains(folder);
            if !wanted {
                // It fails for a folder that is gone, which is no loss.
                let _ = watches.remove(watch.clone());
            }
            wanted
        });
        for folder in folders {
            // The same folder again gives the same watch. One that is not
            // there yet is found through its parent.
            if let Ok(watch) = watches.add(&folder, interesting()) {
                self.folders.retain(|(known, _)| *known != watch);
                self.folders.push((watch, folder));
            }
        }
    }

    /// Waits for an event of one of the files.
    async fn concerned(&mut self) -> io::Result<()> {
        loop {
            if self.next().await? {
                return Ok(());
            }
        }
    }

    /// Waits until nothing happens any more.
    async fn settle(&mut self) -> io::Result<()> {
        let end = Instant::now() + LONGEST;
        while let Ok(Ok(event)) = timeout_at(end, timeout(QUIET, self.next())).await {
            event?;
        }
        Ok(())
    }

    /// Whether the next event is about one of the files.
    async fn next(&mut self) -> io::Result<bool> {
        match self.events.next().await {
            Some(event) => Ok(self.concerns(&event?)),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn concerns(&self, event: &Event<OsString>) -> bool {
        let folder = self.folders.iter().find(|(watch, _)| *watch == event.wd);
        match (folder, &event.name) {
            (Some((_, folder)), Some(name)) => {
                let new = event.mask.contains(EventMask::CREATE);
                self.is_one(folder, &folder.join(name), new)
            }
            // A watch that was taken back just now.
            (None, _) if event.mask.contains(EventMask::IGNORED) => false,
            // The folder itself went away, or events were lost.
            _ => true,
        }
    }

    fn is_one(&self, folder: &Path, path: &Path, new: bool) -> bool {
        // A file that was just made is empty; it is read when it is closed.
        let is_unfinished = new && path.is_file() && !path.is_symlink();
        let is_listed = self.files.contains(path) || self.files.contains(&folder.join(files::ANY));
        let leads_there = self.files.iter().any(|file| file.parent() == Some(path));
        (is_listed && !is_unfinished) || leads_there
    }
}

fn interesting() -> WatchMask {
    WatchMask::CLOSE_WRITE
        | WatchMask::CREATE
        | WatchMask::DELETE
        | WatchMask::MOVE
        | WatchMask::ONLYDIR
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Long enough for a loaded machine.
    const DEADLINE: Duration = Duration::from_secs(20);

    async fn told(watch: &mut Watch) {
        timeout(DEADLINE, watch.changed()).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn watch_every_file_that_takes_part_is_watched() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let environment = [("OPENCLAW_STATE_DIR", state.to_str().unwrap())];
        let mut watch = Watch::new(&environment.into_iter().collect()).unwrap();
        let file = state.join("openclaw.json");
        fs::write(&file, "{ $include: 'parts/a.json' }").unwrap();
        told(&mut watch).await;
        fs::create_dir(state.join("parts")).unwrap();
        fs::write(state.join("parts/a.json"), "{}").unwrap();
        told(&mut watch).await;
        fs::write(state.join("parts/a.json"), "{ logging: {} }").unwrap();
        told(&mut watch).await;
        fs::write(state.join(".env"), "A=1").unwrap();
        told(&mut watch).await;
        fs::create_dir(state.join("openclaw.json.d")).unwrap();
        fs::write(state.join("openclaw.json.d/10.json"), "{ x: 1 }").unwrap();
        told(&mut watch).await;
        fs::write(state.join("new"), "{}").unwrap();
        fs::rename(state.join("new"), &file).unwrap();
        told(&mut watch).await;
        fs::remove_file(&file).unwrap();
        told(&mut watch).await;
    }

    #[tokio::test]
    async fn watch_other_files_and_the_same_content_are_no_news() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let environment = [("OPENCLAW_STATE_DIR", state.to_str().unwrap())];
        let file = state.join("openclaw.json");
        fs::write(&file, "{}").unwrap();
        let mut watch = Watch::new(&environment.into_iter().collect()).unwrap();
        fs::write(state.join("other.json"), "{}").unwrap();
        fs::write(&file, "{}").unwrap();
        let quiet = timeout(QUIET * 5, watch.changed()).await;
        assert!(quiet.is_err(), "nothing has changed");
        fs::write(&file, "{ logging: {} }").unwrap();
        told(&mut watch).await;
        // For whoever has to know what was said in between, it is news.
        fs::write(&file, "{}").unwrap();
        fs::write(&file, "{ logging: {} }").unwrap();
        timeout(DEADLINE, watch.touched()).await.unwrap().unwrap();
    }
}
