//! The folder in which a CLI finds its settings: none, in every turn anew.
//!
//! It would obey whatever lies there: hooks, helpers, permissions, servers,
//! variables. The agent can write to any folder the CLI keeps, so none is kept
//! but the one of its sessions.

use std::path::Path;

use openclaw_folder::{Error, Folder};

use super::SessionFolder;
use crate::places::{self, Places};

/// Makes the folder at `path`, the agent's, with a link to what is `kept` in
/// the agent's home. One that is there, of the process that stands ready for
/// this turn, stays as it is.
pub(super) fn make(
    path: &Path,
    places: &Places,
    kept: &SessionFolder,
) -> Result<(), places::Error> {
    places::make(path)?;
    places.give(path)?;
    let inner = Path::new(kept.folder).join(kept.name);
    opened(&places.home)?.create_folder_replacing(&inner)?;
    let target = places.home.join(&inner);
    opened(path)?.create_link(kept.name, &target)?;
    Ok(())
}

fn opened(path: &Path) -> Result<Folder, Error> {
    Folder::open_or_create(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const SESSIONS: SessionFolder = SessionFolder {
        folder: ".codex",
        name: "sessions",
    };

    /// What a hostile turn left is neither there for the next one nor a way to
    /// the user's own files.
    #[test]
    fn only_sessions_are_left_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places {
            workspace: folder.path().join("workspace").into(),
            home: folder.path().join("home"),
            temporary: folder.path().join("tmp"),
            identity: None,
        };
        let users = folder.path().join("users");
        fs::create_dir_all(&places.home).unwrap();
        fs::create_dir_all(users.join("rules")).unwrap();
        for name in ["auth.json", "config.toml", "rules/default.rules"] {
            fs::write(users.join(name), "mine").unwrap();
        }
        symlink(&users, places.home.join(".codex")).unwrap();
        let path = folder.path().join("turn/cli");
        make(&path, &places, &SESSIONS).unwrap();
        for name in ["auth.json", "config.toml", "rules/default.rules"] {
            assert_eq!(fs::read_to_string(users.join(name)).unwrap(), "mine");
        }
        assert!(!users.join("sessions").exists());
        let own = places.home.join(".codex");
        assert!(own.symlink_metadata().unwrap().is_dir());

        fs::write(own.join("config.toml"), "approval_policy = \"never\"").unwrap();
        fs::write(own.join("sessions/one.jsonl"), "").unwrap();
        let next = folder.path().join("next/cli");
        make(&next, &places, &SESSIONS).unwrap();
        let names: Vec<_> = fs::read_dir(&next).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
        assert!(next.join("sessions/one.jsonl").is_file());
        // As it is for one that stands ready.
        make(&next, &places, &SESSIONS).unwrap();
    }
}
