//! Folders that nobody confined may be granted: who writes the state, the configuration or what a
//! login runs decides what runs outside of every sandbox, and who reads the state has every
//! credential.

use std::path::{Path, PathBuf};

use crate::launch::real;
use crate::paths::{KEPT_OF_AGENTS, Paths};
use crate::programs;

/// What of the state directory is ours and no agent's.
const OWN: [&str; 9] = [
    ".env",
    "auth.json",
    "credentials",
    "logs",
    "memory",
    "run",
    "sessions",
    "state",
    "openclaw.json",
];
/// What of an agent's folder in it is.
const OWN_OF_AGENTS: [&str; 3] = ["auth", "logins", "sessions"];
/// What is of the suite, or run at a login, beneath the home.
const VARIABLES: &str = ".config/openclaw";
const UNITS: &str = ".config/systemd";

/// Folders of everybody's.
const WIDE: [&str; 6] = ["/", "/home", "/root", "/tmp", "/var", "/var/tmp"];

/// What is guarded, as it really lies.
#[derive(Debug)]
pub struct Guarded {
    state: PathBuf,
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
        let configuration = (real(&paths.configuration), "the configuration");
        let units = beneath(UNITS).map(|path| (path, "your units"));
        // Of which the others lie beside it, wherever that is.
        let program = programs::own().ok();
        let program = program.map(|own| (real(&own), "a program of this suite"));
        Self {
            state: real(&paths.state),
            secret: variables.into_iter().chain([configuration]).collect(),
            obeyed: units.into_iter().chain(program).collect(),
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
        if let Ok(inner) = path.strip_prefix(&self.state)
            && is_own(inner)
        {
            return Some("which is a part of the state that is no agent's".to_owned());
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
        let is_home = |home: &PathBuf| home.starts_with(&path);
        why.or_else(|| touched(&self.obeyed, &path)).or_else(|| {
            let home = self.home.as_ref().filter(|home| is_home(home))?;
            Some(format!(
                "in which your home {} lies, with what your logins run",
                home.display()
            ))
        })
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

/// Whether a path in the state directory is the suite's, or holds what is.
fn is_own(inner: &Path) -> bool {
    let names: Vec<_> = inner.iter().map(|name| name.to_string_lossy()).collect();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        ["agents"] | ["agents", _] => true,
        ["agents", _, name, ..] if KEPT_OF_AGENTS.contains(name) => false,
        ["agents", _, name, ..] => OWN_OF_AGENTS.contains(name),
        [name, ..] => OWN.contains(name),
        [] => true,
    }
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
    fn what_holds_the_state_or_is_of_it_is_read_by_nobody_else() {
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
            "agents/main/home",
            "agents/main/cli/x",
            "agents/main/notes",
        ] {
            let path = state.join(name);
            assert_eq!(
                (guarded.read(&path), guarded.written(&path)),
                (None, None),
                "{name}"
            );
        }
        let variables = home.join(".config/openclaw/env");
        let why = guarded.read(&variables).unwrap_or_default();
        assert!(why.contains("the variables of the daemons"), "{why}");
        assert!(guarded.read(&home.join(".config")).is_some(), "around it");
    }

    #[test]
    fn what_logins_run_is_read_and_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let guarded = guarded(folder.path());
        let units = folder.path().join(".config/systemd/user");
        assert_eq!(guarded.read(&units), None);
        let why = guarded.written(&units).unwrap_or_default();
        assert!(why.contains("your units"), "{why}");
        let program = std::env::current_exe().unwrap();
        assert_eq!(guarded.read(&program), None);
        let why = guarded
            .written(program.parent().unwrap())
            .unwrap_or_default();
        assert!(why.contains("a program of this suite"), "{why}");
        let other = folder.path().join("projects");
        assert_eq!(
            (guarded.read(&other), guarded.written(&other)),
            (None, None)
        );
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
