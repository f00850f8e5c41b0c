use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & PERMISSIONS
}

fn open(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn wide_modes_are_narrowed() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let variables = [("OPENCLAW_STATE_DIR", state.to_str().unwrap())];
    let paths = Paths::resolve(&variables.into_iter().collect()).unwrap();
    assert!(secure(&paths).unwrap().is_empty());
    assert_eq!(mode(&state), 0o700);

    let auth = state.join("agents/main/auth");
    fs::create_dir_all(&auth).unwrap();
    let workspace = state.join("workspace");
    fs::create_dir(&workspace).unwrap();
    open(&workspace, 0o755);
    open(&state, 0o755);
    let secrets = [
        paths.configuration.clone(),
        state.join(".env"),
        auth.join("a.json"),
    ];
    for secret in &secrets {
        fs::write(secret, "").unwrap();
        open(secret, 0o644);
    }
    let repairs = secure(&paths).unwrap();
    assert!(repairs.len() >= 4, "{repairs:?}");
    assert_eq!(mode(&state), 0o700);
    assert_eq!(mode(&auth), 0o700);
    assert!(secrets.iter().all(|secret| mode(secret) == 0o600));
    assert_eq!(mode(&workspace), 0o755, "files of the user's");
    assert!(secure(&paths).unwrap().is_empty());
}

fn paths(state: &Path) -> Paths {
    let variables = [("OPENCLAW_STATE_DIR", state.to_str().unwrap())];
    Paths::resolve(&variables.into_iter().collect()).unwrap()
}

/// Every place that seed 003 §1 names, and nothing else, is narrowed.
#[test]
fn permissions_every_place_of_state_is_narrowed_and_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let paths = paths(state);
    let folders = [
        "agents",
        "credentials",
        "memory",
        "sessions",
        "state",
        "openclaw.json.d",
        "agents/main",
        "agents/main/agent",
        "agents/main/auth",
        "agents/main/sessions",
    ];
    let files = [
        "openclaw.json",
        "openclaw.json.bak",
        "openclaw.json.last-good",
        ".env",
        "auth.json",
        "credentials/openclaw-gateway-token",
        "openclaw.json.d/50-a.json",
        "agents/main/auth/work.json",
        "agents/main/agent/auth-profiles.json",
        "agents/main/models.json",
    ];
    let others = ["workspace", "agents/main/home"];
    for name in folders.iter().chain(&others) {
        fs::create_dir_all(state.join(name)).unwrap();
        open(&state.join(name), 0o755);
    }
    for name in files {
        fs::write(state.join(name), "").unwrap();
        open(&state.join(name), 0o644);
    }
    open(state, 0o750);
    let mut repairs = secure(&paths).unwrap();
    let repair = |path: PathBuf, from, to| Repair { path, from, to };
    let mut expected = vec![repair(state.to_owned(), 0o750, 0o700)];
    expected.extend(folders.map(|name| repair(state.join(name), 0o755, 0o700)));
    expected.extend(files.map(|name| repair(state.join(name), 0o644, 0o600)));
    for list in [&mut repairs, &mut expected] {
        list.sort_by(|one, other| one.path.cmp(&other.path));
    }
    assert_eq!(repairs, expected);
    for done in &repairs {
        assert_eq!(mode(&done.path), done.to, "{}", done.path.display());
    }
    for name in others {
        assert_eq!(mode(&state.join(name)), 0o755, "{name}");
    }
}

#[test]
fn bits_of_the_owner_stay_and_those_of_others_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "").unwrap();
    for owner in [0o400, 0o600, 0o700] {
        open(&path, owner);
        assert_eq!(repair(&path).unwrap(), None, "{owner:o}");
        for foreign in [0o001, 0o004, 0o010, 0o040, 0o077] {
            open(&path, owner | foreign);
            let done = repair(&path).unwrap().unwrap();
            assert_eq!((done.from, done.to), (owner | foreign, owner));
            assert_eq!(mode(&path), owner);
        }
    }
}

#[test]
fn links_and_what_is_no_file_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("target");
    fs::write(&target, "").unwrap();
    open(&target, 0o644);
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert_eq!(repair(&link).unwrap(), None);
    assert_eq!(mode(&target), 0o644);
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    open(&socket, 0o666);
    assert_eq!(repair(&socket).unwrap(), None);
    assert_eq!(repair(&folder.path().join("none")).unwrap(), None);
    assert_eq!(repair(&target.join("below a file")).unwrap(), None);
    let error = repair(Path::new("a\0b")).unwrap_err().to_string();
    assert!(
        error.contains("cannot be looked at") && error.contains("make it accessible to you"),
        "{error}"
    );
}

#[test]
fn state_that_cannot_be_made_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = secure(&paths(&file.join("state"))).unwrap_err().to_string();
    let place = format!("make {} writable", file.display());
    assert!(
        error.contains(&place) && error.contains("cannot be made"),
        "{error}"
    );
}

#[test]
fn mode_that_cannot_be_changed_is_refused_unless_all_is_read_only() {
    let repair = Repair {
        path: PathBuf::from("/state/auth.json"),
        from: 0o644,
        to: 0o600,
    };
    let failed = |kind: ErrorKind| outcome(repair.clone(), Err(kind.into()));
    assert_eq!(failed(ErrorKind::ReadOnlyFilesystem).unwrap(), None);
    let error = failed(ErrorKind::PermissionDenied).unwrap_err().to_string();
    for part in ["has mode 644", "mend it with: chmod 600 /state/auth.json"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(outcome(repair.clone(), Ok(())).unwrap(), Some(repair));
}

#[test]
fn permissions_what_is_somebody_elses_is_refused_with_the_command() {
    if !test_skip::is_root("a file of somebody else") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    let paths = Paths::resolve(&[("OPENCLAW_STATE_DIR", state)].into_iter().collect()).unwrap();
    fs::write(&paths.configuration, "").unwrap();
    open(&paths.configuration, 0o644);
    #[expect(clippy::disallowed_methods, reason = "nobody else is there")]
    std::os::unix::fs::chown(&paths.configuration, Some(65_534), None).unwrap();
    let error = secure(&paths).unwrap_err().to_string();
    assert!(
        error.contains(&format!("chown 0 {state}/openclaw.json")),
        "{error}"
    );
}

#[test]
fn permissions_what_is_somebody_elses_and_closed_is_left_alone() {
    if !test_skip::is_root("a file of somebody else") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "").unwrap();
    open(&path, 0o600);
    #[expect(clippy::disallowed_methods, reason = "nobody else is there")]
    std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
    assert_eq!(repair(&path).unwrap(), None);
}
