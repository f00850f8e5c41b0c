//! One turn, from the backend's choice to the terminal event.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use openclaw_config::programs;
use openclaw_config::settings::{AgentSettings, LogLevel, SandboxLevel, Settings};
use openclaw_daemon::failure;
use openclaw_proto::event::{Code, Failed, Kind};
use openclaw_proto::runner::{Purpose, Turn};
use openclaw_sandbox::Network;
use openclaw_tools::approval::Rules;
use tokio::time::timeout;

use crate::backend::{self, Choice};
use crate::bill::{self, Budget};
use crate::claude::access::{self, Access};
use crate::claude::{self, ToolPipe};
use crate::confinement::Confinement;
use crate::cooling::Cooling;
use crate::doors::Doors;
use crate::environment;
use crate::job::{Order, Speech, Standing};
use crate::keeper::{self, Following, Held};
use crate::message_id;
use crate::native;
use crate::places::{self, Places};
use crate::plan::{self, Bounds};
use crate::process;
use crate::reach;
use crate::route::Stop;
use crate::servers;
use crate::spare::{self, Ready, Spare};
use crate::spending::Spending;
use crate::spool;
use crate::steering;
use crate::table::Entry;
use crate::thinking;
use crate::tools::{self, Offer};
use crate::units::Units;
use crate::watcher::Watcher;

/// Processes that a turn may lose before one of them has the turn.
const ATTEMPTS: u32 = 3;

/// What every turn uses.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) confinement: Confinement,
    pub(crate) units: Units,
    /// Where spools are.
    pub(crate) turns: PathBuf,
    pub(crate) watcher: Arc<Watcher>,
    /// Keys that are left alone for a while.
    pub(crate) cooling: Cooling,
    /// What turns cost.
    pub(crate) spending: Spending,
    /// A process that stands ready for the next turn.
    pub(crate) spare: Spare,
}

/// Why a turn could not be started.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Confinement(#[from] crate::confinement::Error),
    #[error(transparent)]
    Places(#[from] places::Error),
    #[error("start the agent")]
    Start(#[source] std::io::Error),
    #[error(transparent)]
    Access(#[from] access::Error),
    #[error("start the turn's process")]
    Process(#[from] keeper::Error),
    #[error("write down the turn")]
    Encode(#[from] serde_json::Error),
    #[error("the path {0:?} is not UTF-8; move it to one that is")]
    NotText(std::ffi::OsString),
}

impl Error {
    fn code(&self) -> Code {
        match self {
            Self::Confinement(_) => Code::Sandbox,
            Self::Access(_) => Code::NotLoggedIn,
            _ => Code::Internal,
        }
    }
}

/// A turn's process that has been told its turn.
struct Begun {
    held: Held,
    temporary: PathBuf,
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
    let mut attempts = 1;
    while !attempt(shop, settings, &turn, &choice, &entry, started, attempts).await {
        tracing::warn!("the turn's process was killed before it had its turn; once more");
        attempts += 1;
    }
    forget(shop, &turn.run_id);
}

/// False when a process was there but never had the turn, so that another may
/// have it.
async fn attempt(
    shop: &Shop,
    settings: &Arc<Settings>,
    turn: &Turn,
    choice: &Choice,
    entry: &Entry,
    started: Instant,
    attempts: u32,
) -> bool {
    let begun = tokio::select! {
        begun = begin(shop, settings, turn, choice) => begun,
        () = entry.cancel.cancelled() => Ok(Err(aborted(entry))),
    };
    let following = match begun {
        Ok(Ok(begun)) => Following::new(shop, entry, begun.held)
            .map(|following| (following, begun.temporary))
            .map_err(|error| process::failed("follow a turn", Code::Internal, &error)),
        Ok(Err(terminal)) => Err(terminal),
        Err(Error::Process(keeper::Error::Line(_))) if attempts < ATTEMPTS => return false,
        Err(error) => Err(process::failed("start a turn", error.code(), &error)),
    };
    match following {
        Ok((mut following, temporary)) => {
            // While the model thinks, so that it stands ready when the user
            // has read the answer, however soon that is.
            let next = renew(shop, settings, &turn.agent_id, choice.backend);
            let (had_its_turn, ()) = tokio::join!(following.follow(), next);
            if !had_its_turn && attempts < ATTEMPTS {
                return false;
            }
            if !entry.log.ended() {
                entry.log.add(named(keeper::unbegun(), choice.backend));
            }
            note_end(choice.backend, entry, started.elapsed());
            account(shop, &turn.run_id, &turn.agent_id, entry);
            if matches!(entry.log.terminal(), Some(Kind::Done(_))) {
                renew(shop, settings, &turn.agent_id, choice.backend).await;
            }
            following.wait().await;
            places::remove(&temporary);
        }
        Err(terminal) => {
            entry.log.add(named(terminal, choice.backend));
            note_end(choice.backend, entry, started.elapsed());
        }
    }
    true
}

/// Keeps what an ended turn cost.
pub(crate) fn account(shop: &Shop, run_id: &str, agent_id: &str, entry: &Entry) {
    shop.spending.add(run_id, agent_id, &entry.log.events());
}

/// Follows a turn that an earlier daemon started.
pub(crate) async fn resume(
    shop: &Shop,
    held: Held,
    agent_id: &str,
    entry: Entry,
    temporary: &Path,
) {
    let run_id = held.run_id.clone();
    match Following::new(shop, &entry, held) {
        Ok(mut following) => {
            following.follow().await;
            account(shop, &run_id, agent_id, &entry);
            following.wait().await;
        }
        Err(error) => {
            entry
                .log
                .add(process::failed("follow a turn", Code::Internal, &error));
        }
    }
    places::remove(temporary);
    forget(shop, &run_id);
}

/// Removes what was written for a turn that has ended. Mostly there is nothing.
fn forget(shop: &Shop, run_id: &str) {
    spool::remove_notes(&shop.turns, run_id);
    let _ = std::fs::remove_file(steering::path(&shop.turns, run_id));
}

fn aborted(entry: &Entry) -> Kind {
    Kind::Aborted {
        reason: entry
            .reason
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone(),
        backend_session: None,
        backend: String::new(),
    }
}

fn named(terminal: Kind, backend: &'static str) -> Kind {
    match terminal {
        Kind::Failed(failed) => Kind::Failed(Failed {
            backend: backend.to_owned(),
            ..failed
        }),
        other => other,
    }
}

fn note_end(backend: &'static str, entry: &Entry, took: Duration) {
    let terminal = entry.log.terminal();
    tracing::info!(
        message_id = message_id::TURN_ENDED,
        backend,
        outcome = terminal.as_ref().map_or("none", outcome),
        milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "the turn ended"
    );
}

fn outcome(terminal: &Kind) -> &'static str {
    match terminal {
        Kind::Done(_) => "done",
        Kind::Aborted { .. } => "aborted",
        Kind::Failed(failed) => failed.code.as_str(),
        _ => "none",
    }
}

/// Starts a process for the agent's next turn, unless one stands ready.
async fn renew(shop: &Shop, settings: &Arc<Settings>, agent_id: &str, backend: &str) {
    let Some(agent) = settings.agent(agent_id).filter(|_| backend != claude::NAME) else {
        return;
    };
    let Some(name) = shop.spare.wanted(settings, agent_id) else {
        return;
    };
    shop.spare.gone(&name).await;
    match stand_ready(shop, settings, agent, &name).await {
        Ok(ready) => {
            let watch = ready.held.watch();
            shop.spare.put(Some(ready));
            let (spare, units) = (shop.spare.clone(), shop.units.clone());
            tokio::spawn(async move {
                let ends = async {
                    match &watch {
                        Ok(watch) => drop(watch.readable().await),
                        Err(_) => std::future::pending().await,
                    }
                };
                let killed = timeout(spare::LIFE, ends).await.is_ok();
                if spare.end(&name).await && killed {
                    // A unit that failed stays until somebody has looked.
                    let _ = units.verdict(&name).await;
                }
            });
        }
        // The next turn tries again and says why.
        Err(error) => {
            shop.spare.put(None);
            tracing::debug!(error = %failure::chain(&error), "no spare agent");
        }
    }
}

/// Starts a native or offline agent that waits for its turn.
async fn stand_ready(
    shop: &Shop,
    settings: &Arc<Settings>,
    agent: &AgentSettings,
    run_id: &str,
) -> Result<Ready, Error> {
    let missing = settings.sandbox.missing;
    let level = shop.confinement.level(&agent.sandbox, missing).await?;
    let program =
        programs::sibling("openclaw-agent", &settings.environment).map_err(Error::Start)?;
    let places = Places::prepare(settings, agent, run_id)?;
    let doors = Doors {
        model: None,
        hosts: reach::hosts(agent, level),
    };
    let network = reach::network(agent, &doors);
    reach::require(&shop.confinement, level, &network, missing).await?;
    let mut variables = environment::common(&settings.environment, &places);
    if network == Network::Full {
        variables.extend(environment::network(&settings.environment));
    }
    let bounds = Bounds { level, network };
    let confined = plan::for_agent(
        settings, agent, &places, run_id, &program, &variables, bounds,
    );
    let standing = Standing {
        arguments: vec!["turn".to_owned()],
        socket: true,
        doors,
        ..standing(shop, settings, run_id, agent, confined, program, variables)?
    };
    Ok(Ready {
        held: Held::start(&shop.units, settings, agent, &standing).await?,
        places,
        agent_id: agent.id.clone(),
        settings: Arc::clone(settings),
    })
}

fn standing(
    shop: &Shop,
    settings: &Settings,
    run_id: &str,
    agent: &AgentSettings,
    plan: openclaw_sandbox::Plan,
    program: PathBuf,
    variables: environment::Variables,
) -> Result<Standing, Error> {
    Ok(Standing {
        run_id: run_id.to_owned(),
        agent_id: agent.id.clone(),
        unit: shop.units.unit(run_id),
        spool: spool::path(&shop.turns, run_id),
        reason: spool::reason(&shop.turns, run_id),
        log_level: match settings.log_level {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        }
        .to_owned(),
        helper: programs::sibling("openclaw-sandbox", &settings.environment)
            .map_err(Error::Start)?,
        plan,
        program,
        arguments: Vec::new(),
        variables,
        socket: false,
        doors: Doors::default(),
    })
}

/// Starts the turn. The inner error is how a turn ends that cannot be started
/// for a reason that the user can do something about.
async fn begin(
    shop: &Shop,
    settings: &Arc<Settings>,
    turn: &Turn,
    choice: &Choice,
) -> Result<Result<Begun, Kind>, Error> {
    let plan = match &choice.plan {
        Ok(plan) => plan,
        Err(why) => return Ok(Err(unusable(choice.backend, why))),
    };
    let Some(agent) = settings.agent(&turn.agent_id) else {
        let why = "the agent is no longer configured";
        return Ok(Err(unusable(choice.backend, why)));
    };
    let spent = shop.spending.today(&agent.id);
    if spent >= agent.limits.cost_per_day {
        return Ok(Err(too_dear(choice.backend, spent, agent)));
    }
    let missing = settings.sandbox.missing;
    let level = shop.confinement.level(&agent.sandbox, missing).await?;
    let stage = Stage {
        shop,
        settings,
        agent,
        level,
        turn,
        choice,
    };
    let begun = match plan {
        backend::Plan::ClaudeCli { program, model } => {
            stage.claude(program, model.as_deref()).await?
        }
        backend::Plan::Native {
            provider,
            model,
            fallbacks,
            note,
        } => {
            let first = Stop::all(provider, model, &agent.id);
            let others = fallbacks
                .iter()
                .flat_map(|(provider, model)| Stop::all(provider, model, &agent.id));
            let route = first.into_iter().chain(others).collect();
            stage.native(route, note.clone()).await?
        }
        backend::Plan::Offline => stage.native(Vec::new(), None).await?,
    };
    Ok(Ok(begun))
}

/// Today's money is used up before the turn begins.
fn too_dear(backend: &'static str, spent: f64, agent: &AgentSettings) -> Kind {
    Kind::Failed(Failed {
        code: Code::ResourceLimit,
        message: format!(
            "no turn is started: {}",
            bill::day(spent, agent.limits.cost_per_day)
        ),
        retry_after_ms: None,
        backend_session: None,
        backend: backend.to_owned(),
    })
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

/// A turn with everything it needs at hand.
struct Stage<'a> {
    shop: &'a Shop,
    settings: &'a Arc<Settings>,
    agent: &'a AgentSettings,
    /// That it runs at.
    level: SandboxLevel,
    turn: &'a Turn,
    choice: &'a Choice,
}

impl Stage<'_> {
    async fn native(self, mut route: Vec<Stop>, note: Option<String>) -> Result<Begun, Error> {
        let cooling = self.shop.cooling.arrange(&mut route);
        let mut notes: Vec<String> = note.into_iter().collect();
        notes.extend(cooling.map(|(name, until)| left_alone(&name, until, &route)));
        notes.extend(self.unknown_price(&route));
        let spare = &self.shop.spare;
        let run_id = &self.turn.run_id;
        let ready = match spare.take(run_id, self.settings, &self.agent.id).await {
            Some(ready) => ready,
            None => stand_ready(self.shop, self.settings, self.agent, run_id).await?,
        };
        let Ready {
            mut held, places, ..
        } = ready;
        let is_offline = route.is_empty();
        let offer = self.offer(is_offline);
        let request = native::request(self.turn, self.agent, &places, route.first(), &offer)?;
        let patience_ms = milliseconds(self.agent.limits.retry_wait);
        let speech = Speech::Socket {
            request,
            route,
            patience_ms,
        };
        let mut order = self.order(speech, offer);
        order.notes.extend(notes);
        if !is_offline {
            self.add_servers(&mut order, &places);
        }
        held.order(&order).await?;
        Ok(Begun {
            held,
            temporary: places.temporary,
        })
    }

    async fn claude(self, program: &Path, model: Option<&str>) -> Result<Begun, Error> {
        let agent_program = programs::sibling("openclaw-agent", &self.settings.environment)
            .map_err(Error::Start)?;
        // The links it may be reached through are not granted.
        let program = program.canonicalize().map_err(Error::Start)?;
        let places = Places::prepare(self.settings, self.agent, &self.turn.run_id)?;
        let pipe = places.temporary.join("tools");
        ToolPipe::make(&pipe).map_err(Error::Start)?;
        let id = &self.agent.id;
        access::take_login(self.settings, id, &places.home).map_err(Error::Start)?;
        let access = access::find(self.settings, id, self.level)?;
        let session = claude::session(self.turn, &places);
        let own = match self.turn.purpose {
            Purpose::Message => tools::of_claude(&tools::policy(self.agent), &self.rules()),
            Purpose::Summary => tools::none_of_claude(),
        };
        let started = claude::Start {
            turn: self.turn,
            places: &places,
            session: &session,
            model,
            own,
            agent_program: &agent_program,
            pipe: &pipe,
        };
        let arguments = started.arguments().map_err(Error::Start)?;
        let arguments = arguments
            .into_iter()
            .map(|argument| argument.into_string().map_err(Error::NotText))
            .collect::<Result<Vec<_>, _>>()?;
        places.give_contents(&places.temporary)?;
        places.give_contents(&places.home)?;
        let mut variables = environment::common(&self.settings.environment, &places);
        let (model, relay) = match access {
            Access::Door { variables, relay } => (Some(variables), Some(relay)),
            Access::Own => (None, None),
        };
        variables.extend(environment::claude(
            self.settings,
            id,
            &places,
            model.is_none(),
        ));
        let doors = Doors {
            model,
            hosts: reach::hosts(self.agent, self.level),
        };
        let network = reach::network(self.agent, &doors);
        let missing = self.settings.sandbox.missing;
        reach::require(&self.shop.confinement, self.level, &network, missing).await?;
        if network == Network::Full {
            variables.extend(environment::network(&self.settings.environment));
        }
        if let Some(tokens) = thinking::budget(self.turn.thinking_level.as_deref()) {
            variables.push(("MAX_THINKING_TOKENS".to_owned(), tokens.to_string()));
        }
        let mut plan = plan::for_agent(
            self.settings,
            self.agent,
            &places,
            &self.turn.run_id,
            &program,
            &variables,
            Bounds {
                level: self.level,
                network,
            },
        );
        plan.grant_program(&agent_program);
        // Its runtime reserves tens of gigabytes that it never touches.
        plan.limits.address_space = None;
        let (run_id, agent) = (&self.turn.run_id, self.agent);
        let standing = Standing {
            arguments,
            doors,
            ..standing(
                self.shop,
                self.settings,
                run_id,
                agent,
                plan,
                program,
                variables,
            )?
        };
        let mut held = Held::start(&self.shop.units, self.settings, agent, &standing).await?;
        let input = claude::input(self.turn, &session);
        let speech = Speech::Claude {
            input,
            session: session.id,
            tools: pipe,
            relay,
            limits: claude::Limits::of(&agent.limits),
        };
        let mut order = self.order(speech, self.offer(false));
        self.add_servers(&mut order, &places);
        held.order(&order).await?;
        Ok(Begun {
            held,
            temporary: places.temporary,
        })
    }

    /// The tools of the turn. What answers without a model is no model that a
    /// policy could be about.
    fn offer(&self, is_offline: bool) -> Offer {
        if self.turn.purpose == Purpose::Summary {
            return Offer::for_summary();
        }
        let rules = self.rules();
        match is_offline {
            true => Offer::new(&openclaw_tools::Policy::default(), &rules),
            false => Offer::new(&tools::policy(self.agent), &rules),
        }
    }

    /// The servers of tools that the configuration has.
    fn add_servers(&self, order: &mut Order, places: &Places) {
        if self.turn.purpose == Purpose::Summary {
            return;
        }
        let run_id = &self.turn.run_id;
        let (servers, notes) =
            servers::plan::servers(self.settings, self.agent, places, (run_id, self.level));
        order.servers = servers;
        order.notes.extend(notes);
    }

    fn rules(&self) -> Rules {
        tools::rules(self.agent, self.level, &self.turn.granted_commands)
    }

    fn order(&self, speech: Speech, offer: Offer) -> Order {
        let (turn, choice) = (self.turn, self.choice);
        let (provider, model) = match &choice.plan {
            Ok(plan) => (plan.provider(), plan.model()),
            Err(_) => ("", ""),
        };
        Order {
            session_key: turn.session_key.clone(),
            session_id: turn.session_id.clone(),
            received_ms: turn.received_ms,
            channel: turn.channel.clone(),
            backend: choice.backend.to_owned(),
            provider: provider.to_owned(),
            model: model.to_owned(),
            notes: turn.notes.clone(),
            deadline_ms: milliseconds(self.agent.timeout),
            silence_ms: milliseconds(self.agent.no_output),
            memory: self.settings.paths.memory_socket(),
            status: format!(
                "backend {} ({}), agent {}, session {}",
                choice.backend, choice.reason, turn.agent_id, turn.session_key
            ),
            budget: self.budget(),
            offer,
            servers: Vec::new(),
            policy: tools::policy(self.agent),
            rules: self.rules(),
            approval_ms: milliseconds(self.agent.tools.patience),
            decisions: spool::decisions(&self.shop.turns, &turn.run_id),
            speech,
        }
    }

    fn budget(&self) -> Budget {
        let limits = &self.agent.limits;
        Budget {
            output_tokens: limits.output_tokens,
            cost_per_turn: limits.cost_per_turn,
            cost_per_day: limits.cost_per_day,
            spent_today: self.shop.spending.today(&self.agent.id),
            spending: self.settings.paths.spending(),
        }
    }

    /// Said once: a limit that cannot be watched.
    fn unknown_price(&self, route: &[Stop]) -> Option<String> {
        let stop = route.first().filter(|stop| stop.price.is_none())?;
        let name = stop.name();
        self.shop.spending.is_news(&name).then(|| {
            format!(
                "it is not known what {name} costs, so its cost does not count against the \
                 limits; set models.providers.{}.models[].cost",
                stop.provider
            )
        })
    }
}

/// Why another model answers than the one that is configured first.
fn left_alone(name: &str, until_ms: u64, route: &[Stop]) -> String {
    let until_ms = i64::try_from(until_ms).unwrap_or(i64::MAX);
    let until = jiff::Timestamp::from_millisecond(until_ms)
        .map(|until| until.to_zoned(jiff::tz::TimeZone::system()))
        .map(|until| until.strftime("%H:%M:%S").to_string())
        .unwrap_or_default();
    let instead = route.first().map(Stop::name).unwrap_or_default();
    format!("{name} did not work lately and is left alone until {until}; {instead} answers")
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The choice for an agent, or a failure that names the known ones.
/// `wish` is the model that the user chose for the session.
pub(crate) fn choice(
    settings: &Settings,
    agent_id: &str,
    wish: Option<&str>,
) -> Result<Choice, String> {
    match settings.agent(agent_id) {
        Some(agent) => Ok(backend::choose(settings, agent, wish)),
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
