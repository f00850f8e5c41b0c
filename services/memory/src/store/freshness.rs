//! Files are the truth: before each search, what has changed is read again.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use openclaw_daemon::failure;

use crate::bootstrap::template;
use crate::index::Index;
use crate::source::{self, Sources};
use crate::workspace::{self, Stamp, Workspace};

/// What a search waits at most for files to be read; the rest is taken in
/// beside it.
pub(super) const READING: Duration = Duration::from_millis(100);
/// A look for changes that takes no longer is had before every search: that of
/// some hundred files.
const SHORT_SCAN: Duration = Duration::from_millis(1);
/// Of the time, one part in so many is for longer ones.
const SCAN_SHARE: u32 = 20;
/// However long a scan takes, changes are seen after this time.
const SCAN_INTERVAL: Duration = Duration::from_secs(1);

/// An index and how far it is from the files.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    index: Index,
    /// No scan is due before.
    next_scan: Option<Instant>,
    /// Files that are to be read, the most recently written last.
    pending: Vec<(String, Stamp)>,
    /// Read so soon after a write that the next would look the same.
    young: BTreeSet<String>,
    /// What is left out of the index, as it was logged.
    left_out: BTreeSet<String>,
}

impl Fresh {
    /// The index as it is.
    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    /// The next search looks for changes however recently one did.
    pub(super) fn expire(&mut self) {
        self.next_scan = None;
    }

    /// Looks for changes if that is due, and takes them in for about the time
    /// `reading`, at least one; true when nothing is left to take in.
    pub(super) fn refresh(
        &mut self,
        workspace: &Workspace,
        reading: Duration,
    ) -> Result<bool, workspace::Error> {
        if self.next_scan.is_none_or(|due| due <= Instant::now()) {
            self.scan(workspace)?;
        }
        let begin = Instant::now();
        while let Some((path, stamp)) = self.pending.pop() {
            self.take_in(workspace, &path, stamp);
            if begin.elapsed() >= reading {
                break;
            }
        }
        Ok(self.pending.is_empty())
    }

    fn scan(&mut self, workspace: &Workspace) -> Result<(), workspace::Error> {
        let begin = Instant::now();
        let sources = source::scan(workspace)?;
        self.compare(sources);
        let taken = begin.elapsed();
        let pause = (taken * SCAN_SHARE).min(SCAN_INTERVAL);
        self.next_scan = (taken > SHORT_SCAN).then(|| begin + pause);
        Ok(())
    }

    /// Forgets the files that are gone, and notes which are to be read.
    fn compare(&mut self, sources: Sources) {
        self.say_what_is_left_out(&sources);
        let gone: Vec<String> = self
            .index
            .paths()
            .filter(|path| !sources.files.contains_key(*path))
            .map(str::to_owned)
            .collect();
        for path in gone {
            self.index.remove(&path);
        }
        let young = std::mem::take(&mut self.young);
        let is_known = |path: &str, stamp: &Stamp| {
            let known = self.index.file(path);
            known.is_some_and(|file| file.stamp == *stamp) && !young.contains(path)
        };
        self.pending = sources
            .files
            .into_iter()
            .filter(|(path, stamp)| !is_known(path, stamp))
            .collect();
        self.pending.sort_by_key(|(_, stamp)| stamp.modified_ms());
    }

    fn take_in(&mut self, workspace: &Workspace, path: &str, seen: Stamp) {
        let (text, stamp) = match workspace.read(path) {
            Ok(Some(read)) => read,
            // Gone since; the next scan sees it gone.
            Ok(None) => return,
            Err(error) => {
                // Known without text until it changes, so that this is said once.
                tracing::warn!("a file is not searched: {}", failure::chain(&error));
                (String::new(), seen)
            }
        };
        if stamp.is_young() {
            self.young.insert(path.to_owned());
        }
        let tells = !template::is_unedited(path, &text);
        self.index.put(path, stamp, if tells { &text } else { "" });
    }

    fn say_what_is_left_out(&mut self, sources: &Sources) {
        let problems = sources.left_out.iter();
        let left_out: BTreeSet<String> = problems.map(|p| failure::chain(p)).collect();
        for problem in left_out.difference(&self.left_out) {
            tracing::warn!("{problem}");
        }
        self.left_out = left_out;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn many_new_files_are_taken_in_bit_by_bit_the_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("memory")).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap().unwrap();
        for number in 0..5u64 {
            let path = folder.path().join(format!("memory/{number}.md"));
            let file = fs::File::create(path).unwrap();
            let age = Duration::from_secs(3600 * (number + 1));
            file.set_modified(std::time::SystemTime::now() - age)
                .unwrap();
        }
        let mut fresh = Fresh::default();
        assert!(!fresh.refresh(&workspace, Duration::ZERO).unwrap());
        assert!(fresh.index().file("memory/0.md").is_some());
        assert_eq!(fresh.index().size().0, 1);
        // What has only just been written is read once more.
        let deadline = Instant::now() + Duration::from_secs(5);
        while !fresh.refresh(&workspace, Duration::ZERO).unwrap() {
            assert!(Instant::now() < deadline);
        }
        assert_eq!(fresh.index().size().0, 5);
    }
}
