//! The status for people.

use std::time::Duration;

use openclaw_effect::Unused;
use openclaw_terminal::table;
use openclaw_terminal::words::{self, count};

use super::closed::Closed;
use super::report::{AgentModel, Answer, Gateway, Memory, Runner, Suite, grouped};

/// The whole status with the keys that have no effect and why the port is
/// `closed`; `verbose` lists also the confinements that are enforced.
pub(super) fn render(
    suite: &Suite,
    unused: &[Unused],
    closed: Option<&Closed>,
    verbose: bool,
) -> String {
    let mut rows = vec![
        daemon("gateway", &suite.gateway, gateway),
        daemon("runner", &suite.runner, runner),
        daemon("memory", &suite.memory, memory),
    ];
    if let Answer::Given(runner) = &suite.runner {
        backend(runner, &mut rows);
        rows.extend(runner.agents.iter().flat_map(model_problems));
        sandbox(runner, verbose, &mut rows);
    }
    if let Answer::Given(gateway) = &suite.gateway {
        listeners(gateway, &mut rows);
        if let Some(closed) = closed {
            rows.push(row("", &closed.problem));
            rows.push(row("", &closed.fix));
        }
        rows.push(row("state", &gateway.state_dir));
        rows.extend(gateway.maintenance.iter().map(|it| row("sessions", it)));
        if !gateway.cron_enabled {
            rows.push(row("jobs", JOBS_ARE_OFF));
        }
    }
    channels(suite, &mut rows);
    if let Some(problem) = &suite.state_problem {
        rows.push(row("state", problem));
    }
    for problem in suite.configuration_problems() {
        rows.push(row("configuration", problem));
    }
    for unused in unused {
        rows.push(row("configuration", &unused.to_string()));
    }
    table::render(&rows)
}

/// What is said of the accounts of channels: nothing where there are none.
fn channels(suite: &Suite, rows: &mut Vec<Vec<String>>) {
    for finding in suite.channels() {
        rows.push(row(&finding.name, &finding.detail));
        rows.extend(finding.fix.iter().map(|fix| row("", fix)));
    }
    if let Answer::Missing { problem } = &suite.channels {
        rows.push(row("channels", &format!("not known: {problem}")));
    }
}

/// What is said of jobs where `cron.enabled` is false.
pub(crate) const JOBS_ARE_OFF: &str = "no job runs by itself: cron.enabled is false";

fn row(name: &str, value: &str) -> Vec<String> {
    [name, value].map(str::to_owned).to_vec()
}

fn daemon<T>(name: &str, answer: &Answer<T>, say: fn(&T) -> String) -> Vec<String> {
    match answer {
        Answer::Given(status) => row(name, &say(status)),
        Answer::Missing { problem } => row(name, &format!("does not answer: {problem}")),
    }
}

fn gateway(status: &Gateway) -> String {
    format!(
        "{}, {}, {} running, {} waiting",
        up(&status.version, status.uptime_ms),
        count(status.sessions, "session"),
        count(status.turns_running, "turn"),
        status.turns_waiting
    )
}

fn listeners(status: &Gateway, rows: &mut Vec<Vec<String>>) {
    if status.listeners.is_empty() {
        rows.push(row("listens at", "its control socket only"));
    }
    for listener in &status.listeners {
        let what = match listener.name.as_str() {
            "http" => "WebSocket and HTTP; `openclawctl token` prints the token",
            "cli" => "the shared session, with OPENCLAW_CLI_SECRET",
            other => other,
        };
        let text = format!("http://{} ({what})", listener.address);
        rows.push(row("listens at", &text));
    }
}

fn runner(status: &Runner) -> String {
    format!(
        "{}, {} running, {} ended",
        up(&status.version, status.uptime_ms),
        count(status.turns_running, "turn"),
        status.turns_ended
    )
}

fn memory(status: &Memory) -> String {
    format!(
        "{}, {}, {}",
        up(&status.version, status.uptime_ms),
        count(status.files, "file"),
        count(status.passages, "passage")
    )
}

fn up(version: &str, uptime_ms: u64) -> String {
    let up = words::duration(Duration::from_millis(uptime_ms));
    format!("{version}, up {up}")
}

fn backend(status: &Runner, rows: &mut Vec<Vec<String>>) {
    rows.push(row("backend", &because(&status.backend, &status.reason)));
    if !status.model.is_empty() {
        let model = match status.provider.as_str() {
            "" => status.model.clone(),
            provider => format!("{provider}/{}", status.model),
        };
        rows.push(row("model", &model));
    }
    for candidate in &status.candidates {
        let state = if candidate.available {
            "available"
        } else {
            "not available"
        };
        let text = format!(
            "{} {}",
            candidate.backend,
            because(state, &candidate.reason)
        );
        rows.push(row("", &text));
    }
}

/// What of an agent's models cannot be used.
fn model_problems(answering: &AgentModel) -> impl Iterator<Item = Vec<String>> {
    let name = format!("agent {}", answering.agent_id);
    let problems = answering.problems.iter();
    problems.map(move |problem| row(&name, &format!("{}: {}", problem.key, problem.problem)))
}

fn because(what: &str, why: &str) -> String {
    match why {
        "" => what.to_owned(),
        why => format!("{what}: {why}"),
    }
}

fn sandbox(status: &Runner, verbose: bool, rows: &mut Vec<Vec<String>>) {
    let all = status.confinements.len();
    let enforced = status
        .confinements
        .iter()
        .filter(|confinement| confinement.is_enforced())
        .count();
    let summary = format!(
        "{}, network {}; {enforced} of {all} confinements enforced",
        status.sandbox_level, status.sandbox_network
    );
    rows.push(row("sandbox", &summary));
    if let Some(reason) = &status.sandbox_reason {
        rows.push(row("", reason));
    }
    if let Some(stricter) = &status.sandbox_stricter {
        rows.push(row("", &format!("for a stricter one: {stricter}")));
    }
    for weaker in &status.sandbox_weaker {
        rows.push(row("", weaker));
    }
    for (names, confinement) in grouped(&status.confinements) {
        if verbose || !confinement.is_enforced() {
            let text = format!(
                "{names} {}",
                because(&confinement.state, &confinement.detail)
            );
            rows.push(row("", &text));
        }
    }
    if let Some(user) = &status.agent_user {
        rows.push(row("agent user", user));
    }
}

#[cfg(test)]
mod tests {
    use openclaw_proto::channel::AccountName;
    use openclaw_proto::channel_admin::AccountState;

    use super::super::report::{Candidate, Confinement, ModelProblem};
    use super::*;

    fn confinement(name: &str, state: &str) -> Confinement {
        Confinement {
            name: name.to_owned(),
            state: state.to_owned(),
            detail: "why".to_owned(),
        }
    }

    fn suite() -> Suite {
        Suite {
            gateway: Answer::Missing {
                problem: "nobody listens".to_owned(),
            },
            runner: Answer::Given(Runner {
                version: "0.1.0".to_owned(),
                uptime_ms: 61_000,
                turns_running: 1,
                turns_ended: 7,
                backend: "native".to_owned(),
                reason: "a key is there".to_owned(),
                provider: "anthropic".to_owned(),
                model: "m".to_owned(),
                candidates: vec![Candidate {
                    backend: "claude-cli".to_owned(),
                    available: false,
                    reason: "not installed".to_owned(),
                }],
                confinements: vec![
                    confinement("seccomp", "enforced"),
                    confinement("landlock", "unavailable"),
                ],
                sandbox_level: "workspace".to_owned(),
                sandbox_reason: Some("the strictest here".to_owned()),
                sandbox_stricter: Some("sudo true".to_owned()),
                sandbox_network: "model-only".to_owned(),
                sandbox_weaker: vec!["agents see names".to_owned()],
                configuration_problem: None,
                agent_user: None,
                agents: vec![AgentModel {
                    auth_profiles: Vec::new(),
                    agent_id: "work".to_owned(),
                    backend: String::new(),
                    provider: String::new(),
                    model: String::new(),
                    problems: vec![ModelProblem {
                        key: "agents.list[0].model".to_owned(),
                        problem: "no such provider".to_owned(),
                        is_fatal: true,
                    }],
                }],
                servers: Vec::new(),
            }),
            memory: Answer::Given(Memory {
                version: "0.1.0".to_owned(),
                uptime_ms: 0,
                files: 1,
                passages: 2,
                configuration_problem: Some("f:1:2: broken".to_owned()),
            }),
            channels: Answer::Given(Vec::new()),
            state_problem: Some("the disk is full".to_owned()),
        }
    }

    #[test]
    fn account_of_a_channel_is_told_of_and_no_channel_is_not() {
        let mut suite = suite();
        let text = render(&suite, &[], None, false);
        assert!(!text.contains("channel"), "{text}");
        let document = serde_json::to_value(&suite).unwrap();
        assert!(document.get("channels").is_none(), "{document}");
        suite.channels = Answer::Given(vec![AccountState {
            account: AccountName {
                channel: "telegram".to_owned(),
                account: "default".to_owned(),
            },
            is_default: true,
            is_enabled: true,
            attended_since_ms: None,
            health: None,
        }]);
        let text = render(&suite, &[], None, false);
        for line in [
            "channel telegram  no daemon attends it",
            "start it with: systemctl --user start openclaw-telegram.service",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let document = serde_json::to_value(&suite).unwrap();
        assert_eq!(document["channels"][0]["isEnabled"], true);
        let problem = "of another version".to_owned();
        suite.channels = Answer::Missing { problem };
        let text = render(&suite, &[], None, false);
        assert!(text.contains("not known: of another version"), "{text}");
    }

    #[test]
    fn everything_worth_knowing_has_a_line() {
        let unused = Unused {
            reason: "not supported yet".to_owned(),
            keys: vec!["talk.provider".to_owned(), "ui.seamColor".to_owned()],
        };
        let text = render(&suite(), &[unused], None, false);
        for line in [
            "gateway        does not answer: nobody listens",
            "runner         0.1.0, up 1 min 1 s, 1 turn running, 7 ended",
            "memory         0.1.0, up 0 s, 1 file, 2 passages",
            "backend        native: a key is there",
            "model          anthropic/m",
            "               claude-cli not available: not installed",
            "agent work     agents.list[0].model: no such provider",
            "sandbox        workspace, network model-only; 1 of 2 confinements enforced",
            "               the strictest here",
            "               for a stricter one: sudo true",
            "               agents see names",
            "state          the disk is full",
            "               landlock unavailable: why",
            "configuration  f:1:2: broken",
            "configuration  without effect (not supported yet): talk.provider, ui.seamColor",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("seccomp"));
        assert!(render(&suite(), &[], None, true).contains("seccomp enforced: why"));
    }

    #[test]
    fn json_has_the_answer_or_the_problem() {
        let suite = suite();
        assert!(!suite.is_whole());
        let document = serde_json::to_value(&suite).unwrap();
        assert_eq!(document["gateway"]["problem"], "nobody listens");
        assert_eq!(document["runner"]["turnsEnded"], 7);
        assert_eq!(document["memory"]["passages"], 2);
    }
}
