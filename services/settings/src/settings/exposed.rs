//! What agents are granted, their workspaces among it, that would open what is guarded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use openclaw_config::guarded::Guarded;
use openclaw_config::launch::real;
use openclaw_config::paths::Paths;
use openclaw_config::pipeline::include::{INCLUDE, Source};

use super::Settings;
use super::agent::AgentSettings;
use crate::keys::{Fragment, SandboxLevel, SandboxPaths};

/// A key, and what is wrong with its value.
type Problem = (String, String);

/// Looks at what each agent is granted that a sandbox keeps from the rest.
pub(super) fn check(
    agents: &BTreeMap<String, AgentSettings>,
    fragment: &Fragment,
    paths: &Paths,
) -> Result<(), Problem> {
    let guarded = Guarded::of(paths);
    for agent in agents.values() {
        let sandbox = &agent.sandbox;
        if !is_confined(agent) {
            continue;
        }
        let read = sandbox.read_only.iter().map(|path| (path, "ro"));
        let written = sandbox.read_write.iter().map(|path| (path, "rw"));
        let granted = read.chain(written).map(|(path, list)| (&**path, list));
        let workspace = std::iter::once((&*agent.workspace, ""));
        for (path, list) in workspace.chain(granted) {
            let why = match list {
                "ro" => guarded.read(path),
                _ => guarded.written(path),
            };
            if let Some(why) = why {
                let problem = format!(
                    "names {}, {why}; name a folder of its own, such as {}, or set the agent's \
                     sandbox.level to \"off\", by which it has all that you have",
                    path.display(),
                    paths.default_workspace().display()
                );
                return Err((key(&agent.id, path, list, (fragment, paths)), problem));
            }
        }
    }
    Ok(())
}

/// Looks at the files that `settings` were read from: what a confined agent writes decides nothing.
pub(super) fn check_sources(settings: &Settings, sources: &[Source]) -> Result<(), Problem> {
    let confined = settings.agents.values().filter(|agent| is_confined(agent));
    let written: Vec<PathBuf> = confined
        .flat_map(|agent| written_by(agent, &settings.paths))
        .map(|path| real(&path))
        .collect();
    for source in sources {
        let file = real(&source.path);
        if let Some(folder) = written.iter().find(|folder| file.starts_with(folder)) {
            let problem = format!(
                "takes in {}, which lies in {}, where an agent writes; keep it beside {}",
                source.path.display(),
                folder.display(),
                settings.paths.configuration.display()
            );
            return Err((source.mount.child(INCLUDE).to_string(), problem));
        }
    }
    Ok(())
}

/// The folders in which the agent writes, without those of its servers of tools.
pub(super) fn written_by(agent: &AgentSettings, paths: &Paths) -> Vec<PathBuf> {
    let own = std::iter::once(agent.workspace.to_path_buf());
    own.chain(paths.written_by_agent(&agent.id))
        .chain(agent.sandbox.read_write.clone())
        .collect()
}

/// Whether it is kept from something at all.
fn is_confined(agent: &AgentSettings) -> bool {
    !matches!(
        agent.sandbox.level,
        Some(SandboxLevel::Off | SandboxLevel::Text)
    )
}

/// The key that says so.
fn key(id: &str, path: &Path, list: &str, (fragment, paths): (&Fragment, &Paths)) -> String {
    let has = |written: &SandboxPaths| {
        let written = if list == "ro" {
            &written.ro
        } else {
            &written.rw
        };
        written.iter().any(|it| paths.expand(it) == path)
    };
    let agents = &fragment.agents;
    let own = agents.list.iter().position(|it| it.id == id);
    let own = own.map(|at| (format!("agents.list.{at}"), &agents.list[at].agent));
    match own {
        _ if !list.is_empty() && has(&fragment.sandbox.paths) => format!("sandbox.paths.{list}"),
        Some((own, agent)) if list.is_empty() && agent.workspace.is_some() => {
            format!("{own}.workspace")
        }
        _ if list.is_empty() => "agents.defaults.workspace".to_owned(),
        Some((own, _)) if !has(&agents.defaults.sandbox.paths) => {
            format!("{own}.sandbox.paths.{list}")
        }
        _ => format!("agents.defaults.sandbox.paths.{list}"),
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

    /// What is said of a state folder with these files.
    fn problem_of(files: &[(&str, Value)]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().canonicalize().unwrap();
        for (name, content) in files {
            let path = state.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content.to_string()).unwrap();
        }
        let variables = [("OPENCLAW_STATE_DIR", state.to_str().unwrap())];
        let environment: Environment = variables.into_iter().collect();
        let loaded = crate::load(&environment);
        loaded.err().map(|error| error.to_string())
    }

    #[test]
    fn files_that_a_confined_agent_writes_take_no_part() {
        let part = json!({"logging": {"level": "info"}});
        let at = |place: &str, level: Option<&str>| {
            let sandbox = level.map_or(json!({}), |level| json!({"level": level}));
            let agents = json!({"defaults": {"sandbox": sandbox}});
            problem_of(&[
                (
                    "openclaw.json",
                    json!({"$include": place, "agents": agents}),
                ),
                (place, part.clone()),
            ])
        };
        for place in [
            "workspace/extra.json",
            "workspace/a/b.json",
            "agents/main/home/x.json",
        ] {
            let problem = at(place, None).unwrap_or_default();
            assert!(
                problem.contains("$include") && problem.contains("where an agent writes"),
                "{place}: {problem}"
            );
            assert_eq!(at(place, Some("off")), None, "{place}");
        }
        assert_eq!(at("parts/extra.json", None), None);
        // What an included file includes is looked at, too.
        let chain = problem_of(&[
            ("openclaw.json", json!({"$include": "parts/a.json"})),
            (
                "parts/a.json",
                json!({"logging": {"$include": "../workspace/l.json"}}),
            ),
            ("workspace/l.json", json!({"level": "info"})),
        ]);
        assert!(chain.unwrap_or_default().contains("where an agent writes"));
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
