//! Backups and restores that a signal ends.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nix::sys::signal::Signal;

use crate::scene::{DEADLINE, Running, Scene};

/// Bytes that take a moment to be read and written.
const LARGE: u64 = 200 << 20;

/// What ends either, and the code that it leaves.
const SIGNALS: [(Signal, i32); 3] = [
    (Signal::SIGINT, 130),
    (Signal::SIGTERM, 143),
    (Signal::SIGHUP, 129),
];

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A state directory in the home of `scene`, with a file that is large.
fn state(scene: &Scene) -> PathBuf {
    let state = scene.state().join("state-directory");
    fs::create_dir_all(state.join("skills")).unwrap();
    fs::write(state.join("openclaw.json"), "{}").unwrap();
    let large = File::create(state.join("skills/large")).unwrap();
    large.set_len(LARGE).unwrap();
    state
}

fn start(scene: &Scene, arguments: &[&str]) -> Running {
    let mut command = scene.command(arguments);
    command.env("OPENCLAW_STATE_DIR", state(scene));
    Running::new(command.spawn().unwrap())
}

/// Waits for a name in `folder` that has `part` in it.
fn until(folder: &Path, part: &str) -> PathBuf {
    let begun = Instant::now();
    loop {
        let found = names(folder).into_iter().find(|name| name.contains(part));
        if let Some(name) = found {
            return folder.join(name);
        }
        assert!(
            begun.elapsed() < DEADLINE,
            "no {part:?}: {:?}",
            names(folder)
        );
        std::thread::yield_now();
    }
}

#[test]
fn backup_that_a_signal_ends_leaves_nothing_behind() {
    for (signal, code) in SIGNALS {
        let scene = Scene::new();
        let to = scene.state().join("to");
        fs::create_dir(&to).unwrap();
        let file = to.join("backup.tar.zst");
        let running = start(&scene, &["backup", file.to_str().unwrap()]);
        let beside = until(&to, ".openclaw-backup-");
        let mode = fs::metadata(beside).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "keys and conversations lie in it");
        running.signal(signal);
        assert_eq!(running.wait().code(), Some(code), "{signal}");
        assert_eq!(names(&to), Vec::<String>::new(), "{signal}");
    }
}

#[test]
fn backup_removes_what_one_that_was_killed_left() {
    let scene = Scene::new();
    let to = scene.state().join("to");
    fs::create_dir(&to).unwrap();
    let file = to.join("backup.tar.zst");
    let arguments = ["backup", file.to_str().unwrap()];
    let running = start(&scene, &arguments);
    until(&to, ".openclaw-backup-");
    running.signal(Signal::SIGKILL);
    assert_eq!(running.wait().code(), None);
    assert_eq!(names(&to).len(), 1);
    assert_eq!(start(&scene, &arguments).wait().code(), Some(0));
    assert_eq!(names(&to), ["backup.tar.zst"]);
}

#[test]
fn restore_that_a_signal_ends_leaves_the_state_as_it_was() {
    let scene = Scene::new();
    let file = scene.state().join("backup.tar.zst");
    let file = file.to_str().unwrap();
    assert_eq!(start(&scene, &["backup", file]).wait().code(), Some(0));
    for (signal, code) in SIGNALS {
        let running = start(&scene, &["restore", file]);
        until(scene.state(), ".openclaw-restore-");
        running.signal(signal);
        assert_eq!(running.wait().code(), Some(code), "{signal}");
        let left: Vec<String> = names(scene.state())
            .into_iter()
            .filter(|name| name.starts_with("state-directory"))
            .collect();
        assert_eq!(left, ["state-directory"], "{signal}");
    }
}
