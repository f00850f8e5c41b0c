//! What tells the service manager which keys a service is given.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use openclaw_config::write;
use openclaw_service_manager::unquoted;

use crate::unsealed::Unsealed;

/// Its name: after those of the installation and of `openclawctl sockets`.
const NAME: &str = "60-keys.conf";
const HEADER: &str = "# Written by `openclawctl auth`; it replaces this file. Without one of these files the service does\n\
                      # not start (243/CREDENTIALS).\n[Service]\n";
const KEY: &str = "LoadCredentialEncrypted=";

/// A drop-in of a service.
#[derive(Debug)]
pub(crate) struct DropIn(PathBuf);

impl DropIn {
    /// That of `unit` among the units in `folder`.
    pub(crate) fn in_folder(folder: &Path, unit: &str) -> Self {
        Self(folder.join(format!("{unit}.d")).join(NAME))
    }

    /// The files by the names of their credentials.
    pub(crate) fn lines(&self) -> BTreeMap<String, PathBuf> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        let lines = text.lines().filter_map(|line| {
            let (name, file) = line.strip_prefix(KEY)?.split_once(':')?;
            Some((name.to_owned(), PathBuf::from(file.replace("%%", "%"))))
        });
        lines.collect()
    }

    /// Writes these, or takes the drop-in away where there is none.
    pub(crate) fn write(&self, lines: &BTreeMap<String, PathBuf>) -> Result<(), Unsealed> {
        let failed = |source| Unsealed::Write {
            path: self.0.clone(),
            source,
        };
        if lines.is_empty() {
            return match fs::remove_file(&self.0) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
                _ => Ok(()),
            };
        }
        let mut text = HEADER.to_owned();
        for (name, file) in lines {
            let file = unquoted(file).ok_or_else(|| {
                failed(io::Error::new(
                    ErrorKind::InvalidInput,
                    "no unit can name the key's file",
                ))
            })?;
            text.push_str(&format!("{KEY}{name}:{file}\n"));
        }
        let folder = self.0.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        write::atomic(&self.0, text.as_bytes()).map_err(failed)
    }
}
