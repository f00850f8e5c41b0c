//! The state directory and the sockets.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use nix::unistd::{User, geteuid};
use openclaw_config::Paths;
use openclaw_foreground::{environment_file, obstacle};
use openclaw_permissions as permissions;
use openclaw_settings::Settings;

use crate::check::{Check, START};
use crate::remedy::Mend;

/// What an owner needs of a folder.
const OWNERS: u32 = 0o700;
/// The permission bits of a mode.
const PERMISSIONS: u32 = 0o777;
/// Those of others than its owner.
const FOREIGN: u32 = 0o077;
/// Of the runtime directory, and of the sockets in it: of a user's own suite, and of that of the
/// machine, whose sockets are their groups'.
const OWN: [u32; 2] = [0o700, 0o600];
const OF_MACHINE: [u32; 2] = [0o755, 0o660];

/// The state directory, and the configuration file in it, which may hold keys.
pub(crate) fn state(paths: &Paths) -> Vec<Check> {
    let mut checks = Vec::new();
    match fs::metadata(&paths.state) {
        Ok(found) => checks.push(private("state", &paths.state, &found, "700")),
        Err(error) if error.kind() == ErrorKind::NotFound => checks.push(Check::ok(
            "state",
            format!(
                "{} is not there yet; the first start makes it",
                paths.state.display()
            ),
        )),
        Err(error) => checks.push(unreadable("state", &paths.state, &error)),
    }
    if let Ok(found) = fs::metadata(&paths.configuration) {
        checks.push(private(
            "configuration file",
            &paths.configuration,
            &found,
            "600",
        ));
    }
    checks.extend(open_to_others(paths));
    checks.extend(open_environment(paths));
    checks
}

/// The file with the keys of the environment, which others can reach.
fn open_environment(paths: &Paths) -> Option<Check> {
    let place = environment_file::place(paths)?;
    let found = fs::metadata(&place).ok()?;
    let mode = found.mode() & PERMISSIONS;
    if mode & FOREIGN == 0 {
        return None;
    }
    let shown = place.display();
    let detail = format!("other users can reach {shown}, which has keys: mode {mode:03o}");
    let check = Check::warn("environment file", detail, format!("chmod 600 {shown}"));
    Some(check.mended_by(Mend::File(place)))
}

/// What of the state others can reach, beside the folder and the configuration.
fn open_to_others(paths: &Paths) -> Option<Check> {
    let named = [&paths.state, &paths.configuration];
    let mut open = permissions::too_open(paths);
    open.retain(|repair| !named.contains(&&repair.path));
    let first = open.first()?;
    let others = match open.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let detail = format!(
        "other users can reach {}{others}: mode {:03o}",
        first.path.display(),
        first.from
    );
    let fix = format!("chmod {:o} {}", first.to, first.path.display());
    Some(Check::warn("state files", detail, fix).mended_by(Mend::Modes))
}

/// Workspaces outside the state folder, which nobody makes by itself: memory's
/// unit is given those alone that are there when it starts.
pub(crate) fn workspaces(settings: &Settings) -> Vec<Check> {
    let state = &settings.paths.state;
    let outside = settings.agents.values();
    let outside = outside.filter(|agent| !agent.workspace.starts_with(state));
    let missing = outside.filter(|agent| agent.workspace.symlink_metadata().is_err());
    missing
        .map(|agent| {
            let place = agent.workspace.display();
            Check::warn(
                "workspace",
                format!("that of {} is not there: {place}", agent.id),
                format!("mkdir -m 700 -p {place}"),
            )
            .mended_by(Mend::Folder {
                path: agent.workspace.clone(),
                owner: agents_user(settings),
            })
        })
        .collect()
}

/// The user that agents are where the suite is root, if there is none of the wanted name.
const NOBODY: &str = "nobody";

/// Workspaces outside the state folder that are there, and that the agents of a suite of root
/// cannot use: those inside are given to them.
pub(crate) fn closed_workspaces(settings: &Settings) -> Vec<Check> {
    let Some(user) = agents_user(settings) else {
        return Vec::new();
    };
    let outside = settings.agents.values();
    let outside = outside.filter(|agent| !agent.workspace.starts_with(&settings.paths.state));
    let closed = outside.filter(|agent| {
        let found = agent.workspace.metadata();
        found.is_ok_and(|it| !may_use(&it, &user))
    });
    closed
        .map(|agent| {
            let (place, name) = (agent.workspace.display(), &user.name);
            let detail = format!(
                "{name}, who agents are, cannot work in that of {}: {place}",
                agent.id
            );
            Check::fail("workspace", detail, format!("chown -R {name}: {place}"))
        })
        .collect()
}

/// Places of agents that their owner cannot enter: an agent may have shut them, and its next
/// turns have neither its notes nor its files.
pub(crate) fn shut_places(settings: &Settings) -> Vec<Check> {
    let places = settings.agents.values().flat_map(|agent| {
        let home = settings.paths.agent_home(&agent.id);
        [agent.workspace.to_path_buf(), home].map(|place| (&agent.id, place))
    });
    let shut = places.filter(|(_, place)| {
        let found = place.symlink_metadata();
        found.is_ok_and(|it| it.is_dir() && it.mode() & OWNERS != OWNERS)
    });
    shut.map(|(id, place)| {
        let place = place.display();
        let detail = format!("that of {id} is shut for its owner, too: {place}");
        Check::fail("place of an agent", detail, format!("chmod u+rwx {place}"))
    })
    .collect()
}

/// Who agents are, where that is not who asks.
fn agents_user(settings: &Settings) -> Option<User> {
    let named = |name: &str| User::from_name(name).ok().flatten();
    let user = || named(&settings.sandbox.user).or_else(|| named(NOBODY));
    geteuid().is_root().then(user).flatten()
}

/// Whether `user` may list, enter and change a folder.
fn may_use(folder: &Metadata, user: &User) -> bool {
    let mode = folder.mode();
    let bits = if folder.uid() == user.uid.as_raw() {
        mode >> 6
    } else if folder.gid() == user.gid.as_raw() {
        mode >> 3
    } else {
        mode
    };
    bits & 0o7 == 0o7
}

/// What keeps the suite from using the state directory.
pub(crate) fn obstacle(paths: &Paths) -> Vec<Check> {
    let other = obstacle::other_suite(paths).map(|other| {
        Check::fail(
            "state in use",
            other.text(),
            "end one of the two: they would write the same files",
        )
    });
    let unwritable = obstacle::unwritable(&paths.state).map(|problem| {
        let fix = "until then no message is taken";
        Check::fail("state writable", problem, fix)
    });
    let ended = obstacle::ended(paths).map(|ended| {
        let fix = "until then no message is taken";
        Check::fail("daemons start", ended.text(), fix)
    });
    other.into_iter().chain(unwritable).chain(ended).collect()
}

/// What the gateway copied out of transcripts because it is not an entry, and
/// indexes of sessions that somebody else changed while it held them.
pub(crate) fn transcripts(paths: &Paths) -> Vec<Check> {
    let agents = fs::read_dir(paths.agents()).into_iter().flatten().flatten();
    let files = agents.flat_map(|agent| fs::read_dir(agent.path().join("sessions")));
    let files: Vec<PathBuf> = files.flatten().flatten().map(|file| file.path()).collect();
    let named = |part: &str| {
        let has = |path: &&PathBuf| path.to_string_lossy().contains(part);
        let mut found: Vec<PathBuf> = files.iter().filter(has).cloned().collect();
        found.sort();
        found
    };
    let damaged = kept_aside(
        "transcripts",
        "transcripts have lines that are no entries and are skipped; copies",
        &named(".corrupt-lines"),
    );
    let edited = kept_aside(
        "sessions",
        "an index of sessions was edited while the gateway held it; what was written then is not used",
        &named("sessions.json.edited-"),
    );
    damaged.into_iter().chain(edited).collect()
}

fn kept_aside(name: &str, what: &str, files: &[PathBuf]) -> Option<Check> {
    let first = files.first()?.display();
    let others = match files.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(Check::warn(
        name,
        format!("{what}: {first}{others}"),
        "look whether something in the copies is worth keeping, then remove them",
    ))
}

/// The runtime directory and the sockets in it.
pub(crate) fn sockets(paths: &Paths) -> Vec<Check> {
    const NAME: &str = "runtime directory";
    let found = match fs::symlink_metadata(&paths.runtime) {
        Ok(found) => found,
        // Without it there are no sockets either.
        Err(error) => return vec![unreadable(NAME, &paths.runtime, &error)],
    };
    let [folder, socket] = if openclaw_modes::are_shared() {
        OF_MACHINE
    } else {
        OWN
    };
    let mut checks = vec![exact(NAME, &paths.runtime, &found, folder, found.is_dir())];
    let mut sockets = vec![
        ("gateway socket", paths.gateway_socket()),
        ("agent-runner socket", paths.runner_socket()),
        ("memory socket", paths.memory_socket()),
    ];
    // Units of an earlier version have none.
    if paths.channel_socket().exists() {
        sockets.push(("channel socket", paths.channel_socket()));
    }
    for (name, path) in sockets {
        checks.push(match fs::symlink_metadata(&path) {
            Ok(found) => stale(name, &path, &found).unwrap_or_else(|| {
                exact(name, &path, &found, socket, found.file_type().is_socket())
            }),
            Err(error) => unreadable(name, &path, &error),
        });
    }
    checks
}

/// Something that only its owner may touch.
fn private(name: &str, path: &Path, found: &Metadata, mode: &str) -> Check {
    let shown = path.display();
    if let Some(check) = foreign(name, path, found) {
        return check;
    }
    match found.mode() & openclaw_modes::current().foreign {
        0 if openclaw_modes::are_shared() => {
            Check::ok(name, format!("{shown} is closed to other users"))
        }
        0 => Check::ok(name, format!("{shown} is yours alone")),
        _ => Check::warn(
            name,
            format!(
                "{shown} has mode {:03o}: other users can reach it",
                found.mode() & PERMISSIONS
            ),
            format!("chmod {mode} {shown}"),
        )
        .mended_by(Mend::Modes),
    }
}

/// Something that must have exactly `mode`, because it is the way in.
fn exact(name: &str, path: &Path, found: &Metadata, mode: u32, kind: bool) -> Check {
    let shown = path.display();
    if !kind {
        let detail = format!("{shown} is something else");
        return Check::fail(name, detail, format!("remove {shown} and start again"));
    }
    if let Some(check) = foreign(name, path, found) {
        return check;
    }
    match found.mode() & PERMISSIONS {
        right if right == mode => Check::ok(name, format!("{shown} has mode {mode:04o}")),
        wrong => Check::fail(
            name,
            format!("{shown} has mode {wrong:04o} instead of {mode:04o}"),
            format!("chmod {mode:o} {shown}"),
        )
        .mended_by(Mend::Mode {
            path: path.to_owned(),
            mode,
        }),
    }
}

/// A socket whose listener died: whoever starts next finds its place taken.
fn stale(name: &str, path: &Path, found: &Metadata) -> Option<Check> {
    let is_own = found.file_type().is_socket() && found.uid() == geteuid().as_raw();
    if !is_own || !is_stale(path) {
        return None;
    }
    let shown = path.display();
    Some(
        Check::fail(
            name,
            format!("nobody listens at {shown}: whoever did was killed"),
            format!("rm {shown}, then {START}"),
        )
        .mended_by(Mend::Socket(path.to_owned())),
    )
}

/// Whether nobody listens there any more. Waits for nobody: a daemon that hangs
/// may have more callers than it takes.
pub(crate) fn is_stale(path: &Path) -> bool {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let Ok(address) = UnixAddr::new(path) else {
        return false;
    };
    let Ok(socket) = socket(AddressFamily::Unix, SockType::Stream, flags, None) else {
        return false;
    };
    connect(socket.as_raw_fd(), &address) == Err(Errno::ECONNREFUSED)
}

fn foreign(name: &str, path: &Path, found: &Metadata) -> Option<Check> {
    let own = geteuid().as_raw();
    // Each daemon of the machine's suite is a user of its own.
    let is_foreign = found.uid() != own && !openclaw_modes::are_shared();
    is_foreign.then(|| {
        Check::fail(
            name,
            format!(
                "{} belongs to the user {} and you are {own}",
                path.display(),
                found.uid()
            ),
            "use the account that the suite was started by",
        )
    })
}

fn unreadable(name: &str, path: &Path, error: &std::io::Error) -> Check {
    let shown = path.display();
    match error.kind() {
        ErrorKind::NotFound => Check::fail(name, format!("{shown} is not there"), START),
        _ => Check::fail(
            name,
            format!("cannot look at {shown}: {error}"),
            format!("make {shown} accessible to you"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::check::State;

    fn paths(folder: &Path) -> Paths {
        let text = folder.to_str().unwrap();
        let variables = [("OPENCLAW_STATE_DIR", text), ("OPENCLAW_RUNTIME_DIR", text)];
        Paths::resolve(&variables.into_iter().collect()).unwrap()
    }

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn open_doors_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        chmod(folder.path(), 0o755);
        let _gateway = UnixListener::bind(paths.gateway_socket()).unwrap();
        chmod(&paths.gateway_socket(), 0o666);
        let _runner = UnixListener::bind(paths.runner_socket()).unwrap();
        chmod(&paths.runner_socket(), 0o600);
        fs::write(paths.memory_socket(), "").unwrap();

        assert_eq!(state(&paths)[0].state, State::Warn);
        let checks = sockets(&paths);
        let states: Vec<State> = checks.iter().map(|check| check.state).collect();
        assert_eq!(
            states,
            [State::Fail, State::Fail, State::Ok, State::Fail],
            "{checks:?}"
        );
        let fix = checks[1].fix.as_deref().unwrap();
        assert!(fix.starts_with("chmod 600 "), "{fix}");
        assert!(checks[1].mend.is_some() && checks[3].mend.is_none());
    }

    #[test]
    fn keys_of_the_environment_that_others_reach_are_found() {
        let home = tempfile::tempdir().unwrap();
        let text = home.path().to_str().unwrap();
        let environment = [("HOME", text)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let place = environment_file::place(&paths).unwrap();
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, "KEY=x").unwrap();
        chmod(&place, 0o666);
        let checks = state(&paths);
        let check = checks.iter().find(|it| it.name == "environment file");
        let check = check.unwrap();
        assert!(check.detail.contains("mode 666"), "{check:?}");
        assert!(matches!(&check.mend, Some(Mend::File(path)) if *path == place));
        chmod(&place, 0o600);
        assert!(state(&paths).iter().all(|it| it.name != "environment file"));
    }

    #[test]
    fn socket_without_its_listener_is_stale() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let listener = UnixListener::bind(paths.gateway_socket()).unwrap();
        chmod(&paths.gateway_socket(), 0o600);
        assert_eq!(sockets(&paths)[1].state, State::Ok);
        drop(listener);
        let check = &sockets(&paths)[1];
        assert_eq!(check.state, State::Fail);
        assert!(check.detail.contains("nobody listens"), "{check:?}");
        assert!(matches!(&check.mend, Some(Mend::Socket(path)) if *path == paths.gateway_socket()));
    }

    #[test]
    fn places_that_an_agent_has_shut_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        let variables = [("OPENCLAW_STATE_DIR", text), ("OPENCLAW_RUNTIME_DIR", text)];
        let settings = openclaw_settings::load(&variables.into_iter().collect()).unwrap();
        let workspace = settings.agents["main"].workspace.to_path_buf();
        assert!(shut_places(&settings).is_empty(), "it is not there");
        fs::create_dir_all(&workspace).unwrap();
        for (mode, is_shut) in [
            (0o000, true),
            (0o600, true),
            (0o700, false),
            (0o1770, false),
        ] {
            chmod(&workspace, mode);
            let checks = shut_places(&settings);
            assert_eq!(checks.len(), usize::from(is_shut), "{mode:o}");
            assert!(checks.iter().all(|check| check.state == State::Fail));
        }
    }

    #[test]
    fn folder_is_of_use_to_whom_it_lets_in() {
        let folder = tempfile::tempdir().unwrap();
        let own = User::from_uid(geteuid()).unwrap().unwrap();
        let other = User {
            uid: 1_234_567.into(),
            gid: 1_234_567.into(),
            ..own.clone()
        };
        for (mode, for_own, for_other) in [
            (0o700, true, false),
            (0o500, false, false),
            (0o707, true, true),
        ] {
            chmod(folder.path(), mode);
            let found = fs::metadata(folder.path()).unwrap();
            assert_eq!(
                (may_use(&found, &own), may_use(&found, &other)),
                (for_own, for_other),
                "{mode:o}"
            );
        }
    }
}
