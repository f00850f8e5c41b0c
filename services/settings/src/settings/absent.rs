//! Programs that agents are to use and this machine does not have.

use std::collections::BTreeMap;

use openclaw_config::key::KeyPath;
use openclaw_config::programs;

use super::RunnerSettings;
use super::agent::AgentSettings;
use crate::keys::Backend;

impl RunnerSettings {
    /// What the agents and the servers need of this machine and is not there: its key,
    /// and why. What is missing today may be there tomorrow.
    pub fn absent(&self) -> Vec<(KeyPath, String)> {
        let agents = self.agents.values().flat_map(|it| self.absent_of(it));
        // What is said for all agents is said once.
        let agents: BTreeMap<KeyPath, String> = agents.collect();
        agents.into_iter().chain(self.absent_of_servers()).collect()
    }

    fn absent_of(&self, agent: &AgentSettings) -> Vec<(KeyPath, String)> {
        let program = match agent.backend {
            Backend::Cli(cli) => Some(agent.cli_paths.program(cli)),
            _ => None,
        };
        let cli = program.and_then(|program| {
            let why = programs::absence(program, &self.environment)?;
            let key = KeyPath::parse(&agent.backend_key).ok()?;
            Some((key, format!("needs a program that {why}")))
        });
        cli.into_iter().chain(self.absent_filters(agent)).collect()
    }

    /// A name that no program has lets nothing run, which its writer did not mean.
    fn absent_filters(&self, agent: &AgentSettings) -> Option<(KeyPath, String)> {
        let names = agent.tools.safe_bins.iter().flatten();
        let missing: Vec<_> = names
            .filter(|name| programs::on_path(name, &self.environment).is_none())
            .map(|name| format!("{name:?}"))
            .collect();
        let why = format!("names no program of the PATH: {}", missing.join(", "));
        (!missing.is_empty()).then(|| (self.key_of_filters(&agent.id), why))
    }

    fn key_of_filters(&self, agent: &str) -> KeyPath {
        let mut list = self.stated.agents.list.iter();
        let own = list.position(|it| it.id == agent && it.agent.tools.exec.safe_bins.is_some());
        let own = own.map(|at| format!("agents.list.{at}."));
        let key = format!("{}tools.exec.safeBins", own.unwrap_or_default());
        key.split('.').collect()
    }
}

#[cfg(test)]
mod tests {
    use openclaw_config::{Environment, Paths};
    use serde_json::{Value, json};

    use crate::settings::Settings;

    fn absent(document: Value) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let variables = [("OPENCLAW_STATE_DIR", state), ("PATH", "/bin:/usr/bin")];
        let environment: Environment = variables.into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let settings = Settings::assemble(paths, document, &environment).unwrap();
        let settings = settings
            .with_credentials(&environment, &Default::default())
            .unwrap();
        let found = settings.absent().into_iter();
        found.map(|(key, why)| format!("{key} {why}")).collect()
    }

    #[test]
    fn program_of_an_agent_that_is_not_there_is_named_with_its_key() {
        let said = absent(
            json!({"agents": {"defaults": {"claudeCliPath": "/no/such", "codexCliPath": "sh"},
            "list": [{"id": "a", "default": true, "backend": "claude-cli"}, {"id": "b", "backend": "codex-cli"}]}}),
        );
        let expected = "needs a program that is \"/no/such\", which is not there";
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].starts_with("agents.list") && said[0].ends_with(expected),
            "{said:?}"
        );
        let said = absent(json!({"agents": {"defaults": {"claudeCliPath": "/no/such"}}}));
        assert_eq!(said, [""; 0], "it may be done without");
    }

    #[test]
    fn filter_that_no_program_is_called_is_named_with_its_key() {
        let own = json!({"exec": {"safeBins": ["nosuch"]}});
        let said = absent(
            json!({"tools": {"exec": {"safeBins": ["head", "nofilter"]}},
            "agents": {"list": [{"id": "a", "default": true}, {"id": "b", "tools": own}]}}),
        );
        assert_eq!(
            said,
            [
                "agents.list.1.tools.exec.safeBins names no program of the PATH: \"nosuch\"",
                "tools.exec.safeBins names no program of the PATH: \"nofilter\"",
            ]
        );
    }
}
