//! Secrets as files in `credentials/` of the state directory: where systemd is
//! too old for a credential store, or not there.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use openclaw_config::error::Error;
use openclaw_config::secret::Secret;

/// Their names, which are those of systemd's credentials, with the keys that they come before.
pub(crate) const NAMES: [(&str, &str); 4] = [
    (super::CLI_CREDENTIAL, "gateway.cli.secret"),
    ("openclaw-gateway-password", "gateway.auth.password"),
    ("openclaw-gateway-token", "gateway.auth.token"),
    ("openclaw-hooks-token", "hooks.token"),
];

/// Where one is.
pub(crate) fn place(state: &Path, name: &str) -> PathBuf {
    state.join("credentials").join(name)
}

/// Where all of them are or would be, in the state directory.
pub fn credential_files(state: &Path) -> impl Iterator<Item = PathBuf> {
    NAMES.iter().map(move |(name, _)| place(state, name))
}

/// Whether there is something in the file `name`.
pub(crate) fn is_there(state: &Path, name: &str) -> bool {
    fs::metadata(place(state, name)).is_ok_and(|file| file.len() > 0)
}

/// The secrets that are there, by name.
pub(crate) fn read(state: &Path) -> Result<BTreeMap<String, Secret>, Error> {
    let mut found = BTreeMap::new();
    for (name, _) in NAMES {
        let path = place(state, name);
        match fs::read_to_string(&path) {
            Ok(text) => found.insert(name.to_owned(), Secret::new(text.trim())),
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            // A door whose secret cannot be read must not open with another.
            Err(source) => return Err(Error::Read { path, source }),
        };
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_read_and_one_that_cannot_be_is_named() {
        let state = tempfile::tempdir().unwrap();
        assert!(read(state.path()).unwrap().is_empty());
        let folder = state.path().join("credentials");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("openclaw-cli-secret"), "from a file\n").unwrap();
        fs::write(folder.join("other"), "x").unwrap();
        let found = read(state.path()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found["openclaw-cli-secret"].reveal(), "from a file");
        fs::write(folder.join("openclaw-cli-secret"), [0xff]).unwrap();
        let error = read(state.path()).unwrap_err().to_string();
        assert!(error.contains("credentials/openclaw-cli-secret"), "{error}");
    }
}
