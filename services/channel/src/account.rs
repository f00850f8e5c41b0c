//! The account that a daemon speaks for, and where it keeps what it must not
//! forget.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use openclaw_config::lock_file;
use openclaw_proto::channel::AccountName;

/// What a default account's folder is called.
const DEFAULT: &str = "default";

/// Why a daemon cannot have its folder.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process has it.
    #[error(
        "{} is in use by another daemon of the same account{}",
        .folder.display(), by(.holder)
    )]
    Held {
        /// The folder.
        folder: PathBuf,
        /// Its process, and for how many seconds, where that is known.
        holder: Option<(u32, u64)>,
    },
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
        let file = lock_file::open(&path.join("lock")).map_err(failed)?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => {
                // It is held also where nothing can be written.
                let _ = lock.set_len(0);
                let _ = (&*lock).write_all(std::process::id().to_string().as_bytes());
                Ok(Self { path, _lock: lock })
            }
            Err((file, Errno::EWOULDBLOCK)) => Err(Error::Held {
                folder: path,
                holder: holder(file),
            }),
            Err((_, errno)) => Err(failed(errno.into())),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn holder(mut lock: File) -> Option<(u32, u64)> {
    let mut text = String::new();
    lock.read_to_string(&mut text).ok()?;
    let since = lock.metadata().and_then(|it| it.modified()).ok()?;
    let seconds = since.elapsed().map_or(0, |it| it.as_secs());
    Some((text.trim().parse().ok()?, seconds))
}

fn by(holder: &Option<(u32, u64)>) -> String {
    match holder {
        Some((pid, seconds)) => {
            format!(" (process {pid}, for {seconds} s); end it with: kill {pid}")
        }
        None => "; stop that one".to_owned(),
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
        let told = error.to_string();
        let expected = format!(
            "another daemon of the same account (process {}",
            std::process::id()
        );
        assert!(
            told.contains(&expected) && told.contains("end it with: kill"),
            "{told}"
        );
        drop(held);
        assert!(Folder::take(root.path(), &account).is_ok());
    }
}
