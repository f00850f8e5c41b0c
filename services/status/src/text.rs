//! The status for people: what matters now, and with `--verbose` the rest.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_proto::address::AT_REST;
use openclaw_settings::SandboxLevel;
use openclaw_terminal::words::{self, count};

use crate::activity::{self, Activity};
use crate::closed::Closed;
use crate::overview::Overview;
use crate::processes::Process;
use crate::report::{AgentModel, Answer, Candidate, GatewayStatus, Memory, Runner, Suite, grouped};
use crate::screen::Row;
use crate::spending::Spending;

/// What is said of jobs where `cron.enabled` is false.
pub const JOBS_ARE_OFF: &str = "no job runs by itself: cron.enabled is false";
/// Characters of a failure.
const FAILURE: usize = 100;

/// All rows.
pub(crate) fn rows(overview: &Overview, verbose: bool) -> Vec<Row> {
    let suite = &overview.suite;
    let processes = &overview.processes;
    let mut rows = vec![
        daemon("gateway", &suite.gateway, processes.gateway, up_of_gateway),
        daemon("runner", &suite.runner, processes.runner, up_of_runner),
        daemon("memory", &suite.memory, processes.memory, up_of_memory),
    ];
    if let Answer::Given(runner) = &suite.runner {
        backend(runner, verbose, &mut rows);
        rows.extend(runner.agents.iter().flat_map(model_problems));
        sandbox(runner, verbose, &mut rows);
    }
    if let Answer::Given(gateway) = &suite.gateway {
        rows.push(sessions(gateway));
        rows.extend(today(&overview.today));
        schedule(gateway, &overview.activity, &mut rows);
    }
    channels(suite, &mut rows);
    if let Answer::Given(gateway) = &suite.gateway {
        listeners(gateway, overview.closed.as_ref(), &mut rows);
        let maintenance = gateway.maintenance.iter();
        rows.extend(maintenance.map(|it| Row::warning("sessions", it)));
        if verbose {
            rows.push(Row::plain("state", &gateway.state_dir));
        }
    }
    if let Some(problem) = &suite.state_problem {
        rows.push(Row::bad("state", problem));
    }
    for problem in suite.configuration_problems() {
        rows.push(Row::bad("configuration", problem));
    }
    let faults = overview.faults.iter();
    rows.extend(faults.map(|it| Row::warning("configuration", it)));
    unused(overview, verbose, &mut rows);
    let room = openclaw_terminal::output::room().map_or(usize::MAX, |_| FAILURE);
    failures(&overview.activity, room, &mut rows);
    rows
}

/// What is said of the accounts of channels: nothing where there are none.
fn channels(suite: &Suite, rows: &mut Vec<Row>) {
    for finding in suite.channels() {
        let row = if finding.is_well() {
            Row::plain
        } else {
            Row::warning
        };
        rows.push(row(&finding.name, finding.detail));
        rows.extend(finding.fix.iter().map(|fix| Row::plain("", fix)));
    }
    if let Answer::Missing { problem } = &suite.channels {
        rows.push(Row::warning("channels", format!("not known: {problem}")));
    }
}

fn daemon<T>(name: &str, answer: &Answer<T>, process: Process, up: fn(&T) -> String) -> Row {
    let status = match answer {
        Answer::Given(status) => status,
        Answer::Missing { problem } => {
            return Row::bad(name, format!("does not answer: {problem}"));
        }
        Answer::Resting { .. } => return Row::plain(name, AT_REST),
    };
    let memory = process
        .memory_bytes
        .map(|it| format!(", {}", words::bytes(it)));
    let text = format!("{}{}", up(status), memory.unwrap_or_default());
    match process.restarts {
        Some(restarts @ 1..) => {
            Row::warning(name, format!("{text}, {}", count(restarts, "restart")))
        }
        _ => Row::plain(name, text),
    }
}

fn up_of_gateway(status: &GatewayStatus) -> String {
    up(&status.version, status.uptime_ms)
}

fn up_of_runner(status: &Runner) -> String {
    let ended = count(status.turns_ended, "turn");
    format!("{}, {ended} ended", up(&status.version, status.uptime_ms))
}

fn up_of_memory(status: &Memory) -> String {
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

fn backend(status: &Runner, verbose: bool, rows: &mut Vec<Row>) {
    let model = match (status.provider.as_str(), status.model.as_str()) {
        (_, "") => String::new(),
        ("", model) => format!("; asks {model}"),
        (provider, model) => format!("; asks {provider}/{model}"),
    };
    let text = because(&status.backend, &status.reason) + &model;
    rows.push(match status.backend.as_str() {
        "" => Row::bad("backend", text),
        "offline" => Row::warning("backend", text),
        _ => Row::plain("backend", text),
    });
    if verbose {
        rows.extend(status.candidates.iter().map(candidate));
    }
}

fn candidate(candidate: &Candidate) -> Row {
    let state = if candidate.available {
        "available"
    } else {
        "not available"
    };
    let why = because(state, &candidate.reason);
    Row::plain("", format!("{} {why}", candidate.backend))
}

/// What of an agent's models cannot be used.
fn model_problems(answering: &AgentModel) -> impl Iterator<Item = Row> {
    let name = format!("agent {}", answering.agent_id);
    answering.problems.iter().map(move |problem| {
        let text = format!("{}: {}", problem.key, problem.problem);
        if problem.is_fatal {
            Row::bad(&name, text)
        } else {
            Row::warning(&name, text)
        }
    })
}

fn because(what: &str, why: &str) -> String {
    match why {
        "" => what.to_owned(),
        why => format!("{what}: {why}"),
    }
}

fn sandbox(status: &Runner, verbose: bool, rows: &mut Vec<Row>) {
    let all = status.confinements.iter();
    let all = all.filter(|it| it.is_for_this_user()).count();
    let enforced = status.confinements.iter().filter(|it| it.is_enforced());
    let enforced = enforced.count();
    let is_off = status.sandbox_level == SandboxLevel::Off.name();
    let counted = if is_off {
        format!("nothing is confined, and {enforced} of {all} confinements could be enforced")
    } else {
        format!("{enforced} of {all} confinements enforced")
    };
    let summary = format!(
        "{}, network {}; {counted}",
        status.sandbox_level, status.sandbox_network
    );
    let is_whole = !is_off && enforced == all && status.sandbox_stricter.is_none();
    rows.push(if is_whole {
        Row::plain("sandbox", summary)
    } else {
        Row::warning("sandbox", summary)
    });
    if !is_whole || verbose {
        rows.extend(status.sandbox_reason.iter().map(|it| Row::plain("", it)));
    }
    if let Some(stricter) = &status.sandbox_stricter {
        rows.push(Row::plain("", format!("for a stricter one: {stricter}")));
    }
    rows.extend(status.sandbox_weaker.iter().map(|it| Row::plain("", it)));
    for (names, confinement) in grouped(&status.confinements) {
        let is_missing = confinement.is_for_this_user() && !confinement.is_enforced();
        if verbose || is_missing {
            let state = confinement.state.replace('_', " ");
            let state = because(&state, &confinement.detail);
            rows.push(Row::plain("", format!("{names} {state}")));
        }
    }
    if verbose && let Some(user) = &status.agent_user {
        rows.push(Row::plain("agent user", user));
    }
}

fn sessions(status: &GatewayStatus) -> Row {
    let text = format!(
        "{}, {} running, {} waiting",
        count(status.sessions, "session"),
        count(status.turns_running, "turn"),
        status.turns_waiting
    );
    Row::plain("sessions", text)
}

fn today(today: &Spending) -> Option<Row> {
    if today.turns == 0 {
        return None;
    }
    let mut text = format!("${:.2}", today.cost_usd);
    if let Some(budget) = today.budget_usd {
        text.push_str(&format!(" of ${budget:.2}"));
    }
    text.push_str(&format!(" in {}", count(today.turns, "turn")));
    if today.turns_of_unknown_cost > 0 {
        text.push_str(&format!(
            ", {} of unknown cost",
            today.turns_of_unknown_cost
        ));
    }
    if today.near_limit.is_empty() {
        return Some(Row::plain("today", text));
    }
    let agents = today.near_limit.join(", ");
    let text = format!("{text}; limits.costPerDay of {agents} is nearly used up");
    Some(Row::warning("today", text))
}

fn schedule(status: &GatewayStatus, activity: &Activity, rows: &mut Vec<Row>) {
    if !status.cron_enabled {
        rows.push(Row::warning("jobs", JOBS_ARE_OFF));
    } else if let Some(next) = &activity.next_job {
        let (name, jobs) = (&next.name, count(activity.jobs, "job"));
        let at = local(next.at_ms);
        rows.push(Row::plain("jobs", format!("next {at}: {name} ({jobs})")));
    }
}

fn local(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    let at = at.to_zoned(TimeZone::system());
    at.strftime("%a %Y-%m-%d %H:%M").to_string()
}

fn listeners(status: &GatewayStatus, closed: Option<&Closed>, rows: &mut Vec<Row>) {
    if status.listeners.is_empty() {
        rows.push(Row::plain("listens at", "its control socket only"));
    }
    for listener in &status.listeners {
        let what = match listener.name.as_str() {
            "http" => "WebSocket and HTTP; `openclawctl token` prints the token",
            "cli" => "the shared session, with OPENCLAW_CLI_SECRET",
            other => other,
        };
        let text = format!("http://{} ({what})", listener.address);
        rows.push(Row::plain("listens at", text));
    }
    if let Some(closed) = closed {
        rows.push(Row::bad("", &closed.problem));
        rows.push(Row::plain("", &closed.fix));
    }
}

fn unused(overview: &Overview, verbose: bool, rows: &mut Vec<Row>) {
    let unused = &overview.unused;
    if verbose {
        rows.extend(
            unused
                .iter()
                .map(|it| Row::plain("configuration", it.to_string())),
        );
        return;
    }
    let keys: usize = unused.iter().map(|it| it.keys.len()).sum();
    if keys > 0 {
        let keys = count(keys as u64, "key");
        let text = format!("{keys} without effect: openclawctl config validate says why");
        rows.push(Row::plain("configuration", text));
    }
}

/// `room`: characters of a reason.
fn failures(activity: &Activity, room: usize, rows: &mut Vec<Row>) {
    let now = activity::now_ms();
    for (at, failure) in activity.failures.iter().enumerate() {
        let name = if at == 0 { "failed" } else { "" };
        let reason = openclaw_terminal::output::one_line(&failure.reason, room);
        let ago = words::ago(failure.ended_ms, now);
        let text = format!("{ago} in {}: {reason}", failure.session_key);
        rows.push(Row::warning(name, text));
    }
}

#[cfg(test)]
mod tests {
    use openclaw_proto::channel::AccountName;
    use openclaw_proto::channel_admin::AccountState;
    use openclaw_proto::wire;

    use openclaw_effect::Unused;
    use openclaw_terminal::painted::Painted;

    use super::*;
    use crate::processes::Processes;
    use crate::report::{Confinement, ModelProblem};
    use crate::screen;

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
                    confinement("home_hidden", "not_applicable"),
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

    fn overview(suite: Suite) -> Overview {
        Overview {
            suite,
            unused: Vec::new(),
            faults: Vec::new(),
            closed: None,
            processes: Processes::default(),
            activity: Activity::default(),
            today: Spending::default(),
        }
    }

    fn rendered(overview: &Overview, verbose: bool) -> String {
        let mut text = Painted::plain();
        screen::paint(&rows(overview, verbose), &mut text);
        text.text().to_owned()
    }

    #[test]
    fn account_of_a_channel_is_told_of_and_no_channel_is_not() {
        let mut overview = overview(suite());
        let text = rendered(&overview, false);
        assert!(!text.contains("channel"), "{text}");
        let document = serde_json::to_value(&overview).unwrap();
        assert!(document.get("channels").is_none(), "{document}");
        overview.suite.channels = Answer::Given(vec![AccountState {
            account: AccountName {
                channel: "telegram".to_owned(),
                account: "default".to_owned(),
            },
            is_default: true,
            is_enabled: true,
            attended_since_ms: None,
            health: None,
            missing_token: String::new(),
            unanswered_groups: Vec::new(),
        }]);
        let text = rendered(&overview, false);
        for line in [
            "channel telegram  no daemon attends it",
            "start it with: systemctl --user start openclaw-telegram.service",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let document = serde_json::to_value(&overview).unwrap();
        assert_eq!(document["channels"][0]["isEnabled"], true);
        let problem = "of another version".to_owned();
        overview.suite.channels = Answer::Missing { problem };
        let text = rendered(&overview, false);
        assert!(text.contains("not known: of another version"), "{text}");
    }

    #[test]
    fn everything_worth_knowing_has_a_line() {
        let unused = Unused {
            reason: "not supported yet".to_owned(),
            keys: vec!["talk.provider".to_owned(), "ui.seamColor".to_owned()],
        };
        let mut overview = overview(suite());
        overview.unused = vec![unused];
        overview.faults = vec!["agents.defaults.heartbeat.activeHours.start: no".to_owned()];
        overview.processes.runner.memory_bytes = Some(3 << 20);
        overview.processes.runner.restarts = Some(2);
        let text = rendered(&overview, false);
        for line in [
            "● openclaw: something is wrong",
            "configuration  agents.defaults.heartbeat.activeHours.start: no",
            "gateway        does not answer: nobody listens",
            "runner         0.1.0, up 1 min 1 s, 7 turns ended, 3 MiB, 2 restarts",
            "memory         0.1.0, up 0 s, 1 file, 2 passages",
            "backend        native: a key is there; asks anthropic/m",
            "agent work     agents.list[0].model: no such provider",
            "sandbox        workspace, network model-only; 1 of 2 confinements enforced",
            "               the strictest here",
            "               for a stricter one: sudo true",
            "               agents see names",
            "state          the disk is full",
            "               landlock unavailable: why",
            "configuration  f:1:2: broken",
            "configuration  2 keys without effect: openclawctl config validate says why",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("seccomp"));
        assert!(!text.contains("home_hidden"));
        let text = rendered(&overview, true);
        for line in [
            "seccomp enforced: why",
            "home_hidden not applicable: why",
            "claude-cli not available: not installed",
            "without effect (not supported yet): talk.provider, ui.seamColor",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn healthy_suite_is_short() {
        let well = wire::gateway::StatusResponse {
            version: "0.1.0".to_owned(),
            ..wire::gateway::StatusResponse::default()
        };
        let mut suite = suite();
        suite.gateway = Answer::Given(well.into());
        suite.state_problem = None;
        if let Answer::Given(memory) = &mut suite.memory {
            memory.configuration_problem = None;
        }
        if let Answer::Given(runner) = &mut suite.runner {
            runner.agents.clear();
            runner.confinements.retain(Confinement::is_enforced);
            runner.sandbox_stricter = None;
            runner.sandbox_weaker.clear();
        }
        let mut overview = overview(suite);
        overview.today = Spending {
            cost_usd: 0.126,
            turns: 2,
            budget_usd: Some(25.0),
            ..Spending::default()
        };
        let text = rendered(&overview, false);
        assert!(text.starts_with("● openclaw: all is well\n"), "{text}");
        assert!(
            text.contains("today       $0.13 of $25.00 in 2 turns\n"),
            "{text}"
        );
        assert!(text.lines().count() <= 10, "{text}");
        overview.today.near_limit = vec!["main".to_owned()];
        let text = rendered(&overview, false);
        assert!(text.contains("something to look at"), "{text}");
    }

    #[test]
    fn text_nothing_is_said_to_be_confined_where_the_sandbox_is_off() {
        let mut suite = suite();
        if let Answer::Given(runner) = &mut suite.runner {
            runner.sandbox_level = "off".to_owned();
        }
        let text = rendered(&overview(suite), false);
        let said = "off, network model-only; nothing is confined, and 1 of 2 confinements could be";
        assert!(text.contains(said), "{text}");
    }

    #[test]
    fn suite_at_rest_is_well_and_asks_for_nothing() {
        let suite = Suite {
            gateway: Answer::resting(),
            runner: Answer::resting(),
            memory: Answer::resting(),
            channels: Answer::Given(Vec::new()),
            state_problem: None,
        };
        assert!(suite.is_whole());
        let document = serde_json::to_value(&suite).unwrap();
        assert_eq!(document["runner"], serde_json::json!({"idle": true}));
        let text = rendered(&overview(suite), false);
        assert!(text.starts_with("● openclaw: all is well\n"), "{text}");
        let rows = text.lines().filter(|line| line.ends_with(AT_REST));
        assert_eq!(rows.count(), 3, "{text}");
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
