//! Private directories and files that are either old or new, never half.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::Path;

use crate::error::Error;

/// Creates `dir` and its parents; conversations are nobody else's business.
pub(crate) fn create_private_dir(dir: &Path) -> Result<(), Error> {
    DirBuilder::new()
        .recursive(true)
        .mode(openclaw_modes::current().folder)
        .create(dir)
        .map_err(Error::io("create the directory", dir))
}

/// What was done with a file; `None`: there is no such file.
pub(crate) fn if_there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes the names in `dir` durable.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), Error> {
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(Error::io("sync the directory", dir))
}

/// Replaces `path` with `bytes`: readers see the old or the new file, also
/// after a power loss. It is private.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let dir = path.parent().unwrap_or(Path::new("."));
    create_private_dir(dir)?;
    // tempfile creates with 0600 and removes the file again on any error.
    let mut temp = tempfile::Builder::new()
        .prefix(".sessions-")
        .suffix(".tmp")
        .tempfile_in(dir)
        .map_err(Error::io("create a temporary file in", dir))?;
    make_private(temp.path())?;
    temp.write_all(bytes)
        .and_then(|()| temp.as_file().sync_all())
        .map_err(Error::io("write a temporary file in", dir))?;
    temp.persist(path)
        .map_err(|error| error.error)
        .map_err(Error::io("replace", path))?;
    sync_dir(dir)
}

/// Copies `path` to a name beside it, unless there is a copy already.
pub fn keep_copy(path: &Path) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".imported");
    let copy = path.with_file_name(name);
    if copy.exists() {
        return Ok(());
    }
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    replace(&copy, &bytes)
}

/// Renames `path` to a name beside it that says why, and returns that name.
pub fn set_aside(path: &Path, stamp_ms: i64) -> Result<std::path::PathBuf, Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".corrupt-{stamp_ms}"));
    let aside = path.with_file_name(name);
    fs::rename(path, &aside).map_err(Error::io("set aside", path))?;
    Ok(aside)
}

/// Gives `path` a second name beside it that outlives its being replaced, and returns that name.
pub(crate) fn keep_as_edited(path: &Path, stamp_ms: i64) -> Result<std::path::PathBuf, Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".edited-{stamp_ms}"));
    let kept = path.with_file_name(name);
    fs::hard_link(path, &kept).map_err(Error::io("keep", path))?;
    Ok(kept)
}

/// Which file is at a path, and which state of it: another writer's is told
/// from the one that was read or written here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

impl Stamp {
    /// That of the file at `path`; none when there is no file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self {
            inode: found.ino(),
            length: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
        })
    }

    /// Bytes of the file.
    pub(crate) fn length(self) -> u64 {
        self.length
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanoseconds) = self.modified;
        write!(
            f,
            "{}:{}:{seconds}.{nanoseconds:09}",
            self.inode, self.length
        )
    }
}

/// Creates a file that is not there yet; only the owner reads it.
pub(crate) fn create_private(path: &Path) -> Result<File, Error> {
    OpenOptions::new()
        .read(true)
        .append(true)
        .create_new(true)
        .mode(openclaw_modes::current().file)
        .open(path)
        .map_err(Error::io("create", path))
}

/// Opens a file for reading and writing, and creates it when it is not there;
/// only the owner reads it, and its name is durable.
pub(crate) fn open_private(path: &Path) -> Result<File, Error> {
    let dir = path.parent().unwrap_or(Path::new("."));
    create_private_dir(dir)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(openclaw_modes::current().file)
        .open(path)
        .map_err(Error::io("open", path))?;
    sync_dir(dir)?;
    Ok(file)
}

/// Lets only the owner read the file.
pub(crate) fn make_private(path: &Path) -> Result<(), Error> {
    fs::set_permissions(
        path,
        fs::Permissions::from_mode(openclaw_modes::current().file),
    )
    .map_err(Error::io("change the mode of", path))
}

#[cfg(test)]
mod tests;
