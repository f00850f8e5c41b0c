//! Writing a file so that a reader sees the old one or the new one, never half
//! of one (seed 003 §7.2; seed 002, property 6).

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::unistd::{Gid, Uid, fchown, geteuid};

/// Writes `bytes` to a temporary file beside `path`, syncs it, renames it over
/// `path` and syncs the folder. A link is followed, so that a configuration
/// that is kept elsewhere stays there. The file is its owner's alone
/// ([`openclaw_modes`]); a stricter mode is kept. In a folder of somebody else's
/// root writes for whoever has the file, or else the folder. On an error the old file is as it was.
pub fn atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = target(path)?;
    let folder = target.parent().unwrap_or(Path::new("/"));
    // Nobody else's from the start (mkstemp(3)), and it goes away again when
    // something fails.
    let mut temporary = tempfile::Builder::new()
        .prefix(&prefix(&target))
        .tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    // Whatever the umask took away.
    let most = openclaw_modes::current().file;
    let old = fs::metadata(&target).ok();
    let mode = old.as_ref().map_or(most, |old| old.mode() & most);
    temporary
        .as_file()
        .set_permissions(Permissions::from_mode(mode))?;
    give_to(
        temporary.as_file(),
        &old.map_or_else(|| fs::metadata(folder), Ok)?,
    )?;
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

/// Gives what root made to the owner of `like`, in whose folder or place it is.
pub(crate) fn give_to(made: &File, like: &fs::Metadata) -> io::Result<()> {
    // Of one's own there is nothing to change, and a service may be forbidden to.
    if !geteuid().is_root() || like.uid() == 0 || made.metadata()?.uid() != 0 {
        return Ok(());
    }
    let (user, group) = (Uid::from_raw(like.uid()), Gid::from_raw(like.gid()));
    Ok(fchown(made, Some(user), Some(group))?)
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
    use nix::sched::{CloneFlags, unshare};
    use nix::sys::stat::{Mode, umask};
    use proptest::prelude::*;

    use super::*;

    /// Given here, so that no variable of the environment lowers it.
    const CASES: u32 = 256;

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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(CASES))]

        /// Feature: openclaw-mvp, Property 26: For any token file created by the
        /// Security_Manager, the file permissions SHALL be 600 (owner read/write
        /// only). Here: the files with keys and tokens that the configuration
        /// has, under any umask.
        #[test]
        fn property_26_new_files_are_their_owners_alone(mask in 0u32..=0o777) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("openclaw.json");
            std::thread::scope(|scope| {
                let written = scope.spawn(|| {
                    // This thread's alone.
                    unshare(CloneFlags::CLONE_FS).unwrap();
                    umask(Mode::from_bits_truncate(mask));
                    atomic(&path, b"1").unwrap();
                });
                written.join().unwrap();
            });
            prop_assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
        }
    }

    #[test]
    fn write_that_fails_changes_nothing() {
        let error = atomic(Path::new("/nonexistent/x"), b"1").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn temporary_file_is_hidden_and_named_after_its_target() {
        assert_eq!(prefix(Path::new("/a/b.json")), ".b.json.tmp.");
    }
}
