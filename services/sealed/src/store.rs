//! The place of the keys, and what is done there.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use openclaw_config::{Environment, Paths, write};
use openclaw_credentials::SEALED;

use crate::drop_in::DropIn;
use crate::manager::{Manager, UNIT};
use crate::unsealed::Unsealed;

/// Where systemd looks for what it decrypts for a user, in the folder of configurations.
const STORE: &str = "credstore.encrypted";
/// Only its owner: the store.
const FOLDER_MODE: u32 = 0o700;

/// A key that lies encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// Whose it is.
    pub agent: String,
    /// Of whom.
    pub provider: String,
    /// Where it lies.
    pub file: PathBuf,
}

/// The place of keys that lie encrypted, of one user.
#[derive(Debug)]
pub struct Store<'a> {
    environment: &'a Environment,
    folder: PathBuf,
    drop_in: DropIn,
}

impl<'a> Store<'a> {
    /// That of the user; `None`: nobody knows where that would be.
    #[must_use]
    pub fn of(paths: &Paths, environment: &'a Environment) -> Option<Self> {
        let configuration = match environment.get("XDG_CONFIG_HOME") {
            Some(folder) if folder.starts_with('/') => PathBuf::from(folder),
            _ => paths.home.as_ref()?.join(".config"),
        };
        Some(Self {
            environment,
            folder: configuration.join(STORE),
            drop_in: DropIn::in_folder(&configuration.join("systemd/user"), UNIT),
        })
    }

    /// Those that the agent-runner is given.
    #[must_use]
    pub fn list(&self) -> Vec<Sealed> {
        let lines = self.drop_in.lines().into_iter();
        let sealed = lines.filter_map(|(name, file)| {
            let (agent, provider) = name.strip_prefix(SEALED)?.rsplit_once('.')?;
            Some(Sealed {
                agent: agent.to_owned(),
                provider: provider.to_owned(),
                file,
            })
        });
        sealed.collect()
    }

    /// What is in one, where it can be decrypted.
    #[must_use]
    pub fn read(&self, sealed: &Sealed) -> Option<String> {
        let name = name(&sealed.agent, &sealed.provider);
        Manager(self.environment).decrypted(&name, &sealed.file)
    }

    /// Encrypts `document`, a profile of `agent`, and has the agent-runner given it from
    /// now on.
    ///
    /// # Errors
    /// When this manager cannot. Then nothing is changed.
    pub fn keep(
        &self,
        paths: &Paths,
        agent: &str,
        provider: &str,
        document: &str,
    ) -> Result<PathBuf, Unsealed> {
        let manager = Manager(self.environment);
        let version = manager.of_suite(&paths.state)?;
        let name = name(agent, provider);
        let encrypted = manager.encrypted(&name, document)?;
        let file = self.folder.join(&name);
        let written = |source| Unsealed::Write {
            path: file.clone(),
            source,
        };
        let mut folder = DirBuilder::new();
        folder.recursive(true).mode(FOLDER_MODE);
        folder.create(&self.folder).map_err(written)?;
        // Beside the one there may be, until it is known to be decrypted.
        let aside = self.folder.join(format!("{name}.new"));
        write::atomic(&aside, encrypted.as_bytes()).map_err(written)?;
        if !manager.decrypts(&name, &aside) {
            let _ = fs::remove_file(&aside);
            return Err(Unsealed::Undecrypted(version));
        }
        fs::rename(&aside, &file).map_err(written)?;
        let mut lines = self.drop_in.lines();
        lines.insert(name, file.clone());
        self.drop_in.write(&lines)?;
        manager.take_up()?;
        Ok(file)
    }

    /// Takes one away, the key itself last: without it the agent-runner would not start.
    ///
    /// # Errors
    /// When something of it stays.
    pub fn remove(&self, sealed: &Sealed) -> Result<(), Unsealed> {
        let mut lines = self.drop_in.lines();
        lines.remove(&name(&sealed.agent, &sealed.provider));
        self.drop_in.write(&lines)?;
        Manager(self.environment).take_up()?;
        match fs::remove_file(&sealed.file) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Unsealed::Write {
                path: sealed.file.clone(),
                source,
            }),
            _ => Ok(()),
        }
    }
}

/// The name of the credential.
fn name(agent: &str, provider: &str) -> String {
    format!("{SEALED}{agent}.{provider}")
}

#[cfg(test)]
mod tests;
