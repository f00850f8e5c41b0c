//! An agent's workspace: the one door to its files.
//!
//! The agent writes there too, so nothing in it is trusted: see
//! [`openclaw_folder`].

use std::fs::File;

use openclaw_folder::{ConfiguredFolder, Folder};

mod decode;
mod listing;
mod stamp;

pub(crate) use listing::Listing;
pub(crate) use openclaw_folder::Error;
pub(crate) use stamp::Stamp;

/// Larger files are no notes, and reading one would hold up a search; in bytes.
pub(crate) const FILE_LIMIT: u64 = 2 * 1024 * 1024;

/// Only for the user: what is remembered is private.
const FILE_MODE: u32 = 0o600;

/// An open workspace. Paths are relative to it.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: Folder,
}

impl Workspace {
    /// Opens the workspace at `folder`; None when nothing is there.
    pub(crate) fn open(folder: &ConfiguredFolder) -> Result<Option<Self>, Error> {
        Ok(folder.open()?.map(|root| Self { root }))
    }

    /// Opens the workspace at `folder`, and makes it first when nothing is there.
    pub(crate) fn open_or_create(folder: &ConfiguredFolder) -> Result<Self, Error> {
        let root = folder.open_or_create()?;
        Ok(Self { root })
    }

    /// What is known of the file at `path` without reading it; None when there
    /// is not a regular file.
    pub(crate) fn stamp(&self, path: &str) -> Result<Option<Stamp>, Error> {
        Ok(self.root.status(path)?.as_ref().and_then(Stamp::of))
    }

    /// The text of the file at `path` and what it was when it was read; None
    /// when there is no regular file. Bytes that are not UTF-8 are replaced.
    pub(crate) fn read(&self, path: &str) -> Result<Option<(String, Stamp)>, Error> {
        let Some((file, status)) = self.root.open_file(path)? else {
            return Ok(None);
        };
        let Some(stamp) = Stamp::of(&status) else {
            return Ok(None);
        };
        let bytes = self.root.read_open(file, &status, path, FILE_LIMIT)?;
        Ok(Some((decode::text(bytes), stamp)))
    }

    /// The regular file at `path`, open for reading, and what it is now; None
    /// when there is none.
    pub(crate) fn open_file(&self, path: &str) -> Result<Option<(File, Stamp)>, Error> {
        let found = self.root.open_file(path)?;
        Ok(found.and_then(|(file, status)| Some((file, Stamp::of(&status)?))))
    }

    /// The folder at `path`, the workspace's own when that is empty; None when
    /// there is none.
    pub(crate) fn folder(&self, path: &str) -> Result<Option<Listing>, Error> {
        Ok(self.root.folder(path)?.map(Listing::new))
    }

    /// Makes the folder `name` unless it is there.
    pub(crate) fn create_folder(&self, name: &str) -> Result<(), Error> {
        self.root.create_folder(name).map(drop)
    }

    /// Opens the file at `path` for reading and appending, and makes it first
    /// when it is not there; the flag says so.
    pub(crate) fn open_to_append(&self, path: &str) -> Result<(File, bool), Error> {
        self.root.open_to_append(path, FILE_MODE)
    }

    /// Makes an empty file at `path`, readable and writable for the agent; None
    /// when something of that name is there, which is never touched.
    pub(crate) fn create(&self, path: &str) -> Result<Option<File>, Error> {
        self.root.create_file(path, FILE_MODE)
    }

    /// Takes the file at `path` away, durably.
    pub(crate) fn remove(&self, path: &str) -> Result<(), Error> {
        if self.root.remove(path)? {
            let (folder, _) = path.rsplit_once('/').unwrap_or(("", path));
            self.sync_folder(folder)?;
        }
        Ok(())
    }

    /// Puts `text` in the place of what the file at `path` says: in one step,
    /// so that nobody ever reads half of it.
    pub(crate) fn replace(&self, path: &str, text: &str) -> Result<(), Error> {
        self.root.write_durably(path, text.as_bytes(), FILE_MODE)
    }

    /// Makes the names in the folder at `path` durable; the workspace's own
    /// when `path` is empty.
    pub(crate) fn sync_folder(&self, path: &str) -> Result<(), Error> {
        match self.root.folder(path)? {
            Some(folder) => folder.sync(),
            None => Ok(()),
        }
    }

    /// The error of an `operation` on the file at `path`.
    pub(crate) fn error(
        &self,
        operation: &'static str,
        path: &str,
        source: std::io::Error,
    ) -> Error {
        let path = self.root.path().join(path);
        Error::Io {
            operation,
            path,
            source,
        }
    }
}

#[cfg(test)]
mod tests;
