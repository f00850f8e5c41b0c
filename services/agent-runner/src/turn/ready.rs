//! Processes that stand ready for a turn.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use openclaw_backends::environment;
use openclaw_backends::places::{Places, RunFolders};
use openclaw_config::programs;
use openclaw_daemon::failure;
use openclaw_handoff::order::ProcessSpec;
use openclaw_handoff::proxies::Proxies;
use openclaw_handoff::spool;
use openclaw_sandbox::Network;
use openclaw_settings::{AgentCli, AgentSettings, RunnerSettings};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::{Error, TurnContext};
use crate::path_snapshot::PathSnapshot;
use crate::plan;
use crate::spare::{Ready, Spare};
use crate::turn_handle::TurnHandle;
use crate::{reach, units};

/// Starts a process for the agent's next turn, unless one stands ready.
pub(super) async fn renew(
    turn_context: &TurnContext,
    settings: &Arc<RunnerSettings>,
    agent_id: &str,
    backend: &str,
) {
    let Some(agent) = settings
        .agent(agent_id)
        .filter(|_| AgentCli::of_backend(backend).is_none())
    else {
        return;
    };
    let Some(name) = turn_context.spare.wanted(settings, agent_id).await else {
        return;
    };
    match stand_ready(turn_context, settings, agent, &name, Vec::new()).await {
        Ok(ready) => {
            let watch = ready.held.watch();
            turn_context.spare.put(Some(ready));
            watch_over(&turn_context.spare, name, watch, units::STANDBY);
        }
        // The next turn tries again and says why.
        Err(error) => {
            turn_context.spare.put(None);
            tracing::debug!(error = %failure::chain(&error), "no spare agent");
        }
    }
}

/// Ends the process `name` of `spare` when it has waited for `life`, and takes
/// note when it ends by itself.
pub(super) fn watch_over(
    spare: &Spare,
    name: String,
    watch: io::Result<UnixStream>,
    life: Duration,
) {
    let spare = spare.clone();
    tokio::spawn(async move {
        let ends = async {
            match &watch {
                Ok(watch) => drop(watch.readable().await),
                Err(_) => std::future::pending().await,
            }
        };
        let _ = timeout(life, ends).await;
        spare.end(&name).await;
    });
}

/// Starts a native or offline agent that waits for its turn.
pub(super) async fn stand_ready(
    turn_context: &TurnContext,
    settings: &Arc<RunnerSettings>,
    agent: &AgentSettings,
    run_id: &str,
    own_limits: Vec<String>,
) -> Result<Ready, Error> {
    let missing = settings.sandbox.missing;
    let level = turn_context
        .confinement
        .level(&agent.sandbox, missing)
        .await?;
    let program =
        programs::sibling("openclaw-agent", &settings.environment).map_err(Error::Start)?;
    let places = Places::prepare(settings, agent, run_id)?;
    let proxies = Proxies {
        model: None,
        elsewhere: reach::elsewhere(&turn_context.confinement, agent, level, missing).await,
    };
    let network = reach::network(agent, level, &proxies);
    let mut variables = environment::common(&settings.environment, &places);
    if network == Network::Full {
        variables.extend(environment::network(&settings.environment));
    }
    let bounds = reach::bounds(&turn_context.confinement, level, network, missing).await?;
    let confined = plan::for_agent(
        settings, agent, &places, run_id, &program, &variables, bounds,
    );
    let spec = ProcessSpec {
        arguments: vec!["turn".to_owned()],
        socket: true,
        proxies,
        own_limits,
        ..spec(
            turn_context,
            settings,
            run_id,
            agent,
            confined,
            program,
            variables,
        )?
    };
    let path_snapshot = PathSnapshot::of(&spec.plan);
    Ok(Ready {
        path_snapshot,
        held: TurnHandle::start(&turn_context.units, settings, agent, &spec, None).await?,
        since: Instant::now(),
        passing: RunFolders::of(&settings.paths, &agent.id, run_id),
        places,
        agent_id: agent.id.clone(),
        settings: Arc::clone(settings),
        likeness: String::new(),
    })
}

pub(super) fn spec(
    turn_context: &TurnContext,
    settings: &RunnerSettings,
    run_id: &str,
    agent: &AgentSettings,
    plan: openclaw_sandbox::Plan,
    program: PathBuf,
    variables: environment::Variables,
) -> Result<ProcessSpec, Error> {
    Ok(ProcessSpec {
        run_id: run_id.to_owned(),
        agent_id: agent.id.clone(),
        unit: turn_context.units.unit(run_id),
        memory_max: agent.limits.memory_max,
        own_limits: Vec::new(),
        spool: spool::path(&turn_context.turns, run_id),
        reason: spool::reason(&turn_context.turns, run_id),
        log_level: settings.log_level,
        log_content: settings.log_content,
        helper: programs::sibling("openclaw-sandbox", &settings.environment)
            .map_err(Error::Start)?,
        plan,
        program,
        arguments: Vec::new(),
        variables,
        socket: false,
        proxies: Proxies::default(),
        waiting: None,
    })
}
