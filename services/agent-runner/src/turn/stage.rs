//! A turn that is begun with one backend or another.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::price::Price;
use openclaw_config::programs;
use openclaw_config::settings::{AgentSettings, SandboxLevel, Settings};
use openclaw_proto::runner::{Purpose, Turn};
use openclaw_sandbox::Network;
use openclaw_tools::approval::Rules;

use super::ready::{stand_ready, standing};
use super::{Begun, Error, Shop};
use crate::backend::Choice;
use crate::bill::Budget;
use crate::cli::{self, Access, Cli, Limits, ToolPipe};
use crate::doors::Doors;
use crate::doors::model::Relay;
use crate::environment::{self, Variables};
use crate::job::{Order, Speech, Standing};
use crate::keeper::Held;
use crate::native;
use crate::own_limits;
use crate::places::Places;
use crate::plan::{self, Bounds};
use crate::reach;
use crate::route::Stop;
use crate::servers;
use crate::spare::Ready;
use crate::spool;
use crate::tools::{self, Offer};

/// A turn with everything it needs at hand.
pub(super) struct Stage<'a> {
    pub(super) shop: &'a Shop,
    pub(super) settings: &'a Arc<Settings>,
    pub(super) agent: &'a AgentSettings,
    /// That it runs at.
    pub(super) level: SandboxLevel,
    pub(super) turn: &'a Turn,
    pub(super) choice: &'a Choice,
}

impl Stage<'_> {
    pub(super) async fn native(
        self,
        mut route: Vec<Stop>,
        note: Option<String>,
    ) -> Result<Begun, Error> {
        let cooling = self.shop.cooling.arrange(&mut route);
        let mut notes: Vec<String> = note.into_iter().collect();
        notes.extend(cooling.map(|(name, until)| left_alone(&name, until, &route)));
        notes.extend(self.unknown_price(&route));
        let spare = &self.shop.spare;
        let run_id = &self.turn.run_id;
        let ready = match spare.take(run_id, self.settings, &self.agent.id).await {
            Some(ready) => ready,
            None => {
                let own = own_limits::names(self.turn);
                stand_ready(self.shop, self.settings, self.agent, run_id, own).await?
            }
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

    pub(super) async fn cli(
        self,
        cli: &'static dyn Cli,
        program: &Path,
        model: Option<&str>,
    ) -> Result<Begun, Error> {
        let agent_program = programs::sibling("openclaw-agent", &self.settings.environment)
            .map_err(Error::Start)?;
        let program = cli.resolve(program).map_err(Error::Start)?;
        let places = Places::prepare(self.settings, self.agent, &self.turn.run_id)?;
        let pipe = places.temporary.join("tools");
        ToolPipe::make(&pipe).map_err(Error::Start)?;
        let id = &self.agent.id;
        let login = cli.login();
        login
            .take(self.settings, id, &places.home)
            .map_err(Error::Start)?;
        let access = cli.access(self.settings, id, self.level)?;
        let spent_today = self.shop.spending.today(id);
        let limits = Limits::of(&self.agent.limits, spent_today);
        let start = cli::Start {
            settings: self.settings,
            agent: self.agent,
            turn: self.turn,
            places: &places,
            model,
            policy: &tools::policy(self.agent),
            rules: &self.rules(),
            agent_program: &agent_program,
            pipe: &pipe,
            limits: &limits,
        };
        let prepared = cli.prepare(&start).map_err(Error::Start)?;
        places.give_contents(&places.temporary)?;
        places.give_contents(&places.home)?;
        let (doors, relay) = self.doors(access);
        let mut variables = environment::common(&self.settings.environment, &places);
        variables.extend(cli.variables(&start, doors.model.is_none()));
        let standing = self
            .standing_cli(&places, (&program, &agent_program), variables, doors)
            .await?;
        let standing = Standing {
            arguments: texts(prepared.arguments)?,
            ..standing
        };
        let mut held = Held::start(&self.shop.units, self.settings, self.agent, &standing).await?;
        let speech = Speech::Cli {
            dialogue: Box::new(prepared.dialogue),
            tools: pipe,
            relay,
            limits,
            price: self.price(cli, model),
        };
        let mut order = self.order(speech, self.offer(false));
        self.add_servers(&mut order, &places);
        held.order(&order).await?;
        Ok(Begun {
            held,
            temporary: places.temporary,
        })
    }

    /// What a CLI reaches, and what is behind its door to the model.
    fn doors(&self, access: Access) -> (Doors, Option<Relay>) {
        let (model, relay) = match access {
            Access::Door { variables, relay } => (Some(variables), Some(relay)),
            Access::Own => (None, None),
        };
        let hosts = reach::hosts(self.agent, self.level);
        (Doors { model, hosts }, relay)
    }

    /// The process of a CLI, confined.
    async fn standing_cli(
        &self,
        places: &Places,
        (program, agent_program): (&Path, &Path),
        mut variables: Variables,
        doors: Doors,
    ) -> Result<Standing, Error> {
        let (agent, run_id) = (self.agent, &self.turn.run_id);
        let network = reach::network(agent, &doors);
        let missing = self.settings.sandbox.missing;
        reach::require(&self.shop.confinement, self.level, &network, missing).await?;
        if network == Network::Full {
            variables.extend(environment::network(&self.settings.environment));
        }
        let bounds = Bounds {
            level: self.level,
            network,
        };
        let mut plan = plan::for_agent(
            self.settings,
            agent,
            places,
            run_id,
            program,
            &variables,
            bounds,
        );
        plan.grant_program(agent_program);
        // Their runtimes reserve tens of gigabytes that they never touch.
        plan.limits.address_space = None;
        let program = program.to_path_buf();
        Ok(Standing {
            doors,
            own_limits: own_limits::names(self.turn),
            ..standing(
                self.shop,
                self.settings,
                run_id,
                agent,
                plan,
                program,
                variables,
            )?
        })
    }

    /// What a CLI's model costs, as far as that is known.
    fn price(&self, cli: &dyn Cli, model: Option<&str>) -> Option<Price> {
        let provider = self.settings.provider(&self.agent.id, cli.provider())?;
        Price::find(&provider, model?)
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

fn texts(arguments: Vec<OsString>) -> Result<Vec<String>, Error> {
    let texts = arguments.into_iter();
    texts
        .map(|argument| argument.into_string().map_err(Error::NotText))
        .collect()
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
