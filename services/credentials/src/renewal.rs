//! Renewing a login: how new tokens are kept in the file of the profile.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use openclaw_config::lock_file;
use openclaw_config::parse;
use openclaw_config::secret::Secret;
use openclaw_config::write;
use serde_json::{Map, Value};

use crate::endpoint::Endpoint;
use crate::profile::Profile;

/// How long before its end a token is renewed: OpenClaw's five minutes.
pub const MARGIN_MS: u64 = 5 * 60 * 1000;

/// The names of a profile's fields, in the shape of seed 003 and in OpenClaw's.
const ACCESS: [&str; 2] = ["accessToken", "access"];
const REFRESH: [&str; 2] = ["refreshToken", "refresh"];
const EXPIRES: [&str; 2] = ["expiresAt", "expires"];

/// A login that can be renewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewable {
    /// The profile.
    pub id: String,
    /// The file that it is in.
    pub file: PathBuf,
    /// Who gives new tokens.
    pub endpoint: Endpoint,
}

/// The tokens of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// Sent with requests.
    pub access: Secret,
    /// Gets the next ones; it may be good for one request only.
    pub refresh: Secret,
    /// When `access` ends, in milliseconds since 1970; `None`: it is not known.
    pub expires_ms: Option<u64>,
}

/// Why tokens cannot be read or kept. It says nothing of what the file holds.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The lock of the file.
    #[error("lock {file}")]
    Lock {
        /// The file.
        file: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The file.
    #[error("read {0}")]
    Read(PathBuf),
    /// The profile is not there any more, or has no refresh token of its own.
    #[error("find a refresh token in {0}")]
    Missing(PathBuf),
    /// The file.
    #[error("write {file}")]
    Write {
        /// The file.
        file: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

/// The right to renew the logins of one file, against all other processes.
#[derive(Debug)]
pub struct Turn {
    renewable: Renewable,
    _lock: Flock<fs::File>,
}

impl Turn {
    /// Waits for it.
    pub fn wait(renewable: &Renewable) -> Result<Self, Error> {
        let failed = |source| Error::Lock {
            file: renewable.file.clone(),
            source,
        };
        let file = lock_file::open(&lock_path(&renewable.file)).map_err(failed)?;
        let lock = Flock::lock(file, FlockArg::LockExclusive);
        let lock = lock.map_err(|(_, errno)| failed(errno.into()))?;
        Ok(Self {
            renewable: renewable.clone(),
            _lock: lock,
        })
    }

    /// The tokens as the file has them now: somebody else may have renewed them.
    pub fn stored(&self) -> Result<Tokens, Error> {
        let mut document = self.document()?;
        let missing = || Error::Missing(self.renewable.file.clone());
        let fields = fields(&mut document, &self.renewable.id).ok_or_else(missing)?;
        // A variable is filled in elsewhere, and cannot be written back.
        let text = |names: [&str; 2]| {
            let text = names.iter().find_map(|name| fields.get(*name))?.as_str()?;
            (!text.is_empty() && !text.contains("${")).then(|| Secret::new(text))
        };
        let expires = EXPIRES.iter().find_map(|name| fields.get(*name));
        Ok(Tokens {
            access: text(ACCESS).ok_or_else(missing)?,
            refresh: text(REFRESH).ok_or_else(missing)?,
            expires_ms: expires.and_then(Value::as_u64),
        })
    }

    /// Writes the file as it is: what cannot be kept is not to be asked for,
    /// because asking uses up the refresh token.
    pub fn rehearse(&self) -> Result<(), Error> {
        let file = &self.renewable.file;
        let bytes = fs::read(file).map_err(|_| Error::Read(file.clone()))?;
        self.write(&bytes)
    }

    /// Puts the tokens into the file, and leaves all else in it as it is.
    pub fn keep(&self, tokens: &Tokens) -> Result<(), Error> {
        let mut document = self.document()?;
        let fields = fields(&mut document, &self.renewable.id);
        let fields = fields.ok_or_else(|| Error::Missing(self.renewable.file.clone()))?;
        put(fields, ACCESS, tokens.access.reveal().into());
        put(fields, REFRESH, tokens.refresh.reveal().into());
        match tokens.expires_ms {
            Some(expires) => put(fields, EXPIRES, expires.into()),
            // That of the token before says nothing of this one.
            None => fields.retain(|name, _| !EXPIRES.contains(&name.as_str())),
        }
        let mut text = format!("{document:#}");
        text.push('\n');
        self.write(text.as_bytes())
    }

    fn document(&self) -> Result<Value, Error> {
        let file = &self.renewable.file;
        let read = || Error::Read(file.clone());
        let text = parse::read_existing(file).map_err(|_| read())?;
        let document = parse::parse_value(file, &text).map_err(|_| read())?;
        document.ok_or_else(read)
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        let file = &self.renewable.file;
        write::atomic(file, bytes).map_err(|source| Error::Write {
            file: file.clone(),
            source,
        })
    }
}

/// Beside the file. OpenClaw takes a name with `.lock` alone for a lock of its
/// own that somebody holds.
fn lock_path(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.renewal-lock"))
}

/// The object with the fields of the profile's credential, in any of the shapes
/// that a file may have.
fn fields<'a>(document: &'a mut Value, id: &str) -> Option<&'a mut Map<String, Value>> {
    if document.get("profiles").is_none() {
        return match document {
            Value::Array(items) => items.iter_mut().find_map(|item| in_seed(item, id)),
            document => in_seed(document, id),
        };
    }
    match document.get_mut("profiles")? {
        Value::Object(profiles) => profiles.get_mut(id)?.as_object_mut(),
        Value::Array(items) => items.iter_mut().find_map(|item| in_seed(item, id)),
        _ => None,
    }
}

fn in_seed<'a>(item: &'a mut Value, id: &str) -> Option<&'a mut Map<String, Value>> {
    if item.get("id").and_then(Value::as_str) != Some(id) {
        return None;
    }
    item.get_mut("credential")?.as_object_mut()
}

/// Under the name that is there, else under the first: that of the seed.
fn put(fields: &mut Map<String, Value>, names: [&str; 2], value: Value) {
    let is_openclaws = names == EXPIRES && fields.contains_key(ACCESS[1]);
    let first = if is_openclaws { names[1] } else { names[0] };
    let name = names.into_iter().find(|name| fields.contains_key(*name));
    fields.insert(name.unwrap_or(first).to_owned(), value);
}

impl Profile {
    /// How it is renewed, when it is a login that can be.
    pub fn renewable(&self) -> Option<Renewable> {
        self.credential.refresh()?;
        Some(Renewable {
            id: self.id.clone(),
            file: self.file.clone()?,
            endpoint: self.endpoint.clone()?,
        })
    }
}

#[cfg(test)]
mod tests;
