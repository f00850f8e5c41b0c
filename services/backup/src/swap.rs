//! Putting a folder in the place of another: a crash leaves the one or the other.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::error::Error;
use crate::unfinished::{self, Beside, Unfinished};

/// Where a folder is to be, with the names that are used beside it.
#[derive(Debug)]
pub(crate) struct Swap {
    /// The place.
    pub(crate) place: PathBuf,
    /// Where the new folder is made: what a killed process leaves there is half of one.
    pub(crate) staging: PathBuf,
    _beside: Beside,
    /// Where it goes when it is whole, and the old one for a moment after it.
    whole: PathBuf,
    /// Where the old one goes.
    aside: PathBuf,
}

impl Swap {
    /// That of `place`, in which no link is; `stamp` makes the names. What is made is removed
    /// where `unfinished` ends it.
    pub(crate) fn at(place: PathBuf, stamp: &str, unfinished: &Unfinished) -> Result<Self, Error> {
        if is_mounted(&place) {
            return Err(Error::Mounted(place));
        }
        let named = |what: &str| {
            let mut name = place.file_name().unwrap_or_default().to_owned();
            name.push(format!(".{what}-{stamp}"));
            free(place.with_file_name(name))
        };
        let parent = place.parent().unwrap_or(Path::new("/"));
        let beside = Beside::new(parent, unfinished::RESTORE, unfinished)?;
        Ok(Self {
            staging: beside.path().join("new"),
            _beside: beside,
            whole: named("restored"),
            aside: named("before-restore"),
            place,
        })
    }

    /// Puts the new folder into its place; where the old one is now, if there
    /// was one.
    pub(crate) fn exchange(&self) -> Result<Option<PathBuf>, Error> {
        if self.place.symlink_metadata().is_err() {
            rename(&self.staging, &self.place, RenameFlags::NOREPLACE)?;
            sync_parent(&self.place)?;
            return Ok(None);
        }
        // Whoever finds it from here on finds a whole one.
        rename(&self.staging, &self.whole, RenameFlags::NOREPLACE)?;
        match rename(&self.whole, &self.place, RenameFlags::EXCHANGE) {
            Ok(()) => rename(&self.whole, &self.aside, RenameFlags::NOREPLACE)?,
            // A file system that cannot do both at once.
            Err(Error::Io { source, .. }) if is_unknown(&source) => self.one_after_the_other()?,
            Err(error) => return Err(error),
        }
        sync_parent(&self.place)?;
        Ok(Some(self.aside.clone()))
    }

    fn one_after_the_other(&self) -> Result<(), Error> {
        let failed = |path| Error::io("rename", path);
        fs::rename(&self.place, &self.aside).map_err(failed(&self.place))?;
        fs::rename(&self.whole, &self.place).map_err(|error| {
            // Back to what it was, as far as that goes.
            let _ = fs::rename(&self.aside, &self.place);
            failed(&self.whole)(error)
        })
    }
}

/// `path` without links, as far as there is something.
pub(crate) fn real(path: &Path) -> Result<PathBuf, Error> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        found => found.map_err(Error::io("look at", path)),
    }
}

/// `path`, or the first like it that is not there: of two restores in a second
/// each has its own.
fn free(path: PathBuf) -> PathBuf {
    let mut free = path.clone();
    let mut number = 1;
    while free.symlink_metadata().is_ok() {
        number += 1;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!("-{number}"));
        free = path.with_file_name(name);
    }
    free
}

fn rename(from: &Path, to: &Path, flags: RenameFlags) -> Result<(), Error> {
    match renameat_with(CWD, from, CWD, to, flags) {
        // Without the flag it would be the same: nobody else is told the name.
        Err(Errno::INVAL | Errno::NOSYS) if flags == RenameFlags::NOREPLACE => {
            fs::rename(from, to).map_err(Error::io("rename", from))
        }
        renamed => renamed.map_err(|errno| Error::io("rename", from)(errno.into())),
    }
}

fn is_unknown(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::INVAL | Errno::NOSYS))
}

/// Whether another file system begins there.
fn is_mounted(place: &Path) -> bool {
    let device = |path: &Path| path.metadata().map(|found| found.dev()).ok();
    let parent = place.parent().and_then(device);
    device(place).is_some_and(|own| parent.is_some_and(|parent| parent != own))
}

fn sync_parent(place: &Path) -> Result<(), Error> {
    let parent = place.parent().unwrap_or(Path::new("/"));
    File::open(parent)
        .and_then(|parent| parent.sync_all())
        .map_err(Error::io("sync the folder", parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(place: &Path) -> Swap {
        Swap::at(place.to_owned(), "1", &Unfinished::default()).unwrap()
    }

    #[test]
    fn folder_takes_the_place_of_another_which_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("state");
        for (says, kept) in [
            ("new", None),
            ("newer", Some("new")),
            ("last", Some("newer")),
        ] {
            let swap = at(&place);
            fs::create_dir(&swap.staging).unwrap();
            fs::write(swap.staging.join("x"), says).unwrap();
            let aside = swap.exchange().unwrap();
            assert_eq!(fs::read_to_string(place.join("x")).unwrap(), says);
            assert!(!swap.staging.exists() && !swap.whole.exists());
            let beside = swap.staging.parent().unwrap().to_owned();
            drop(swap);
            assert!(!beside.exists());
            let found = aside.map(|aside| fs::read_to_string(aside.join("x")).unwrap());
            assert_eq!(found.as_deref(), kept);
        }
    }

    #[test]
    fn folders_change_places_one_after_the_other_too() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("state");
        let swap = at(&place);
        for path in [&place, &swap.whole] {
            fs::create_dir(path).unwrap();
        }
        fs::write(place.join("old"), "").unwrap();
        swap.one_after_the_other().unwrap();
        assert!(swap.aside.join("old").exists() && !place.join("old").exists());
        // What cannot be put there leaves what was.
        fs::create_dir(folder.path().join("other")).unwrap();
        fs::remove_dir_all(&swap.aside).unwrap();
        fs::write(place.join("new"), "").unwrap();
        swap.one_after_the_other().unwrap_err();
        assert!(place.join("new").exists());
    }

    #[test]
    fn link_to_the_state_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        fs::create_dir(&real).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(super::real(&link).unwrap(), real.canonicalize().unwrap());
        let missing = folder.path().join("missing");
        assert_eq!(super::real(&missing).unwrap(), missing);
    }

    #[test]
    fn mount_point_is_refused_by_name() {
        let error = Swap::at("/proc".into(), "1", &Unfinished::default()).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("/proc is a mount point"), "{error}");
    }
}
