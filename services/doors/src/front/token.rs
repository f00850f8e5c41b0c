//! `auth.json` in the state directory (seed 002, `AuthStore`): the token of a
//! machine where none is configured. Made once, readable by its owner alone.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use openclaw_config::secret::Secret;
use openclaw_sessions::now_ms;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// Seed 002, property 26.
const PRIVATE_FILE: u32 = 0o600;

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel says.
        #[source]
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the kernel says.
        #[source]
        source: io::Error,
    },
}

/// The file's content.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    token: String,
    created_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rotated_at: Option<i64>,
    /// Fields not known here.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The file, read at first need.
pub(super) struct TokenFile {
    path: PathBuf,
    stored: Mutex<Option<Stored>>,
}

impl TokenFile {
    pub(super) fn at(path: PathBuf) -> Self {
        Self {
            path,
            stored: Mutex::default(),
        }
    }

    /// The token; a new one is made and written when there is none.
    pub(super) fn get(&self) -> Result<Secret, Error> {
        let mut stored = self.lock();
        if let Some(stored) = stored.as_ref() {
            return Ok(Secret::new(&stored.token));
        }
        let found = match self.read()? {
            Some(found) => found,
            None => self.write(Stored::new())?,
        };
        let token = Secret::new(&found.token);
        *stored = Some(found);
        Ok(token)
    }

    /// Replaces the token.
    pub(super) fn rotate(&self) -> Result<(), Error> {
        let mut stored = self.lock();
        let before = match stored.take() {
            Some(stored) => Some(stored),
            None => self.read()?,
        };
        let next = match before {
            Some(before) => Stored {
                token: new_token(),
                rotated_at: Some(now_ms()),
                ..before
            },
            None => Stored::new(),
        };
        *stored = Some(self.write(next)?);
        Ok(())
    }

    fn read(&self) -> Result<Option<Stored>, Error> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(self.unreadable(source)),
        };
        self.close_to_others()?;
        match serde_json::from_str::<Stored>(&text) {
            Ok(stored) if !stored.token.trim().is_empty() => Ok(Some(stored)),
            _ => {
                self.set_aside()?;
                Ok(None)
            }
        }
    }

    fn close_to_others(&self) -> Result<(), Error> {
        let meta = fs::metadata(&self.path).map_err(|error| self.unreadable(error))?;
        if meta.mode() & 0o077 == 0 {
            return Ok(());
        }
        tracing::warn!(
            "{} could be read by others, who may know the token: closed to them; \
             `openclawctl token --rotate` makes another",
            self.path.display()
        );
        fs::set_permissions(&self.path, Permissions::from_mode(PRIVATE_FILE))
            .map_err(|error| self.unwritable(error))
    }

    fn set_aside(&self) -> Result<(), Error> {
        let aside = self
            .path
            .with_file_name(format!("auth.json.corrupt-{}", now_ms()));
        tracing::warn!(
            "{} holds no token: kept as {}, making another",
            self.path.display(),
            aside.display()
        );
        fs::rename(&self.path, aside).map_err(|error| self.unwritable(error))
    }

    fn write(&self, stored: Stored) -> Result<Stored, Error> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        // 0600 from the first moment, and whole or not there at all.
        let write = || -> io::Result<()> {
            let mut file = tempfile::Builder::new()
                .prefix(".auth-")
                .permissions(Permissions::from_mode(PRIVATE_FILE))
                .tempfile_in(folder)?;
            let text = serde_json::to_string_pretty(&stored)?;
            // Whatever the umask took away.
            file.as_file()
                .set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map_err(|error| error.error)?;
            File::open(folder)?.sync_all()
        };
        write().map_err(|error| self.unwritable(error))?;
        Ok(stored)
    }

    fn unreadable(&self, source: io::Error) -> Error {
        Error::Read {
            path: self.path.clone(),
            source,
        }
    }

    fn unwritable(&self, source: io::Error) -> Error {
        Error::Write {
            path: self.path.clone(),
            source,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Stored>> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stored {
    fn new() -> Self {
        Self {
            token: new_token(),
            created_at: now_ms(),
            rotated_at: None,
            rest: Map::new(),
        }
    }
}

/// 32 bytes in hexadecimal (seed 002). Two version 4 UUIDs hold 244 random
/// bits of the operating system's generator.
fn new_token() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

#[cfg(test)]
mod tests {
    use nix::sched::{CloneFlags, unshare};
    use nix::sys::stat::{Mode, umask};
    use proptest::prelude::*;

    use super::*;

    /// Given here, so that no variable of the environment lowers it.
    const CASES: u32 = 256;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn token_is_made_once_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("auth.json");
        let first = TokenFile::at(path.clone()).get().unwrap();
        assert_eq!(first.reveal().len(), 64);
        assert!(first.reveal().chars().all(|c| c.is_ascii_hexdigit()));
        assert_eq!(TokenFile::at(path.clone()).get().unwrap(), first);
        let stored: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(stored["createdAt"].as_i64().unwrap() > 0 && stored.get("rotatedAt").is_none());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn token_another_token_replaces_it_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::at(folder.path().join("auth.json"));
        let first = file.get().unwrap();
        file.rotate().unwrap();
        let second = file.get().unwrap();
        assert_ne!(first, second);
        let stored = fs::read_to_string(folder.path().join("auth.json")).unwrap();
        assert!(stored.contains("rotatedAt") && stored.contains(second.reveal()));
    }

    #[test]
    fn broken_file_is_kept_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("auth.json");
        for broken in ["", "{", r#"{"token": " ", "createdAt": 1}"#] {
            fs::write(&path, broken).unwrap();
            assert_eq!(
                TokenFile::at(path.clone()).get().unwrap().reveal().len(),
                64
            );
        }
        let aside = |name: &str| name.starts_with("auth.json.corrupt-");
        let names = fs::read_dir(folder.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.filter(|name| aside(name)).count() >= 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(CASES))]

        /// Feature: openclaw-mvp, Property 26: For any token file created by the
        /// Security_Manager, the file permissions SHALL be 600 (owner read/write
        /// only), under any umask, and whatever mode a file before it had.
        #[test]
        fn property_26_token_file_is_its_owners_alone(
            mask in 0u32..=0o777,
            before in proptest::option::of(0o600u32..=0o777),
            rotate: bool,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("auth.json");
            if let Some(before) = before {
                fs::write(&path, r#"{"token": "t", "createdAt": 1}"#).unwrap();
                fs::set_permissions(&path, Permissions::from_mode(before)).unwrap();
            }
            let token = std::thread::scope(|scope| {
                let made = scope.spawn(|| {
                    // This thread's alone.
                    unshare(CloneFlags::CLONE_FS).unwrap();
                    umask(Mode::from_bits_truncate(mask));
                    let file = TokenFile::at(path.clone());
                    let token = file.get().unwrap();
                    if rotate {
                        file.rotate().unwrap();
                    }
                    token
                });
                made.join().unwrap()
            });
            prop_assert_eq!(token.reveal() == "t", before.is_some());
            let mode = mode(&path);
            match before.filter(|before| before & 0o077 == 0 && !rotate) {
                // Stricter for others than it has to be, and kept so.
                Some(before) => prop_assert_eq!(mode, before),
                None => prop_assert_eq!(mode, 0o600),
            }
        }
    }
}
