//! The folders of a turn: made before it, the temporary one removed after it.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, lchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use openclaw_config::settings::{AgentSettings, Settings};
use openclaw_sandbox::identity::{self, Identity};
use openclaw_sandbox::ownership;

/// Why a turn has no place to run in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("make {path} ready for a turn")]
    Make {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("find the user that agents run as")]
    Identity(#[from] identity::IdentityError),
    #[error("give {path} to the user {user}")]
    Adopt {
        path: PathBuf,
        user: String,
        #[source]
        source: ownership::AdoptError,
    },
}

/// Where one turn runs.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) workspace: PathBuf,
    /// HOME.
    pub(crate) home: PathBuf,
    /// TMPDIR, of this turn alone.
    pub(crate) temporary: PathBuf,
    /// Who the agent is, when that is not who we are.
    pub(crate) identity: Option<Identity>,
}

impl Places {
    pub(crate) fn prepare(
        settings: &Settings,
        agent: &AgentSettings,
        run_id: &str,
    ) -> Result<Self, Error> {
        let identity = agent_identity(settings)?;
        let places = Self {
            workspace: agent.workspace.clone(),
            home: settings.paths.agent_home(&agent.id),
            temporary: settings.paths.turn_temporary(&agent.id, run_id),
            identity,
        };
        places.make(settings)?;
        Ok(places)
    }

    /// Makes the folders, those of the state directory for the agent's user.
    pub(crate) fn make(&self, settings: &Settings) -> Result<(), Error> {
        for path in [&self.workspace, &self.home, &self.temporary] {
            make(path)?;
            if path.starts_with(&settings.paths.state) {
                self.give(path)?;
            }
        }
        Ok(())
    }

    /// Gives what this daemon put into a folder of the agent's user to that
    /// user too.
    pub(crate) fn give_contents(&self, folder: &Path) -> Result<(), Error> {
        let Some(identity) = &self.identity else {
            return Ok(());
        };
        let (uid, gid) = (identity.uid.as_raw(), identity.gid.as_raw());
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.give(&path)?;
            } else {
                lchown(&path, Some(uid), Some(gid))
                    .map_err(|source| Error::Make { path, source })?;
            }
        }
        Ok(())
    }

    /// Gives a path inside the state directory to the agent's user.
    fn give(&self, path: &Path) -> Result<(), Error> {
        let Some(identity) = &self.identity else {
            return Ok(());
        };
        ownership::adopt(path, identity).map_err(|source| Error::Adopt {
            path: path.to_owned(),
            user: identity.name.clone(),
            source,
        })
    }
}

/// Removes a turn's temporary folder, after its last process.
pub(crate) fn remove(temporary: &Path) {
    match fs::remove_dir_all(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, path = %temporary.display(), "a turn's temporary folder stays");
        }
        _ => {}
    }
}

/// Removes the temporary folders of turns that a killed runner left behind,
/// except those of the runs that `go_on`. Called before the first turn.
pub(crate) fn sweep(settings: &Settings, go_on: &[String]) {
    for agent in settings.agents.keys() {
        let folder = settings.paths.agent(agent).join("tmp");
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if !go_on.iter().any(|run_id| entry.file_name() == **run_id) {
                remove(&entry.path());
            }
        }
    }
}

/// The user that agents run as, when the daemon is root. One that was found is
/// not looked up again by this process: that reads files for each turn.
pub(crate) fn agent_identity(
    settings: &Settings,
) -> Result<Option<Identity>, identity::IdentityError> {
    static FOUND: Mutex<Option<Identity>> = Mutex::new(None);
    if !identity::is_root() {
        return Ok(None);
    }
    let wanted = &settings.sandbox.user;
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if found.as_ref().is_none_or(|found| found.name != *wanted) {
        *found = Some(identity::agent(wanted)?);
    }
    Ok(found.clone())
}

pub(crate) fn make(path: &Path) -> Result<(), Error> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|source| Error::Make {
            path: path.to_owned(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use openclaw_config::Environment;

    use super::*;

    #[test]
    fn folders_that_a_killed_runner_left_are_removed() {
        let state = tempfile::tempdir().unwrap();
        let state_text = state.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state_text)].into_iter().collect();
        let settings = openclaw_config::load(&environment).unwrap();
        let left = settings.paths.turn_temporary("main", "killed");
        let home = settings.paths.agent_home("main");
        fs::create_dir_all(&left).unwrap();
        fs::create_dir_all(&home).unwrap();
        let used = settings.paths.turn_temporary("main", "used");
        fs::create_dir_all(&used).unwrap();
        sweep(&settings, &["used".to_owned()]);
        assert!(!left.exists() && home.exists() && used.exists());
        sweep(&settings, &[]);
        assert!(!used.exists());
    }
}
