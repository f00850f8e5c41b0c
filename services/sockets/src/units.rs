//! The units as installed: in the user's folder, or by a package for all users.

use std::path::{Path, PathBuf};

use openclaw_config::{Environment, Paths};
use openclaw_doctor::{has_drop_in, unit_file, user_folder};

/// The drop-in that confines a service to files. Where it is not, memory may write
/// wherever its user may; a mount option would then need what this system
/// refuses, and the service would not start.
pub(super) const CONFINING: &str = "50-namespaces.conf";

/// The units, and the user's own folder of them.
#[derive(Debug)]
pub(super) struct Units<'a> {
    /// Where drop-ins and links are written.
    pub(super) folder: PathBuf,
    paths: &'a Paths,
    environment: &'a Environment,
}

impl<'a> Units<'a> {
    /// Those of the user; none without a home.
    pub(super) fn of(paths: &'a Paths, environment: &'a Environment) -> Option<Self> {
        Some(Self {
            folder: user_folder(paths, environment)?,
            paths,
            environment,
        })
    }

    /// The unit's file.
    pub(super) fn file(&self, unit: &str) -> Option<PathBuf> {
        unit_file(unit, self.paths, self.environment)
    }

    /// Whether the service is confined to files.
    pub(super) fn is_confined(&self, service: &str) -> bool {
        has_drop_in(service, CONFINING, self.paths, self.environment)
    }

    /// Where what is said here beside the unit is written.
    pub(super) fn drop_in(&self, unit: &str, name: &str) -> PathBuf {
        self.folder.join(format!("{unit}.d")).join(name)
    }

    /// A path in the user's folder.
    pub(super) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.join(name)
    }
}
