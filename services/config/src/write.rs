//! Writing a file so that a reader sees the old one or the new one, never half
//! of one (seed 003 §7.2; seed 002, property 6).

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// What is private: the owner's alone.
const PRIVATE: u32 = 0o600;

/// Writes `bytes` to a temporary file beside `path`, syncs it, renames it over
/// `path` and syncs the folder. A link is followed, so that a configuration
/// that is kept elsewhere stays there. The file is its owner's alone; a
/// stricter mode is kept. On an error the old file is as it was.
pub fn atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = target(path)?;
    let folder = target.parent().unwrap_or(Path::new("/"));
    // Its mode is 0600 from the start (mkstemp(3)), and it goes away again
    // when something fails.
    let mut temporary = tempfile::Builder::new()
        .prefix(&prefix(&target))
        .tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    if let Ok(old) = fs::metadata(&target) {
        let mode = old.mode() & PRIVATE;
        temporary
            .as_file()
            .set_permissions(Permissions::from_mode(mode))?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => path.canonicalize(),
        _ => Ok(path.to_owned()),
    }
}

fn prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    format!(".{name}.tmp.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_and_modes_kept() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real.json");
        let link = folder.path().join("link.json");
        atomic(&real, b"1").unwrap();
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o777, 0o600);
        std::os::unix::fs::symlink("real.json", &link).unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o400)).unwrap();
        atomic(&link, b"2").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"2");
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o777, 0o400);
        fs::set_permissions(&real, Permissions::from_mode(0o644)).unwrap();
        atomic(&real, b"3").unwrap();
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o777, 0o600);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            2,
            "nothing is left"
        );
    }

    #[test]
    fn a_write_that_fails_changes_nothing() {
        let error = atomic(Path::new("/nonexistent/x"), b"1").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
