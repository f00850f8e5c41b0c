//! What agents do with jobs: their tools `cron`, with OpenClaw's names and fields,
//! and `remind`. An agent sees and changes the jobs that it made and no others.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_jobs::{Destination, Job, Maker, Payload};
use openclaw_proto::origin::is_isolated;
use openclaw_runs::{When, keys};
use openclaw_sessions::transcript::SYSTEM;
use openclaw_sessions::{SessionKey, now_ms};
use openclaw_settings::Ask;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::Schedule;
use crate::audience::ISOLATED;
use crate::call::{self, ADD_LIMIT, Answer, Call};
use crate::delivery;
use crate::jobs::Refused;
use crate::known;
use crate::perform::CHANNEL;
use crate::reach;

/// Jobs that an agent may have made at a time.
const JOB_LIMIT: usize = 50;

/// The shortest time between two runs of a job that an agent makes: each is a turn
/// that nobody asked for.
const PERIOD_MS: i64 = 5 * 60 * 1000;

/// Jobs or runs of one answer.
const SHOWN: usize = 50;

/// How the key of a main session ends, where OpenClaw has events told.
const MAIN: &str = ":main";

/// Characters of a name that is made of the text.
const NAME_LENGTH: usize = 40;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Cron {
    action: String,
    #[serde(default)]
    job: Map<String, Value>,
    /// OpenClaw's other name for it.
    #[serde(default)]
    patch: Map<String, Value>,
    job_id: Option<String>,
    id: Option<String>,
    #[serde(default)]
    include_disabled: bool,
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
    text: Option<String>,
    mode: Option<WakeMode>,
    run_mode: Option<RunMode>,
    agent_id: Option<String>,
    session_key: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WakeMode {
    Now,
    NextHeartbeat,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RunMode {
    /// Only where its time has come.
    Due,
    Force,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Remind {
    text: String,
    when: String,
    who: Option<String>,
    tz: Option<String>,
}

fn refused(why: impl Into<String>) -> Refused {
    Refused::Agent(why.into())
}

impl Schedule {
    /// Does what an agent wants with its jobs.
    pub async fn call(self: &Arc<Self>, call: Call) -> Result<Answer, Refused> {
        let malformed = |error: serde_json::Error| refused(format!("the arguments: {error}"));
        if call.tool == "remind" {
            let remind = serde_json::from_value(call.arguments.clone()).map_err(malformed)?;
            return self.remind(&call, remind).await;
        }
        let cron: Cron = serde_json::from_value(call.arguments.clone()).map_err(malformed)?;
        if cron
            .agent_id
            .as_ref()
            .is_some_and(|it| *it != call.caller.agent_id)
        {
            return Err(refused("an agent sees its own jobs alone"));
        }
        let done = match cron.action.as_str() {
            "status" => self.status(&call.caller).await?,
            "list" => self.list(&call.caller, &cron).await?,
            "get" => self.own(&call.caller, &cron).await?.to_json(),
            "add" => return self.add_for(&call, cron).await,
            "update" => return self.update_for(&call, cron).await,
            "remove" => {
                let job = self.own(&call.caller, &cron).await?;
                json!({"ok": true, "removed": self.remove(job.id()).await?})
            }
            "run" => {
                let job = self.own(&call.caller, &cron).await?;
                self.within_turn(&call.caller, "start a run")?;
                let is_due = job.next_ms().is_some_and(|at| at <= now_ms());
                if cron.run_mode == Some(RunMode::Due) && !is_due {
                    return Ok(Answer::Done(
                        json!({"ok": true, "ran": false, "reason": "not-due"}),
                    ));
                }
                self.note_call(&call.caller).await?;
                json!({"ok": true, "enqueued": true, "runId": self.run_now(job.id()).await?})
            }
            "runs" => {
                let job = self.own(&call.caller, &cron).await?;
                let id = Some(job.id().to_owned());
                let runs = self
                    .jobs
                    .runs(id, |_| true, cron.offset, limit(&cron))
                    .await?;
                json!({"entries": runs.entries, "total": runs.total})
            }
            "wake" => return self.wake_for(&call, &cron).await,
            "next_check" => {
                return Err(refused(
                    "next_check is not offered: jobs run by their schedule",
                ));
            }
            other => {
                return Err(refused(format!(
                    "there is no action {other:?}; there are status, list, get, add, update, \
                     remove, run, runs and wake"
                )));
            }
        };
        Ok(Answer::Done(done))
    }

    async fn status(&self, caller: &Maker) -> Result<Value, Refused> {
        let jobs = self.of(caller).await?;
        let next = jobs.iter().filter_map(Job::next_ms).min();
        Ok(json!({"enabled": self.is_on(), "jobs": jobs.len(), "nextWakeAtMs": next}))
    }

    async fn list(&self, caller: &Maker, cron: &Cron) -> Result<Value, Refused> {
        let mut jobs = self.of(caller).await?;
        jobs.retain(|job| job.enabled || cron.include_disabled);
        let total = jobs.len();
        let page = jobs.iter().skip(cron.offset).take(limit(cron));
        let page: Vec<Value> = page.map(Job::to_json).collect();
        let next = cron.offset + page.len();
        Ok(json!({
            "jobs": page, "total": total, "offset": cron.offset, "hasMore": next < total,
            "nextOffset": (next < total).then_some(next), "scope": "caller",
        }))
    }

    /// Tells a session something. The agent's own, whose turn it is, is told at once;
    /// any other is one where nobody asked for it.
    async fn wake_for(&self, call: &Call, cron: &Cron) -> Result<Answer, Refused> {
        let caller = &call.caller;
        self.within_turn(caller, "wake itself")?;
        let text = cron.text.as_deref().unwrap_or_default().trim();
        if text.is_empty() {
            return Err(refused("wake needs a text"));
        }
        let key = self.session_of(caller, cron.session_key.as_deref())?;
        let own = self.session_of(caller, None)?;
        let is_own = key == own;
        if !is_own && !self.people().await?.own(&own) {
            return Err(refused(format!(
                "wake tells this session alone, {own}, something: it is not the owner's own, and \
                 {key} is another; leave sessionKey out"
            )));
        }
        if !is_own && !call.is_approved && self.asks(caller) {
            return Ok(Answer::Ask(format!(
                "it tells another session, {key}, something of its own accord"
            )));
        }
        self.note_call(caller).await?;
        let when = match cron.mode {
            Some(WakeMode::Now) => When::Now,
            Some(WakeMode::NextHeartbeat) | None => When::NextTurn,
        };
        let woken = self.needs.waker.wake(&key, text, when, "cron").await;
        woken.map_err(|refusal| refused(refusal.to_string()))?;
        Ok(Answer::Done(json!({"ok": true})))
    }

    /// A turn that nobody asked for, a job's or one that the suite began by itself, may
    /// not make or start jobs: they would beget without end.
    fn within_turn(&self, caller: &Maker, what: &str) -> Result<(), Refused> {
        let key = self.session_of(caller, None)?;
        let at_work = self.needs.runs.channels_at_work(&key);
        if is_unasked(&caller.session_key, &at_work) {
            return Err(refused(format!("a run of a job may not {what}")));
        }
        Ok(())
    }

    /// Counts one more of the things that an agent may do only a limited number of times.
    async fn note_call(&self, caller: &Maker) -> Result<(), Refused> {
        let agent = caller.agent_id.clone();
        let note =
            move |connection: &rusqlite::Connection| call::note(connection, &agent, now_ms());
        let database = &self.needs.database;
        if database.call("count what an agent does", note).await? {
            return Ok(());
        }
        Err(refused(format!(
            "this agent has done that {ADD_LIMIT} times within an hour, the most that it may"
        )))
    }

    pub(crate) fn session_of(
        &self,
        caller: &Maker,
        named: Option<&str>,
    ) -> Result<SessionKey, Refused> {
        let settings = self.needs.configuration.settings();
        let key = named.unwrap_or(&caller.session_key);
        keys::named(&settings, key, &caller.agent_id)
            .map_err(|refusal| refused(refusal.to_string()))
    }

    async fn remind(&self, call: &Call, remind: Remind) -> Result<Answer, Refused> {
        self.within_turn(&call.caller, "make jobs")?;
        let who = remind
            .who
            .as_deref()
            .map(str::trim)
            .filter(|who| !who.is_empty());
        let delivery = match who {
            // The session whose turn it is, and the channel that is on.
            None => {
                json!({"mode": "announce", "channel": "webchat", "to": call.caller.session_key})
            }
            Some(who) => json!({"mode": "announce", "channel": "last", "to": who}),
        };
        let zone = remind.tz.or_else(zone_name);
        let job = json!({
            "name": name(&remind.text),
            "schedule": {"kind": "at", "at": remind.when, "tz": zone},
            "sessionTarget": ISOLATED, "wakeMode": "now", "deleteAfterRun": true,
            "agentId": call.caller.agent_id,
            "payload": {"kind": "reminder", "text": remind.text},
            "delivery": delivery,
        });
        let possible = self.possible(&call.caller, &job).await?;
        self.within_reach(&possible).await?;
        if who.is_some() && !call.is_approved && self.asks(&call.caller) {
            let who = self.listeners(&possible).await.join(" and ");
            return Ok(Answer::Ask(format!(
                "it is said to {who} later, when nobody looks"
            )));
        }
        let job = self.added(&call.caller, job).await?;
        let at = job.next_ms().ok_or_else(|| refused("that time is past"))?;
        Ok(Answer::Done(
            json!({"ok": true, "jobId": job.id(), "at": local(at)}),
        ))
    }

    async fn add_for(&self, call: &Call, cron: Cron) -> Result<Answer, Refused> {
        self.within_turn(&call.caller, "make jobs")?;
        let mut fields = cron.job;
        complete(&mut fields, &call.caller)?;
        let fields = Value::Object(fields);
        let job = self.possible(&call.caller, &fields).await?;
        checked(&job)?;
        self.within_reach(&job).await?;
        if !call.is_approved && self.asks(&call.caller) {
            return Ok(Answer::Ask(self.acts_later(&job).await));
        }
        let job = self.added(&call.caller, fields).await?;
        Ok(Answer::Done(job.to_json()))
    }

    /// The job with `fields`, as far as it can be known before it is made: nobody is
    /// asked about one that is refused.
    async fn possible(&self, caller: &Maker, fields: &Value) -> Result<Job, Refused> {
        let job = Job::new("new".to_owned(), fields.clone(), now_ms())?;
        let job = job.made_by(caller.clone());
        delivery::reachable(&self.needs, fields).await?;
        Ok(self.needs.rules().checked(job, None)?)
    }

    async fn update_for(&self, call: &Call, cron: Cron) -> Result<Answer, Refused> {
        self.within_turn(&call.caller, "change jobs")?;
        let job = self.own(&call.caller, &cron).await?;
        let fields = if cron.job.is_empty() {
            cron.patch
        } else {
            cron.job
        };
        if fields.contains_key("agentId") || fields.contains_key("madeBy") {
            return Err(refused("a job stays its agent's"));
        }
        let patched = job.patched(fields.clone(), now_ms())?;
        let patched = self.needs.rules().checked(patched, Some(&job))?;
        checked(&patched)?;
        let only_ends = fields.keys().all(|name| name == "enabled") && !patched.enabled;
        if !only_ends {
            self.within_reach(&patched).await?;
        }
        if !only_ends && !call.is_approved && self.asks(&call.caller) {
            return Ok(Answer::Ask(self.acts_later(&patched).await));
        }
        let changed = self.change(job.id(), fields, Some(job.revision())).await?;
        Ok(Answer::Done(changed.to_json()))
    }

    /// Refuses a job that would run or tell something where its agent may not, whoever allows it.
    async fn within_reach(&self, job: &Job) -> Result<(), Refused> {
        let checked = reach::checked(&self.needs, job).await;
        checked.map_err(|invalid| refused(invalid.to_string()))?;
        for place in reach::told(job).filter_map(|it| reach::place(&it)) {
            let stranger = match job.maker() {
                Some(maker) => known::stranger(&self.needs, maker, &place).await,
                None => None,
            };
            if let Some(why) = stranger {
                return Err(refused(why));
            }
        }
        Ok(())
    }

    /// Whether somebody is asked before an agent acts on its own authority later:
    /// unless the user says that nobody ever is.
    fn asks(&self, caller: &Maker) -> bool {
        let settings = self.needs.configuration.settings();
        let agent = settings.agent(&caller.agent_id);
        agent.is_none_or(|agent| agent.tools.ask != Some(Ask::Off))
    }

    async fn added(&self, caller: &Maker, fields: Value) -> Result<Job, Refused> {
        let there = self.made(caller).await?;
        if there.len() >= JOB_LIMIT {
            return Err(refused(format!(
                "this agent has made {JOB_LIMIT} jobs, the most that it may; remove one first"
            )));
        }
        self.note_call(caller).await?;
        self.add_made(fields, Some(caller.clone())).await
    }

    /// The jobs that the caller's agent made.
    async fn made(&self, caller: &Maker) -> Result<Vec<Job>, Refused> {
        let mut jobs = self.jobs.all().await?;
        jobs.retain(|job| job.maker().is_some_and(|it| it.agent_id == caller.agent_id));
        Ok(jobs)
    }

    /// The job that is named, if the caller made it.
    async fn own(&self, caller: &Maker, cron: &Cron) -> Result<Job, Refused> {
        let id = cron.job_id.as_deref().or(cron.id.as_deref());
        let id = id.ok_or_else(|| refused(format!("{} needs jobId", cron.action)))?;
        let found = self
            .of(caller)
            .await?
            .into_iter()
            .find(|job| job.id() == id);
        found.ok_or_else(|| {
            refused(format!(
                "this agent has made no job {id}; others than its own it does not see"
            ))
        })
    }
}

/// Whether nobody asked for the turn in the session of this key, in which messages of these
/// channels are answered.
fn is_unasked(key: &str, channels: &[String]) -> bool {
    let is_own = |channel: &String| channel == CHANNEL || channel == SYSTEM;
    is_isolated(key) || channels.iter().any(is_own)
}

fn limit(cron: &Cron) -> usize {
    cron.limit.unwrap_or(SHOWN).clamp(1, SHOWN)
}

/// Fills in what OpenClaw's tool does.
fn complete(fields: &mut Map<String, Value>, caller: &Maker) -> Result<(), Refused> {
    let agent = fields.insert("agentId".to_owned(), json!(caller.agent_id));
    if agent.is_some_and(|agent| !agent.is_null() && agent != json!(caller.agent_id)) {
        return Err(refused("a job of an agent is run by that agent"));
    }
    let payload = fields.get("payload").cloned().unwrap_or_default();
    let is_event = payload["kind"] == "systemEvent";
    let text = [&payload["text"], &payload["message"]];
    let text = text
        .iter()
        .find_map(|text| text.as_str())
        .unwrap_or_default();
    fields.entry("name").or_insert_with(|| json!(name(text)));
    fields.entry("wakeMode").or_insert(json!("now"));
    let is_main = caller.session_key.ends_with(MAIN);
    let target = if is_event && is_main {
        "main"
    } else {
        "current"
    };
    fields.entry("sessionTarget").or_insert(json!(target));
    fields
        .entry("sessionKey")
        .or_insert_with(|| json!(caller.session_key));
    if !is_event {
        fields
            .entry("delivery")
            .or_insert(json!({"mode": "announce", "to": caller.session_key}));
    }
    if fields.get("schedule").is_some_and(|it| it["kind"] == "at") {
        fields.entry("deleteAfterRun").or_insert(json!(true));
    }
    Ok(())
}

/// What an agent may not make, whoever allows it.
fn checked(job: &Job) -> Result<(), Refused> {
    match job.payload {
        Payload::AgentTurn { .. } | Payload::SystemEvent { .. } | Payload::Reminder { .. } => {}
        Payload::Command(_) | Payload::Heartbeat {} => {
            return Err(refused(
                "an agent makes jobs of kind agentTurn or systemEvent; commands are the user's",
            ));
        }
    }
    if reach::told(job).any(|it| matches!(it, Destination::Webhook(_))) {
        return Err(refused(
            "an agent's job tells no URL: webhooks are the user's",
        ));
    }
    if job.comes_within(PERIOD_MS, now_ms()) {
        return Err(refused("an agent's job may run every 5 minutes at most"));
    }
    Ok(())
}

fn name(text: &str) -> String {
    let name: String = text.trim().chars().take(NAME_LENGTH).collect();
    if name.is_empty() {
        "job".to_owned()
    } else {
        name
    }
}

fn zone_name() -> Option<String> {
    TimeZone::system().iana_name().map(str::to_owned)
}

/// A time on the clock here, with its zone.
fn local(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    at.to_zoned(TimeZone::system())
        .strftime("%a %Y-%m-%d %H:%M %Z")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(session: &str) -> Maker {
        Maker {
            agent_id: "main".to_owned(),
            session_key: session.to_owned(),
        }
    }

    fn job(fields: Value) -> Result<Job, Refused> {
        let Value::Object(mut fields) = fields else {
            return Err(refused("no object"));
        };
        complete(&mut fields, &caller("agent:main:main"))?;
        let job = Job::new("j".to_owned(), Value::Object(fields), now_ms())?;
        checked(&job).map(|()| job)
    }

    #[test]
    fn job_of_an_agent_has_openclaws_defaults() {
        let every = json!({"kind": "every", "everyMs": 3_600_000});
        let made = job(json!({"schedule": every,
            "payload": {"kind": "agentTurn", "message": "look at the mail"}}));
        let made = made.unwrap().to_json();
        assert_eq!(made["sessionTarget"], "current");
        assert_eq!(made["sessionKey"], "agent:main:main");
        assert_eq!(made["name"], "look at the mail");
        assert_eq!(made["delivery"]["mode"], "announce");
        let event =
            job(json!({"schedule": every, "payload": {"kind": "systemEvent", "text": "x"}}));
        assert_eq!(event.unwrap().to_json()["sessionTarget"], "main");
    }

    #[test]
    fn job_of_an_agent_is_refused_what_is_not_its_to_do() {
        let every = |ms: i64| json!({"kind": "every", "everyMs": ms});
        let turn = json!({"kind": "agentTurn", "message": "m"});
        for (fields, expected) in [
            (
                json!({"schedule": every(3_600_000), "payload": {"kind": "command", "argv": ["x"]}}),
                "the user's",
            ),
            (
                json!({"schedule": every(60_000), "payload": turn}),
                "5 minutes",
            ),
            (
                json!({"schedule": {"kind": "cron", "expr": "* * * * *"}, "payload": turn}),
                "5 minutes",
            ),
            (
                json!({"schedule": {"kind": "cron", "expr": "4,11-50 * * * *"}, "payload": turn}),
                "5 minutes",
            ),
            (
                json!({"schedule": every(3_600_000), "payload": turn,
                    "delivery": {"mode": "webhook", "to": "https://example.org"}}),
                "URL",
            ),
            (
                json!({"schedule": every(3_600_000), "payload": turn,
                    "failureAlert": {"mode": "webhook", "to": "https://example.org"}}),
                "URL",
            ),
            (
                json!({"agentId": "other", "schedule": every(3_600_000), "payload": turn}),
                "that agent",
            ),
            (
                json!({"madeBy": null, "schedule": every(3_600_000), "payload": {"kind": "heartbeat"}}),
                "heartbeat",
            ),
        ] {
            let why = job(fields.clone()).unwrap_err().to_string();
            assert!(why.contains(expected), "{fields}: {why}");
        }
    }

    #[test]
    fn turn_is_unasked_where_a_job_or_the_suite_began_it() {
        let of = |key: &str, channels: &[&str]| {
            let channels: Vec<String> = channels.iter().map(|it| (*it).to_owned()).collect();
            is_unasked(key, &channels)
        };
        assert!(of("agent:main:cron:x", &["cli"]));
        assert!(of("agent:main:main", &["cron"]) && of("agent:main:main", &[SYSTEM]));
        assert!(!of("agent:main:main", &["cli"]) && !of("agent:main:main", &["telegram"]));
        assert!(!of("agent:main:main", &[]));
    }
}
