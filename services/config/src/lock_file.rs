//! Files that are locked (flock(2)): for this user alone, made when they are not
//! there, and never emptied by being opened.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::libc;

use crate::write;

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
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)?;
    write::give_to(&file, &fs::metadata(folder)?)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn lock_file_is_its_owners_alone_and_is_not_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/c.lock");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        open(&path).unwrap();
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        fs::write(&path, "held").unwrap();
        open(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "held");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(open(&link).is_err());
        assert!(open(&path.join("below")).is_err(), "below a file");
    }
}
