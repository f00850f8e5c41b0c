//! The folders of a turn: made before it, those of this turn alone removed after it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use openclaw_config::Paths;
use openclaw_folder::{ConfiguredFolder, Folder};
use openclaw_sandbox::identity::{self, Identity};
use openclaw_sandbox::{Launcher, Level, Plan, ownership};
use openclaw_settings::{AgentSettings, Settings};

/// Folders of turns that are looked at when a runner starts. A runner leaves
/// as many as turns ran at a time.
const SWEPT: usize = 100_000;

/// Begins the names of what is about to be removed.
const ASIDE: &str = ".removed-";

/// The mode of folders with keys.
const SECRET: u32 = 0o700;

/// Begins the names of folders that are not of a turn, but of a session's servers of tools.
pub const SERVERS: &str = "servers-";

/// Why a turn has no place to run in.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder cannot be made.
    #[error("make {path} ready for a turn")]
    Make {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A folder that an agent writes to is not as it should be.
    #[error("make a folder ready for a turn")]
    Folder(#[from] openclaw_folder::Error),
    /// There is no such user.
    #[error("find the user that agents run as")]
    Identity(#[from] identity::IdentityError),
    /// A folder cannot be given to the user that agents run as.
    #[error("give {path} to the user {user}")]
    Adopt {
        /// Which one.
        path: PathBuf,
        /// To whom.
        user: String,
        /// Why.
        #[source]
        source: ownership::AdoptError,
    },
}

/// The places of one turn.
#[derive(Debug)]
pub struct Places {
    /// Its workspace.
    pub workspace: ConfiguredFolder,
    /// HOME.
    pub home: PathBuf,
    /// TMPDIR, of this turn alone.
    pub temporary: PathBuf,
    /// The user of the agent, if it is another one than ours.
    pub identity: Option<Identity>,
}

impl Places {
    /// Makes the places of a turn ready.
    pub fn prepare(
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

    /// Makes the folders, those of the state directory and a new workspace for the agent's user.
    pub fn make(&self, settings: &Settings) -> Result<(), Error> {
        let is_new = self.workspace.symlink_metadata().is_err();
        self.workspace.open_or_create()?;
        make(&self.home)?;
        make(&self.temporary)?;
        for path in [&*self.workspace, &self.home, &self.temporary] {
            // Elsewhere only what was made just now is nobody's yet.
            let is_made = is_new && path == &*self.workspace;
            if is_made || path.starts_with(&settings.paths.agent_places) {
                self.give(path)?;
            }
        }
        Ok(())
    }

    /// Gives a path inside the state directory to the agent's user.
    pub(crate) fn give(&self, path: &Path) -> Result<(), Error> {
        // Where the daemon is not root, the agent's group has the folder (`openclaw-folder`).
        let Some(identity) = self.identity.as_ref().filter(|_| identity::is_root()) else {
            return Ok(());
        };
        ownership::adopt(path, identity).map_err(|source| Error::Adopt {
            path: path.to_owned(),
            user: identity.name.clone(),
            source,
        })
    }
}

/// The folders that end with a turn.
#[derive(Debug, Clone)]
pub struct RunFolders([PathBuf; 2]);

impl RunFolders {
    /// Those of a run.
    pub fn of(paths: &Paths, agent_id: &str, run_id: &str) -> Self {
        Self([
            paths.turn_temporary(agent_id, run_id),
            paths.turn_folder(agent_id, run_id),
        ])
    }

    /// Removes them, after the turn's last process.
    pub fn remove(&self) {
        for path in &self.0 {
            if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
                remove(folder, Path::new(name));
            }
        }
    }
}

/// Removes `name` in a folder that is the host's; what is in it is the agent's.
fn remove(folder_path: &Path, name: &Path) {
    let removed = Folder::open(folder_path).and_then(|folder| match folder {
        Some(folder) => folder.remove_all(name),
        None => Ok(()),
    });
    if let Err(error) = removed
        && !remove_as_agent(&folder_path.join(name))
    {
        openclaw_daemon::failure::report("remove a folder of a turn", &error);
    }
}

/// The same as the agents' user, where the daemon may become that one and no more: an agent can
/// make folders that its group cannot enter. True when it is gone.
fn remove_as_agent(path: &Path) -> bool {
    if !identity::can_change_user() {
        return false;
    }
    let Ok(own) = openclaw_config::programs::own() else {
        return false;
    };
    let launcher = Launcher {
        helper: own.with_file_name("openclaw-sandbox"),
    };
    let mut plan = Plan::new("remove", "", Path::new("/"));
    plan.level = Level::Off;
    // It belongs to no thread, and ends by itself.
    plan.parent_death_signal = false;
    // How many there are is not to be seen from the daemon's unit (ProcSubset=).
    plan.limits.processes = None;
    // rm(1) follows no link, and this user may remove what it made, and nothing of others.
    let args = ["-rf", "--"].map(OsString::from);
    let args = [&args[..], &[path.into()]].concat();
    let removed = launcher.command(&plan, Path::new("/bin/rm"), &args, &[]);
    removed.is_ok_and(|mut it| it.status().is_ok_and(|status| status.success()))
}

/// Folders of turns that were left and are to be removed. No turn will have their names.
#[derive(Debug, Default)]
pub struct Leftovers(Vec<(PathBuf, OsString)>);

impl Leftovers {
    /// Removes them, which may take long.
    pub fn remove(self) {
        for (folder, name) in self.0 {
            remove(&folder, Path::new(&name));
        }
    }
}

/// Puts the folders of turns aside that a killed runner left behind, except those of the runs that
/// `go_on`: a run that did not begin may begin once more, and then has its folders anew. Called
/// before the first turn, which is not to wait until they are gone.
pub fn sweep(settings: &Settings, go_on: &[String]) -> Leftovers {
    let mut leftovers = Leftovers::default();
    for agent in settings.agents.keys() {
        let folders = [
            settings.paths.temporaries(agent),
            settings.paths.turn_folders(agent),
        ];
        for folder in folders {
            let left = Folder::open(&folder).and_then(|found| match found {
                Some(folder) => folder.entries(SWEPT),
                None => Ok(Vec::new()),
            });
            for entry in left.into_iter().flatten() {
                let is_used = if entry.name.to_string_lossy().starts_with(SERVERS) {
                    // Whose they are is not known; they go on as long as a turn.
                    !go_on.is_empty()
                } else {
                    go_on.iter().any(|run_id| entry.name == **run_id)
                };
                if is_used {
                    continue;
                }
                match put_aside(&folder, &entry.name) {
                    Some(name) => leftovers.0.push((folder.clone(), name)),
                    None => remove(&folder, Path::new(&entry.name)),
                }
            }
        }
    }
    leftovers
}

/// Gives `name` in `folder` a name that no turn has; None where that cannot be.
fn put_aside(folder: &Path, name: &OsStr) -> Option<OsString> {
    if name.as_encoded_bytes().starts_with(ASIDE.as_bytes()) {
        return Some(name.to_owned());
    }
    let new = format!("{ASIDE}{}", name.to_str()?);
    let folder = Folder::open(folder).ok()??;
    let is_moved = folder.move_to(name, &folder, &new).ok()?;
    is_moved.then(|| new.into())
}

/// The user that agents run as, when the daemon is root or may change its user. One that was found is
/// not looked up again by this process: that reads files for each turn.
pub fn agent_identity(settings: &Settings) -> Result<Option<Identity>, identity::IdentityError> {
    static FOUND: Mutex<Option<Identity>> = Mutex::new(None);
    if !identity::is_root() && !identity::can_change_user() {
        return Ok(None);
    }
    let wanted = &settings.sandbox.user;
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if found.as_ref().is_none_or(|found| found.name != *wanted) {
        *found = Some(identity::agent(wanted)?);
    }
    Ok(found.clone())
}

/// Makes a folder that is for no other user ([`openclaw_modes`]), with those above it:
/// beneath a folder of the agents' group for that group, too.
pub fn make(path: &Path) -> Result<(), Error> {
    make_with(path, openclaw_modes::current().folder)
}

/// The same for what is the daemon's own also where it shares its state with others.
pub fn make_secret(path: &Path) -> Result<(), Error> {
    if let Some(parent) = path.parent() {
        make(parent)?;
    }
    make_with(path, SECRET)
}

fn make_with(path: &Path, mode: u32) -> Result<(), Error> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(openclaw_folder::mode_of_new(path, mode))
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
        let settings = openclaw_settings::load(&environment).unwrap();
        let left = settings.paths.turn_temporary("main", "killed");
        let home = settings.paths.agent_home("main");
        fs::create_dir_all(&left).unwrap();
        fs::create_dir_all(&home).unwrap();
        let used = settings.paths.turn_temporary("main", "used");
        fs::create_dir_all(&used).unwrap();
        let given = ["killed", "used"].map(|run_id| settings.paths.turn_given("main", run_id));
        for path in &given {
            fs::create_dir_all(path).unwrap();
        }
        let servers = settings.paths.turn_folder("main", "servers-1");
        fs::create_dir_all(&servers).unwrap();
        let leftovers = sweep(&settings, &["used".to_owned()]);
        assert!(!left.exists(), "a turn of its name finds nothing");
        // What one of its name makes now stays; what was not removed is, at the next start.
        fs::create_dir_all(&left).unwrap();
        drop(leftovers);
        let used_now = ["used".to_owned(), "killed".to_owned()];
        sweep(&settings, &used_now).remove();
        assert!(left.exists());
        let names = fs::read_dir(left.parent().unwrap()).unwrap();
        assert_eq!(names.count(), 2);
        sweep(&settings, &["used".to_owned()]).remove();
        assert!(servers.exists());
        assert!(!left.exists() && home.exists() && used.exists());
        assert!(!given[0].exists() && given[1].exists());
        sweep(&settings, &[]).remove();
        assert!(!used.exists() && !given[1].exists() && !servers.exists());
    }
    /// What was removed was named by its path, which the agent could swap.
    #[test]
    fn places_what_a_turn_left_is_removed_and_nothing_it_links_to() {
        let state = tempfile::tempdir().unwrap();
        let state_text = state.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state_text)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let outside = state.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "").unwrap();
        let temporary = paths.turn_temporary("main", "run");
        fs::create_dir_all(temporary.join("sub")).unwrap();
        std::os::unix::fs::symlink(&outside, temporary.join("sub/link")).unwrap();
        let turn = paths.turn_folder("main", "run");
        fs::create_dir_all(turn.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&outside, &turn).unwrap();
        RunFolders::of(&paths, "main", "run").remove();
        assert!(!temporary.exists() && turn.symlink_metadata().is_err());
        assert!(outside.join("file").is_file());
    }
}
