//! What turns and restores that were cut off have left behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use openclaw_config::{Paths, state_lock};
use openclaw_settings::Settings;

use crate::check::Check;
use crate::remedy::Mend;

/// Who makes and removes the folders of turns.
pub(crate) const RUNNER: &str = "openclaw-agent-runner";
/// The ending of spools.
const SPOOL: &str = ".events";

/// How folders begin in which a restore unpacks,
const HALF: &str = ".openclaw-restore-";
/// and what stands behind the name of what is whole: or was, by an older suite, not whole yet.
const WHOLE: [&str; 2] = ["restored", "restoring"];

/// Looks for all of it that is beside the state or in it.
pub(crate) fn all(paths: &Paths) -> Vec<Check> {
    let turns = turns(paths);
    turns.into_iter().chain(beside(&paths.state)).collect()
}

/// Looks beside workspaces that are not in the state.
pub(crate) fn workspaces(settings: &Settings) -> Vec<Check> {
    let agents = settings.agents.values();
    let places: BTreeSet<&Path> = agents.map(|agent| agent.workspace.as_ref()).collect();
    places.into_iter().flat_map(beside).collect()
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

/// What a restore that was killed has left beside `place`. What is whole may be what was there
/// before, so it is only named.
pub(crate) fn beside(place: &Path) -> Vec<Check> {
    let found = || {
        let place = place.canonicalize().ok()?;
        let own = place.file_name()?.to_str()?.to_owned();
        Some((place.parent()?.to_owned(), own))
    };
    let Some((parent, own)) = found() else {
        return Vec::new();
    };
    let whole = WHOLE.map(|kind| format!("{own}.{kind}-"));
    let check = |name: String| {
        let left = format!("one was cut off and left {}", parent.join(&name).display());
        if name.starts_with(HALF) {
            let fix = "it is half of a copy: remove it, or leave that to the next backup or restore there";
            return Some(Check::warn("restore", left, fix));
        }
        let fix = format!(
            "look whether {} is the one you want; then remove that folder",
            place.display()
        );
        let is_whole = whole.iter().any(|begin| name.starts_with(begin));
        is_whole.then(|| Check::warn("restore", left, fix))
    };
    let mut names = names(&parent);
    names.sort();
    names.into_iter().filter_map(check).collect()
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
        for name in ["s.restored-1", ".openclaw-restore-a", "t.restored-1"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let checks = all(&paths);
        let said = |at: usize| format!("{} {:?}", checks[at].detail, checks[at].fix);
        assert_eq!(checks.len(), 3, "not what is another's");
        assert!(said(1).contains(".openclaw-restore-a") && said(1).contains("half of"));
        assert!(said(2).contains("s.restored-1") && said(2).contains("the one you want"));
        let mend = checks[1..].iter().find(|check| check.mend.is_some());
        assert!(mend.is_none(), "it may be somebody's state");
    }
}
