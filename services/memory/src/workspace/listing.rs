//! The names in a folder.

use openclaw_folder::{Error, Folder, Kind};

use super::Stamp;

/// Names of one folder that are looked at. A folder with more is no folder of
/// notes.
const NAMES: usize = 100_000;

/// An open folder of a workspace.
#[derive(Debug)]
pub(crate) struct Listing {
    folder: Folder,
}

impl Listing {
    pub(super) fn new(folder: Folder) -> Self {
        Self { folder }
    }

    /// The folder itself.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The names in it that are UTF-8 and do not begin with a dot, and what
    /// they name, links not followed.
    pub(crate) fn entries(&self) -> Result<Vec<(String, Kind)>, Error> {
        let entries = self.folder.entries(NAMES)?.into_iter();
        let named = entries.filter_map(|entry| {
            let name = entry.name.into_string().ok()?;
            (!name.starts_with('.')).then_some((name, entry.kind))
        });
        Ok(named.collect())
    }

    /// What is known of the file `name` in it; None when it is no regular one.
    pub(crate) fn stamp(&self, name: &str) -> Result<Option<Stamp>, Error> {
        Ok(self.folder.status(name)?.as_ref().and_then(Stamp::of))
    }
}
