//! The runtime directory.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use anyhow::Context as _;
use nix::unistd::geteuid;
use openclaw_terminal::Failure;

/// Only its owner: the sockets in it are the way to the assistant.
const MODE: u32 = 0o700;

/// Makes `path` a directory that only this user can reach.
pub(crate) fn prepare(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    DirBuilder::new()
        .recursive(true)
        .mode(MODE)
        .create(path)
        .with_context(|| format!("cannot make the runtime directory {shown}"))?;
    let found = fs::symlink_metadata(path)
        .with_context(|| format!("cannot look at the runtime directory {shown}"))?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() {
        return Err(Failure::new(format!(
            "the runtime directory {shown} is not a directory of this user"
        ))
        .hint("set OPENCLAW_RUNTIME_DIR to another place"));
    }
    fs::set_permissions(path, Permissions::from_mode(MODE))
        .with_context(|| format!("cannot close {shown} to other users"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_is_closed_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/run");
        prepare(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        prepare(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, MODE);
    }

    #[test]
    fn link_to_elsewhere_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        std::os::unix::fs::symlink("/tmp", &path).unwrap();
        assert!(
            prepare(&path)
                .unwrap_err()
                .text()
                .contains("not a directory")
        );
    }
}
