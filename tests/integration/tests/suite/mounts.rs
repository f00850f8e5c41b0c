//! Folders that nobody can write in, root neither.

use std::path::{Path, PathBuf};

/// A mount that goes with this.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// The folder over itself, read-only. `None`: mounting needs root.
    ///
    /// It is made read-only in a place that nobody knows, and copied with that: a
    /// mount in which a daemon has just opened a file for writing is refused as busy.
    pub(crate) fn read_only(folder: &Path) -> Option<Self> {
        let place = tempfile::tempdir().unwrap();
        if !run("mount", &["--bind"], &[folder, place.path()]) {
            return None;
        }
        let source = Self(place.path().to_owned());
        assert!(run("mount", &["-o", "remount,bind,ro"], &[&source.0]));
        assert!(run("mount", &["--bind"], &[&source.0, folder]));
        Some(Self(folder.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        run("umount", &["-l"], &[&self.0]);
    }
}

#[expect(clippy::disallowed_methods, reason = "mount(8) is no agent process")]
fn run(program: &str, options: &[&str], places: &[&Path]) -> bool {
    let status = std::process::Command::new(program)
        .args(options)
        .args(places)
        .status();
    status.is_ok_and(|status| status.success())
}
