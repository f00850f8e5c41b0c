//! One turn, from the backend's choice to the terminal event.

use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use openclaw_config::programs;
use openclaw_config::settings::{AgentSettings, Settings};
use openclaw_daemon::failure;
use openclaw_proto::event::{Code, Failed, Kind};
use openclaw_proto::memory;
use openclaw_proto::origin::Origin;
use openclaw_proto::runner::Turn;
use openclaw_sandbox::Network;

use crate::backend::{self, Choice};
use crate::claude::{self, ToolPipe};
use crate::confinement::Confinement;
use crate::environment;
use crate::host;
use crate::message_id;
use crate::model::Upstream;
use crate::native::{self, Lines, Model, Spare, Standing};
use crate::places::Places;
use crate::plan;
use crate::process::{self, Agent, Bounds, Input};
use crate::table::Entry;
use crate::translate::Translate;

/// What every turn uses.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) confinement: Confinement,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) memory: memory::Client,
    /// An agent that stands ready for the next turn.
    pub(crate) spare: Spare,
}

/// Why a turn could not be started.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Confinement(#[from] crate::confinement::Error),
    #[error(transparent)]
    Places(#[from] crate::places::Error),
    #[error("start the agent")]
    Start(#[source] std::io::Error),
    #[error("start the agent")]
    Launch(#[from] openclaw_sandbox::LaunchError),
    #[error(transparent)]
    Standing(#[from] native::StandingError),
}

impl Error {
    fn code(&self) -> Code {
        match self {
            Self::Confinement(_) => Code::Sandbox,
            Self::Places(_) | Self::Start(_) | Self::Launch(_) | Self::Standing(_) => {
                Code::Internal
            }
        }
    }
}

/// Runs a turn to its end; its terminal event is the last thing in the log.
pub(crate) async fn run(
    shop: &Shop,
    settings: &Arc<Settings>,
    turn: Turn,
    choice: Choice,
    entry: Entry,
) {
    let started = Instant::now();
    let terminal = match attempt(shop, settings, &turn, &choice, &entry).await {
        Ok(terminal) => terminal,
        Err(error) => process::failed("start a turn", error.code(), &error),
    };
    let terminal = named(terminal, choice.backend, &entry);
    tracing::info!(
        message_id = message_id::TURN_ENDED,
        backend = choice.backend,
        outcome = outcome(&terminal),
        milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        "the turn ended"
    );
    let ended_well = matches!(terminal, Kind::Done(_));
    // A terminal event is never refused.
    let _ = entry.log.push(terminal);
    // After the end, so that nobody waits for it.
    if ended_well
        && choice.backend != claude::NAME
        && let Some(agent) = settings.agent(&turn.agent_id)
    {
        // Starting a process blocks this thread for a moment: after everything
        // that is on its way to the user.
        for _ in 0..YIELDS {
            tokio::task::yield_now().await;
        }
        let launcher = shop.confinement.launcher();
        shop.spare.renew(launcher, settings, agent);
    }
}

/// How often other tasks go first: an event passes through fewer than this on
/// its way to the socket.
const YIELDS: usize = 16;

/// A process that was cut off because somebody asked for it was aborted.
fn named(terminal: Kind, backend: &'static str, entry: &Entry) -> Kind {
    match terminal {
        Kind::Failed(failed) if failed.code == Code::Cancelled => Kind::Aborted {
            reason: entry
                .reason
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
            backend_session: failed.backend_session,
            backend: backend.to_owned(),
        },
        Kind::Failed(failed) => Kind::Failed(Failed {
            backend: backend.to_owned(),
            ..failed
        }),
        other => other,
    }
}

fn outcome(terminal: &Kind) -> &'static str {
    match terminal {
        Kind::Done(_) => "done",
        Kind::Aborted { .. } => "aborted",
        Kind::Failed(failed) => failed.code.as_str(),
        _ => "none",
    }
}

async fn attempt(
    shop: &Shop,
    settings: &Arc<Settings>,
    turn: &Turn,
    choice: &Choice,
    entry: &Entry,
) -> Result<Kind, Error> {
    let plan = match &choice.plan {
        Ok(plan) => plan,
        Err(why) => return Ok(unusable(choice.backend, why)),
    };
    let Some(agent) = settings.agent(&turn.agent_id) else {
        return Ok(unusable(
            choice.backend,
            "the agent is no longer configured",
        ));
    };
    shop.confinement.require(settings.sandbox.level).await?;
    let stage = Stage {
        shop,
        settings,
        agent,
        turn,
        tools: host_tools(shop, turn, choice),
    };
    tracing::info!(
        message_id = message_id::TURN_STARTED,
        backend = plan.name(),
        model = plan.model(),
        "the turn starts"
    );
    match plan {
        backend::Plan::ClaudeCli { program, model } => {
            stage.claude(program, model.as_deref(), entry).await
        }
        backend::Plan::Native { provider, model } => {
            let model = Model {
                provider: provider.clone(),
                name: model.clone(),
            };
            stage.native(Some(model), entry).await
        }
        backend::Plan::Offline => stage.native(None, entry).await,
    }
}

fn unusable(backend: &'static str, why: &str) -> Kind {
    let code = match backend {
        "claude-cli" if why.contains("not logged in") => Code::NotLoggedIn,
        "native" => Code::Auth,
        _ => Code::BackendMissing,
    };
    Kind::Failed(Failed {
        code,
        message: format!("the backend {backend} cannot be used: {why}"),
        retry_after_ms: None,
        backend_session: None,
        backend: backend.to_owned(),
    })
}

fn host_tools(shop: &Shop, turn: &Turn, choice: &Choice) -> host::Tools {
    host::Tools {
        memory: shop.memory.clone(),
        origin: Origin {
            run_id: turn.run_id.clone(),
            session_key: turn.session_key.clone(),
        },
        agent_id: turn.agent_id.clone(),
        session_id: turn.session_id.clone(),
        received_ms: turn.received_ms,
        status: format!(
            "backend {} ({}), agent {}, session {}",
            choice.backend, choice.reason, turn.agent_id, turn.session_key
        ),
    }
}

/// A turn with everything it needs at hand.
struct Stage<'a> {
    shop: &'a Shop,
    settings: &'a Arc<Settings>,
    agent: &'a AgentSettings,
    turn: &'a Turn,
    tools: host::Tools,
}

impl Stage<'_> {
    async fn native(self, model: Option<Model>, entry: &Entry) -> Result<Kind, Error> {
        let mut lines = Lines {
            backend: if model.is_some() { "native" } else { "offline" },
            provider: model
                .as_ref()
                .map_or("openclaw", |m| &m.provider.id)
                .to_owned(),
            model: model.as_ref().map_or("memory", |m| &m.name).to_owned(),
        };
        let launcher = self.shop.confinement.launcher();
        let standing = match self.shop.spare.take(self.settings, &self.agent.id) {
            Some(standing) => standing,
            None => Standing::start(launcher, self.settings, self.agent, &self.turn.run_id)?,
        };
        let Standing {
            socket,
            process,
            places,
            ..
        } = standing;
        socket
            .give(
                self.turn,
                self.agent,
                &places,
                model,
                Arc::clone(&self.shop.upstream),
                self.tools.clone(),
            )
            .map_err(Error::Start)?;
        self.follow(process, &mut lines, entry).await
    }

    async fn claude(
        self,
        program: &Path,
        model: Option<&str>,
        entry: &Entry,
    ) -> Result<Kind, Error> {
        let agent_program = programs::sibling("openclaw-agent", &self.settings.environment)
            .map_err(Error::Start)?;
        // The links it may be reached through are not granted.
        let program = &program.canonicalize().map_err(Error::Start)?;
        let places = Places::prepare(self.settings, self.agent, &self.turn.run_id)?;
        let pipe = ToolPipe::serve(places.temporary.join("tools"), self.tools.clone())
            .map_err(Error::Start)?;
        let login = claude::link_login(self.settings, &places).map_err(Error::Start)?;
        let session = claude::session(self.turn, &places);
        let arguments = claude::arguments(
            self.turn,
            &places,
            &session,
            model,
            &agent_program,
            &pipe.folder,
        )
        .map_err(Error::Start)?;
        places.give_contents(&places.temporary)?;
        places.give_contents(&places.home)?;
        let mut variables = environment::common(&self.settings.environment, &places);
        variables.extend(environment::claude(self.settings, &places));
        let mut plan = plan::for_agent(
            self.settings,
            self.agent,
            &places,
            &self.turn.run_id,
            program,
            &variables,
            Network::Full,
        );
        plan.grant_program(&agent_program);
        plan.read_write.extend(login);
        // Its runtime reserves tens of gigabytes that it never touches.
        plan.limits.address_space = None;
        let launcher = self.shop.confinement.launcher();
        let command = launcher.command(&plan, program, &arguments, &variables)?;
        let input = Input::Text(claude::input(self.turn, &session));
        let process = Agent::start(command, input).map_err(Error::Start)?;
        let mut output = claude::Output::new(session.id.clone(), model.map(str::to_owned));
        self.follow(process, &mut output, entry).await
    }

    async fn follow(
        &self,
        process: Agent,
        translate: &mut dyn Translate,
        entry: &Entry,
    ) -> Result<Kind, Error> {
        let bounds = Bounds {
            deadline: self.agent.timeout,
            silence: self.agent.no_output,
        };
        process
            .run(bounds, translate, &entry.log, &entry.cancel)
            .await
            .map_err(Error::Start)
    }
}

/// The choice for an agent, or a failure that names the known ones.
pub(crate) fn choice(settings: &Settings, agent_id: &str) -> Result<Choice, String> {
    match settings.agent(agent_id) {
        Some(agent) => Ok(backend::choose(settings, agent)),
        None => {
            let known: Vec<&str> = settings.agents.keys().map(String::as_str).collect();
            Err(format!(
                "there is no agent {agent_id:?}; there are {}",
                known.join(", ")
            ))
        }
    }
}

/// An error and its causes, for a status.
pub(crate) fn described(error: &(dyn std::error::Error + 'static)) -> String {
    failure::chain(error)
}
