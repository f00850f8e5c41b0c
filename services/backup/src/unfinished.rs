//! What lies beside its place until it is whole, and goes when the work ends before that.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::fcntl::{Flock, FlockArg};
use nix::libc;
use tempfile::TempDir;

use crate::error::Error;
use crate::layout::PRIVATE_FOLDER;

/// How the folders of backups begin that are being written,
pub(crate) const BACKUP: &str = ".openclaw-backup-";
/// and of what is being restored.
pub(crate) const RESTORE: &str = ".openclaw-restore-";
/// How often a folder is removed again in which somebody writes at the same time.
const REMOVALS: usize = 5;
/// How often a folder is made anew that somebody took for a dead process's.
const TRIES: usize = 5;

/// What a backup or a restore has made so far, for whoever has to end it.
#[derive(Debug, Clone, Default)]
pub struct Unfinished(Arc<Mutex<Stage>>);

#[derive(Debug)]
enum Stage {
    /// These are removed when it is ended.
    Begun(Vec<PathBuf>),
    /// It was ended.
    Ended(Vec<PathBuf>),
    /// It takes its place now, and is whole in a moment.
    Whole,
}

impl Default for Stage {
    fn default() -> Self {
        Self::Begun(Vec::new())
    }
}

impl Unfinished {
    /// Ends the work, and removes what it has made. False: it is too late for that, and
    /// it is whole in a moment.
    pub fn end(&self) -> bool {
        let mut stage = self.stage();
        if let Stage::Begun(made) = &mut *stage {
            *stage = Stage::Ended(std::mem::take(made));
        }
        match &*stage {
            Stage::Ended(made) => {
                made.iter().for_each(|path| remove(path));
                true
            }
            Stage::Begun(_) | Stage::Whole => false,
        }
    }

    /// `path` is made from now on.
    pub(crate) fn begin(&self, path: &Path) -> Result<(), Error> {
        match &mut *self.stage() {
            Stage::Begun(made) => {
                made.push(path.to_owned());
                Ok(())
            }
            Stage::Ended(_) | Stage::Whole => Err(Error::Ended),
        }
    }

    /// What was made takes its place from now on.
    pub(crate) fn settle(&self) -> Result<(), Error> {
        let mut stage = self.stage();
        if matches!(*stage, Stage::Ended(_)) {
            return Err(Error::Ended);
        }
        *stage = Stage::Whole;
        Ok(())
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a folder, in which whoever makes it may write until then.
fn remove(path: &Path) {
    for _ in 0..REMOVALS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            // What stays has a name that says what it is, and the next one removes it.
            _ => return,
        }
    }
}

/// A folder for its owner alone beside what is made in it. It goes when it is dropped; that of a
/// process which was killed, at the next backup or restore there: nobody holds it.
#[derive(Debug)]
pub(crate) struct Beside {
    folder: TempDir,
    _held: Flock<File>,
}

impl Beside {
    /// Makes one in `folder`, where those of dead processes are removed.
    pub(crate) fn new(folder: &Path, prefix: &str, unfinished: &Unfinished) -> Result<Self, Error> {
        sweep(folder);
        let mut tries = TRIES;
        loop {
            let made = held(folder, prefix).map_err(Error::io("write in", folder))?;
            if let Some(beside) = made {
                unfinished.begin(beside.path())?;
                return Ok(beside);
            }
            tries -= 1;
            if tries == 0 {
                let busy = io::ErrorKind::ResourceBusy;
                return Err(Error::io("write in", folder)(busy.into()));
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A new folder in `folder`; None: somebody took it for a dead process's before it was held.
fn held(folder: &Path, prefix: &str) -> io::Result<Option<Beside>> {
    let made = tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(PRIVATE_FOLDER))
        .tempdir_in(folder)?;
    let file = match File::open(made.path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let held = Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| errno)?;
    Ok(is_there(&held, made.path()).then_some(Beside {
        folder: made,
        _held: held,
    }))
}

/// Whether `path` is still what was opened: somebody may have removed it before it was held.
fn is_there(held: &File, path: &Path) -> bool {
    let of = |found: fs::Metadata| (found.dev(), found.ino());
    let now = path.symlink_metadata().map(of);
    held.metadata()
        .map(of)
        .is_ok_and(|held| now.is_ok_and(|now| now == held))
}

/// Removes what backups and restores of this user left in `folder` whose processes are dead.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(BACKUP) || name.starts_with(RESTORE))
        {
            // Whatever is in the way of that keeps nothing from being made.
            let _ = remove_left(&entry.path());
        }
    }
}

fn remove_left(path: &Path) -> io::Result<()> {
    let found = path.symlink_metadata()?;
    let is_own = found.uid() == nix::unistd::geteuid().as_raw();
    if !is_own || !(found.is_dir() || found.is_file()) {
        return Ok(());
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    let Ok(held) = Flock::lock(file, FlockArg::LockExclusiveNonblock) else {
        return Ok(());
    };
    if !is_there(&held, path) {
        return Ok(());
    }
    if found.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn folder_is_its_owners_alone_and_goes() {
        let top = tempfile::tempdir().unwrap();
        let beside = Beside::new(top.path(), BACKUP, &Unfinished::default()).unwrap();
        let mode = fs::metadata(beside.path()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, PRIVATE_FOLDER);
        fs::write(beside.path().join("x"), "").unwrap();
        drop(beside);
        assert_eq!(fs::read_dir(top.path()).unwrap().count(), 0);
    }

    #[test]
    fn unfinished_what_dead_processes_left_goes_and_what_lives_stays() {
        let top = tempfile::tempdir().unwrap();
        let living = Beside::new(top.path(), BACKUP, &Unfinished::default()).unwrap();
        let left = |name: &str| top.path().join(format!("{RESTORE}{name}"));
        fs::create_dir_all(left("folder").join("a/b")).unwrap();
        fs::write(left("file"), "").unwrap();
        let own = top.path().join("own");
        fs::create_dir(&own).unwrap();
        fs::write(own.join("x"), "").unwrap();
        symlink(&own, left("link")).unwrap();
        let other = Beside::new(top.path(), BACKUP, &Unfinished::default()).unwrap();
        assert!(living.path().exists() && other.path().exists());
        assert!(living.path() != other.path());
        assert!(!left("folder").exists() && !left("file").exists());
        assert!(own.join("x").exists(), "nothing is removed through a link");
    }

    #[test]
    fn work_that_is_ended_makes_nothing_more() {
        let top = tempfile::tempdir().unwrap();
        let unfinished = Unfinished::default();
        let beside = Beside::new(top.path(), RESTORE, &unfinished).unwrap();
        fs::write(beside.path().join("x"), "").unwrap();
        assert!(unfinished.end());
        assert!(!beside.path().exists());
        assert!(matches!(unfinished.settle(), Err(Error::Ended)));
        assert!(matches!(unfinished.begin(top.path()), Err(Error::Ended)));
        assert!(unfinished.end(), "what came meanwhile goes as well");
    }

    #[test]
    fn work_that_takes_its_place_is_not_ended() {
        let top = tempfile::tempdir().unwrap();
        let unfinished = Unfinished::default();
        let beside = Beside::new(top.path(), RESTORE, &unfinished).unwrap();
        unfinished.settle().unwrap();
        assert!(!unfinished.end());
        assert!(beside.path().exists());
    }
}
