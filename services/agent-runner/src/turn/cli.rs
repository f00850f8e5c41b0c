//! A turn that a CLI answers which is not ours.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use openclaw_agent_clis::Dialogue;
use openclaw_backends::cli::{self, Access, Cli, InputFolder};
use openclaw_backends::codex::CHATGPT;
use openclaw_backends::environment::{self, Variables};
use openclaw_backends::places::Places;
use openclaw_config::programs;
use openclaw_handoff::limits::Limits;
use openclaw_handoff::order::{ProcessSpec, Speech, Waiting, WaitingServers};
use openclaw_handoff::own_limits;
use openclaw_handoff::proxies::Proxies;
use openclaw_handoff::servers::Pace;
use openclaw_model_api::relay::{Prices, Relay};
use openclaw_model_api::wire::ModelOptions;
use openclaw_prices::PriceList;
use openclaw_sandbox::{Connections, Network};
use openclaw_tools::approval::Ask;

use super::ready::spec;
use super::start::TurnStart;
use super::{Begun, Error};
use crate::path_snapshot::PathSnapshot;
use crate::spare::Ready;
use crate::turn_handle::TurnHandle;
use crate::{plan, reach};

/// A CLI with what a plan of a turn needs of it.
#[derive(Clone, Copy)]
pub(super) struct Chosen<'a> {
    pub(super) cli: &'static dyn Cli,
    pub(super) program: &'a Path,
    pub(super) model: Option<&'a str>,
}

/// A CLI that can be started, and what is to be said then.
struct PreparedCli {
    spec: ProcessSpec,
    places: Places,
    files: &'static [&'static str],
    dialogue: Dialogue,
    relay: Option<Relay>,
    limits: Limits,
    given: InputFolder,
}

impl PreparedCli {
    /// The start of the CLI: its process, and the files it reads then. A process that was started
    /// with the same can take the turn.
    fn likeness(&self) -> Result<String, Error> {
        let mut likeness = serde_json::to_string(&self.spec)?;
        for name in self.files {
            likeness.push_str(&self.given.read(name).map_err(Error::Start)?);
        }
        Ok(likeness)
    }
}

impl TurnStart<'_> {
    /// Begins the turn, with the process that stood ready for it where there is
    /// one that was started as this turn's would be.
    pub(super) async fn cli(
        self,
        chosen: Chosen<'_>,
        ready: Option<Ready>,
    ) -> Result<Begun, Error> {
        let mut prepared_cli = self.prepare(chosen).await?;
        let likeness = prepared_cli.likeness()?;
        let mut held = match ready {
            Some(ready) if ready.likeness == likeness => ready.held,
            Some(ready) => {
                tracing::debug!("what stood ready was started with something else");
                // With its folder, which has this turn's name and what a CLI
                // of another kind may have put there.
                ready.dismiss().await;
                prepared_cli = self.prepare(chosen).await?;
                self.start(&prepared_cli.spec, None).await?
            }
            None => self.start(&prepared_cli.spec, None).await?,
        };
        let speech = Speech::Cli {
            dialogue: Box::new(prepared_cli.dialogue),
            tools: prepared_cli.given.path().to_owned(),
            wanted: Box::new(self.wanted(chosen, prepared_cli.relay.as_ref())),
            relay: prepared_cli.relay.map(Box::new),
            limits: prepared_cli.limits,
            prices: self.prices(chosen.cli, chosen.model),
        };
        let mut order = self.order(speech, self.offer_to(chosen.cli));
        let servers = self.servers(&mut order).await;
        held.order(&order, servers).await?;
        Ok(Begun {
            held,
            passing: self.passing(),
        })
    }

    /// Starts a process that waits for the turn.
    pub(super) async fn stand_ready(self, chosen: Chosen<'_>) -> Result<Ready, Error> {
        let prepared_cli = self.prepare(chosen).await?;
        let path_snapshot = PathSnapshot::of(&prepared_cli.spec.plan);
        // What is wrong with servers is told with the turn.
        let (connection, _) = self.connection().await;
        Ok(Ready {
            path_snapshot,
            held: self.start(&prepared_cli.spec, connection).await?,
            since: Instant::now(),
            likeness: prepared_cli.likeness()?,
            passing: self.passing(),
            places: prepared_cli.places,
            agent_id: self.agent.id.clone(),
            settings: Arc::clone(self.settings),
        })
    }

    /// `connection`: to the servers whose tools the CLI is told of before there
    /// is a turn.
    async fn start(
        &self,
        spec: &ProcessSpec,
        connection: Option<OwnedFd>,
    ) -> Result<TurnHandle, Error> {
        let units = &self.turn_context.units;
        let held = TurnHandle::start(units, self.settings, self.agent, spec, connection).await?;
        Ok(held)
    }

    async fn prepare(&self, chosen: Chosen<'_>) -> Result<PreparedCli, Error> {
        let cli = chosen.cli;
        let agent_program = programs::sibling("openclaw-agent", &self.settings.environment)
            .map_err(Error::Start)?;
        let program = cli.resolve(chosen.program).map_err(Error::Start)?;
        let places = Places::prepare(self.settings, self.agent, &self.turn.run_id)?;
        let id = &self.agent.id;
        let given = self.settings.paths.turn_given(id, &self.turn.run_id);
        let given = InputFolder::make(&given, &places).map_err(Error::Start)?;
        let access = cli.access(self.settings, id, self.level)?;
        let limits = Limits::of(&self.agent.limits, self.turn_context.spending.today(id));
        let start = cli::Start {
            settings: self.settings,
            agent: self.agent,
            turn: self.turn,
            places: &places,
            model: chosen.model,
            policy: &self.policy(),
            rules: &self.rules(),
            agent_program: &agent_program,
            given: &given,
            level: self.level,
            limits: &limits,
        };
        start.make_folder(cli.known())?;
        let prepared = cli.prepare(&start).map_err(Error::Start)?;
        let (proxies, relay) = self.proxies(access).await;
        let mut variables = environment::common(&self.settings.environment, &places);
        if start.rules.ask != Ask::Off {
            environment::asked(&mut variables, &start.folder());
        }
        variables.extend(cli.variables(&start, proxies.model.is_none()));
        let mut spec = self
            .standing_cli(&start, &program, variables, proxies)
            .await?;
        if cli.known().hides_memory && spec.plan.connections == Connections::Address {
            spec.plan.connections = Connections::AddressOfHidden;
        }
        let waiting = Some(Waiting {
            pipe: given.path().to_owned(),
            offer: self.offer_to(cli),
            servers: self.has_servers().then(|| WaitingServers {
                policy: self.policy(),
                patience: Pace::of(cli.known()),
            }),
        });
        Ok(PreparedCli {
            spec: ProcessSpec {
                arguments: texts(prepared.arguments)?,
                waiting,
                own_limits: own_limits::names(self.turn),
                ..spec
            },
            places,
            files: prepared.files,
            dialogue: prepared.dialogue,
            relay,
            limits,
            given,
        })
    }

    /// How the model behind its proxy is to be asked. The proxy of an account
    /// takes no more than the CLI itself says.
    fn wanted(&self, chosen: Chosen<'_>, relay: Option<&Relay>) -> ModelOptions {
        if relay.is_some_and(|relay| relay.base_url == CHATGPT) {
            return ModelOptions::default();
        }
        let provider = chosen.cli.known().provider;
        let model = chosen.model.map(|model| format!("{provider}/{model}"));
        let most = self.settings.max_tokens(&self.agent.id, model.as_deref());
        let facts = chosen
            .model
            .map(|model| self.settings.models.facts(provider, model));
        let is_plain = facts.is_some_and(|facts| facts.reasoning == Some(false));
        ModelOptions::new(&self.agent.params, most, is_plain)
    }

    /// The reach of a CLI, and what is behind its proxy to the model.
    async fn proxies(&self, access: Access) -> (Proxies, Option<Relay>) {
        let (model, relay) = match access {
            Access::Proxy { variables, relay } => (Some(variables), Some(relay)),
            Access::Own => (None, None),
        };
        let missing = self.settings.sandbox.missing;
        let confinement = &self.turn_context.confinement;
        let elsewhere = reach::elsewhere(confinement, self.agent, self.level, missing).await;
        (Proxies { model, elsewhere }, relay)
    }

    /// The process of a CLI, confined.
    async fn standing_cli(
        &self,
        start: &cli::Start<'_>,
        program: &Path,
        mut variables: Variables,
        proxies: Proxies,
    ) -> Result<ProcessSpec, Error> {
        let (agent, run_id, places) = (self.agent, &self.turn.run_id, start.places);
        let network = reach::network(agent, self.level, &proxies);
        let missing = self.settings.sandbox.missing;
        if network == Network::Full {
            variables.extend(environment::network(&self.settings.environment));
        }
        let confinement = &self.turn_context.confinement;
        let bounds = reach::bounds(confinement, self.level, network, missing).await?;
        let mut plan = plan::for_agent(
            self.settings,
            agent,
            places,
            run_id,
            program,
            &variables,
            bounds,
        );
        plan.grant_program(start.agent_program, &plan::closed(self.settings));
        plan.read_write.extend([start.folder(), start.kept()]);
        start.given.grant(&mut plan);
        // Their runtimes reserve tens of gigabytes that they never touch.
        plan.limits.address_space = None;
        let program = program.to_path_buf();
        Ok(ProcessSpec {
            proxies,
            ..spec(
                self.turn_context,
                self.settings,
                run_id,
                agent,
                plan,
                program,
                variables,
            )?
        })
    }

    /// The prices of a CLI's models, as far as known.
    fn prices(&self, cli: &dyn Cli, model: Option<&str>) -> Prices {
        let provider = self.settings.provider(&self.agent.id, cli.known().provider);
        Prices::new(
            PriceList::new(provider.as_ref(), cli.known().provider),
            model,
        )
    }
}

fn texts(arguments: Vec<OsString>) -> Result<Vec<String>, Error> {
    let texts = arguments.into_iter();
    texts
        .map(|argument| argument.into_string().map_err(Error::NotText))
        .collect()
}
