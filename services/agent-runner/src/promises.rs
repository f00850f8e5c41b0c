//! The sandbox's promises on this machine, for a status and the log.

use openclaw_daemon::failure;
use openclaw_proto::wire::runner as wire;
use openclaw_sandbox::probe::{Check, Report, State};
use openclaw_sandbox::{Level, identity};
use openclaw_settings::sandbox::Missing;
use openclaw_settings::{AgentSettings, Backend, Network, RunnerSettings, SandboxLevel};

use crate::confinement::{self, Confinement};

/// The kernel feature that it needs, and what is open without it.
const LACKS: [(&str, &str); 2] = [
    (
        "signal_scope",
        "agents can signal other processes of their user, for want of Linux 6.12 (Landlock version 6)",
    ),
    (
        "landlock_tcp",
        "programs that use the network cannot be kept to their doors, for want of Linux 6.7 \
         (Landlock version 4)",
    ),
];

/// Fills in the sandbox's part of a status: that of the default agent.
pub(crate) async fn describe(
    confinement: &Confinement,
    settings: &RunnerSettings,
    response: &mut wire::StatusResponse,
) {
    response.confinements = checks(confinement, settings).await;
    let Some(agent) = settings.agent(&settings.default_agent) else {
        return;
    };
    response.sandbox_network = agent.sandbox.network.name().to_owned();
    let missing = settings.sandbox.missing;
    match confinement.level(&agent.sandbox, missing).await {
        Ok(level) => {
            response.sandbox_level = level.name().to_owned();
            if level == Level::Text {
                response.sandbox_network = Network::ModelOnly.name().to_owned();
            }
            response.sandbox_reason = reason(confinement, agent, level).await;
            response.sandbox_weaker = weaker(confinement, agent, level, missing).await;
        }
        Err(error) => {
            let wanted = agent.sandbox.level.map_or("none", SandboxLevel::name);
            response.sandbox_level = format!("{wanted}, refused");
            response.sandbox_weaker = vec![failure::chain(&error)];
        }
    }
    response.sandbox_stricter = confinement.stricter().await.unwrap_or_default();
}

/// Says in the log which level agents run at, and why; once, at the start.
pub(crate) async fn tell(confinement: &Confinement, settings: &RunnerSettings) {
    let report = match confinement.report().await {
        Ok(report) => report,
        Err(error) => return failure::report("prove the sandbox", &error),
    };
    let wanted = wanted(confinement, settings).await;
    for check in report.failed() {
        let is_wanted = wanted.iter().any(|level| check.part.is_of(*level));
        if is_wanted {
            tracing::warn!(check = %check.name, detail = %check.detail, "the sandbox does not hold");
        } else {
            tracing::debug!(check = %check.name, detail = %check.detail, "not on this machine");
        }
    }
    let Some(agent) = settings.agent(&settings.default_agent) else {
        return;
    };
    // Why there is none is told above, and by every turn.
    let missing = settings.sandbox.missing;
    let Ok(level) = confinement.level(&agent.sandbox, missing).await else {
        return;
    };
    let reason = reason(confinement, agent, level).await;
    let (landlock_abi, checks) = (report.landlock_abi, report.checks.len());
    match confinement.stricter().await {
        Some(stricter) if agent.sandbox.level.is_none() => tracing::warn!(
            landlock_abi,
            checks,
            "the sandbox is at level {}: {reason}; a stricter one: {stricter}",
            level.name()
        ),
        _ => tracing::info!(
            landlock_abi,
            checks,
            "the sandbox is at level {}: {reason}",
            level.name()
        ),
    }
}

/// Why turns of the agent run at `level`.
async fn reason(confinement: &Confinement, agent: &AgentSettings, level: Level) -> String {
    let lacking = match confinement.report().await {
        Ok(report) => report.lacking(),
        Err(_) => String::new(),
    };
    match agent.sandbox.level {
        Some(set) if confinement::named(set) == level => "the configuration says so".to_owned(),
        Some(set) => format!(
            "the configuration says {}, which cannot be had here ({lacking}), and lets it be \
             weakened",
            set.name()
        ),
        None if lacking.is_empty() => "everything that it promises holds here".to_owned(),
        None => format!("the strictest that this machine gives: {lacking}"),
    }
}

/// The words for agents that only Landlock keeps to their door.
const EVERY_ADDRESS: &str = "agents reach every address at one port, that of the turn's door: Landlock rules ports alone, and \
     connections cannot be judged by their address here";

fn may_be_cli(backend: Backend) -> bool {
    matches!(backend, Backend::Auto | Backend::Cli(_))
}

/// The ways in which a level is weaker than strict, in words.
async fn weaker(
    confinement: &Confinement,
    agent: &AgentSettings,
    level: Level,
    missing: Missing,
) -> Vec<String> {
    let mut words = Vec::new();
    match level {
        Level::Strict => {}
        Level::Off => {
            words.push("agents run with all rights of their user".to_owned());
            return words;
        }
        Level::Namespaces => words.push(
            "the root of each turn's own alone keeps agents from other files, without Landlock"
                .to_owned(),
        ),
        Level::Workspace => {
            words.push("agents see the names of other files and processes".to_owned());
            let report = confinement.report().await.ok();
            words.extend(report.into_iter().flat_map(lacks));
        }
        Level::Text => {
            words.extend(stuck());
            words.push(
                "agents think and use memory: no command runs, no file is touched, no CLI and no \
                 MCP server is started"
                    .to_owned(),
            );
            return words;
        }
    }
    words.extend(stuck());
    let is_by_port = level == Level::Workspace && !confinement.judges_addresses().await;
    match agent.sandbox.network {
        Network::Full => {
            words.push("agents reach everything that this machine reaches".to_owned());
        }
        Network::Allowlist(_) if confinement.bars_proxies(&agent.sandbox, missing).await => {
            words.push(
                "sandbox.hosts cannot be reached: nothing would hold agents to them".to_owned(),
            );
        }
        // Its door has a port, which Landlock's rule lets through whatever the address.
        Network::Allowlist(_) if is_by_port => words.push(EVERY_ADDRESS.to_owned()),
        Network::ModelOnly if is_by_port && may_be_cli(agent.backend) => {
            words.push(format!("where a CLI answers, {EVERY_ADDRESS}"));
        }
        Network::Allowlist(_) | Network::ModelOnly => {}
    }
    words
}

/// The words for a daemon that is root and whose agents cannot be another user.
fn stuck() -> Option<String> {
    identity::is_stuck_root().then(|| {
        "agents run as root, without its rights: this container lets root become nobody else"
            .to_owned()
    })
}

fn lacks(report: &Report) -> impl Iterator<Item = String> {
    LACKS.into_iter().filter_map(|(name, words)| {
        let is_there = report.get(name)?.state == State::Enforced;
        (!is_there).then(|| words.to_owned())
    })
}

async fn checks(confinement: &Confinement, settings: &RunnerSettings) -> Vec<wire::Confinement> {
    match confinement.report().await {
        Ok(report) => {
            let wanted = wanted(confinement, settings).await;
            report
                .checks
                .iter()
                .map(|check| told(check, &wanted))
                .collect()
        }
        Err(error) => vec![wire::Confinement {
            name: "probe".to_owned(),
            state: "failed".to_owned(),
            detail: failure::chain(&error),
        }],
    }
}

/// The levels that agents are to have: those that are set, and what the machine
/// gives where none is; where it gives none, what it would have to.
async fn wanted(confinement: &Confinement, settings: &RunnerSettings) -> Vec<Level> {
    let mut wanted = Vec::new();
    for agent in settings.agents.values() {
        let level = match agent.sandbox.level {
            Some(set) => confinement::named(set),
            None => {
                let level = confinement.level(&agent.sandbox, settings.sandbox.missing);
                level.await.unwrap_or(Level::Text)
            }
        };
        wanted.push(level);
    }
    wanted
}

/// A promise that no agent's level makes is not reported as missing.
fn told(check: &Check, wanted: &[Level]) -> wire::Confinement {
    let is_promised = wanted.iter().any(|level| check.part.is_of(*level));
    let state = match check.state {
        State::Enforced => "enforced",
        State::Failed if is_promised => "failed",
        State::NotApplicable => "not_applicable",
        State::Unavailable | State::Failed => "unavailable",
    };
    wire::Confinement {
        name: check.name.clone(),
        state: state.to_owned(),
        detail: check.detail.clone(),
    }
}
