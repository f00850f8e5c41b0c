//! One turn, from the backend's choice to the terminal event.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use openclaw_config::programs;
use openclaw_config::settings::{AgentSettings, SandboxLevel, Settings};
use openclaw_daemon::failure;
use openclaw_proto::event::{Code, Failed, Kind};
use openclaw_proto::memory;
use openclaw_proto::origin::Origin;
use openclaw_proto::runner::Turn;
use openclaw_sandbox::{Level, Limits, Network, Plan};

use crate::backend::{self, Choice};
use crate::claude::{self, ToolPipe};
use crate::confinement::Confinement;
use crate::environment::{self, Variables};
use crate::host;
use crate::message_id;
use crate::model::Upstream;
use crate::native::{self, Lines, Model};
use crate::places::Places;
use crate::process::{self, Input, Job};
use crate::table::Entry;
use crate::translate::Translate;

/// What every turn uses.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) confinement: Confinement,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) memory: memory::Client,
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
}

impl Error {
    fn code(&self) -> Code {
        match self {
            Self::Confinement(_) => Code::Sandbox,
            Self::Places(_) | Self::Start(_) | Self::Launch(_) => Code::Internal,
        }
    }
}

/// Runs a turn to its end; its terminal event is the last thing in the log.
pub(crate) async fn run(
    shop: &Shop,
    settings: &Settings,
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
    // A terminal event is never refused.
    let _ = entry.log.push(terminal);
}

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
    settings: &Settings,
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
    let places = Places::prepare(settings, agent, &turn.run_id)?;
    let stage = Stage {
        shop,
        settings,
        agent,
        turn,
        places: &places,
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
        status: format!(
            "backend {} ({}), agent {}, session {}",
            choice.backend, choice.reason, turn.agent_id, turn.session_key
        ),
    }
}

/// A turn with everything it needs at hand.
struct Stage<'a> {
    shop: &'a Shop,
    settings: &'a Settings,
    agent: &'a AgentSettings,
    turn: &'a Turn,
    places: &'a Places,
    tools: host::Tools,
}

impl Stage<'_> {
    async fn native(self, model: Option<Model>, entry: &Entry) -> Result<Kind, Error> {
        let program = self.sibling("openclaw-agent")?;
        let mut lines = Lines {
            backend: if model.is_some() { "native" } else { "offline" },
            provider: model
                .as_ref()
                .map_or("openclaw", |m| &m.provider.id)
                .to_owned(),
            model: model.as_ref().map_or("memory", |m| &m.name).to_owned(),
        };
        let socket = native::serve(
            self.turn,
            self.agent,
            self.places,
            model,
            Arc::clone(&self.shop.upstream),
            self.tools.clone(),
        )
        .map_err(Error::Start)?;
        let variables = environment::common(&self.settings.environment, self.places, self.turn);
        let plan = self.plan(&program, &variables, Network::ModelOnly);
        let input = Input::Socket(socket.agent_end);
        let arguments = ["turn".into()];
        let result = self
            .job(
                &plan, &program, &arguments, &variables, input, &mut lines, entry,
            )
            .await;
        drop(socket.server);
        result
    }

    async fn claude(
        self,
        program: &Path,
        model: Option<&str>,
        entry: &Entry,
    ) -> Result<Kind, Error> {
        let agent_program = self.sibling("openclaw-agent")?;
        // The links it may be reached through are not granted.
        let program = &program.canonicalize().map_err(Error::Start)?;
        let pipe = ToolPipe::serve(self.places.temporary.join("tools"), self.tools.clone())
            .map_err(Error::Start)?;
        let login = claude::link_login(self.settings, self.places).map_err(Error::Start)?;
        let session = claude::session(self.turn, self.places);
        let arguments = claude::arguments(
            self.turn,
            self.places,
            &session,
            model,
            &agent_program,
            &pipe.folder,
        )
        .map_err(Error::Start)?;
        self.places.give_contents(&self.places.temporary)?;
        self.places.give_contents(&self.places.home)?;
        let mut variables = environment::common(&self.settings.environment, self.places, self.turn);
        variables.extend(environment::claude(self.settings, self.places));
        let mut plan = self.plan(program, &variables, Network::Full);
        plan.grant_program(&agent_program);
        plan.read_write.extend(login);
        // Its runtime reserves tens of gigabytes that it never touches.
        plan.limits.address_space = None;
        let mut output = claude::Output::new(session.id.clone(), model.map(str::to_owned));
        let input = Input::Text(claude::input(self.turn, &session));
        self.job(
            &plan,
            program,
            &arguments,
            &variables,
            input,
            &mut output,
            entry,
        )
        .await
    }

    fn sibling(&self, name: &str) -> Result<PathBuf, Error> {
        programs::sibling(name, &self.settings.environment).map_err(Error::Start)
    }

    fn plan(&self, program: &Path, variables: &Variables, network: Network) -> Plan {
        let limits = &self.agent.limits;
        let sandbox = &self.settings.sandbox;
        let mut plan = Plan::new(&self.turn.run_id, &self.agent.id, &self.places.workspace);
        plan.level = match sandbox.level {
            SandboxLevel::Workspace => Level::Workspace,
            SandboxLevel::Off => Level::Off,
        };
        plan.network = network;
        plan.limits = Limits {
            address_space: Some(limits.address_space),
            processes: Some(limits.processes),
            open_files: Some(limits.open_files),
            file_size: Some(limits.file_size),
            cpu_seconds: Some(limits.cpu_seconds),
        };
        plan.read_write = [
            &self.places.workspace,
            &self.places.home,
            &self.places.temporary,
        ]
        .into_iter()
        .chain(&sandbox.read_write)
        .cloned()
        .collect();
        plan.read_only.extend(sandbox.read_only.iter().cloned());
        plan.grant_program(program);
        plan.environment = variables.iter().map(|(name, _)| name.clone()).collect();
        // By the name that was found: looking up one that does not exist costs
        // half a millisecond each time.
        if let Some(identity) = &self.places.identity {
            plan.agent_user.clone_from(&identity.name);
        }
        plan.hide = self.settings.paths.home.iter().cloned().collect();
        plan.hide.push("/tmp".into());
        plan
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a process is made of this many things"
    )]
    async fn job(
        &self,
        plan: &Plan,
        program: &Path,
        arguments: &[OsString],
        variables: &Variables,
        stdin: Input,
        translate: &mut dyn Translate,
        entry: &Entry,
    ) -> Result<Kind, Error> {
        let launcher = self.shop.confinement.launcher();
        let job = Job {
            command: launcher.command(plan, program, arguments, variables)?,
            stdin,
            deadline: self.agent.timeout,
            silence: self.agent.no_output,
        };
        process::run(job, translate, &entry.log, &entry.cancel)
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
