//! What turns and restores that were cut off have left behind.

use std::fs;
use std::path::{Path, PathBuf};

use openclaw_config::{Paths, state_lock};

use crate::check::Check;
use crate::remedy::Mend;

/// Who makes and removes the folders of turns.
pub(crate) const RUNNER: &str = "openclaw-agent-runner";
/// The ending of spools.
const SPOOL: &str = ".events";

/// Looks for all of it.
pub(crate) fn all(paths: &Paths) -> Vec<Check> {
    let turns = turns(paths);
    turns.into_iter().chain(restores(paths)).collect()
}

/// Folders of turns that have no spool: they have ended. Those of the others are
/// taken up or closed by the runner's next start.
fn turns(paths: &Paths) -> Option<Check> {
    if state_lock::holder(paths, RUNNER).is_some() {
        return None;
    }
    let folders = folders_of_ended_turns(paths);
    let first = folders.first()?.display();
    Some(
        Check::warn(
            "turns",
            format!(
                "{} left behind by turns that have ended: {first} …",
                openclaw_terminal::words::count(folders.len() as u64, "folder")
            ),
            "they can be removed: nothing of the conversations is in them",
        )
        .mended_by(Mend::Turns),
    )
}

/// The folders of turns that have ended.
pub(crate) fn folders_of_ended_turns(paths: &Paths) -> Vec<PathBuf> {
    let agents = names(&paths.agents()).into_iter();
    let mut folders: Vec<PathBuf> = agents
        .flat_map(|agent| [paths.turn_folders(&agent), paths.temporaries(&agent)])
        .flat_map(|kind| {
            let runs = names(&kind).into_iter();
            let ended = runs.filter(|run| is_run(run) && !has_spool(paths, run));
            ended.map(|run| kind.join(run)).collect::<Vec<_>>()
        })
        .collect();
    folders.sort();
    folders
}

/// Whether it is a run's id: nothing else is judged.
fn is_run(name: &str) -> bool {
    let lengths: Vec<usize> = name.split('-').map(str::len).collect();
    let is_digit = |it: char| it == '-' || it.is_ascii_hexdigit();
    lengths == [8, 4, 4, 4, 12] && name.chars().all(is_digit)
}

fn has_spool(paths: &Paths, run: &str) -> bool {
    let spool = paths.turns().join(format!("{run}{SPOOL}"));
    spool.symlink_metadata().is_ok()
}

/// What a restore that was killed has left beside the state directory. It may be
/// the state of before, so it is only named.
fn restores(paths: &Paths) -> Option<Check> {
    let state = paths.state.canonicalize().ok()?;
    let begin = format!("{}.restoring-", state.file_name()?.to_str()?);
    let parent = state.parent()?;
    let left = names(parent)
        .into_iter()
        .find(|name| name.starts_with(&begin))?;
    Some(Check::warn(
        "restore",
        format!("one was cut off and left {}", parent.join(left).display()),
        "look whether the state is the one you want; then remove that folder",
    ))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use openclaw_config::state_lock::StateLock;

    use super::*;

    #[test]
    fn leftovers_are_folders_of_turns_without_a_spool() {
        const ENDED: &str = "0198f0a2-0000-7000-8000-000000000001";
        const OPEN: &str = "0198f0a2-0000-7000-8000-000000000002";
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("s");
        let text = state.to_str().unwrap();
        let paths = Paths::resolve(&[("OPENCLAW_STATE_DIR", text)].into_iter().collect()).unwrap();
        for run in [ENDED, OPEN, "something-else"] {
            fs::create_dir_all(paths.turn_temporary("main", run)).unwrap();
        }
        fs::create_dir_all(paths.turns()).unwrap();
        fs::write(paths.turns().join(format!("{OPEN}{SPOOL}")), "").unwrap();
        let found = folders_of_ended_turns(&paths);
        assert_eq!(found, [paths.turn_temporary("main", ENDED)]);
        assert_eq!(all(&paths).len(), 1);
        let lock = StateLock::take(&paths, RUNNER, String::new()).unwrap();
        assert_eq!(all(&paths).len(), 0, "the runner looks after them");
        drop(lock);
        fs::create_dir(folder.path().join("s.restoring-1")).unwrap();
        let checks = all(&paths);
        assert!(checks[1].mend.is_none(), "it may be somebody's state");
    }
}
