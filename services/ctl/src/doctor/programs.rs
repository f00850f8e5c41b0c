//! The programs that must be there.

use openclaw_config::settings::Backend;
use openclaw_config::{Environment, Settings, programs};

use super::check::Check;

/// Every program that another one of the suite starts.
const SUITE: [&str; 5] = [
    "openclaw-gateway",
    "openclaw-agent-runner",
    "openclaw-memory",
    "openclaw-sandbox",
    "openclaw-agent",
];

/// The suite's own programs.
pub(super) fn suite(environment: &Environment) -> Vec<Check> {
    let missing: Vec<String> = SUITE
        .iter()
        .filter_map(|name| programs::sibling(name, environment).err())
        .map(|error| error.to_string())
        .collect();
    match missing.is_empty() {
        true => vec![Check::ok(
            "programs",
            format!("all {} are there", SUITE.len()),
        )],
        false => missing
            .into_iter()
            .map(|problem| Check::fail("programs", problem, "./packaging/install"))
            .collect(),
    }
}

/// The Claude Code CLI.
pub(super) fn claude(settings: &Settings, environment: &Environment) -> Check {
    const NAME: &str = "claude";
    const FIX: &str = "npm install -g @anthropic-ai/claude-code, then log in with: claude";
    let Some(agent) = settings.agent(&settings.default_agent) else {
        return Check::ok(NAME, "no agent uses it");
    };
    if let Some(path) = programs::on_path(&agent.claude_path, environment) {
        return Check::ok(NAME, format!("found {}", path.display()));
    }
    let missing = format!("there is no program {}", agent.claude_path);
    match agent.backend {
        Backend::ClaudeCli => Check::fail(NAME, missing, FIX),
        Backend::Auto => Check::ok(NAME, format!("{missing}; other backends are used")),
        Backend::Native | Backend::Offline => Check::ok(
            NAME,
            format!("{missing}; the configured backend needs none"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::State;
    use super::*;

    #[test]
    fn a_missing_cli_is_a_failure_only_where_it_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        for (backend, expected) in [("claude-cli", State::Fail), ("auto", State::Ok)] {
            let environment: Environment = [
                ("OPENCLAW_STATE_DIR", state),
                ("OPENCLAW_BACKEND", backend),
                ("PATH", state),
            ]
            .into_iter()
            .collect();
            let settings = openclaw_config::load(&environment).unwrap();
            assert_eq!(claude(&settings, &environment).state, expected, "{backend}");
        }
    }
}
