//! Files that are locked (flock(2)): for this user alone, made when they are not
//! there, and never emptied by being opened.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::libc;

/// Opens the lock file at `path`, and makes it and its folders.
///
/// # Errors
/// It cannot be made or opened, or is a link.
pub fn open(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(path);
    if fs::metadata(folder).is_err() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
}
