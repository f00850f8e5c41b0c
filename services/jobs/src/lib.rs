//! Jobs: what is done when, and how it went.

mod alert;
mod budget;
mod calendar;
mod change;
mod delivery;
#[cfg(fuzzing)]
pub mod fuzz;
mod invalid;
mod naming;
mod payload;
mod place;
mod planned;
mod route;
mod run;
mod state;
mod times;
mod timing;
mod when;

use openclaw_settings::ChannelSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use change::change;
use delivery::NOT_REQUESTED;
use naming::named;
use state::State;
use times::Times;
use timing::Timing;

pub use alert::Alerts;
pub use budget::Budget;
pub use delivery::{Delivered, Delivery, Destination};
pub use invalid::Invalid;
pub use naming::fingerprint;
pub use payload::{Command, Payload};
pub use planned::{CatchUp, Cause, Planned};
pub use route::{sessions, webhooks};
pub use state::Ended;

/// Fields of OpenClaw's that change what a job does, and that are not done
/// here: without them it would do something else.
const REFUSED_FIELDS: [(&str, &str); 4] = [
    ("trigger", "conditions are not run here; leave it out"),
    ("pacing", "is not offered; use schedule"),
    (
        "owner",
        "is not offered: all jobs are this user's; leave it out",
    ),
    (
        "scheduledToolPolicy",
        "is not offered: a job has the tools of its agent (agents.list[].tools); leave it out",
    ),
];

/// The field that clients are told why a job is not run as it is; it is not kept.
pub const PROBLEM: &str = "problem";

/// A job as it is kept: OpenClaw's fields by their names, of which those that
/// matter here are typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    id: String,
    /// For people.
    pub name: String,
    /// Whether it is started when it is due.
    pub enabled: bool,
    created_at_ms: i64,
    /// When a client changed it last, in Unix milliseconds.
    pub updated_at_ms: i64,
    /// When it is due.
    pub schedule: Timing,
    /// In which session: `main`, `isolated` or one that is named.
    pub session_target: String,
    /// Whether the agent is woken at once (`now`) or told with the next message.
    pub wake_mode: String,
    /// What it does.
    pub payload: Payload,
    /// Where its results go beside that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// What is done about times that were missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    catch_up: Option<CatchUp>,
    /// How many of them, where it is `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    catch_up_limit: Option<u32>,
    /// Whether a machine that sleeps is woken for it, where that can be.
    #[serde(default, skip_serializing_if = "is_default")]
    wake_system: bool,
    /// What its runs may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<Budget>,
    /// The agent that made it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    made_by: Option<Maker>,
    #[serde(default)]
    state: State,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// An agent that made a job in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Maker {
    /// The agent.
    pub agent_id: String,
    /// The session whose turn it was.
    pub session_key: String,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Fields that clients may set beside those that are typed.
const OTHER_FIELDS: [&str; 7] = [
    "agentId",
    "sessionKey",
    "description",
    "displayName",
    "declarationKey",
    "deleteAfterRun",
    "failureAlert",
];

impl Job {
    /// A job from what a client sent.
    pub fn new(id: String, params: Value, now: i64) -> Result<Self, Invalid> {
        let Value::Object(mut params) = params else {
            return Err(Invalid::Shape("must be object".to_owned()));
        };
        for required in ["name", "schedule", "sessionTarget", "wakeMode", "payload"] {
            if !params.contains_key(required) {
                let problem = format!("must have required property '{required}'");
                return Err(Invalid::Shape(problem));
            }
        }
        params.retain(|_, value| !value.is_null());
        params.entry("enabled").or_insert(json!(true));
        let schedule = params.get("schedule");
        if schedule.is_some_and(|schedule| schedule["kind"] == "at") {
            // As in OpenClaw: what is done is not to be done any more.
            params.entry("deleteAfterRun").or_insert(json!(true));
        }
        params.insert("id".to_owned(), json!(id));
        params.insert("createdAtMs".to_owned(), json!(now));
        params.insert("updatedAtMs".to_owned(), json!(now));
        params.remove("state");
        if params.contains_key("madeBy") {
            return Err(Invalid::field("madeBy", "is not for clients to say"));
        }
        let said = params.clone();
        let job = Self::of(params)?;
        if job.is_heartbeat() {
            let problem = "heartbeat is what agents.*.heartbeat of the configuration makes";
            return Err(Invalid::field("payload/kind", problem));
        }
        job.obeyed(&said)?;
        job.checked(now)
    }

    /// The job by which `agent` is looked after every so many milliseconds.
    pub fn heartbeat(agent: &str, every_ms: i64, now: i64) -> Result<Self, Invalid> {
        let fields = json!({
            "id": format!("heartbeat-{agent}"),
            "name": format!("Heartbeat ({agent})"),
            "agentId": agent,
            "enabled": true,
            "createdAtMs": now,
            "updatedAtMs": now,
            "schedule": {"kind": "every", "everyMs": every_ms, "anchorMs": now},
            "sessionTarget": "main",
            "wakeMode": "now",
            "catchUp": "skip",
            "payload": {"kind": "heartbeat"},
        });
        let Value::Object(fields) = fields else {
            return Err(Invalid::Shape("must be object".to_owned()));
        };
        Self::of(fields)?.checked(now)
    }

    /// Whether the gateway made it of `agents.*.heartbeat`.
    pub fn is_heartbeat(&self) -> bool {
        matches!(self.payload, Payload::Heartbeat {})
    }

    /// Whether it says something by itself.
    pub fn is_reminder(&self) -> bool {
        matches!(self.payload, Payload::Reminder { .. })
    }

    /// The same, made by an agent.
    pub fn made_by(mut self, maker: Maker) -> Self {
        self.made_by = Some(maker);
        self
    }

    /// The agent that made it, if one did.
    pub fn maker(&self) -> Option<&Maker> {
        self.made_by.as_ref()
    }

    /// What its runs may cost.
    pub fn budget(&self) -> Budget {
        self.budget.unwrap_or_default()
    }

    /// The times that have come since they were looked at last, the first one
    /// first; the next one is after `now`. About those that were missed it is done
    /// as the job says, and as `missed` where it does not and comes again.
    pub fn fall_due(&mut self, now: i64, missed: CatchUp) -> Vec<Planned> {
        let Some(first) = self.next_ms().filter(|first| *first <= now) else {
            return Vec::new();
        };
        let times = self.times().due(first, now);
        self.plan(now);
        let missed = if self.schedule.is_once() {
            CatchUp::default()
        } else {
            missed
        };
        self.catch_up
            .unwrap_or(missed)
            .planned(first, &times, now, self.catch_up_limit)
    }

    /// The job with some fields changed; `null` takes one away.
    pub fn patched(&self, patch: Map<String, Value>, now: i64) -> Result<Self, Invalid> {
        let Value::Object(mut fields) = json!(self) else {
            return Err(Invalid::Shape("must be object".to_owned()));
        };
        let said = patch.clone();
        for (name, value) in patch {
            match value {
                _ if matches!(
                    name.as_str(),
                    "id" | "createdAtMs" | "updatedAtMs" | "state" | "madeBy"
                ) => {}
                Value::Null => {
                    fields.remove(&name);
                }
                value => change(fields.entry(name).or_insert(Value::Null), value),
            }
        }
        fields.insert("updatedAtMs".to_owned(), json!(now));
        let mut patched = Self::of(fields)?;
        if patched.enabled && !self.enabled {
            patched.state.forgive();
        }
        // What was said of times goes with them.
        if !said.contains_key("deleteAfterRun") {
            match (self.schedule.is_once(), patched.schedule.is_once()) {
                (_, false) => drop(patched.rest.remove("deleteAfterRun")),
                (false, true) => {
                    patched
                        .rest
                        .insert("deleteAfterRun".to_owned(), json!(true));
                }
                (true, true) => {}
            }
        }
        if !said.contains_key("catchUpLimit") && patched.catch_up != Some(CatchUp::All) {
            patched.catch_up_limit = None;
        }
        patched.obeyed(&said)?;
        if patched.is_heartbeat() != self.is_heartbeat() {
            let problem = "heartbeat is what agents.*.heartbeat of the configuration makes";
            return Err(Invalid::field("payload/kind", problem));
        }
        patched.checked(now)
    }

    /// Refuses a schedule that is none any more, where it is another than `before`, or
    /// was switched off there: nobody would hear of such a job again. So it does with one
    /// that comes more often than may be. A time that was in the last minute is due now:
    /// it was to come when somebody said it.
    pub fn to_come(mut self, before: Option<&Self>, now: i64) -> Result<Self, Invalid> {
        if before.is_none_or(|before| before.schedule != self.schedule) {
            self.schedule.spaced()?;
        }
        let is_as_before =
            |before: &Self| before.schedule == self.schedule && (before.enabled || !self.enabled);
        if before.is_some_and(is_as_before) || self.times().next(now).is_some() {
            return Ok(self);
        }
        let late = now - planned::GRACE_MS;
        let coming = self.times().next(late).filter(|_| self.schedule.is_once());
        match coming {
            // It had its run then.
            Some(at) if self.state.has_run_since(at) => {}
            Some(_) => {
                self.plan(late);
                return Ok(self);
            }
            None => {}
        }
        Err(self.schedule.is_over())
    }

    /// Refuses what would tell something where nobody is, by the `channels` of the
    /// configuration, unless it did so `before`.
    pub fn leading(
        self,
        before: Option<&Self>,
        (channels, alerts): (&ChannelSettings, &Alerts),
    ) -> Result<Self, Invalid> {
        let known = before.map(|it| it.routes(alerts)).unwrap_or_default();
        let mut routes = self.routes(alerts);
        routes.retain(|route| !known.contains(route));
        route::checked(&routes, channels)?;
        if self.announces_nothing() && !before.is_some_and(Self::announces_nothing) {
            let problem = "is for answers, and a system event has none: it is told to the session; \
                           say an agentTurn, or a reminder";
            return Err(Invalid::field("delivery/mode", problem));
        }
        Ok(self)
    }

    /// Whether what is to be announced is nothing that it ever says.
    fn announces_nothing(&self) -> bool {
        let is_event = matches!(self.payload, Payload::SystemEvent { .. });
        is_event && self.delivery.as_ref().is_some_and(Delivery::announces)
    }

    fn routes(&self, alerts: &Alerts) -> Vec<route::Route> {
        let own = self.rest.get("failureAlert");
        route::of(self.delivery.as_ref(), own, alerts)
    }

    fn of(fields: Map<String, Value>) -> Result<Self, Invalid> {
        let job: Self =
            serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
                let path = error.path().to_string().replace('.', "/");
                Invalid::Shape(format!("at /{path}: {}", error.into_inner()))
            })?;
        for (path, problem) in REFUSED_FIELDS {
            if job.rest.contains_key(path) {
                return Err(Invalid::field(path, problem));
            }
        }
        match job
            .rest
            .keys()
            .find(|name| !OTHER_FIELDS.contains(&name.as_str()))
        {
            Some(name) => Err(Invalid::Shape(format!(
                "at root: unexpected property '{name}'"
            ))),
            None => Ok(job),
        }
    }

    /// Refuses what was `said` now and would not be obeyed.
    fn obeyed(&self, said: &Map<String, Value>) -> Result<(), Invalid> {
        if let Some(Value::Object(payload)) = said.get("payload") {
            let mut payload = payload.clone();
            payload.retain(|_, value| !value.is_null());
            let kind = json!(self.payload)["kind"].take();
            payload.entry("kind").or_insert(kind);
            payload::checked_kind(&payload)?;
        }
        let said = said.iter().filter(|(_, value)| !value.is_null());
        for (name, value) in said {
            let is_text = value.as_str().is_some_and(|it| !it.trim().is_empty());
            let problem = match name.as_str() {
                "agentId" | "sessionKey" | "declarationKey" if !is_text => "must be a text",
                "description" | "displayName" if !value.is_string() => "must be a text",
                "deleteAfterRun" if !value.is_boolean() => "must be true or false",
                "deleteAfterRun" if *value == json!(true) && !self.schedule.is_once() => {
                    "is for a job that runs once (schedule of kind at)"
                }
                "catchUpLimit" if self.catch_up != Some(CatchUp::All) => {
                    "is for catchUp all, which says how many are made up for"
                }
                _ => continue,
            };
            return Err(Invalid::field(name.clone(), problem));
        }
        Ok(())
    }

    fn checked(mut self, now: i64) -> Result<Self, Invalid> {
        if self.name.trim().is_empty() {
            return Err(Invalid::field(
                "name",
                "must NOT have fewer than 1 characters",
            ));
        }
        let target = self.session_target.as_str();
        let named = target
            .strip_prefix("session:")
            .is_some_and(|it| !it.is_empty());
        if !matches!(target, "main" | "isolated" | "current") && !named {
            let problem = "must be main, isolated, current or session:<id>";
            return Err(Invalid::field("sessionTarget", problem));
        }
        if !matches!(self.wake_mode.as_str(), "now" | "next-heartbeat") {
            return Err(Invalid::field("wakeMode", "must be now or next-heartbeat"));
        }
        self.payload.checked()?;
        self.budget.map_or(Ok(()), |budget| budget.checked())?;
        let delivery = self.delivery.as_ref();
        delivery.map_or(Ok(()), |it| it.checked("delivery"))?;
        alert::checked(self.rest.get("failureAlert"))?;
        planned::checked_limit(self.catch_up_limit)?;
        self.schedule = self.schedule.checked(now)?;
        self.plan(now);
        Ok(self)
    }

    /// The name under which whoever declares it again means this job.
    pub fn declaration_key(&self) -> Option<&str> {
        self.rest.get("declarationKey")?.as_str()
    }

    /// Reads a job that is kept.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The job as it is kept.
    pub fn stored(&self) -> String {
        json!(self).to_string()
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it is searched by, in small letters: all that OpenClaw searches.
    pub fn searched(&self) -> String {
        let other = |name: &str| self.rest.get(name).and_then(Value::as_str);
        let others = ["description", "agentId", "displayName"].map(other);
        let all = [Some(self.id()), Some(&*self.name)]
            .into_iter()
            .chain(others);
        let all: Vec<&str> = all.flatten().collect();
        all.join(" ").to_lowercase()
    }

    /// When it was made, in Unix milliseconds.
    pub fn created_ms(&self) -> i64 {
        self.created_at_ms
    }

    /// The time after this one at which it is due, whether or not it is on; None:
    /// there is none.
    pub fn time_after(&self, at_ms: i64) -> Option<i64> {
        self.times().next(at_ms)
    }

    /// Whether two of its times to come are less than `period_ms` apart.
    pub fn comes_within(&self, period_ms: i64, now: i64) -> bool {
        self.times().comes_within(period_ms, now)
    }

    /// When it is due; None when it is not.
    pub fn next_ms(&self) -> Option<i64> {
        self.state.next_run_at_ms.filter(|_| self.enabled)
    }

    /// How the last run ended, in OpenClaw's words.
    pub fn last_status(&self) -> Option<&str> {
        self.state.last_run_status.as_deref()
    }

    /// The agent it is for.
    pub fn agent_id(&self) -> Option<&str> {
        self.rest.get("agentId")?.as_str()
    }

    /// The session it is for.
    pub fn session_key(&self) -> Option<&str> {
        self.rest.get("sessionKey")?.as_str()
    }

    /// Whether a run of it is under way.
    pub fn is_running(&self) -> bool {
        self.state.running_at_ms.is_some()
    }

    /// Whether a machine that sleeps is to be woken for it.
    pub fn wakes_system(&self) -> bool {
        self.wake_system
    }

    /// Whether it goes away after its run, where that did what it was to do.
    pub(crate) fn ends_with_its_run(&self) -> bool {
        let flag = self.rest.get("deleteAfterRun").and_then(Value::as_bool);
        flag.unwrap_or(false) && self.schedule.is_once()
    }

    fn times(&self) -> Times<'_> {
        Times::of(&self.schedule, &self.id)
    }

    /// Says when it is due next.
    fn plan(&mut self, now: i64) {
        self.state.next_run_at_ms = self.times().next(now).filter(|_| self.enabled);
    }

    /// In words, where results go.
    pub fn delivery_preview(&self) -> Value {
        let words = self
            .delivery
            .as_ref()
            .map_or(NOT_REQUESTED, Delivery::words);
        json!({ "label": words, "detail": words })
    }

    /// Whether a result that is not delivered is a failure.
    pub fn needs_delivery(&self) -> bool {
        self.delivery
            .as_ref()
            .is_some_and(|it| !it.is_best_effort())
    }

    /// Where failures are told: where it is said to be, or where results are.
    pub fn alert_route(&self, alerts: &Alerts) -> Delivery {
        alert::route(
            self.rest.get("failureAlert"),
            self.delivery.as_ref(),
            alerts,
        )
    }

    /// As clients are told of it.
    pub fn to_json(&self) -> Value {
        let mut job = json!(self);
        if self.schedule.kind() == "cron" {
            // Where it is not said, OpenClaw's clients show hourly jobs as spread.
            job["schedule"]["staggerMs"] = json!(self.schedule.stagger_ms());
        }
        job["configRevision"] = json!(self.revision());
        if let Some(next) = self.next_ms() {
            job["nextRunAtMs"] = json!(next);
        }
        job
    }

    /// Names what is configured of it.
    pub fn revision(&self) -> String {
        let mut job = json!(self);
        if let Value::Object(fields) = &mut job {
            fields.retain(|name, _| name != "state" && name != "updatedAtMs");
        }
        named(&job.to_string())
    }
}

/// Names the jobs as they are: pages with the same one are of one list.
pub fn revision(jobs: &[Job]) -> String {
    named(&jobs.iter().map(Job::stored).collect::<Vec<_>>().concat())
}

#[cfg(test)]
mod tests;
