//! Folders that no agent may be granted, its workspace among them: who writes the state, the
//! configuration or what a login runs decides what runs outside of every sandbox, and who reads the
//! state has every credential.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use openclaw_config::launch::real;
use openclaw_config::paths::{KEPT_OF_AGENTS, Paths};
use openclaw_config::programs;

use super::agent::AgentSettings;
use crate::keys::{Fragment, SandboxLevel, SandboxPaths};

/// A key, and what is wrong with its value.
type Problem = (String, String);

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

/// Looks at what each agent is granted that a sandbox keeps from the rest.
pub(super) fn check(
    agents: &BTreeMap<String, AgentSettings>,
    fragment: &Fragment,
    paths: &Paths,
) -> Result<(), Problem> {
    let guarded = Guarded::of(paths);
    for agent in agents.values() {
        let level = agent.sandbox.level;
        if matches!(level, Some(SandboxLevel::Off | SandboxLevel::Text)) {
            continue;
        }
        let key = Key { agent, fragment };
        if let Some(why) = guarded.written(&agent.workspace) {
            let problem = format!(
                "is {}, {why}; name a folder of its own, such as {}, or set the agent's \
                 sandbox.level to \"off\", by which it has all that you have",
                agent.workspace.display(),
                paths.default_workspace().display()
            );
            return Err((key.workspace(), problem));
        }
        let lists = [
            ("ro", &agent.sandbox.read_only, false),
            ("rw", &agent.sandbox.read_write, true),
        ];
        for (name, list, is_written) in lists {
            for path in list {
                let why = if is_written {
                    guarded.written(path)
                } else {
                    guarded.read(path)
                };
                if let Some(why) = why {
                    let problem = format!("has {}, {why}; name narrower folders", path.display());
                    return Err((key.paths(name, path, paths), problem));
                }
            }
        }
    }
    Ok(())
}

/// Places as they really are.
struct Guarded {
    state: PathBuf,
    /// To be neither read nor written, with what each is.
    secret: Vec<(PathBuf, &'static str)>,
    /// To be written by nobody else.
    obeyed: Vec<(PathBuf, &'static str)>,
    home: Option<PathBuf>,
}

impl Guarded {
    fn of(paths: &Paths) -> Self {
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
    fn read(&self, path: &Path) -> Option<String> {
        let path = real(path);
        if self.state.starts_with(&path) {
            return Some(format!(
                "in which the state folder {} lies, with the configuration and every credential",
                self.state.display()
            ));
        }
        if let Ok(inner) = path.strip_prefix(&self.state)
            && is_own(inner)
        {
            return Some("which is a part of the state that is no agent's".to_owned());
        }
        touched(&self.secret, &path)
    }

    /// Why nobody else may write there.
    fn written(&self, path: &Path) -> Option<String> {
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

/// The keys that say what an agent has.
struct Key<'a> {
    agent: &'a AgentSettings,
    fragment: &'a Fragment,
}

impl Key<'_> {
    fn index(&self) -> Option<usize> {
        let mut list = self.fragment.agents.list.iter();
        list.position(|it| it.id == self.agent.id)
    }

    fn workspace(&self) -> String {
        let own = self.index().filter(|at| {
            let agent = &self.fragment.agents.list[*at].agent;
            agent.workspace.is_some()
        });
        match own {
            Some(at) => format!("agents.list.{at}.workspace"),
            None => "agents.defaults.workspace".to_owned(),
        }
    }

    fn paths(&self, name: &str, path: &Path, paths: &Paths) -> String {
        let has = |written: &SandboxPaths| {
            let list = if name == "ro" {
                &written.ro
            } else {
                &written.rw
            };
            list.iter().any(|it| paths.expand(it) == path)
        };
        let defaults = &self.fragment.agents.defaults.sandbox;
        if has(&self.fragment.sandbox.paths) {
            return format!("sandbox.paths.{name}");
        }
        match self.index() {
            Some(at) if !has(&defaults.paths) => format!("agents.list.{at}.sandbox.paths.{name}"),
            _ => format!("agents.defaults.sandbox.paths.{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use openclaw_config::environment::Environment;
    use serde_json::{Value, json};

    use crate::settings::Settings;
    use openclaw_config::paths::Paths;

    fn problem(document: &Value) -> Option<String> {
        let variables = [
            ("HOME", "/home/u"),
            ("OPENCLAW_STATE_DIR", "/data/claw"),
            ("OPENCLAW_CONFIG_PATH", "/conf/openclaw.json"),
        ];
        let paths = Paths::resolve(&variables.into_iter().collect()).unwrap();
        let assembled = Settings::assemble(paths, document.clone(), &Environment::default());
        assembled.err().map(|error| error.to_string())
    }

    const GUARDED: [&str; 14] = [
        "/",
        "/data",
        "/data/claw",
        "/data/claw/agents",
        "/data/claw/agents/main",
        "/data/claw/agents/main/auth",
        "/data/claw/agents/main/sessions/x",
        "/data/claw/credentials",
        "/data/claw/workspace/../state",
        "/data/claw/.env",
        "~/.config",
        "~/.config/openclaw/env",
        "/conf",
        "/conf/openclaw.json",
    ];
    const OBEYED: [&str; 4] = ["~", "/home", "~/.config/systemd/user", "/home/u/../u/"];
    const FREE: [&str; 7] = [
        "~/work",
        "/srv",
        "/data/other",
        "/data/claw/workspace",
        "/data/claw/workspace-x/deep",
        "/data/claw/agents/main/home/x",
        "/data/claw/projects",
    ];

    #[test]
    fn exposed_workspace_is_refused_with_its_key() {
        for place in GUARDED.iter().chain(&OBEYED) {
            let all = json!({"agents": {"defaults": {"workspace": place}}});
            let problem = problem(&all).unwrap_or_else(|| panic!("{place} is taken"));
            assert!(problem.contains("agents.defaults.workspace"), "{problem}");
            assert!(problem.contains("name a folder of its own"), "{problem}");
        }
        let own = json!({"agents": {"list": [{"id": "a"}, {"id": "b", "workspace": "~"}]}});
        let found = problem(&own).unwrap();
        assert!(found.contains("agents.list.1.workspace"), "{found}");
        for place in FREE {
            let all = json!({"agents": {"defaults": {"workspace": place}}});
            assert_eq!(problem(&all), None, "{place}");
        }
    }

    #[test]
    fn exposed_paths_are_refused_by_what_is_granted() {
        for place in GUARDED.iter().chain(&OBEYED).chain(&FREE) {
            let rw = problem(&json!({"sandbox": {"paths": {"rw": ["/srv/x", place]}}}));
            let ro = json!({"id": "a", "sandbox": {"paths": {"ro": [place]}}});
            let ro = problem(&json!({"agents": {"list": [ro]}}));
            assert_eq!(rw.is_none(), FREE.contains(place), "{place}: {rw:?}");
            // To read one's home is no way to be obeyed; the state does not lie there.
            let is_read = FREE.contains(place) || OBEYED.contains(place);
            let holds_variables = matches!(*place, "~" | "/home" | "/home/u/../u/");
            assert_eq!(ro.is_none(), is_read && !holds_variables, "{place}: {ro:?}");
            assert!(rw.is_none_or(|it| it.contains("sandbox.paths.rw")));
            assert!(ro.is_none_or(|it| it.contains("agents.list.0.sandbox.paths.ro")));
        }
    }

    /// There it has all of it by the level.
    #[test]
    fn exposed_paths_are_taken_without_a_sandbox() {
        for level in ["off", "text"] {
            let agents = json!({"defaults": {"workspace": "~"}});
            let all = json!({"sandbox": {"level": level}, "agents": agents});
            assert_eq!(problem(&all), None, "{level}");
        }
    }
}
