//! Heartbeats: whether there is something for an agent to do, asked now and then.
//! What costs nothing is looked at first, and the model only when there is.

mod answer;
mod checklist;
mod hours;

use openclaw_commands::Sender;
use openclaw_conversations::storage::TurnOptions;
use openclaw_conversations::{Refusal, channels};
use openclaw_daemon::failure;
use openclaw_jobs::{Command, Delivered};
use openclaw_proto::event::NOTHING_ASKED;
use openclaw_proto::gateway::Message;
use openclaw_proto::origin::is_shared;
use openclaw_proto::outbox::Place;
use openclaw_runs::{Extra, keys};
use openclaw_sessions::{SessionKey, now_ms};
use openclaw_settings::channels::CHANNELS;
use openclaw_settings::recipient::{LAST, Recipient};
use openclaw_settings::{DirectPolicy, Heartbeat, Settings};
use serde_json::{Map, json};

use crate::audience;
use crate::delivery::{Said, at_place, on_channel_of, patience};
use crate::jobs::Jobs;
use crate::limit;
use crate::needs::Needs;
use crate::perform::{self, Outcome, Run};
use crate::rows;
use crate::script::{self, Part, Script};
use checklist::Checklist;

/// The channel of turns that a heartbeat asks for.
const CHANNEL: &str = "heartbeat";

/// What there is to do, in the agent's workspace.
const CHECKLIST: &str = "HEARTBEAT.md";

/// Bytes of it.
const CHECKLIST_LIMIT: u64 = 64 * 1024;

/// What the agent is asked where the configuration does not say.
const PROMPT: &str = "This is a heartbeat: look whether what is below needs attention now, and act on it if it \
     does. Do not infer or repeat tasks of earlier conversations. If nothing needs attention, answer \
     HEARTBEAT_OK and nothing else; otherwise answer with what the user should know.";

/// The longest a heartbeat may take where nobody says, in seconds.
const SECONDS: u64 = 600;

/// One heartbeat.
pub(crate) struct Beat<'a> {
    needs: &'a Needs,
    jobs: &'a Jobs,
    run: &'a Run,
}

/// What a heartbeat is about to ask.
struct Question {
    key: SessionKey,
    /// That session begins with this question.
    is_isolated: bool,
    text: String,
    /// What it may cost, in US dollars.
    limit_usd: f64,
}

/// Why nobody is asked: nothing is to be done, or it cannot be told.
enum Nothing {
    Skipped(&'static str),
    Failed(String),
}

impl From<Refusal> for Nothing {
    fn from(refusal: Refusal) -> Self {
        Self::Failed(failure::chain(&refusal))
    }
}

impl<'a> Beat<'a> {
    /// The heartbeat of `run`.
    pub(crate) fn of(needs: &'a Needs, jobs: &'a Jobs, run: &'a Run) -> Self {
        Self { needs, jobs, run }
    }

    /// Looks, and asks if there is something; tells what the agent has to say.
    pub(crate) async fn perform(&self) -> (Outcome, Option<SessionKey>, Delivered) {
        let settings = self.needs.configuration.settings();
        let agent = self.run.job.agent_id().unwrap_or_default();
        let Some(beat) = settings.heartbeat(agent) else {
            let skipped = Outcome::Skipped("switched off".to_owned());
            return (skipped, None, Delivered::NotRequested);
        };
        let question = match self.question(&settings, beat).await {
            Ok(question) => question,
            Err(Nothing::Skipped(reason)) => {
                let skipped = Outcome::Skipped(reason.to_owned());
                self.note("skipped", reason, "").await;
                return (skipped, None, Delivered::NotRequested);
            }
            Err(Nothing::Failed(why)) => {
                self.note("failed", &why, "").await;
                return (Outcome::Failed(why), None, Delivered::NotRequested);
            }
        };
        let key = question.key.clone();
        let outcome = self.ask(beat, question).await;
        let text = match &outcome {
            Outcome::Answered(text) => text.clone(),
            other => {
                let status = other.status();
                let status = if status == "error" { "failed" } else { status };
                self.note(status, other.error().unwrap_or_default(), "")
                    .await;
                return (outcome, Some(key), Delivered::NotRequested);
            }
        };
        let Some(words) = answer::words(&text, beat.ack_max_chars) else {
            let status = if text.trim().is_empty() {
                "ok-empty"
            } else {
                "ok-token"
            };
            self.note(status, "interval", "").await;
            return (outcome, Some(key), Delivered::Suppressed("silent"));
        };
        if let Err(fault) = self.jobs.ran(&self.run.id).await {
            failure::report("note that a heartbeat ran", &fault);
        }
        let delivered = self.tell(&settings, beat, (&key, &words)).await;
        self.note("sent", "interval", &words).await;
        (outcome, Some(key), delivered)
    }

    /// What there is to ask, the cheap reasons for nothing first.
    async fn question(&self, settings: &Settings, beat: &Heartbeat) -> Result<Question, Nothing> {
        let main = self.session(settings, beat)?;
        let group = recipient(beat).filter(|it| audience::is_of_many(it.to));
        let is_told_to_many = match beat.target.as_str() {
            LAST => is_shared(main.as_str()),
            _ => group.is_some(),
        };
        // A group is told nothing of a conversation that is not its own.
        let is_foreign = |it: &Recipient<'_>| !audience::is_chat_of(&main, it.channel, it.to);
        let is_isolated = beat.isolated_session || group.as_ref().is_some_and(is_foreign);
        let key = if is_isolated {
            let agent = self.run.job.agent_id().unwrap_or_default();
            audience::isolated(settings, "heartbeat", (agent, is_told_to_many))?
        } else {
            main.clone()
        };
        let question = |text: String, limit_usd: f64| Question {
            key: key.clone(),
            is_isolated,
            text,
            limit_usd,
        };
        let is_asked = self.run.is_resumed
            && self
                .jobs
                .is_asked(&self.run.id)
                .await
                .map_err(|fault| Nothing::Failed(failure::chain(&fault)))?;
        if is_asked {
            // It is followed; what it was asked is known.
            return Ok(question(PROMPT.to_owned(), beat.cost_per_day));
        }
        if !hours::is_within(&beat.active_hours, now_ms()) {
            return Err(Nothing::Skipped("outside activeHours"));
        }
        if !self.needs.lanes.runs(&key).is_empty() {
            return Err(Nothing::Skipped("its session is busy"));
        }
        let checklist = self.checklist(settings).await?;
        let waits = !self.needs.waker.waiting(&key).is_empty();
        let is_due = match &checklist {
            Checklist::Tasks(_) => true,
            Checklist::Empty => waits,
            Checklist::Missing => waits || beat.prompt.is_some() || beat.gate.is_some(),
        };
        if !is_due {
            return Err(Nothing::Skipped("nothing to do (HEARTBEAT.md)"));
        }
        let left = self.left(beat).await?;
        let found = self.pass_gate(beat, &main).await?;
        Ok(question(text(beat, &checklist, &found), left))
    }

    fn session(&self, settings: &Settings, beat: &Heartbeat) -> Result<SessionKey, Refusal> {
        let agent = self.run.job.agent_id().unwrap_or_default();
        let named = beat.session.as_deref().filter(|name| *name != "main");
        keys::named(settings, named.unwrap_or_default(), agent)
    }

    async fn checklist(&self, settings: &Settings) -> Result<Checklist, Nothing> {
        let agent = settings.agent(self.run.job.agent_id().unwrap_or_default());
        let Some(workspace) = agent.map(|agent| agent.workspace.clone()) else {
            return Ok(Checklist::Missing);
        };
        let read = tokio::task::spawn_blocking(move || {
            let folder = workspace.open()?;
            let bytes = folder.map(|folder| folder.read(CHECKLIST, CHECKLIST_LIMIT));
            bytes.transpose().map(Option::flatten)
        });
        match read.await {
            Ok(Ok(bytes)) => Ok(Checklist::of(bytes.as_deref())),
            Ok(Err(error)) => Err(Nothing::Failed(failure::chain(&error))),
            Err(error) => Err(Nothing::Failed(error.to_string())),
        }
    }

    /// What is left of the day's budget, in US dollars.
    async fn left(&self, beat: &Heartbeat) -> Result<f64, Nothing> {
        let spent = self.jobs.spent_today(self.run.job.id()).await;
        let (spent, asked) = spent.map_err(|fault| Nothing::Failed(failure::chain(&fault)))?;
        let left = beat.cost_per_day - spent;
        if left <= 0.0 || asked >= beat.runs_per_day {
            return Err(Nothing::Skipped(rows::OVER_BUDGET));
        }
        Ok(left)
    }

    /// What the gate printed when it let the heartbeat pass.
    async fn pass_gate(&self, beat: &Heartbeat, key: &SessionKey) -> Result<String, Nothing> {
        let Some(line) = &beat.gate else {
            return Ok(String::new());
        };
        let command = Command::line(line);
        let script = Script {
            job_id: self.run.job.id(),
            run_id: &self.run.id,
            part: Part::Gate,
            key,
            command: &command,
            resumed_ms: self.run.is_resumed.then_some(self.run.started_ms),
        };
        match script.run(self.needs).await {
            Ok(printed) if printed.is_success() => Ok(script::told(&printed, None)),
            Ok(_) => Err(Nothing::Skipped("the gate says no")),
            Err(why) => Err(Nothing::Failed(format!("the gate: {why}"))),
        }
    }

    async fn ask(&self, beat: &Heartbeat, question: Question) -> Outcome {
        let key = &question.key;
        if question.is_isolated
            && !self.run.is_resumed
            && let Err(refusal) = perform::begin_anew(&self.needs.sessions, key).await
        {
            return Outcome::Failed(failure::chain(&refusal));
        }
        let every = beat.every.0.as_secs().clamp(1, SECONDS);
        let seconds = beat.timeout_seconds.unwrap_or(every);
        let extra = Extra {
            turn: TurnOptions {
                model: beat.model.clone(),
                limits: Map::from_iter([(perform::COST.to_owned(), json!(question.limit_usd))]),
                light_context: beat.light_context,
                deadline: Some(perform::deadline(seconds)),
                ..TurnOptions::default()
            },
            sender: Sender::program(),
            ..Extra::default()
        };
        let message = Message {
            text: question.text,
            session_key: key.to_string(),
            channel: CHANNEL.to_owned(),
            idempotency_key: self.run.id.clone(),
            ..Message::default()
        };
        let submitter = &self.needs.submitter;
        let started = async { submitter.submit(message, extra, None)?.started().await };
        match started.await {
            Ok(started) => {
                let outcome = perform::answer(started).await;
                of_heartbeat(outcome, question.limit_usd < beat.cost_per_day)
            }
            Err(refusal) => Outcome::Failed(failure::chain(&refusal)),
        }
    }

    /// Tells what the agent has to say where the heartbeat goes.
    async fn tell(
        &self,
        settings: &Settings,
        beat: &Heartbeat,
        (key, words): (&SessionKey, &str),
    ) -> Delivered {
        let name = rows::delivery_name(&self.run.id, 0);
        let patience = patience(self.run);
        let said = Said {
            name: &name,
            text: words,
            made: None,
            is_agents: true,
        };
        let place = match beat.target.as_str() {
            "none" => return Delivered::NotRequested,
            LAST => {
                let is_direct =
                    !key.as_str().contains(":group:") && !key.as_str().contains(":channel:");
                if is_direct && beat.direct_policy == DirectPolicy::Block {
                    return Delivered::Suppressed("dm-blocked");
                }
                let session = match self.session(settings, beat) {
                    Ok(session) => session,
                    Err(refusal) => return Delivered::Failed(failure::chain(&refusal)),
                };
                return on_channel_of(self.needs, &session, said, patience).await;
            }
            "owner" => match self.owner(settings).await {
                Some(place) => place,
                // They see the session itself.
                None => return Delivered::Yes,
            },
            _ => match recipient(beat) {
                Some(recipient) => Place {
                    channel: recipient.channel.to_owned(),
                    account: String::new(),
                    to: recipient.to.to_owned(),
                    chat: None,
                    thread: recipient.topic.map(str::to_owned),
                },
                // They see the session itself.
                None => return Delivered::Yes,
            },
        };
        let is_direct = !audience::is_of_many(&place.to);
        if is_direct && beat.direct_policy == DirectPolicy::Block {
            return Delivered::Suppressed("dm-blocked");
        }
        let account = beat.account_id.clone().unwrap_or(place.account.clone());
        at_place(self.needs, key, Place { account, ..place }, said, patience).await
    }

    /// The owner's direct chat: the first that the configuration names, or whoever
    /// was paired as the owner.
    async fn owner(&self, settings: &Settings) -> Option<Place> {
        let place = |channel: &str, account: String, to: &str| Place {
            channel: channel.to_owned(),
            account,
            to: to.to_owned(),
            chat: None,
            thread: None,
        };
        for owner in &settings.channels.owners {
            let owner = owner.to_string();
            if let Some((channel, to)) = owner.split_once(':')
                && CHANNELS.contains(&channel)
            {
                return Some(place(channel, String::new(), to));
            }
        }
        let peers = self
            .needs
            .database
            .read("look the owner up", channels::peers);
        let peers = peers.await.unwrap_or_default();
        let owner = peers.into_iter().find(|peer| peer.is_owner)?;
        Some(place(
            &owner.account.channel,
            owner.account.account,
            &owner.peer,
        ))
    }

    /// Notes and tells how it was, in OpenClaw's fields.
    async fn note(&self, status: &str, reason: &str, words: &str) {
        let indicator = match status {
            "sent" => "alert",
            "failed" => "error",
            _ => "ok",
        };
        let now = now_ms();
        let mut event = json!({
            "ts": now,
            "status": status,
            "reason": reason,
            "durationMs": (now - self.run.started_ms).max(0),
            "indicatorType": indicator,
        });
        if !words.is_empty() {
            event["preview"] = json!(words.chars().take(200).collect::<String>());
        }
        self.needs.waker.note_heartbeat(&event).await;
    }
}

/// The outcome in words for whoever has the heartbeat. That nothing was asked because of what
/// `was_spent` on the day is not a fault.
fn of_heartbeat(outcome: Outcome, was_spent: bool) -> Outcome {
    match outcome {
        Outcome::Failed(why) if was_spent && why.contains(NOTHING_ASKED) => {
            Outcome::Skipped(rows::OVER_BUDGET.to_owned())
        }
        Outcome::Failed(why) => {
            let own = "costPerDay of the heartbeat";
            Outcome::Failed(limit::renamed(&limit::unspoken(&why), perform::COST, own))
        }
        outcome => outcome,
    }
}

/// Whom a heartbeat tells by its target's name and `to`; None: nobody on a channel.
fn recipient(beat: &Heartbeat) -> Option<Recipient<'_>> {
    match beat.target.as_str() {
        "none" | LAST | "owner" => None,
        channel => Recipient::of(channel, beat.to.as_deref().unwrap_or_default()),
    }
}

/// What the agent is asked.
fn text(beat: &Heartbeat, checklist: &Checklist, found: &str) -> String {
    let mut text = beat.prompt.clone().unwrap_or_else(|| PROMPT.to_owned());
    if let Checklist::Tasks(tasks) = checklist {
        text.push_str(&format!("\n\n## {CHECKLIST}\n{}", tasks.trim_end()));
    }
    if !found.trim().is_empty() {
        text.push_str(&format!("\n\n## What was found\n{}", found.trim_end()));
    }
    text
}
