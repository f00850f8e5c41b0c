//! The file in which a CLI keeps its login: found for the agent's turns, kept
//! out of its sight.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use openclaw_config::settings::Settings;

/// Where a CLI keeps its login.
#[derive(Debug)]
pub(crate) struct LoginFile {
    /// The CLI's folder in a home.
    pub(crate) folder: &'static str,
    /// The file in it.
    pub(crate) file: &'static str,
    /// The name of an agent's own, outside of what the agent sees.
    pub(crate) kept: &'static str,
}

impl LoginFile {
    /// Where a login is, if there is one: the agent's own, else the user's.
    pub(crate) fn find(&self, settings: &Settings, agent_id: &str) -> Option<PathBuf> {
        let home = settings.paths.home.as_ref();
        let users = home.map(|home| home.join(self.folder).join(self.file));
        let files = [Some(self.kept(settings, agent_id)), users];
        files.into_iter().flatten().find(|file| file.is_file())
    }

    fn kept(&self, settings: &Settings, agent_id: &str) -> PathBuf {
        settings.paths.agent(agent_id).join("auth").join(self.kept)
    }

    /// Takes a login out of the agent's home: one that somebody made there by
    /// starting the CLI with that home.
    pub(crate) fn take(&self, settings: &Settings, agent_id: &str, home: &Path) -> io::Result<()> {
        let found = home.join(self.folder).join(self.file);
        let Ok(metadata) = fs::symlink_metadata(&found) else {
            return Ok(());
        };
        // A link leads to the user's own login, which is found without.
        if metadata.is_symlink() {
            return fs::remove_file(&found);
        }
        let target = self.kept(settings, agent_id);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        tracing::info!(path = %target.display(), "an agent's login is kept out of its home from now on");
        fs::rename(&found, &target)
    }
}
