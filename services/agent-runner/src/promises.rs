//! What the sandbox promises here, for a status.

use openclaw_config::settings::{AgentSettings, Network, SandboxLevel, Settings};
use openclaw_proto::wire::runner as wire;
use openclaw_sandbox::Level;
use openclaw_sandbox::probe::{Check, Report, State};

use crate::confinement::Confinement;
use crate::turn;

/// What the kernel has to have for it, and what is open without.
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
    settings: &Settings,
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
            let report = confinement.report().await.ok();
            response.sandbox_weaker = weaker(agent, level, report);
        }
        Err(error) => {
            response.sandbox_level = format!("{}, refused", agent.sandbox.level.name());
            response.sandbox_weaker = vec![turn::described(&error)];
        }
    }
}

/// What is less than strict, in words.
fn weaker(agent: &AgentSettings, level: SandboxLevel, report: Option<&Report>) -> Vec<String> {
    let mut words = Vec::new();
    match level {
        SandboxLevel::Strict => {}
        SandboxLevel::Off => {
            words.push("agents run with all rights of their user".to_owned());
            return words;
        }
        SandboxLevel::Workspace => {
            if agent.sandbox.level == SandboxLevel::Strict {
                words.push(
                    "the level is strict, which cannot be had here, and was weakened".to_owned(),
                );
            }
            words.push("agents see the names of other files and processes".to_owned());
            words.extend(report.into_iter().flat_map(lacks));
        }
    }
    if agent.sandbox.network == Network::Full {
        words.push("agents reach everything that this machine reaches".to_owned());
    }
    words
}

fn lacks(report: &Report) -> impl Iterator<Item = String> {
    LACKS.into_iter().filter_map(|(name, words)| {
        let is_there = report.get(name)?.state == State::Enforced;
        (!is_there).then(|| words.to_owned())
    })
}

async fn checks(confinement: &Confinement, settings: &Settings) -> Vec<wire::Confinement> {
    match confinement.report().await {
        Ok(report) => {
            let levels = settings.agents.values().map(|agent| agent.sandbox.level);
            let strict = levels
                .into_iter()
                .any(|level| level == SandboxLevel::Strict);
            report
                .checks
                .iter()
                .map(|check| told(check, strict))
                .collect()
        }
        Err(error) => vec![wire::Confinement {
            name: "probe".to_owned(),
            state: "failed".to_owned(),
            detail: turn::described(&error),
        }],
    }
}

/// What no agent's level promises is missed by nobody.
fn told(check: &Check, strict: bool) -> wire::Confinement {
    let state = match check.state {
        State::Enforced => "enforced",
        State::Failed if strict || check.level == Level::Workspace => "failed",
        State::Unavailable | State::Failed => "unavailable",
    };
    wire::Confinement {
        name: check.name.clone(),
        state: state.to_owned(),
        detail: check.detail.clone(),
    }
}
