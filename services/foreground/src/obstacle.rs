//! What keeps the suite from working and can be seen without asking it: a
//! state directory that cannot be written to, or that another suite uses.

use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use openclaw_config::state_lock::Holder;
use openclaw_config::{Paths, room, state_lock};
use openclaw_terminal::Failure;

/// The daemons that own a part of the state.
pub(crate) const OWNERS: [&str; 3] = [
    "openclaw-gateway",
    "openclaw-agent-runner",
    "openclaw-memory",
];
/// What is written for a trial.
const TRIAL: [u8; 4096] = [0; 4096];

/// What keeps the suite of `paths` from working, if anything does.
pub fn find(paths: &Paths) -> Option<Failure> {
    other_suite(paths).or_else(|| {
        let problem = unwritable(&paths.state)?;
        Some(Failure::new(problem))
    })
}

/// What keeps the suite of `paths` from answering whoever asks it: as [`find`], and a
/// daemon that ended because of what starting it again does not mend.
pub fn of_client(paths: &Paths) -> Option<Failure> {
    find(paths).or_else(|| ended(paths))
}

/// A daemon that ended because of what starting it again does not mend.
pub fn ended(paths: &Paths) -> Option<Failure> {
    OWNERS.into_iter().find_map(|program| {
        let why = state_lock::ended(paths, program)?;
        Some(Failure::not_startable(format!(
            "{program} cannot start: {why}"
        )))
    })
}

/// Another suite, with its sockets elsewhere, that uses the same state.
pub fn other_suite(paths: &Paths) -> Option<Failure> {
    suite(paths, |holder| holder.runtime != paths.runtime)
}

/// Any suite that uses the state, wherever its sockets are.
pub(crate) fn any_suite(paths: &Paths) -> Option<Failure> {
    suite(paths, |_| true)
}

/// A suite that uses the state, and is one that is meant.
fn suite(paths: &Paths, is_meant: impl Fn(&Holder) -> bool) -> Option<Failure> {
    let mut holders = OWNERS
        .into_iter()
        .filter_map(|program| state_lock::holder(paths, program));
    let holder = holders.find(|holder| is_meant(holder))?;
    Some(Failure::held(&paths.state, &holder))
}

/// Why nothing can be written to the state directory, if so. One that is not
/// there yet is made by the first start.
pub fn unwritable(state: &Path) -> Option<String> {
    let error = try_writing(state).err()?;
    let shown = state.display();
    match error.kind() {
        ErrorKind::NotFound => None,
        // Of the machine's suite, to whoever only talks to it.
        ErrorKind::PermissionDenied if openclaw_modes::are_shared() => None,
        ErrorKind::StorageFull => Some(format!(
            "the disk is full: nothing can be written to {shown}; make room there"
        )),
        ErrorKind::QuotaExceeded => Some(format!(
            "the disk quota is used up: nothing can be written to {shown}; make room there"
        )),
        ErrorKind::ReadOnlyFilesystem => Some(format!(
            "the state directory {shown} is read-only: mount it writable, or set OPENCLAW_STATE_DIR"
        )),
        _ => Some(format!(
            "nothing can be written to the state directory {shown}: {error}"
        )),
    }
}

/// Written through to the disk, into a file that never had a name. Where less is free than
/// the gateway takes messages with, it is full.
fn try_writing(folder: &Path) -> io::Result<()> {
    room::check(folder)?;
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(&TRIAL)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use openclaw_config::state_lock::StateLock;

    use super::*;

    fn paths(state: &Path, runtime: &str) -> Paths {
        let runtime = state.join(runtime);
        let variables = [
            ("OPENCLAW_STATE_DIR", state.to_str().unwrap()),
            ("OPENCLAW_RUNTIME_DIR", runtime.to_str().unwrap()),
        ];
        Paths::resolve(&variables.into_iter().collect()).unwrap()
    }

    #[test]
    fn obstacle_is_a_suite_with_other_sockets_alone() {
        let folder = tempfile::tempdir().unwrap();
        let own = paths(folder.path(), "own");
        assert!(find(&own).is_none());
        let lock = StateLock::take(&own, OWNERS[1], "end it".to_owned()).unwrap();
        assert!(find(&own).is_none(), "our own suite");
        let other = paths(folder.path(), "other");
        let text = find(&other).unwrap().text();
        assert!(text.contains("in use by openclaw-agent-runner"), "{text}");
        drop(lock);
        assert!(find(&other).is_none());
    }

    #[test]
    fn obstacle_of_a_client_is_also_a_daemon_that_cannot_start() {
        let folder = tempfile::tempdir().unwrap();
        let own = paths(folder.path(), "own");
        let lock = StateLock::take(&own, OWNERS[0], "end it".to_owned()).unwrap();
        lock.say_end("the ledger is newer".to_owned());
        drop(lock);
        let text = of_client(&own).unwrap().text();
        assert_eq!(text, "openclaw-gateway cannot start: the ledger is newer");
        assert!(find(&own).is_none(), "it may be tried");
    }

    #[test]
    fn unwritable_is_a_folder_that_is_there_and_takes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(unwritable(folder.path()), None);
        assert_eq!(unwritable(&folder.path().join("absent")), None);
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(unwritable(&file).is_some());
    }
}
