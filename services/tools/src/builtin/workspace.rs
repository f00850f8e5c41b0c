//! Where relative paths begin.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::background::Processes;
use crate::call::FailureKind;
use crate::handler::HandlerError;

/// How long a command may take where nobody says.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// The folder the tools work in, and the commands they left running there.
/// Clones share both.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    processes: Arc<Processes>,
    /// Whether the file tools stay in it.
    is_closed: bool,
    /// How long a command may take that names no time.
    patience: Duration,
}

impl Workspace {
    /// Takes `root`, an absolute path, as the start of relative paths.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            processes: Arc::default(),
            is_closed: false,
            patience: PATIENCE,
        }
    }

    /// The same, in which the file tools stay (`tools.fs.workspaceOnly`).
    #[must_use]
    pub fn closed(mut self, is_closed: bool) -> Self {
        self.is_closed = is_closed;
        self
    }

    /// The same, in which a command that names no time may take `patience`.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// How long a command may take that names no time.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Commands in the background; they end with the last clone.
    pub(super) fn processes(&self) -> &Arc<Processes> {
        &self.processes
    }

    /// `path` as an absolute one. It may lead outside: what may be touched is
    /// the kernel's decision (Landlock), which a check of strings could only
    /// imitate, badly, in front of symlinks and renames.
    pub(crate) fn resolve(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The same for a tool that works with files: refused where it leads out of
    /// a workspace that is closed, through links too.
    pub(crate) fn reach(&self, path: &str) -> Result<PathBuf, HandlerError> {
        let path = self.resolve(path);
        if !self.is_closed || self.holds(&path) {
            return Ok(path);
        }
        Err(HandlerError::new(
            FailureKind::PERMISSION_DENIED,
            format!(
                "{} is outside the workspace ({}), and file tools stay in it \
                 (tools.fs.workspaceOnly)",
                path.display(),
                self.root.display()
            ),
        ))
    }

    /// Whether what is there of `path` is in the workspace, and the rest leads
    /// nowhere else.
    fn holds(&self, path: &Path) -> bool {
        let Ok(root) = self.root.canonicalize() else {
            return false;
        };
        let mut there = path;
        loop {
            // A link that leads nowhere is not there, and still leads somewhere.
            if there.symlink_metadata().is_ok() {
                break;
            }
            match there.parent() {
                Some(parent) => there = parent,
                None => return false,
            }
        }
        let rest = path.strip_prefix(there).unwrap_or(path);
        let is_plain = rest
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        is_plain && there.canonicalize().is_ok_and(|it| it.starts_with(root))
    }

    /// Whether `path` visibly leads outside; only for wording errors.
    pub(crate) fn is_outside(&self, path: &Path) -> bool {
        !path.starts_with(&self.root) || path.components().any(|part| part == Component::ParentDir)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn file_tools_stay_in_a_closed_workspace() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("work");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(folder.path().join("secret"), "x").unwrap();
        symlink(folder.path(), root.join("out")).unwrap();
        symlink("/nowhere/at/all", root.join("dangling")).unwrap();
        let open = Workspace::new(&root);
        let closed = open.clone().closed(true);
        for inside in [".", "sub", "new/file", "sub/../new"] {
            assert!(closed.reach(inside).is_ok(), "{inside}");
        }
        let absolute = folder.path().join("secret").display().to_string();
        for outside in [
            absolute.as_str(),
            "../secret",
            "out/secret",
            "out/new",
            "dangling",
            "new/../../secret",
            "/etc/passwd",
        ] {
            assert!(closed.reach(outside).is_err(), "{outside}");
            assert!(open.reach(outside).is_ok(), "{outside}");
        }
    }
}
