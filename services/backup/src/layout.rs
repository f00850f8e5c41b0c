//! Names and modes in a backup.

/// The manifest's name in the archive.
pub(crate) const MANIFEST: &str = "manifest.json";
/// The folder of the archive that holds the state directory.
pub(crate) const STATE: &str = "state";
/// The folder of the archive with a folder for each workspace that lies elsewhere.
pub(crate) const WORKSPACES: &str = "workspaces";

/// What is private: the owner's alone.
pub(crate) const PRIVATE_FOLDER: u32 = 0o700;
pub(crate) const PRIVATE_FILE: u32 = 0o600;
/// The permission bits of a mode that are kept: not those by which a program
/// has its owner's rights.
pub(crate) const PERMISSIONS: u32 = 0o777;
