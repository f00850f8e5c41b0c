//! A turn that is begun with one backend or another.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::programs;
use openclaw_config::settings::{AgentSettings, SandboxLevel, Settings};
use openclaw_proto::runner::{Purpose, Turn};
use openclaw_sandbox::Network;
use openclaw_tools::approval::Rules;

use super::ready::{stand_ready, standing};
use super::{Begun, Error, Shop};
use crate::backend::Choice;
use crate::bill::Budget;
use crate::claude::access::{self, Access};
use crate::claude::{self, ToolPipe};
use crate::doors::Doors;
use crate::environment;
use crate::job::{Order, Speech, Standing};
use crate::keeper::Held;
use crate::native;
use crate::places::Places;
use crate::plan::{self, Bounds};
use crate::reach;
use crate::route::Stop;
use crate::servers;
use crate::spare::Ready;
use crate::spool;
use crate::thinking;
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

    pub(super) async fn claude(self, program: &Path, model: Option<&str>) -> Result<Begun, Error> {
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
        let spent_today = self.shop.spending.today(id);
        let limits = claude::Limits::of(&self.agent.limits, spent_today);
        let started = claude::Start {
            turn: self.turn,
            places: &places,
            session: &session,
            model,
            own,
            agent_program: &agent_program,
            pipe: &pipe,
            limits: &limits,
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
            limits,
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
