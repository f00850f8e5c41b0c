//! What the daemons' answers say about the suite's health.

use openclaw_doctor::Check;
use openclaw_proto::address::AT_REST;

use openclaw_connection as connection;
use openclaw_status::{
    AgentModel, Answer, Confinement, JOBS_ARE_OFF, ModelProblem, Process, Processes, Runner, Suite,
    grouped,
};

/// One check a daemon: does it answer, with this program's version.
pub(super) fn daemons(suite: &Suite, before: &Processes) -> Vec<Check> {
    let version = |name: &str, found: Result<&str, &str>, before: Process| match found {
        Ok(version) if version == env!("CARGO_PKG_VERSION") => {
            let started = if before.at_rest {
                "; it was at rest, and was started by being asked"
            } else {
                ""
            };
            Check::ok(name, format!("answers, version {version}{started}"))
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
        version(
            "gateway",
            said(&suite.gateway, |it| &it.version),
            before.gateway,
        ),
        version(
            "agent-runner",
            said(&suite.runner, |it| &it.version),
            before.runner,
        ),
        version(
            "memory",
            said(&suite.memory, |it| &it.version),
            before.memory,
        ),
    ]
}

fn said<'a, T>(
    answer: &'a Answer<T>,
    version: impl Fn(&'a T) -> &'a str,
) -> Result<&'a str, &'a str> {
    match answer {
        Answer::Given(status) => Ok(version(status)),
        Answer::Missing { problem } => Err(problem),
        Answer::Resting { .. } => Err(AT_REST),
    }
}

/// What the gateway leaves undone because the configuration says so.
pub(super) fn left_undone(suite: &Suite) -> Vec<Check> {
    let Some(gateway) = suite.gateway.given() else {
        return Vec::new();
    };
    let findings = gateway.maintenance.iter();
    let mut checks: Vec<Check> = findings
        .map(|finding| {
            let fix = "set session.maintenance.mode to \"enforce\", or raise its bounds";
            Check::warn("sessions", finding.as_str(), fix)
        })
        .collect();
    if !gateway.cron_enabled {
        checks.push(Check::ok("jobs", JOBS_ARE_OFF));
    }
    checks
}

/// Whether a model answers each agent, as far as is known without asking it:
/// chosen as for a turn.
pub(super) fn models(suite: &Suite) -> Vec<Check> {
    let Some(runner) = suite.runner.given() else {
        return Vec::new();
    };
    let is_only = runner.agents.len() == 1;
    let checks = runner.agents.iter().flat_map(|agent| {
        let name = if is_only {
            "model".to_owned()
        } else {
            format!("model of {}", agent.agent_id)
        };
        answering(name, agent)
    });
    checks.collect()
}

fn answering(name: String, agent: &AgentModel) -> Vec<Check> {
    if !agent.problems.is_empty() {
        let problems = agent.problems.iter();
        return problems
            .map(|problem| unusable(&name, agent, problem))
            .collect();
    }
    let detail = match (&*agent.provider, &*agent.model) {
        (_, "") => agent.backend.clone(),
        (provider, model) => format!("{}: {provider}/{model}", agent.backend),
    };
    vec![match agent.backend.as_str() {
        "offline" => Check::warn(
            name,
            "offline: no model is connected, memory answers",
            "openclawctl setup connects one: a login of Claude Code or Codex, a key, or Ollama",
        ),
        _ => Check::ok(name, detail),
    }]
}

fn unusable(name: &str, agent: &AgentModel, problem: &ModelProblem) -> Check {
    let ModelProblem { key, problem, .. } = problem;
    let fix = format!(
        "do what is said, or choose another: openclawctl config set {key} …; \
         openclawctl status names every backend"
    );
    let detail = |instead: &str| format!("{key}: {problem}; {instead}");
    if agent.problems.iter().any(|problem| problem.is_fatal) {
        let instead = match agent.backend.as_str() {
            "offline" => "memory answers instead",
            _ => "messages fail",
        };
        return Check::fail(name, detail(instead), fix);
    }
    let instead = format!("{}/{} answers", agent.provider, agent.model);
    Check::warn(name, detail(&instead), fix)
}

/// Whether the programs and folders of servers of tools are there, as the
/// agent-runner sees it.
pub(super) fn servers(suite: &Suite) -> Vec<Check> {
    let problems = suite.runner.given().map(|runner| &runner.servers);
    let problems = problems.into_iter().flatten();
    problems
        .map(|server| {
            Check::warn(
                "tool server",
                format!("{} {}", server.key, server.problem),
                "until then the agents are without its tools",
            )
        })
        .collect()
}

/// One check for each confinement that is promised.
pub(super) fn confinements(suite: &Suite) -> Vec<Check> {
    let Some(runner) = suite.runner.given() else {
        return Vec::new();
    };
    let groups = grouped(&runner.confinements).into_iter();
    let mut checks: Vec<Check> = level(runner).into_iter().collect();
    checks.extend(groups.map(|(names, group)| confinement(&names, group)));
    if runner.confinements.is_empty() {
        checks.push(Check::warn(
            "sandbox",
            "the agent-runner promises no confinement",
            "set sandbox.level to \"strict\"",
        ));
    }
    checks
}

/// The level that agents run at, why, and what gives a stricter one.
fn level(runner: &Runner) -> Option<Check> {
    const NAME: &str = "sandbox level";
    // Where no agent is started, the checks below say so.
    let reason = runner.sandbox_reason.as_deref()?;
    let detail = format!("{}: {reason}", runner.sandbox_level);
    Some(match &runner.sandbox_stricter {
        Some(stricter) => Check::warn(NAME, detail, stricter.as_str()),
        None => Check::ok(NAME, detail),
    })
}

/// `names`: of all that are so.
fn confinement(names: &str, confinement: &Confinement) -> Check {
    let name = format!("sandbox {names}");
    let detail = match confinement.detail.as_str() {
        "" => confinement.state.replace('_', " "),
        detail => format!("{}: {detail}", confinement.state.replace('_', " ")),
    };
    match confinement.state.as_str() {
        "enforced" => Check::ok(name, detail),
        _ if !confinement.is_for_this_user() => Check::ok(name, detail),
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
    use super::*;
    use openclaw_doctor::State;

    #[test]
    fn answers_what_is_not_enforced_is_not_ok() {
        let state = |state: &str| {
            let seccomp = Confinement {
                name: "seccomp".to_owned(),
                state: state.to_owned(),
                detail: String::new(),
            };
            confinement("seccomp", &seccomp).state
        };
        assert_eq!(state("enforced"), State::Ok);
        assert_eq!(state("not_applicable"), State::Ok);
        assert_eq!(state("unavailable"), State::Warn);
        assert_eq!(state("failed"), State::Fail);
        assert_eq!(state("something new"), State::Fail);
    }
    #[test]
    fn answers_what_an_ordinary_user_cannot_have_is_said_once() {
        let of = |name: &str, state: &str, detail: &str| Confinement {
            name: name.to_owned(),
            state: state.to_owned(),
            detail: detail.to_owned(),
        };
        let all = [
            of(
                "home_hidden",
                "not_applicable",
                "turns run as an ordinary user",
            ),
            of("seccomp", "enforced", ""),
            of(
                "privilege_drop",
                "not_applicable",
                "turns run as an ordinary user",
            ),
            of("landlock", "enforced", ""),
            of("own_root", "unavailable", "no namespaces"),
        ];
        let names: Vec<String> = grouped(&all).into_iter().map(|(names, _)| names).collect();
        let expected = [
            "home_hidden, privilege_drop",
            "seccomp",
            "landlock",
            "own_root",
        ];
        assert_eq!(names, expected);
    }

    fn agent(backend: &str, problems: &[bool]) -> AgentModel {
        let problem = |is_fatal: &bool| ModelProblem {
            key: "agents.defaults.model".to_owned(),
            problem: "no known provider".to_owned(),
            is_fatal: *is_fatal,
        };
        AgentModel {
            auth_profiles: Vec::new(),
            agent_id: "main".to_owned(),
            backend: backend.to_owned(),
            provider: "p".to_owned(),
            model: "m".to_owned(),
            problems: problems.iter().map(problem).collect(),
        }
    }

    #[test]
    fn model_that_cannot_answer_is_not_ok() {
        for (backend, problems, expected) in [
            ("native", &[][..], State::Ok),
            ("offline", &[], State::Warn),
            ("native", &[false], State::Warn),
            ("offline", &[true], State::Fail),
            ("", &[true], State::Fail),
        ] {
            let checks = answering("model".to_owned(), &agent(backend, problems));
            assert_eq!(checks.len(), 1);
            assert_eq!(checks[0].state, expected, "{backend} {problems:?}");
        }
        let check = &answering("model".to_owned(), &agent("", &[true]))[0];
        assert!(check.detail.contains("agents.defaults.model: no known"));
        assert!(
            check
                .fix
                .as_deref()
                .unwrap()
                .contains("agents.defaults.model")
        );
    }
}
