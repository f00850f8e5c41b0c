//! Where relative paths begin.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::background::Processes;

/// The folder the tools work in, and the commands they left running there.
/// Clones share both.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    processes: Arc<Processes>,
}

impl Workspace {
    /// Takes `root`, an absolute path, as the start of relative paths.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            processes: Arc::default(),
        }
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

    /// Whether `path` visibly leads outside; only for wording errors.
    pub(crate) fn is_outside(&self, path: &Path) -> bool {
        !path.starts_with(&self.root)
            || path
                .components()
                .any(|part| part == std::path::Component::ParentDir)
    }
}
