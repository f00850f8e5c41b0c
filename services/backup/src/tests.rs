//! Backups that are made, changed, forged and put back.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use openclaw_config::Paths;
use openclaw_config::restored;
use openclaw_config::state_lock::StateLock;
use serde_json::{Value, json};
use tar::EntryType;

use crate::seal::Sealing;
use crate::{
    Error, Existing, Made, Options, Restored, Source, Unfinished, backup, check, member, restore,
};

/// A home with a state directory, and another one without.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for (name, text) in [
            ("openclaw.json", "{}"),
            ("agents/main/sessions/sessions.json", "{}"),
            (
                "agents/main/sessions/a.jsonl",
                "{\"type\":\"session\"}\n{\"torn",
            ),
            ("agents/main/auth/auth-profiles.json", "{\"key\":1}"),
            ("agents/main/tmp/run/x", "gone"),
            ("state/gateway.lock", ""),
            ("workspace/MEMORY.md", "remember"),
            ("workspace/deep/er/note.md", "note"),
        ] {
            scene.write(&scene.state().join(name), text);
        }
        let database = rusqlite::Connection::open(scene.paths().ledger()).unwrap();
        database.execute_batch("CREATE TABLE t (x)").unwrap();
        scene.write(&scene.home().join("notes/own.md"), "elsewhere");
        scene
    }

    fn write(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("old")
    }

    fn state(&self) -> PathBuf {
        self.home().join(".openclaw")
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("backup.tar.zst")
    }

    fn paths_at(&self, home: &str) -> Paths {
        let home = self.folder.path().join(home);
        let text = home.to_str().unwrap();
        Paths::resolve(&[("HOME", text)].into_iter().collect()).unwrap()
    }

    fn paths(&self) -> Paths {
        self.paths_at("old")
    }

    fn source(&self) -> Source {
        Source {
            paths: self.paths(),
            workspaces: vec![
                ("main".to_owned(), self.state().join("workspace").into()),
                ("work".to_owned(), self.home().join("notes").into()),
            ],
            written: vec![
                self.state().join("shared"),
                self.state().join("workspace"),
                self.home().join("notes"),
            ],
            program: "1.2.3".to_owned(),
        }
    }

    fn backed_up(&self, replace: bool) -> Result<Made, Error> {
        let unfinished = Unfinished::default();
        backup(&self.source(), &self.file(), replace, &unfinished)
    }

    fn made(&self) -> PathBuf {
        self.backed_up(true).unwrap();
        self.file()
    }

    fn restored(&self, home: &str, existing: Existing) -> Result<Restored, Error> {
        self.restored_where(home, existing, Vec::new())
    }

    /// Where agents write in these folders.
    fn restored_where(
        &self,
        home: &str,
        existing: Existing,
        written: Vec<PathBuf>,
    ) -> Result<Restored, Error> {
        let options = Options {
            paths: self.paths_at(home),
            existing,
            written,
            stop: "stop it".to_owned(),
        };
        restore(&self.file(), &options, &Unfinished::default())
    }

    /// Everything in the folder but the file, to see that nothing came or went.
    fn names(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut waiting = vec![self.folder.path().to_owned()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    waiting.push(path.clone());
                }
                found.push(path);
            }
        }
        found.sort();
        found
    }
}

fn text(path: PathBuf) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn backup_holds_the_state_and_leaves_nothing_else_behind() {
    let scene = Scene::new();
    let before = scene.names().len();
    let made = scene.backed_up(false).unwrap();
    assert_eq!(scene.names().len(), before + 1);
    let mode = fs::metadata(scene.file()).unwrap().mode() & 0o7777;
    assert_eq!(mode, 0o600);
    let mut files: Vec<&str> = made
        .manifest
        .files
        .iter()
        .map(|it| it.path.as_str())
        .collect();
    files.sort();
    assert_eq!(
        files,
        [
            "state/agents/main/auth/auth-profiles.json",
            "state/agents/main/sessions/a.jsonl",
            "state/agents/main/sessions/sessions.json",
            "state/openclaw.json",
            "state/state/ledger.sqlite",
            "state/workspace/MEMORY.md",
            "state/workspace/deep/er/note.md",
            "workspaces/0/own.md",
        ]
    );
    assert_eq!(check(&scene.file()).unwrap(), made.manifest);
    assert!(!made.manifest.running);
    let again = scene.backed_up(false).unwrap_err();
    assert!(matches!(again, Error::Exists(_)), "{again}");
    scene.backed_up(true).unwrap();
}

#[test]
fn backup_leaves_out_what_an_agent_inflated_and_names_it() {
    let scene = Scene::new();
    for (name, length) in [("workspace/huge", 3 << 40), ("own", 3 << 20)] {
        let file = fs::File::create(scene.state().join(name)).unwrap();
        file.set_len(length).unwrap();
    }
    let made = scene.backed_up(false).unwrap();
    let left_out: Vec<&str> = made.manifest.left_out.iter().map(|it| &*it.path).collect();
    assert_eq!(left_out, ["state/workspace/huge"]);
    assert!(
        made.manifest.left_out[0]
            .why
            .contains("beyond what lies on the disk")
    );
}

#[test]
fn backup_is_an_archive_that_tar_reads() {
    let scene = Scene::new();
    let long = format!("workspace/{}/{}", "d".repeat(200), "f".repeat(200));
    scene.write(&scene.state().join(&long), "long");
    scene.made();
    let decoder = zstd::Decoder::new(File::open(scene.file()).unwrap()).unwrap();
    let mut archive = tar::Archive::new(decoder);
    let paths = archive.entries().unwrap();
    let paths: Vec<PathBuf> = paths
        .map(|entry| entry.unwrap().path().unwrap().into_owned())
        .collect();
    assert_eq!(paths[0], Path::new("manifest.json"));
    assert!(paths.contains(&Path::new("state").join(&long)));
    check(&scene.file()).unwrap();
    scene.restored("new", Existing::Refused).unwrap();
    assert_eq!(
        text(scene.folder.path().join("new/.openclaw").join(long)),
        "long"
    );
}

#[test]
fn backup_without_a_state_says_so_and_writes_nothing() {
    let scene = Scene::new();
    fs::remove_dir_all(scene.state()).unwrap();
    let before = scene.names();
    let error = scene.backed_up(false).unwrap_err();
    assert!(error.to_string().contains("there is no state directory"));
    assert_eq!(scene.names(), before);
}

#[test]
fn backup_takes_a_configuration_that_lies_elsewhere_and_follows_the_users_links() {
    let scene = Scene::new();
    let kept = scene.folder.path().join("dotfiles");
    scene.write(&kept.join("claw.json"), "{ a: 1 }");
    fs::rename(scene.state().join("workspace"), kept.join("workspace")).unwrap();
    symlink(kept.join("workspace"), scene.state().join("workspace")).unwrap();
    fs::remove_file(scene.state().join("openclaw.json")).unwrap();
    symlink(kept.join("claw.json"), scene.state().join("openclaw.json")).unwrap();
    let made = scene.backed_up(true).unwrap();
    assert_eq!(made.manifest.left_out, []);
    scene.restored("new", Existing::Refused).unwrap();
    let new = scene.folder.path().join("new/.openclaw");
    assert_eq!(text(new.join("openclaw.json")), "{ a: 1 }");
    assert_eq!(text(new.join("workspace/MEMORY.md")), "remember");

    fs::remove_file(scene.state().join("openclaw.json")).unwrap();
    let mut source = scene.source();
    source.paths.configuration = kept.join("claw.json");
    let made = backup(&source, &scene.file(), true, &Unfinished::default()).unwrap();
    assert_eq!(made.manifest.configuration, Some(kept.join("claw.json")));
    let restored = scene.restored("new", Existing::Kept).unwrap();
    assert_eq!(text(restored.state.join("openclaw.json")), "{ a: 1 }");
}

#[test]
fn restore_puts_everything_back_in_another_home() {
    let scene = Scene::new();
    let memory = scene.state().join("workspace/MEMORY.md");
    fs::set_permissions(&memory, Permissions::from_mode(0o640)).unwrap();
    let modified = fs::metadata(&memory).unwrap().mtime();
    fs::create_dir(scene.state().join("workspace/empty")).unwrap();
    let closed = scene.state().join("workspace/deep");
    fs::set_permissions(&closed, Permissions::from_mode(0o500)).unwrap();
    let notes = scene.home().join("notes").display().to_string();
    let configuration = json!({"agents": {"list": [{"id": "work", "workspace": notes}]}});
    scene.write(
        &scene.state().join("openclaw.json"),
        &configuration.to_string(),
    );
    scene.made();
    let restored = scene.restored("new", Existing::Refused).unwrap();
    let new = scene.folder.path().join("new");
    assert_eq!(restored.state, new.join(".openclaw"));
    assert_eq!(restored.before, None);
    let state = restored.state;
    assert_eq!(
        text(state.join("agents/main/sessions/a.jsonl")),
        "{\"type\":\"session\"}\n"
    );
    let found = fs::metadata(state.join("workspace/MEMORY.md")).unwrap();
    assert_eq!((found.mode() & 0o777, found.mtime()), (0o640, modified));
    assert!(state.join("workspace/empty").is_dir());
    let mode = |path: &str| fs::metadata(state.join(path)).unwrap().mode() & 0o777;
    assert_eq!(mode("workspace/deep"), 0o500);
    assert_eq!(mode("agents/main/auth/auth-profiles.json"), 0o600);
    assert!(!state.join("agents/main/tmp").exists());
    assert_eq!(text(new.join("notes/own.md")), "elsewhere");
    let note = restored::Restored::read(&scene.paths_at("new").restored()).unwrap();
    assert!(!note.taken && note.restored_ms >= note.made_ms);
    let mention = &restored.mentions[0];
    assert_eq!(mention.key, "agents.list.0.workspace");
    assert_eq!((&mention.path, &mention.here), (&notes, &new.join("notes")));
    for path in [closed, state.join("workspace/deep")] {
        fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn restore_moves_what_is_there_aside() {
    let scene = Scene::new();
    scene.made();
    scene.write(&scene.state().join("workspace/MEMORY.md"), "later");
    scene.write(&scene.state().join("workspace/new.md"), "new");
    let refused = scene.restored("old", Existing::Refused).unwrap_err();
    assert!(
        matches!(&refused, Error::Taken(places) if places.len() == 1),
        "{refused}"
    );
    assert_eq!(text(scene.state().join("workspace/MEMORY.md")), "later");

    let restored = scene.restored("old", Existing::Kept).unwrap();
    assert_eq!(text(scene.state().join("workspace/MEMORY.md")), "remember");
    assert!(!scene.state().join("workspace/new.md").exists());
    let before = restored.before.unwrap();
    let name = before.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with(".openclaw.before-restore-"), "{name}");
    assert_eq!(text(before.join("workspace/new.md")), "new");

    scene.write(&scene.home().join("notes/own.md"), "changed");
    fs::remove_dir_all(&before).unwrap();
    let restored = scene.restored("old", Existing::MovedAside).unwrap();
    assert_eq!(text(scene.home().join("notes/own.md")), "elsewhere");
    let before = restored.workspaces[0].2.clone().unwrap();
    assert_eq!(text(before.join("own.md")), "changed");
}

#[test]
fn restore_is_refused_while_a_daemon_has_the_state() {
    let scene = Scene::new();
    scene.made();
    for program in [
        "openclaw-gateway",
        "openclaw-agent-runner",
        "openclaw-memory",
    ] {
        let lock = StateLock::take(&scene.paths(), program, "end it so".to_owned()).unwrap();
        let before = scene.names();
        let error = scene
            .restored("old", Existing::Kept)
            .unwrap_err()
            .to_string();
        assert!(error.contains("end it with: end it so"), "{error}");
        let after: Vec<PathBuf> = scene.names();
        let came = after.iter().filter(|it| !before.contains(it));
        assert!(
            came.clone()
                .all(|it| it.extension().is_some_and(|it| it == "lock"))
        );
        drop(lock);
    }
    scene.restored("old", Existing::Kept).unwrap();
}

/// A turn's process holds its spool, and needs no daemon.
#[test]
fn restore_is_refused_while_a_turn_goes_on() {
    let scene = Scene::new();
    scene.made();
    let spool = scene.paths().turns().join("7e57.events");
    scene.write(&spool, "");
    let opened = fs::File::open(&spool).unwrap();
    let turn = Flock::lock(opened, FlockArg::LockExclusive).unwrap();
    let error = scene.restored("old", Existing::Kept).unwrap_err();
    assert!(error.to_string().contains("(run 7e57)"), "{error}");
    assert!(spool.exists());
    drop(turn);
    scene.restored("old", Existing::Kept).unwrap();
    assert!(!spool.exists());
}

#[test]
fn backup_that_lost_a_byte_anywhere_is_refused() {
    let scene = Scene::new();
    scene.made();
    let sound = fs::read(scene.file()).unwrap();
    let before = scene.names();
    let refused = |bytes: &[u8], what: &str| {
        fs::write(scene.file(), bytes).unwrap();
        let error = check(&scene.file()).expect_err(what);
        assert!(matches!(error, Error::Unsound { .. }), "{what}: {error}");
        scene.restored("new", Existing::Refused).expect_err(what);
    };
    for at in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x10;
        refused(&bytes, &format!("byte {at}"));
    }
    for length in [0, 1, 40, 60, sound.len() / 2, sound.len() - 1] {
        refused(&sound[..length], &format!("{length} bytes"));
    }
    refused(&[&sound[..], b"x"].concat(), "one more");
    assert_eq!(scene.names(), before, "nothing was written");
    fs::write(scene.file(), &sound).unwrap();
    check(&scene.file()).unwrap();
}

/// What a sealed file with this manifest and these members is refused for.
fn forged(scene: &Scene, manifest: &Value, members: &[(EntryType, &str, &[u8])]) -> Error {
    sealed(scene, &archive(manifest, members))
}

/// An archive with this manifest and these members.
fn archive(manifest: &Value, members: &[(EntryType, &str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    let text = manifest.to_string();
    let first = (EntryType::Regular, "manifest.json", text.as_bytes());
    for (kind, path, bytes) in std::iter::once(&first).chain(members) {
        let mut header = member::header(0o600, 1, bytes.len() as u64);
        header.set_entry_type(*kind);
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        header.set_cksum();
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.extend_from_slice(&[0; 1024]);
    archive
}

/// Writes a sealed file with this archive.
fn seal(scene: &Scene, archive: &[u8]) {
    let mut sealing = Sealing::new(File::create(scene.file()).unwrap());
    sealing
        .write_all(&zstd::encode_all(archive, 1).unwrap())
        .unwrap();
    sealing.finish().unwrap();
}

/// What a sealed file with this archive is refused for.
fn sealed(scene: &Scene, archive: &[u8]) -> Error {
    seal(scene, archive);
    let before = scene.names();
    let error = check(&scene.file()).unwrap_err();
    scene.restored("new", Existing::MovedAside).unwrap_err();
    assert_eq!(scene.names(), before, "nothing was written");
    error
}

/// SHA-256 of "x".
const SUM: &str = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";

fn listing(path: &str, size: u64) -> Value {
    json!({
        "format": 1, "program": "9.9.9", "made": "", "made_ms": 0, "host": "", "running": false,
        "home": null, "state": "/s", "configuration": null, "workspaces": [],
        "folders": [{ "path": "state", "mode": 0o700 }],
        "files": [{ "path": path, "mode": 0o600, "modified": 1, "size": size, "sha256": SUM }],
        "links": [], "left_out": [],
    })
}

#[test]
fn archive_that_is_forged_is_refused_and_nothing_is_written() {
    let scene = Scene::new();
    let file = EntryType::Regular;
    let x = b"x".as_slice();
    for (path, what) in [
        ("/etc/x", "leads out"),
        ("state/../../x", "leads out"),
        ("../x", "leads out"),
        ("state/none/x", "in no folder"),
        ("elsewhere", "in no folder"),
    ] {
        let error = forged(&scene, &listing(path, 1), &[(file, path, x)]).to_string();
        assert!(error.contains(what), "{path}: {error}");
    }
    for (kind, what) in [
        (EntryType::Symlink, "is a link"),
        (EntryType::Link, "is a link"),
        (EntryType::Char, "is a device"),
        (EntryType::Block, "is a device"),
        (EntryType::Fifo, "is a device"),
        (EntryType::Directory, "is no file"),
        (EntryType::GNUSparse, "is no file"),
        (EntryType::XHeader, "is no file"),
    ] {
        let members = [(kind, "state/x", x)];
        let error = forged(&scene, &listing("state/x", 1), &members).to_string();
        assert!(error.contains(what), "{kind:?}: {error}");
    }
    for (members, what) in [
        (vec![], "is missing"),
        (vec![(file, "state/y", x)], "is where"),
        (vec![(file, "state/x", b"y".as_slice())], "another sum"),
        (vec![(file, "state/x", b"xx".as_slice())], "another size"),
        (
            vec![(file, "state/x", x), (file, "state/y", x)],
            "in no manifest",
        ),
    ] {
        let error = forged(&scene, &listing("state/x", 1), &members).to_string();
        assert!(error.contains(what), "{what}: {error}");
    }
}

#[test]
fn archive_that_is_a_bomb_is_refused_before_it_is_unpacked() {
    let scene = Scene::new();
    let file = EntryType::Regular;
    let zeros = vec![0; 64 << 20];
    let error = forged(&scene, &listing("state/x", 1), &[(file, "state/x", &zeros)]);
    assert!(error.to_string().contains("another size"), "{error}");
    // Behind the end of the archive.
    let mut archive = Vec::new();
    let text = listing("state/x", 1).to_string();
    for (path, bytes) in [("manifest.json", text.as_bytes()), ("state/x", b"x")] {
        let mut header = member::header(0o600, 1, bytes.len() as u64);
        header.set_entry_type(file);
        header.set_path(path).unwrap();
        header.set_cksum();
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.extend_from_slice(&zeros);
    let error = sealed(&scene, &archive).to_string();
    assert!(error.contains("follows its end"), "{error}");
    // A name without an end.
    let long = vec![b'n'; 1 << 20];
    let members = [(EntryType::GNULongName, "././@LongLink", long.as_slice())];
    let error = forged(&scene, &listing("state/x", 1), &members).to_string();
    assert!(error.contains("too long"), "{error}");
    // More than any disk takes.
    let mut manifest = listing("state/x", 1);
    manifest["files"][0]["size"] = json!(u64::MAX / 2);
    let error = forged(&scene, &manifest, &[(file, "state/x", b"x")]).to_string();
    assert!(error.contains("another size"), "{error}");
}

#[test]
fn archive_of_a_later_format_names_the_program_that_made_it() {
    let scene = Scene::new();
    let manifest = json!({ "format": 2, "program": "9.9.9", "layout": "another" });
    let error = forged(&scene, &manifest, &[]);
    assert!(
        matches!(
            error,
            Error::Newer {
                found: 2,
                known: 1,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("version 9.9.9"), "{error}");
    for rubbish in [json!([]), json!({ "format": 1 }), json!("x")] {
        let error = forged(&scene, &rubbish, &[]);
        assert!(matches!(error, Error::Unsound { .. }), "{error}");
    }
    fs::write(scene.file(), "rubbish").unwrap();
    check(&scene.file()).unwrap_err();
    check(&scene.folder.path().join("none")).unwrap_err();
    check(scene.folder.path()).unwrap_err();
}

#[test]
fn restore_where_nothing_can_be_made_leaves_what_was() {
    let scene = Scene::new();
    scene.made();
    // The new state is to be in a folder that is a file.
    scene.write(&scene.folder.path().join("new"), "a file");
    let before = scene.names();
    let error = scene
        .restored("new", Existing::Refused)
        .unwrap_err()
        .to_string();
    assert!(error.contains("/new"), "{error}");
    assert_eq!(scene.names(), before);
}

#[test]
fn transcript_and_an_archive_of_it_are_both_held() {
    let scene = Scene::new();
    let sessions = scene.state().join("agents/main/sessions");
    let archive = sessions.join("a.jsonl.reset.2026-11-20T23-38-10.633Z.x.zst");
    scene.write(&archive, "of before");
    let made = scene.backed_up(true).unwrap();
    let held = made.manifest.files.iter();
    assert_eq!(held.filter(|it| it.path.contains("/a.jsonl")).count(), 2);
}
