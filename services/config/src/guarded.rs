//! Folders that nobody confined may be granted: who writes the state, the configuration or what a
//! login runs decides what runs outside of every sandbox, and who reads the state has every
//! credential.

use std::path::{Path, PathBuf};

use crate::launch::real;
use crate::paths::{Paths, WRITTEN_BESIDE_HOME, is_state};
use crate::pipeline::{dot_env, merge};
use crate::programs;

/// What of the state directory is ours, or OpenClaw's, and no agent's; and everything with a dot
/// in its name but workspaces, which is a file of either. Folders of other names are the user's own.
const OWN_NAMES: [&str; 45] = [
    "agents",
    "backups",
    "bin",
    "browser",
    "cache",
    "canvas",
    "completions",
    "control-ui-custom",
    "credentials",
    "cron",
    "delivery-queue",
    "devices",
    "extensions",
    "flows",
    "hooks",
    "identity",
    "lib",
    "logs",
    "matrix",
    "media",
    "memory",
    "models",
    "nodes",
    "npm",
    "oauth",
    "plugins",
    "run",
    "sandbox",
    "sandbox-skills",
    "sandboxes",
    "scripts",
    "secrets",
    "sessions",
    "settings",
    "skills",
    "state",
    "subagents",
    "tasks",
    "telegram",
    "tls",
    "tmp",
    "tools",
    "transcripts",
    "voice-calls",
    "whatsapp",
];
/// What of an agent's folder in it is, beside what its processes write.
const OWN_OF_AGENTS: [&str; 4] = ["agent", "auth", "logins", "sessions"];
/// What else of the state directory it may be granted to read.
const READ: [&str; 2] = ["media", "skills"];
/// How the workspaces in a state directory of another name are called.
const WORKSPACE: &str = "workspace";
/// What is of the suite beneath the home.
const VARIABLES: &str = ".config/openclaw";

/// The one hidden folder of a home in which nothing is run or obeyed by itself.
const CACHE: &str = ".cache";
/// Folders of programs in a home that a login may have on its PATH.
const PROGRAMS: [&str; 2] = ["bin", "sbin"];
/// What a repository runs.
const REPOSITORY: &str = ".git";
/// Folders of the system, and of its service managers, that are run or obeyed by themselves.
const SYSTEM: [&str; 9] = [
    "/bin",
    "/boot",
    "/etc",
    "/lib",
    "/lib64",
    "/run",
    "/sbin",
    "/usr",
    "/var/spool",
];

/// Folders of everybody's.
const WIDE: [&str; 6] = ["/", "/home", "/root", "/tmp", "/var", "/var/tmp"];

/// What is guarded, as it really lies.
#[derive(Debug)]
pub struct Guarded {
    state: PathBuf,
    /// The state, and where agents write if that is elsewhere.
    places: [PathBuf; 2],
    /// To be neither read nor written, with what each is.
    secret: Vec<(PathBuf, &'static str)>,
    /// To be written by nobody else.
    obeyed: Vec<(PathBuf, &'static str)>,
    home: Option<PathBuf>,
}

impl Guarded {
    /// Of this installation.
    pub fn of(paths: &Paths) -> Self {
        let home = paths.home.as_deref().map(real);
        let beneath = |name: &str| home.as_ref().map(|home| home.join(name));
        let variables = beneath(VARIABLES).map(|path| (path, "the variables of the daemons"));
        let file = &paths.configuration;
        let configuration = [
            (file.clone(), "the configuration"),
            (
                merge::folder(file),
                "the folder of what goes over the configuration",
            ),
            (paths.last_good(), "the last good configuration"),
            (dot_env::place(file), "the variables beside it"),
        ];
        let configuration = configuration.map(|(path, what)| (real(&path), what));
        // Of which the others lie beside it, wherever that is.
        let program = programs::own().ok();
        let program = program.map(|own| (real(&own), "a program of this suite"));
        Self {
            state: real(&paths.state),
            places: [real(&paths.state), real(&paths.agent_places)],
            secret: variables.into_iter().chain(configuration).collect(),
            obeyed: program.into_iter().collect(),
            home,
        }
    }

    /// Why nobody else may read there.
    pub fn read(&self, path: &Path) -> Option<String> {
        if self.holds_state(path) {
            return Some(format!(
                "in which the state folder {} lies, with the configuration and every credential",
                self.state.display()
            ));
        }
        let path = real(path);
        let inner = self.inner(&path);
        if inner.is_some_and(|inner| !is_of_agents(inner) && !is_read(inner)) {
            return Some(OWN.to_owned());
        }
        touched(&self.secret, &path)
    }

    /// Whether the state folder lies there.
    pub fn holds_state(&self, path: &Path) -> bool {
        self.state.starts_with(real(path))
    }

    /// Whether it is a home, or a folder around one or of everybody's.
    pub fn is_wide(&self, path: &Path) -> bool {
        let path = real(path);
        let mut homes = self.home.iter();
        homes.any(|home| home.starts_with(&path))
            || WIDE.iter().any(|wide| path == Path::new(wide))
            || path.parent() == Some(Path::new("/home"))
    }

    /// Why nobody else may write there.
    pub fn written(&self, path: &Path) -> Option<String> {
        let why = self.read(path);
        let path = real(path);
        let why = why.or_else(|| touched(&self.obeyed, &path));
        why.or_else(|| self.of_a_login(&path)).or_else(|| {
            let inner = self.inner(&path)?;
            (!is_of_agents(inner)).then(|| OWN.to_owned())
        })
    }

    /// Why what lies at `path` is, or may be, run or obeyed by itself: by a login, a service
    /// manager, a shell that is given a name.
    fn of_a_login(&self, path: &Path) -> Option<String> {
        if let Some(home) = self.home.as_ref().filter(|home| home.starts_with(path)) {
            return Some(format!(
                "in which your home {} lies, with what your logins run",
                home.display()
            ));
        }
        if self.inner(path).is_some() {
            return None;
        }
        if let Some(system) = SYSTEM.iter().find(|system| path.starts_with(system)) {
            return Some(format!("and {system} is the system's"));
        }
        if path.iter().any(|name| name == REPOSITORY) {
            return Some(format!("and what lies in a {REPOSITORY} is run by git"));
        }
        let names: Vec<_> = self.in_a_home(path)?.iter().collect();
        let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
        let (first, inner) = names.split_first()?;
        let first: &str = first;
        let is_workspace =
            is_state(first) && inner.first().is_some_and(|it| it.starts_with(WORKSPACE));
        if first.starts_with('.') && first != CACHE && !is_workspace {
            return Some(format!("and what lies in {first} may be run by itself"));
        }
        let is_program = PROGRAMS.contains(&first);
        is_program.then(|| format!("and what lies in {first} may be run by its name"))
    }

    /// The path of `place` in the state, or where agents write.
    fn inner<'a>(&self, place: &'a Path) -> Option<&'a Path> {
        let mut places = self.places.iter();
        places.find_map(|whole| place.strip_prefix(whole).ok())
    }

    /// The path of `place` in the home that it lies in, this user's or another's.
    pub fn in_a_home<'a>(&self, place: &'a Path) -> Option<&'a Path> {
        let of_others = place.strip_prefix("/home").ok().and_then(|below| {
            let name = below.iter().next()?;
            below.strip_prefix(name).ok()
        });
        let home = self.home.as_ref();
        let own = home.and_then(|home| place.strip_prefix(home).ok());
        own.or(of_others)
            .or_else(|| place.strip_prefix("/root").ok())
    }
}

/// What of these lies in `path`, or around it.
fn touched(places: &[(PathBuf, &'static str)], path: &Path) -> Option<String> {
    let mut places = places.iter();
    let (place, what) =
        places.find(|(place, _)| place.starts_with(path) || path.starts_with(place))?;
    let place = place.display();
    Some(format!("and {what} {place} must not be an agent's"))
}

/// Why nobody else has it.
const OWN: &str = "which is a part of the state that is no agent's";

/// Whether a path in the state directory may be an agent's to write.
fn is_of_agents(inner: &Path) -> bool {
    let names: Vec<_> = inner.iter().map(|name| name.to_string_lossy()).collect();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let (name, own): (_, &[&str]) = match names.as_slice() {
        ["agents", _, name, ..] if WRITTEN_BESIDE_HOME.contains(name) => return false,
        ["agents", _, name, ..] => (name, &OWN_OF_AGENTS),
        [name, ..] => (name, &OWN_NAMES),
        [] => return false,
    };
    let is_file = name.contains('.') && (!name.starts_with(WORKSPACE) || name.ends_with(".json"));
    !own.contains(name) && !is_file
}

/// Whether a path in the state directory may be read by agents, and written by us alone.
fn is_read(inner: &Path) -> bool {
    let first = inner.iter().next();
    first.is_some_and(|first| READ.iter().any(|name| first == *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is guarded where the home is `home`, with the state in it.
    fn guarded(home: &Path) -> Guarded {
        let home = home.to_str().unwrap();
        Guarded::of(&Paths::resolve(&[("HOME", home)].into_iter().collect()).unwrap())
    }

    #[test]
    fn guarded_what_holds_the_state_or_is_of_it_is_read_by_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        let state = home.join(".openclaw");
        std::fs::create_dir(&state).unwrap();
        let guarded = guarded(home);
        for path in [
            Path::new("/"),
            folder.path().parent().unwrap(),
            home,
            &state,
        ] {
            assert!(guarded.holds_state(path), "{path:?}");
            let why = guarded.read(path).unwrap_or_default();
            assert!(
                why.contains("the state folder") && why.contains(".openclaw"),
                "{why}"
            );
        }
        let secret = [
            "sessions",
            "state/ledger.sqlite",
            "agents",
            "agents/main",
            "agents/main/auth",
            "agents/main/sessions/x.jsonl",
            "credentials",
            "openclaw.json",
            "openclaw.json.d",
            "openclaw.json.last-good",
            "openclaw.json.bak",
            "cron",
            "devices",
            "identity",
            "hooks",
            "workspace.json",
            "agents/main/agent",
            "agents/main/cli",
            "agents/main/cli/x",
            "agents/main/turns",
        ];
        for name in secret {
            let path = state.join(name);
            assert!(!guarded.holds_state(&path), "{name}");
            let why = guarded.read(&path).unwrap_or_default();
            assert!(why.contains("no agent's"), "{name}: {why}");
            assert_eq!(guarded.written(&path), Some(why), "{name}");
        }
        for name in [
            "workspace",
            "workspace-work/notes",
            "workspaces/a",
            "workspace-v1.2",
            "projects",
            "agents/main/notes",
            "agents/main/home",
            "agents/main/workspace",
        ] {
            let path = state.join(name);
            assert_eq!(
                (guarded.read(&path), guarded.written(&path)),
                (None, None),
                "{name}"
            );
        }
        for name in ["skills", "media/inbound"] {
            let path = state.join(name);
            assert_eq!(guarded.read(&path), None, "{name}");
            let why = guarded.written(&path).unwrap_or_default();
            assert!(why.contains("no agent's"), "{name}: {why}");
        }
        let variables = home.join(".config/openclaw/env");
        let why = guarded.read(&variables).unwrap_or_default();
        assert!(why.contains("the variables of the daemons"), "{why}");
        assert!(guarded.read(&home.join(".config")).is_some(), "around it");
    }

    #[test]
    fn guarded_what_logins_run_is_read_and_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let guarded = guarded(folder.path());
        for name in [
            ".config/systemd/user",
            ".config/environment.d",
            ".config/autostart",
            ".local/share/systemd/user",
            ".local/bin",
            ".bashrc",
            ".ssh",
            ".clawdbot/credentials",
            "bin",
            "projects/x/.git/hooks",
        ] {
            let path = folder.path().join(name);
            assert_eq!(guarded.read(&path), None, "{name}");
            let why = guarded.written(&path).unwrap_or_default();
            assert!(why.contains("run by "), "{name}: {why}");
        }
        for place in ["/etc/cron.d", "/usr/local/bin", "/run/user/1000/bus"] {
            let why = guarded.written(Path::new(place)).unwrap_or_default();
            assert!(why.contains("the system's"), "{place}: {why}");
        }
        for place in [
            "/home/other/.bashrc",
            "/root/.ssh",
            "/home/other/.config/autostart",
        ] {
            let why = guarded.written(Path::new(place)).unwrap_or_default();
            assert!(why.contains("run by itself"), "{place}: {why}");
        }
        let program = std::env::current_exe().unwrap();
        assert_eq!(guarded.read(&program), None);
        let why = guarded
            .written(program.parent().unwrap())
            .unwrap_or_default();
        assert!(why.contains("a program of this suite"), "{why}");
        for name in [
            "projects",
            "projects/.venv",
            ".cache/x",
            ".clawdbot/workspace",
        ] {
            let other = folder.path().join(name);
            assert_eq!(
                (guarded.read(&other), guarded.written(&other)),
                (None, None),
                "{name}"
            );
        }
    }

    #[test]
    fn home_is_not_written_though_the_state_lies_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (home, state) = (folder.path().join("home"), folder.path().join("state"));
        let variables = [
            ("HOME", home.to_str().unwrap()),
            ("OPENCLAW_STATE_DIR", state.to_str().unwrap()),
        ];
        let guarded = Guarded::of(&Paths::resolve(&variables.into_iter().collect()).unwrap());
        assert!(!guarded.holds_state(&home) && guarded.holds_state(&state));
        // The variables lie in it.
        assert!(guarded.read(&home).is_some() && guarded.written(&home).is_some());
        assert!(guarded.is_wide(&home) && guarded.is_wide(folder.path()));
        assert!(!guarded.is_wide(&state) && !guarded.is_wide(&home.join("projects")));
        assert!(guarded.is_wide(Path::new("/tmp")) && guarded.is_wide(Path::new("/home/somebody")));
        assert!(!guarded.is_wide(Path::new("/home/somebody/projects")));
        assert!(!guarded.is_wide(Path::new("/opt")));
    }
}
