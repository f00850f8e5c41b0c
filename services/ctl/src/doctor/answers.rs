//! What the daemons' answers say about the suite's health.

use super::check::Check;
use crate::connection;
use crate::status::{Answer, Confinement, Suite};

/// One check a daemon: does it answer, with this program's version.
pub(super) fn daemons(suite: &Suite) -> Vec<Check> {
    let version = |name: &str, found: Result<&str, &str>| match found {
        Ok(version) if version == env!("CARGO_PKG_VERSION") => {
            Check::ok(name, format!("answers, version {version}"))
        }
        Ok(version) => Check::warn(
            name,
            format!(
                "answers, but is version {version} and this program {}",
                env!("CARGO_PKG_VERSION")
            ),
            "systemctl --user restart 'openclaw-*.service'",
        ),
        Err(problem) => Check::fail(name, problem, connection::START),
    };
    vec![
        version("gateway", said(&suite.gateway, |it| &it.version)),
        version("agent-runner", said(&suite.runner, |it| &it.version)),
        version("memory", said(&suite.memory, |it| &it.version)),
    ]
}

fn said<'a, T>(
    answer: &'a Answer<T>,
    version: impl Fn(&'a T) -> &'a str,
) -> Result<&'a str, &'a str> {
    match answer {
        Answer::Given(status) => Ok(version(status)),
        Answer::Missing { problem } => Err(problem),
    }
}

/// Whether a model can answer, as far as is known without asking it.
pub(super) fn model(suite: &Suite) -> Option<Check> {
    let runner = suite.runner.given()?;
    let detail = format!("{}: {}", runner.backend, runner.reason);
    Some(match runner.backend.as_str() {
        "" => Check::fail(
            "model",
            format!("no backend can answer: {}", runner.reason),
            "openclawctl status names every backend and what it lacks",
        ),
        "offline" => Check::warn(
            "model",
            detail,
            "log in to Claude Code or Codex, or put ANTHROPIC_API_KEY=… in ~/.config/openclaw/env",
        ),
        _ => Check::ok("model", detail),
    })
}

/// One check for each confinement that is promised.
pub(super) fn confinements(suite: &Suite) -> Vec<Check> {
    let Some(runner) = suite.runner.given() else {
        return Vec::new();
    };
    let mut checks: Vec<Check> = runner.confinements.iter().map(confinement).collect();
    if checks.is_empty() {
        checks.push(Check::warn(
            "sandbox",
            "the agent-runner promises no confinement",
            "set sandbox.level to \"strict\"",
        ));
    }
    checks
}

fn confinement(confinement: &Confinement) -> Check {
    let name = format!("sandbox {}", confinement.name);
    let detail = match confinement.detail.as_str() {
        "" => confinement.state.clone(),
        detail => format!("{}: {detail}", confinement.state),
    };
    match confinement.state.as_str() {
        "enforced" => Check::ok(name, detail),
        "unavailable" => Check::warn(
            name,
            detail,
            "it needs what the detail names; the other confinements hold without it",
        ),
        _ => Check::fail(
            name,
            detail,
            "no agent is started while this fails; the agent-runner's log says why",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::State;
    use super::*;

    #[test]
    fn what_is_not_enforced_is_not_ok() {
        let state = |state: &str| {
            confinement(&Confinement {
                name: "seccomp".to_owned(),
                state: state.to_owned(),
                detail: String::new(),
            })
            .state
        };
        assert_eq!(state("enforced"), State::Ok);
        assert_eq!(state("unavailable"), State::Warn);
        assert_eq!(state("failed"), State::Fail);
        assert_eq!(state("something new"), State::Fail);
    }
}
