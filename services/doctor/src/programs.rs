//! The programs that must be there.

use openclaw_agent_clis::AgentCli;
use openclaw_config::{Environment, programs};
use openclaw_settings::{Backend, Settings};

use crate::check::Check;

/// Every program that another one of the suite starts.
pub(crate) const SUITE: [&str; 6] = [
    "openclaw-gateway",
    "openclaw-agent-runner",
    "openclaw-memory",
    "openclaw-telegram",
    "openclaw-sandbox",
    "openclaw-agent",
];

/// The suite's own programs.
pub(crate) fn suite(environment: &Environment) -> Vec<Check> {
    if let Err(error) = programs::own() {
        let fix = "mount -t proc proc /proc: by it a program finds those that lie beside it";
        return vec![Check::fail("programs", error.to_string(), fix)];
    }
    let missing: Vec<String> = SUITE
        .iter()
        .filter_map(|name| programs::sibling(name, environment).err())
        .map(|error| error.to_string())
        .collect();
    if missing.is_empty() {
        vec![Check::ok(
            "programs",
            format!("all {} are there", SUITE.len()),
        )]
    } else {
        missing
            .into_iter()
            .map(|problem| Check::fail("programs", problem, "./packaging/install"))
            .collect()
    }
}

/// The agent CLIs that answer turns.
pub(crate) fn clis(settings: &Settings, environment: &Environment) -> Vec<Check> {
    let clis = openclaw_agent_clis::ALL.into_iter();
    clis.map(|it| cli(it, settings, environment)).collect()
}

fn cli(cli: &'static AgentCli, settings: &Settings, environment: &Environment) -> Check {
    let (name, own) = (cli.program, Backend::Cli(cli));
    // Those that ask for it first: for the others it need not be there.
    let mut agents: Vec<_> = settings.agents.values().collect();
    agents.sort_by_key(|agent| (agent.backend != own, agent.id != settings.default_agent));
    let missing = agents.iter().find_map(|agent| {
        let program = agent.cli_paths.program(cli);
        programs::on_path(program, environment)
            .is_none()
            .then_some((*agent, program))
    });
    let Some((agent, program)) = missing else {
        let found = agents.first().map(|agent| agent.cli_paths.program(cli));
        let found = found.and_then(|it| programs::on_path(it, environment));
        return found.map_or_else(
            || Check::ok(name, "no agent uses it"),
            |path| Check::ok(name, format!("found {}", path.display())),
        );
    };
    let missing = format!("there is no program {program}");
    match agent.backend {
        backend if backend == own => {
            let missing = format!("{missing}, with which the agent {} answers", agent.id);
            let fix = format!(
                "npm install -g {}, then log in with: {}",
                cli.package, cli.login
            );
            Check::fail(name, missing, fix)
        }
        Backend::Auto => Check::ok(name, format!("{missing}; other backends are used")),
        _ => Check::ok(
            name,
            format!("{missing}; the configured backend needs none"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::State;

    #[test]
    fn missing_cli_is_a_failure_only_where_it_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        for (backend, claude_is, codex_is) in [
            ("claude-cli", State::Fail, State::Ok),
            ("codex-cli", State::Ok, State::Fail),
            ("auto", State::Ok, State::Ok),
        ] {
            let environment: Environment = [
                ("OPENCLAW_STATE_DIR", state),
                ("OPENCLAW_BACKEND", backend),
                ("PATH", state),
            ]
            .into_iter()
            .collect();
            let settings = openclaw_settings::load(&environment).unwrap();
            let checks = clis(&settings, &environment);
            let states: Vec<_> = checks.iter().map(|check| check.state).collect();
            assert_eq!(states, [claude_is, codex_is], "{backend}");
        }
    }

    #[test]
    fn missing_cli_of_any_agent_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let list = r#"[{"id":"main","default":true},{"id":"coder","backend":"claude-cli"}]"#;
        std::fs::write(
            folder.path().join("openclaw.json"),
            format!(r#"{{"agents":{{"list":{list}}}}}"#),
        )
        .unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state), ("PATH", state)]
            .into_iter()
            .collect();
        let settings = openclaw_settings::load(&environment).unwrap();
        let check = &clis(&settings, &environment)[0];
        assert_eq!(check.state, State::Fail);
        assert!(check.detail.contains("coder"), "{}", check.detail);
    }
}
