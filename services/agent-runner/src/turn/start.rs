//! A turn that is begun with one backend or another.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use openclaw_backends::choice::Choice;
use openclaw_backends::cli::Cli;
use openclaw_backends::places::{Places, RunFolders};
use openclaw_backends::{native, tools};
use openclaw_handoff::order::{Allowance, Order, Speech};
use openclaw_handoff::{own_limits, spool};
use openclaw_model_api::bill::Budget;
use openclaw_model_api::route::Stop;
use openclaw_model_api::spending;
use openclaw_model_api::wire::Grants;
use openclaw_proto::approval::Terms;
use openclaw_proto::runner::{Purpose, Turn};
use openclaw_sandbox::Level;
use openclaw_settings::{AgentSettings, Network, RunnerSettings};
use openclaw_tools::Policy;
use openclaw_tools::approval::Rules;
use openclaw_turn::{Hint, Offer, TurnRequest};

use super::ready::stand_ready;
use super::{Begun, Error, TurnContext};
use crate::servers::ServersRequest;
use crate::spare::Ready;

/// Said beside the answer of a model, where a machine gives no more.
const THINKS_ONLY: &str = "The sandbox is at level \"text\", the strictest that this machine gives: no command runs and \
     no file is touched; `openclawctl status` says what gives more.";

/// A turn with everything it needs at hand.
#[derive(Clone, Copy)]
pub(super) struct TurnStart<'a> {
    pub(super) turn_context: &'a TurnContext,
    pub(super) settings: &'a Arc<RunnerSettings>,
    pub(super) agent: &'a AgentSettings,
    /// That it runs at.
    pub(super) level: Level,
    pub(super) turn: &'a Turn,
    pub(super) choice: &'a Choice,
}

impl<'a> TurnStart<'a> {
    /// Finds the level that the agent's turn runs at.
    pub(super) async fn new(
        turn_context: &'a TurnContext,
        settings: &'a Arc<RunnerSettings>,
        agent: &'a AgentSettings,
        turn: &'a Turn,
        choice: &'a Choice,
    ) -> Result<Self, Error> {
        let missing = settings.sandbox.missing;
        Ok(Self {
            turn_context,
            settings,
            agent,
            level: turn_context
                .confinement
                .level(&agent.sandbox, missing)
                .await?,
            turn,
            choice,
        })
    }
}

impl TurnStart<'_> {
    pub(super) async fn native(
        self,
        mut route: Vec<Stop>,
        note: Option<String>,
        ready: Option<Ready>,
    ) -> Result<Begun, Error> {
        let cooling = self.turn_context.cooling.arrange(&mut route);
        let mut notes: Vec<String> = note.into_iter().collect();
        notes.extend(cooling.map(|(name, until)| left_alone(&name, until, &route)));
        notes.extend(self.unknown_price(&route));
        let ready = match ready {
            Some(ready) => ready,
            None => {
                let own = own_limits::names(self.turn);
                let run_id = &self.turn.run_id;
                stand_ready(self.turn_context, self.settings, self.agent, run_id, own).await?
            }
        };
        let Ready {
            mut held, places, ..
        } = ready;
        let is_offline = route.is_empty();
        let offer = self.offer();
        let request = self.request(&places, route.first(), &offer);
        let patience_ms = milliseconds(self.agent.limits.retry_wait);
        let speech = Speech::Socket {
            request: Box::new(request),
            route,
            patience_ms,
        };
        let mut order = self.order(speech, offer);
        order.notes.extend(notes);
        // Without a model the answer itself says it.
        order
            .notes
            .extend((self.thinks_only() && !is_offline).then(|| THINKS_ONLY.to_owned()));
        let servers = if is_offline {
            None
        } else {
            self.servers(&mut order).await
        };
        let history = native::history(&self.turn.history)?;
        held.order_with(&order, &history, servers).await?;
        Ok(Begun {
            held,
            passing: self.passing(),
        })
    }

    /// Why a command is not run that could do more now than when it was given; `None`: it
    /// cannot, or it is no command of a job.
    pub(super) fn can_do_more(&self) -> Option<String> {
        let given = self.turn.command_terms.as_ref()?;
        let now = self.terms();
        (!given.cover(&now)).then(|| {
            format!(
                "it was given at {}, and at {} it could do more: it is not run. To have it run \
                 so from now on, run its job by hand (openclawctl cron run NAME)",
                given.words(),
                now.words()
            )
        })
    }

    fn terms(&self) -> Terms {
        tools::terms(self.agent, self.level)
    }

    /// What ends with the turn.
    pub(super) fn passing(&self) -> RunFolders {
        let paths = &self.settings.paths;
        RunFolders::of(paths, &self.agent.id, &self.turn.run_id)
    }

    /// Whether the user is to be told of a machine that gives no more than
    /// thinking: when a conversation begins.
    fn thinks_only(&self) -> bool {
        let is_given = self.level == Level::Text && self.agent.sandbox.level.is_none();
        let begins = self.turn.purpose == Purpose::Message && self.turn.history.is_empty();
        is_given && begins
    }

    /// The note for the user where no model answers.
    fn hint(&self) -> Hint {
        Hint {
            lack: self.choice.lack().map(str::to_owned),
            thinks_only: self.thinks_only(),
        }
    }

    fn request(&self, places: &Places, model: Option<&Stop>, offer: &Offer) -> TurnRequest {
        native::request(self.turn, self.agent, places, model, offer, self.hint())
    }

    /// The tools of the turn, with a model or without one: whoever may write to the
    /// agent runs what the policy leaves, and nothing else.
    pub(super) fn offer(&self) -> Offer {
        match self.turn.purpose {
            Purpose::Summary => return tools::offer_for_summary(),
            Purpose::Command => return tools::offer_for_command(self.level),
            Purpose::Message => {}
        }
        let rules = self.rules();
        tools::offer_of_agent(tools::offer(&self.policy(), &rules), self.agent)
    }

    /// Our tools that a CLI does not have itself.
    pub(super) fn offer_to(&self, cli: &dyn Cli) -> Offer {
        let offer = self.offer();
        if self.turn.purpose == Purpose::Summary {
            return offer;
        }
        let workspace_only = self.agent.tools.workspace_only;
        let policy = self.policy();
        let covered = cli.covered(&policy, &self.rules(), workspace_only);
        offer.without(&covered)
    }

    /// A connection to the servers of tools that the configuration has.
    pub(super) async fn servers(&self, order: &mut Order) -> Option<OwnedFd> {
        let (connection, notes) = self.connection().await;
        order.notes.extend(notes);
        connection
    }

    /// Whether the turn has servers of tools.
    pub(super) fn has_servers(&self) -> bool {
        self.turn.purpose == Purpose::Message
            && self.level != Level::Text
            && !self.settings.mcp_servers.is_empty()
    }

    /// The servers, and the faults of those that cannot be used.
    pub(super) async fn connection(&self) -> (Option<OwnedFd>, Vec<String>) {
        if !self.has_servers() {
            return (None, Vec::new());
        }
        let wanted = ServersRequest {
            settings: self.settings,
            agent: self.agent,
            turn: self.turn,
            level: self.level,
            judges_addresses: self.turn_context.confinement.judges_addresses().await,
        };
        let kept = &self.turn_context.servers;
        kept.connection(&self.turn_context.units, &wanted).await
    }

    /// Which tools there are.
    pub(super) fn policy(&self) -> Policy {
        tools::at(tools::policy(self.agent), self.level)
    }

    /// The provider's own tools that are granted.
    fn grants(&self) -> Grants {
        let mut sandbox = self.agent.sandbox.clone();
        if self.level == Level::Text {
            sandbox.network = Network::ModelOnly;
        }
        Grants::of(&sandbox)
    }

    pub(super) fn rules(&self) -> Rules {
        tools::rules(self.agent, self.level, &self.turn.granted_commands)
    }

    pub(super) fn order(&self, speech: Speech, offer: Offer) -> Order {
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
            gateway: self.settings.paths.gateway_socket(),
            status: status(choice.backend, (provider, model), turn),
            budget: self.budget(),
            searches: Allowance::of(self.settings, self.agent),
            grants: self.grants(),
            offer,
            policy: self.policy(),
            rules: self.rules(),
            terms: self.terms(),
            approval_ms: milliseconds(self.agent.tools.patience),
            decisions: spool::decisions(&self.turn_context.turns, &turn.run_id),
            speech,
        }
    }

    fn budget(&self) -> Budget {
        let limits = &self.agent.limits;
        Budget {
            output_tokens: limits.output_tokens,
            cost_per_turn: limits.cost_per_turn,
            is_firm: is_of_a_job(self.turn),
            cost_per_day: limits.cost_per_day,
            spent_today: self.turn_context.spending.today(&self.agent.id),
            spending: self.settings.paths.spending(),
            utc_offset: spending::utc_offset(),
        }
    }

    /// Said once: a limit that cannot be watched.
    fn unknown_price(&self, route: &[Stop]) -> Option<String> {
        let stop = route.first().filter(|stop| stop.price.is_none())?;
        let name = stop.name();
        self.turn_context.spending.is_news(&name).then(|| {
            format!(
                "it is not known what {name} costs, so its cost does not count against the \
                 limits; set models.providers.{}.models[].cost",
                stop.provider
            )
        })
    }
}

/// The agent's view of its turn, without the reason for the backend: that names credentials and
/// paths of this machine, which are for the user alone.
fn status(backend: &str, (provider, model): (&str, &str), turn: &Turn) -> String {
    let model = match (provider, model) {
        ("", _) => String::new(),
        (provider, "") => format!(" of {provider}"),
        (provider, model) => format!(" with {provider}/{model}"),
    };
    format!(
        "backend {backend}{model}, agent {}, session {}",
        turn.agent_id, turn.session_key
    )
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

/// Channels of turns that nobody talks in: those of jobs and of heartbeats.
const OF_JOBS: [&str; 2] = ["cron", "heartbeat"];

/// Whether it is a job's turn that has a limit of its own for what it may cost.
fn is_of_a_job(turn: &Turn) -> bool {
    let has_limit = own_limits::names(turn).iter().any(|it| it == "costPerTurn");
    OF_JOBS.contains(&turn.channel.as_str()) && has_limit
}
