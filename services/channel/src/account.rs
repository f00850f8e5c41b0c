//! The account that a daemon speaks for, and where it keeps what it must not
//! forget.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use openclaw_proto::channel::AccountName;

/// What a default account's folder is called.
const DEFAULT: &str = "default";

/// Why a daemon cannot have its folder.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process has it.
    #[error("{} is in use by another daemon of the same account; stop that one", .0.display())]
    Held(PathBuf),
    /// It cannot be made or opened.
    #[error("cannot use the folder {}", .path.display())]
    Open {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// The folder of an account, which is this process's until it ends.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: Flock<File>,
}

impl Folder {
    /// Makes the folder of `account` in that of all channels, for its owner
    /// alone, and takes it.
    pub fn take(channels: &Path, account: &AccountName) -> Result<Self, Error> {
        let name = match account.account.as_str() {
            "" => DEFAULT,
            name => name,
        };
        let path = channels.join(&account.channel).join(name);
        let failed = |source| Error::Open {
            path: path.clone(),
            source,
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(failed)?;
        let file = File::create(path.join("lock")).map_err(failed)?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err((_, Errno::EWOULDBLOCK)) => Err(Error::Held(path)),
            Err((_, errno)) => Err(failed(errno.into())),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_one_daemons() {
        let root = tempfile::tempdir().unwrap();
        let account = AccountName {
            channel: "telegram".into(),
            account: String::new(),
        };
        let held = Folder::take(root.path(), &account).unwrap();
        assert!(held.path().ends_with("telegram/default"));
        let error = Folder::take(root.path(), &account).unwrap_err();
        assert!(error.to_string().contains("in use by another"), "{error}");
        drop(held);
        assert!(Folder::take(root.path(), &account).is_ok());
    }
}
