//! Where a run takes place: a folder of its own on a real disk.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use tempfile::TempDir;

use crate::home::{Backend, Home};
use crate::programs::Programs;

/// Not /tmp: that is often in memory, where fdatasync costs nothing.
const BASE: &str = "/var/tmp";

/// The folder, which goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) programs: Programs,
}

impl Stage {
    /// Makes the folder and installs the programs into it.
    pub(crate) fn set() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("openclaw-bench-")
            // The agent's user has to come through to its workspace.
            .permissions(Permissions::from_mode(0o755))
            .tempdir_in(BASE)
            .with_context(|| format!("cannot make a folder in {BASE}"))?;
        let programs = Programs::install(folder.path().join("bin"))?;
        Ok(Self { folder, programs })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A new user's home, where nothing was ever run.
    pub(crate) fn home(&self, name: &str, backend: Backend, model: &str) -> anyhow::Result<Home> {
        let folder = self.folder.path().join(name);
        fs::create_dir(&folder)
            .and_then(|()| fs::set_permissions(&folder, Permissions::from_mode(0o700)))
            .with_context(|| format!("cannot make {}", folder.display()))?;
        Home::new(&folder, &backend, model)
    }
}
