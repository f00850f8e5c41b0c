//! The files the checks try to reach.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::unistd::{Pid, getpid, mkdtemp};

use crate::identity::Identity;
use crate::ownership;
use crate::sys;
use crate::valid::{Access, Grant};

/// A temporary directory with a workspace, a file outside it and a small home, removed at the end.
pub(super) struct Scene {
    top: PathBuf,
    pub(super) identity: Option<Identity>,
    /// The user that this process became for good, before anything was tried.
    pub(super) became: Option<String>,
    pub(super) abi: i32,
    pub(super) prober: Pid,
}

impl Scene {
    pub(super) fn new(identity: Option<Identity>, became: Option<String>) -> io::Result<Self> {
        let template = std::env::temp_dir().join("openclaw-probe-XXXXXX");
        let scene = Self {
            top: mkdtemp(&template)?,
            identity,
            became,
            abi: sys::landlock_abi().unwrap_or(0),
            prober: getpid(),
        };
        fs::set_permissions(&scene.top, Permissions::from_mode(0o755))?;
        fs::create_dir(scene.workspace())?;
        fs::write(scene.outside(), "outside")?;
        fs::create_dir_all(scene.granted())?;
        fs::write(scene.secret(), "secret")?;
        // As root's is, and the state in it.
        fs::set_permissions(scene.home(), Permissions::from_mode(0o700))?;
        if let Some(identity) = &scene.identity {
            ownership::adopt(&scene.granted(), identity).map_err(io::Error::other)?;
        }
        Ok(scene)
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.top.join("workspace")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.top.join("outside")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.top.join("home")
    }

    pub(super) fn secret(&self) -> PathBuf {
        self.home().join("secret")
    }

    pub(super) fn granted(&self) -> PathBuf {
        self.home().join("granted")
    }

    /// The grants of a small turn.
    pub(super) fn grants(&self) -> Vec<Grant> {
        vec![
            grant(&self.workspace(), Access::ReadWrite),
            grant(&self.granted(), Access::ReadWrite),
            grant(Path::new("/proc"), Access::ReadOnly),
        ]
    }
}

fn grant(path: &Path, access: Access) -> Grant {
    Grant {
        path: path.to_owned(),
        real: path.to_owned(),
        access,
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.top);
    }
}
