//! Comparing all files with the index.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;

use openclaw_daemon::failure;

use super::{Health, Store};
use crate::error::Error;
use crate::source::{self, Place};
use crate::watch::Watcher;
use crate::workspace::{Stamp, Workspace};
use crate::writers;

/// A file to be indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Todo {
    /// Which place.
    pub(crate) place: usize,
    /// Relative to the place.
    pub(crate) path: String,
    /// What it was when it was seen.
    pub(crate) stamp: Stamp,
}

/// The files that a scan of all places found.
#[derive(Debug, Default)]
pub(crate) struct ScanResult {
    /// The most recently written last.
    pub(crate) todo: Vec<Todo>,
    /// Somebody is still writing them.
    pub(crate) open: Vec<Todo>,
    /// All files.
    pub(crate) total: usize,
    /// Whether changes in some folder would not be told.
    pub(crate) unwatched: bool,
}

impl Store {
    /// Looks at every file, watches their folders, and forgets the documents
    /// whose files are gone. `is_open` says of which files it is known that
    /// somebody is writing them.
    pub(crate) fn scan(
        &self,
        watcher: Option<&Watcher>,
        is_open: &dyn Fn(usize, &str) -> bool,
    ) -> Result<ScanResult, Error> {
        self.update_health(Health::look_again);
        if let Some(watcher) = watcher {
            watcher.begin();
        }
        let mut there = BTreeMap::new();
        let mut unread = BTreeSet::new();
        let mut unwatched = false;
        for (number, place) in self.places.all.iter().enumerate() {
            match self.look(number, place, watcher, &mut unwatched) {
                Ok(files) => {
                    for (path, stamp) in files {
                        if let Some(name) = self.places.document(number, &path) {
                            there.insert(
                                name,
                                Todo {
                                    place: number,
                                    path,
                                    stamp,
                                },
                            );
                        }
                    }
                }
                Err(error) => {
                    unread.insert(number);
                    self.complain(format!(
                        "{} is not searched until it can be: {}",
                        place.folder.display(),
                        failure::chain(&error)
                    ));
                }
            }
        }
        if let Some(watcher) = watcher {
            watcher.end();
        }
        let found = self.compare(there, &unread, is_open)?;
        Ok(ScanResult { unwatched, ..found })
    }

    /// A place that cannot be read is not a place without files: what is known
    /// of it stays.
    fn compare(
        &self,
        there: BTreeMap<String, Todo>,
        unread: &BTreeSet<usize>,
        is_open: &dyn Fn(usize, &str) -> bool,
    ) -> Result<ScanResult, Error> {
        let engine = self.engine()?;
        let known = engine.known()?;
        let is_unread = |name: &str| {
            let place = self.places.find(name).map(|(place, _)| place);
            place.is_some_and(|place| unread.contains(&place))
        };
        let gone = known.keys().map(String::as_str);
        let gone: Vec<&str> = gone
            .filter(|name| !there.contains_key(*name) && !is_unread(name))
            .collect();
        if !gone.is_empty() {
            engine.remove(&gone)?;
        }
        let mut found = ScanResult {
            total: there.len(),
            ..ScanResult::default()
        };
        let changed = there.into_iter().filter(|(name, file)| {
            let same = known.get(name) == Some(&file.stamp.to_string());
            !same && !is_open(file.place, &file.path)
        });
        let changed: Vec<Todo> = changed.map(|(_, file)| file).collect();
        let written = self.being_written(&changed);
        for file in changed {
            if written.contains(&self.file(&file)) {
                found.open.push(file)
            } else {
                found.todo.push(file)
            }
        }
        found.todo.sort_by_key(|file| file.stamp.modified_ms());
        Ok(found)
    }

    /// Those that somebody has not finished writing. Lines of a log are whole.
    fn being_written(&self, files: &[Todo]) -> HashSet<PathBuf> {
        let may_be = |file: &&Todo| file.stamp.is_fresh() && !self.places.all[file.place].is_log();
        let fresh: Vec<PathBuf> = files.iter().filter(may_be).map(|f| self.file(f)).collect();
        writers::being_written(&fresh)
    }

    fn file(&self, file: &Todo) -> PathBuf {
        self.places.all[file.place].folder.join(&file.path)
    }

    fn look(
        &self,
        number: usize,
        place: &Place,
        watcher: Option<&Watcher>,
        unwatched: &mut bool,
    ) -> Result<BTreeMap<String, Stamp>, crate::workspace::Error> {
        let Some(root) = self.open_or_await(number, place, watcher)? else {
            return Ok(BTreeMap::new());
        };
        let mut unseen = Vec::new();
        let listed = source::scan(place, &root, &mut |open, folder| {
            if let Some(watcher) = watcher
                && let Err(error) = watcher.add(open, number, folder)
                // The folder above tells when it comes.
                && !error.is_absence()
            {
                unseen.push(error);
            }
        })?;
        if let Some(error) = unseen.first() {
            *unwatched = true;
            self.complain(format!(
                "changes in {} folders of {} are seen late: {}",
                unseen.len(),
                place.folder.display(),
                failure::chain(error)
            ));
        }
        for problem in &listed.left_out {
            self.complain(failure::chain(problem));
        }
        Ok(listed.files)
    }

    /// The place, open; when it is not there, its coming is watched for.
    fn open_or_await(
        &self,
        number: usize,
        place: &Place,
        watcher: Option<&Watcher>,
    ) -> Result<Option<Workspace>, crate::workspace::Error> {
        if let Some(root) = place.open()? {
            return Ok(Some(root));
        }
        if let Some(watcher) = watcher
            && let Err(error) = watcher.await_arrival(&place.folder, number)
        {
            self.complain(failure::chain(&error));
        }
        // It may have come before it was watched for.
        place.open()
    }
}
