//! Imports: any files of another sessions folder are taken over or skipped with
//! a reason; nothing is written outside the folder they go to, no two of them
//! have one name or one key, and what is there after it is read.
//!
//! The input is `=== NAME` lines, each with the bytes of the file after it; a
//! file whose name ends in `!` is compressed first, and loses the mark.
#![no_main]

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Component, Path, PathBuf};

use libfuzzer_sys::fuzz_target;
use openclaw_sessions::AgentId;
use openclaw_sessions::archive::{self, ArchiveName};
use openclaw_sessions::store::Store;
use openclaw_sessions::transfer::{self, Existing, Plan, StagedFile};

/// Bytes that all that is staged and taken over may have: a frame of 4096 bytes
/// can hold more than 100 MiB of the same byte.
const UNPACKED: u64 = 512 * 1024 * 1024;

/// What the line of a name begins with.
const MARK: &[u8] = b"=== ";

/// What the name of a file that is to be compressed ends with.
const COMPRESSED: char = '!';

fuzz_target!(|bytes: &[u8]| {
    let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let root = root.expect("a temporary folder");
    let (staging, sessions) = (root.path().join("staging"), root.path().join("sessions"));
    fs::create_dir(&staging).expect("a folder");
    fs::create_dir(&sessions).expect("a folder");
    let files = staged(&staging, bytes);
    let (mut store, _) = Store::open(&sessions, AgentId::main(), 0).expect("an empty store");
    let existing = Existing::of(&store).expect("an empty store");
    let existing = HashMap::from([(AgentId::main(), existing)]);
    let plan = transfer::plan(&files, &existing, &|| u64::MAX).expect("a plan");
    let here: BTreeSet<PathBuf> = found(&staging);
    assert!(here.iter().all(|path| path.starts_with(&staging)));
    assert!(here.iter().map(length).sum::<u64>() < UNPACKED);
    take_over(&plan, &mut store);
    let listed: BTreeSet<PathBuf> = found(root.path());
    let inside = |path: &PathBuf| path.starts_with(&staging) || path.starts_with(&sessions);
    assert!(listed.iter().all(inside), "{listed:?}");
    read(&plan, &sessions);
    for file in &files {
        names(file);
    }
});

/// The files as the gateway keeps them: under names of its own.
fn staged(folder: &Path, bytes: &[u8]) -> Vec<StagedFile> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match (line.strip_prefix(MARK), files.last_mut()) {
            (Some(name), _) => {
                let name = name.strip_suffix(b"\n").unwrap_or(name);
                files.push((String::from_utf8_lossy(name).into_owned(), Vec::new()));
            }
            (None, Some((_, content))) => content.extend_from_slice(line),
            (None, None) => {}
        }
    }
    let staged = files
        .into_iter()
        .enumerate()
        .map(|(at, (mut name, mut content))| {
            let path = folder.join(at.to_string());
            if name.ends_with(COMPRESSED) {
                name.pop();
                content = zstd::encode_all(content.as_slice(), 1).expect("compress");
            }
            fs::write(&path, content).expect("write");
            StagedFile {
                agent: AgentId::main(),
                name,
                path,
                modified_ms: at as i64,
            }
        });
    staged.collect()
}

fn take_over(plan: &Plan, store: &mut Store) {
    assert!(plan.skipped.iter().all(|skip| !skip.reason.is_empty()));
    let mut moves = Vec::new();
    let (mut names, mut keys) = (BTreeSet::new(), BTreeSet::new());
    for takeover in &plan.takeovers {
        let mut parts = Path::new(&takeover.name).components();
        assert!(matches!(parts.next(), Some(Component::Normal(_))) && parts.next().is_none());
        assert!(
            names.insert(&takeover.name),
            "two are called {}",
            takeover.name
        );
        assert!(
            keys.insert(takeover.key.as_str()),
            "two are {}",
            takeover.key
        );
        moves.push((takeover.staged.clone(), store.dir().join(&takeover.name)));
    }
    transfer::move_in(&moves).expect("every name is free");
    for takeover in &plan.takeovers {
        let before = store.insert(&takeover.key, takeover.entry.clone());
        assert!(before.is_none(), "{} was taken", takeover.key);
    }
    store.flush().expect("write the index");
}

/// Opened again, every session is there, with its transcript.
fn read(plan: &Plan, sessions: &Path) {
    let (store, _) = Store::open(sessions, AgentId::main(), 0).expect("open again");
    for takeover in &plan.takeovers {
        let entry = store.get(&takeover.key).expect("it was taken over");
        assert_eq!(entry.session_id(), takeover.entry.session_id());
        let path = store.transcript_path(entry);
        assert_eq!(path, sessions.join(&takeover.name));
        openclaw_sessions::transcript::read(&path).expect("read");
    }
}

/// Names of archives say one thing; what is one is unpacked within its limit.
fn names(file: &StagedFile) {
    if let Some(name) = ArchiveName::parse(&file.name) {
        assert!(file.name.starts_with(&name.session_id));
    }
    let target = file.path.with_extension("again");
    if let Ok(length) = archive::unpack(&file.path, &target, 1 << 20) {
        assert!(length <= 1 << 20);
        assert_eq!(length, self::length(&target));
    }
}

fn length(path: &PathBuf) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

fn found(folder: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            files.extend(found(&path))
        } else {
            _ = files.insert(path)
        }
    }
    files
}
