//! Why a key does not lie encrypted.

use std::io;
use std::path::PathBuf;

use openclaw_service_manager as service_manager;

/// Why the service manager keeps no key.
#[derive(Debug, thiserror::Error)]
pub enum Unsealed {
    /// There is none.
    #[error("there is no systemd user manager here")]
    NoManager,
    /// It has nothing to do with this state.
    #[error("systemd does not run the suite of {0}")]
    OtherSuite(PathBuf),
    /// No user's key is encrypted by it.
    #[error("systemd {0} encrypts nothing for a user; 258 does")]
    Old(u32),
    /// It does not encrypt here.
    #[error("systemd-creds does not encrypt here: {0}")]
    Refused(String),
    /// It encrypts what it does not decrypt.
    #[error("systemd {0} does not decrypt for services of a user; 258 does")]
    Undecrypted(u32),
    /// There is no place for it.
    #[error("cannot write {path}")]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The manager was not told of it.
    #[error(transparent)]
    Manager(#[from] service_manager::Error),
}
