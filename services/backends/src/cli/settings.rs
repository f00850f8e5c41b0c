//! The folder in which a CLI finds its settings: none, in every turn anew.
//!
//! It would obey whatever lies there: hooks, helpers, permissions, servers, variables. The agent
//! can write to any folder the CLI keeps, so none is kept but the one of its session.

use std::io;
use std::path::Path;

use openclaw_agent_clis::AgentCli;
use openclaw_folder::{Error, Folder};

use crate::places::{self, Places};

/// Where sessions are that CLIs kept in the agent's home, which every turn sees. None is
/// gone on with.
const EARLIER: &str = "earlier";

/// Makes the folder at `path`, the agent's, with a link to what `cli` keeps of the session in
/// `own`. One that is there, of the process that stands ready for this turn, stays as it is.
pub(super) fn make(
    path: &Path,
    own: &Path,
    places: &Places,
    cli: &AgentCli,
) -> Result<(), places::Error> {
    places::make(path)?;
    places.give(path)?;
    places::make(own)?;
    places.give(own)?;
    put_away(own, places, cli)?;
    opened(own)?.create_folder_replacing(cli.sessions)?;
    opened(path)?.create_link(cli.sessions, &own.join(cli.sessions))?;
    Ok(())
}

fn put_away(own: &Path, places: &Places, cli: &AgentCli) -> Result<(), places::Error> {
    let in_home = Path::new(cli.folder).join(cli.sessions);
    let home = opened(&places.home)?;
    let is_there = home.status(&in_home).is_ok_and(|found| found.is_some());
    let Some(all) = own.parent().filter(|_| is_there) else {
        return Ok(());
    };
    let earlier = all.join(EARLIER);
    places::make(&earlier)?;
    // A second one is what the agent made itself, and is left to it.
    home.move_to(&in_home, &opened(&earlier)?, cli.sessions)
        .map(drop)
        .or_else(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory => Ok(()),
            _ => Err(error.into()),
        })
}

fn opened(path: &Path) -> Result<Folder, Error> {
    Folder::open_or_create(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use openclaw_agent_clis::codex::CLI;

    use super::*;

    fn places(folder: &Path) -> Places {
        Places {
            workspace: folder.join("workspace").into(),
            home: folder.join("home"),
            temporary: folder.join("tmp"),
            identity: None,
        }
    }

    /// What a hostile turn left is neither there for the next one nor a way to
    /// the user's own files.
    #[test]
    fn settings_only_sessions_are_left_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let users = folder.path().join("users");
        fs::create_dir_all(&places.home).unwrap();
        fs::create_dir_all(users.join("rules")).unwrap();
        for name in ["auth.json", "config.toml", "rules/default.rules"] {
            fs::write(users.join(name), "mine").unwrap();
        }
        let own = folder.path().join("cli/session-one");
        let path = folder.path().join("turn/cli");
        make(&path, &own, &places, &CLI).unwrap();
        for name in ["auth.json", "config.toml", "rules/default.rules"] {
            assert_eq!(fs::read_to_string(users.join(name)).unwrap(), "mine");
        }
        fs::write(own.join("config.toml"), "approval_policy = \"never\"").unwrap();
        fs::write(own.join("sessions/one.jsonl"), "").unwrap();
        let next = folder.path().join("next/cli");
        make(&next, &own, &places, &CLI).unwrap();
        let names: Vec<_> = fs::read_dir(&next).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
        assert!(next.join("sessions/one.jsonl").is_file());
        // As it is for one that stands ready.
        make(&next, &own, &places, &CLI).unwrap();
        fs::remove_dir_all(own.join("sessions")).unwrap();
        symlink(&users, own.join("sessions")).unwrap();
        make(&next, &own, &places, &CLI).unwrap();
        assert!(own.join("sessions").symlink_metadata().unwrap().is_dir());
        assert_eq!(fs::read_dir(&users).unwrap().count(), 3);
    }

    #[test]
    fn sessions_of_the_home_are_put_where_no_turn_sees_them() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let in_home = places.home.join(".codex/sessions");
        fs::create_dir_all(&in_home).unwrap();
        fs::write(in_home.join("private.jsonl"), "pin").unwrap();
        let path = folder.path().join("turn/cli");
        let own = folder.path().join("cli/session-one");
        make(&path, &own, &places, &CLI).unwrap();
        assert!(!in_home.exists());
        let earlier = folder.path().join("cli/earlier/sessions/private.jsonl");
        assert_eq!(fs::read_to_string(&earlier).unwrap(), "pin");
        assert!(!path.join("sessions/private.jsonl").exists());
        // What the agent makes there is its own, and moves nothing.
        fs::create_dir_all(&in_home).unwrap();
        fs::write(in_home.join("private.jsonl"), "other").unwrap();
        make(&path, &own, &places, &CLI).unwrap();
        assert_eq!(fs::read_to_string(&earlier).unwrap(), "pin");
    }
}
