//! What is done about what was found.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use nix::sys::stat::SFlag;
use nix::unistd::{User, geteuid};
use openclaw_config::state_lock::StateLock;
use openclaw_config::{Environment, Paths, programs};
use openclaw_folder::{ConfiguredFolder, Folder, PinnedFile};
use openclaw_permissions as permissions;
use openclaw_service_manager::{tell, user};
use openclaw_sessions::AgentId;
use openclaw_sessions::store::Store;
use openclaw_terminal::words;

use crate::index::GATEWAY;
use crate::leftovers::{self, RUNNER};
use crate::remedy::Mend;

/// Does it; what was done.
///
/// # Errors
/// It cannot be done, or is not as it was found.
pub fn mend(mend: &Mend, paths: &Paths, environment: &Environment) -> anyhow::Result<String> {
    match mend {
        Mend::Modes => modes(paths),
        Mend::File(path) => file(path),
        Mend::Mode { path, mode } => self::mode(path, *mode),
        Mend::Folder { path, owner } => folder(path, owner.as_ref()),
        Mend::Socket(path) => socket(path),
        Mend::Index { agent, folder } => index(paths, agent, folder),
        Mend::Turns => turns(paths),
        Mend::Failed(unit) => {
            tell("systemctl", &["--user", "reset-failed", unit], environment)?;
            Ok(format!("{unit} may start again"))
        }
        Mend::Reload => {
            reload(environment).map(|()| "the manager has read the units again".to_owned())
        }
        Mend::DropIns => drop_ins(environment),
        Mend::Shadow(shadow) => crate::shadow::remove(shadow, paths, environment),
        Mend::Linger => {
            let user = user().context("this user has no name")?;
            tell("loginctl", &["enable-linger", &user], environment)?;
            Ok("the suite goes on when you log out, and starts with the machine".to_owned())
        }
    }
}

fn modes(paths: &Paths) -> anyhow::Result<String> {
    let repairs = permissions::secure(paths)?;
    let first = repairs.first();
    let Some(first) = first else {
        return Ok("nobody else can reach the state".to_owned());
    };
    let (path, to) = (first.path.display(), first.to);
    Ok(match repairs.len() {
        1 => format!("{path} has mode {to:03o} now"),
        all => format!(
            "{path} has mode {to:03o} now, and {} more are yours alone",
            all - 1
        ),
    })
}

fn mode(path: &Path, mode: u32) -> anyhow::Result<String> {
    let shown = path.display();
    let (held, kind) = own(path)?;
    if !matches!(kind, SFlag::S_IFDIR | SFlag::S_IFSOCK) {
        bail!("{shown} is not what it was");
    }
    held.set_mode(mode)
        .with_context(|| format!("cannot change the mode of {shown}"))?;
    Ok(format!("{shown} has mode {mode:04o} now"))
}

fn file(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let (held, kind) = own(path)?;
    if kind != SFlag::S_IFREG {
        bail!("{shown} is no file of yours");
    }
    held.set_mode(0o600)
        .with_context(|| format!("cannot change the mode of {shown}"))?;
    Ok(format!("{shown} is yours alone now"))
}

/// What lies there and is this user's, with its kind.
fn own(path: &Path) -> anyhow::Result<(PinnedFile, SFlag)> {
    let shown = path.display();
    let looked = || format!("cannot look at {shown}");
    let held = PinnedFile::open(path).with_context(looked)?;
    let found = held.status().with_context(looked)?;
    if found.st_uid != geteuid().as_raw() {
        bail!("{shown} is not yours");
    }
    let kind = SFlag::from_bits_truncate(found.st_mode) & SFlag::S_IFMT;
    Ok((held, kind))
}

fn folder(path: &ConfiguredFolder, owner: Option<&User>) -> anyhow::Result<String> {
    let made = path.open_or_create()?;
    if let Some(owner) = owner {
        made.give_to(owner.uid, owner.gid)
            .with_context(|| format!("cannot give it to {}", owner.name))?;
    }
    Ok(format!("made {}", path.display()))
}

fn socket(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    if !crate::files::is_stale(path) {
        bail!("somebody listens at {shown} again");
    }
    fs::remove_file(path).with_context(|| format!("cannot remove {shown}"))?;
    Ok(format!("removed {shown}, at which nobody listened"))
}

/// As the gateway does at its start, and in its place: it must not start meanwhile.
fn index(paths: &Paths, agent: &AgentId, folder: &Path) -> anyhow::Result<String> {
    let _lock = lock(paths, GATEWAY)?;
    let now = openclaw_sessions::now_ms();
    let (mut store, _) = Store::open(folder, agent.clone(), now)?;
    store.flush()?;
    Ok(format!(
        "the index of {agent} has {} now",
        words::count(store.len() as u64, "session")
    ))
}

fn turns(paths: &Paths) -> anyhow::Result<String> {
    let _lock = lock(paths, RUNNER)?;
    let all = leftovers::folders_of_ended_turns(paths);
    for path in &all {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            continue;
        };
        // Agents have written there.
        if let Some(folder) = Folder::open(parent)? {
            folder.remove_all(name)?;
        }
    }
    Ok(format!(
        "removed {}",
        words::count(all.len() as u64, "folder")
    ))
}

fn lock(paths: &Paths, program: &str) -> anyhow::Result<StateLock> {
    let stop = format!("kill {} (it mends the state)", std::process::id());
    Ok(StateLock::take(paths, program, stop)?)
}

fn reload(environment: &Environment) -> anyhow::Result<()> {
    Ok(tell(
        "systemctl",
        &["--user", "daemon-reload"],
        environment,
    )?)
}

fn drop_ins(environment: &Environment) -> anyhow::Result<String> {
    let program = programs::sibling("openclawctl", environment)?;
    tell(&program.to_string_lossy(), &["sockets"], environment)?;
    reload(environment)?;
    Ok(
        "the units say what the configuration does; it holds from their next start: \
        systemctl --user restart openclaw.target 'openclaw-*.socket'"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::net::UnixListener;

    use super::*;

    fn scene() -> (tempfile::TempDir, Paths, Environment) {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("s").display().to_string();
        let environment: Environment = [("OPENCLAW_STATE_DIR", text)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        fs::create_dir_all(paths.state.join("run")).unwrap();
        (folder, paths, environment)
    }

    fn done(what: &Mend, paths: &Paths) -> anyhow::Result<String> {
        mend(what, paths, &Environment::default())
    }

    #[test]
    fn mend_removes_a_socket_only_while_nobody_listens() {
        let (_folder, paths, _) = scene();
        let path = paths.gateway_socket();
        let listener = UnixListener::bind(&path).unwrap();
        let what = Mend::Socket(path.clone());
        done(&what, &paths).unwrap_err();
        assert!(path.exists());
        drop(listener);
        done(&what, &paths).unwrap();
        assert!(!path.exists());
        done(&what, &paths).unwrap_err();
    }

    #[test]
    fn mend_gives_a_way_in_its_mode_and_nothing_else() {
        let (folder, paths, _) = scene();
        let what = |path: &Path| Mend::Mode {
            path: path.to_owned(),
            mode: 0o700,
        };
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        fs::set_permissions(&paths.state, Permissions::from_mode(0o777)).unwrap();
        done(&what(&paths.state), &paths).unwrap();
        assert_eq!(mode(&paths.state), 0o700);
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&paths.state, &link).unwrap();
        for path in [file, link] {
            done(&what(&path), &paths).unwrap_err();
        }
    }

    #[test]
    fn mend_takes_a_file_from_others_and_follows_no_link() {
        let (folder, paths, _) = scene();
        let file = folder.path().join("env");
        fs::write(&file, "KEY=x").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        done(&Mend::File(link), &paths).unwrap_err();
        done(&Mend::File(file.clone()), &paths).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn mend_takes_the_state_from_others_and_makes_folders() {
        let (folder, paths, _) = scene();
        let secret = paths.state.join("auth.json");
        fs::write(&secret, "").unwrap();
        fs::set_permissions(&secret, Permissions::from_mode(0o644)).unwrap();
        fs::set_permissions(&paths.state, Permissions::from_mode(0o755)).unwrap();
        let said = done(&Mend::Modes, &paths).unwrap();
        assert!(said.contains("has mode 700 now, and 1 more"), "{said}");
        assert_eq!(fs::metadata(&secret).unwrap().mode() & 0o777, 0o600);
        assert_eq!(
            done(&Mend::Modes, &paths).unwrap(),
            "nobody else can reach the state"
        );
        let workspace = folder.path().join("a/b");
        let what = Mend::Folder {
            path: workspace.clone().into(),
            owner: None,
        };
        done(&what, &paths).unwrap();
        assert_eq!(fs::metadata(workspace).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn mend_makes_an_index_from_the_transcripts_while_no_gateway_has_it() {
        let (_folder, paths, _) = scene();
        let folder = paths.sessions("main");
        fs::create_dir_all(&folder).unwrap();
        let header = r#"{"type":"session","version":3,"id":"11111111-1111-4111-8111-111111111111","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/"}"#;
        let transcript = "11111111-1111-4111-8111-111111111111.jsonl";
        fs::write(folder.join(transcript), format!("{header}\n")).unwrap();
        let checks = crate::index::sessions(&paths);
        let what = checks[0].mend.clone().unwrap();
        let held = lock(&paths, GATEWAY).unwrap();
        assert!(crate::index::sessions(&paths).is_empty());
        done(&what, &paths).unwrap_err();
        drop(held);
        assert!(done(&what, &paths).unwrap().ends_with("has 1 session now"));
        assert!(crate::index::sessions(&paths).is_empty());
        fs::write(folder.join("sessions.json"), "{ broken").unwrap();
        let checks = crate::index::sessions(&paths);
        assert!(checks[0].detail.contains("is broken"), "{checks:?}");
        done(checks[0].mend.as_ref().unwrap(), &paths).unwrap();
        assert!(crate::index::sessions(&paths).is_empty());
    }

    #[test]
    fn mend_removes_folders_of_ended_turns_while_no_runner_has_them() {
        const RUN: &str = "0198f0a2-0000-7000-8000-000000000001";
        let (_folder, paths, _) = scene();
        let left = paths.turn_given("main", RUN);
        fs::create_dir_all(&left).unwrap();
        let held = lock(&paths, RUNNER).unwrap();
        done(&Mend::Turns, &paths).unwrap_err();
        drop(held);
        assert_eq!(done(&Mend::Turns, &paths).unwrap(), "removed 1 folder");
        assert!(!left.exists());
        assert_eq!(done(&Mend::Turns, &paths).unwrap(), "removed 0 folders");
    }
}
