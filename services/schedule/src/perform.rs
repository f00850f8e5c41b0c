//! One run of a job, from what is asked to how it ended.

use std::time::Duration;

use openclaw_commands::Sender;
use openclaw_conversations::Refusal;
use openclaw_conversations::sessions::Sessions;
use openclaw_conversations::storage::{Deadline, TurnOptions};
use openclaw_daemon::failure;
use openclaw_proto::event::NOTHING_ASKED;
use openclaw_proto::gateway::Message;
use openclaw_sessions::SessionKey;
use serde_json::{Map, Value, json};

use crate::audience::ISOLATED;
use crate::limit;
use crate::needs::Needs;
use crate::rows::{self, Begun};
use crate::script::{self, Part, Script};
use openclaw_jobs::{Command, Job, Payload};
use openclaw_runs::{Extra, Started, reply_text};

/// The channel of turns that a job asks for.
pub(crate) const CHANNEL: &str = "cron";

/// The limit of a turn's cost, by its name.
pub(crate) const COST: &str = "costPerTurn";

/// Characters of a job's id that tell it apart.
const ID_SHOWN: usize = 8;

/// The note about a run in which nothing was answered.
const TOLD: &str = "told";

/// A run under way.
pub(crate) struct Run {
    /// As it was when the run began.
    pub(crate) job: Job,
    /// What clients know it by.
    pub(crate) id: String,
    pub(crate) started_ms: i64,
    /// It was begun by the gateway before this one.
    pub(crate) is_resumed: bool,
    /// What it says was said already.
    pub(crate) has_run: bool,
    /// What it may cost, in US dollars.
    pub(crate) limit_usd: Option<f64>,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The agent was told something and has not answered yet.
    Told,
    Answered(String),
    Failed(String),
    /// There was nothing to do, and why.
    Skipped(String),
}

impl Outcome {
    /// What is noted of it.
    pub(crate) fn summary(&self) -> Option<&str> {
        match self {
            Self::Told => Some(TOLD),
            Self::Answered(text) => Some(text),
            Self::Failed(_) | Self::Skipped(_) => None,
        }
    }

    /// Why it failed or was nothing, if it did or was.
    pub(crate) fn error(&self) -> Option<&str> {
        match self {
            Self::Failed(why) | Self::Skipped(why) => Some(why),
            Self::Told | Self::Answered(_) => None,
        }
    }

    /// OpenClaw's word for it.
    pub(crate) fn status(&self) -> &'static str {
        match self {
            Self::Told | Self::Answered(_) => "ok",
            Self::Failed(_) => "error",
            Self::Skipped(_) => "skipped",
        }
    }
}

impl Run {
    /// A run that begins now.
    pub(crate) fn begun(begun: Begun) -> Self {
        Self {
            id: begun.run_id,
            job: begun.job,
            started_ms: begun.started_ms,
            is_resumed: false,
            has_run: begun.has_run,
            limit_usd: begun.limit_usd,
        }
    }

    /// A run that the last gateway began. What it is asked again is the same.
    pub(crate) fn resumed(begun: Begun) -> Self {
        Self {
            is_resumed: true,
            ..Self::begun(begun)
        }
    }

    /// Whether commands are run for it.
    pub(crate) fn runs_commands(&self) -> bool {
        matches!(
            self.job.payload,
            Payload::Command(_) | Payload::Heartbeat {}
        )
    }

    /// Does what the job says, in the session `key`.
    pub(crate) async fn perform(&self, needs: &Needs, key: &SessionKey) -> Outcome {
        let done = match &self.job.payload {
            Payload::SystemEvent { text, .. } => self.tell(needs, key, text).await,
            Payload::AgentTurn { message, rest, .. } => self.ask(needs, key, message, rest).await,
            Payload::Command(command) => Ok(self.run_command(needs, key, command).await),
            Payload::Reminder { text } => Ok(Outcome::Answered(text.clone())),
            Payload::Heartbeat {} => Ok(Outcome::Skipped("it has no session".to_owned())),
        };
        done.unwrap_or_else(|refusal| Outcome::Failed(failure::chain(&refusal)))
    }

    async fn tell(&self, needs: &Needs, key: &SessionKey, text: &str) -> Result<Outcome, Refusal> {
        if !self.has_run {
            let run_id = self.id.clone();
            let noted = move |connection: &rusqlite::Connection| rows::ran(connection, &run_id);
            needs.waker.note(key, text, noted).await?;
        }
        if self.job.wake_mode == "now" {
            let waker = &needs.waker;
            waker.rouse(key, &self.id, self.limits(), CHANNEL).await?;
        }
        Ok(Outcome::Told)
    }

    /// What its turn is held to, beside what every turn is.
    fn limits(&self) -> Map<String, Value> {
        let limit = self.limit_usd;
        let limit = limit.map(|usd| (COST.to_owned(), json!(usd)));
        limit.into_iter().collect()
    }

    async fn run_command(&self, needs: &Needs, key: &SessionKey, command: &Command) -> Outcome {
        let script = Script {
            job_id: self.job.id(),
            run_id: &self.id,
            part: Part::Command,
            key,
            command,
            resumed_ms: self.is_resumed.then_some(self.started_ms),
        };
        match script.run(needs).await {
            Ok(printed) if printed.is_success() => {
                Outcome::Answered(script::told(&printed, command.output_limit()))
            }
            Ok(printed) => {
                let text = script::told(&printed, command.output_limit());
                Outcome::Failed(failed(&printed.end, &text))
            }
            Err(why) => Outcome::Failed(why),
        }
    }

    async fn ask(
        &self,
        needs: &Needs,
        key: &SessionKey,
        message: &str,
        rest: &Map<String, Value>,
    ) -> Result<Outcome, Refusal> {
        if self.job.session_target == ISOLATED && !self.is_resumed {
            begin_anew(&needs.sessions, key).await?;
        }
        let limit = rest.get("timeoutSeconds").and_then(Value::as_u64);
        let word = |name: &str| Some(rest.get(name)?.as_str()?.to_owned());
        let extra = Extra {
            turn: TurnOptions {
                model: word("model"),
                thinking_level: word("thinking"),
                limits: self.limits(),
                light_context: rest.get("lightContext").and_then(Value::as_bool) == Some(true),
                deadline: limit.filter(|seconds| *seconds > 0).map(deadline),
                ..TurnOptions::default()
            },
            sender: Sender::program(),
            ..Extra::default()
        };
        let message = Message {
            text: message.to_owned(),
            session_key: key.to_string(),
            channel: CHANNEL.to_owned(),
            idempotency_key: self.id.clone(),
            ..Message::default()
        };
        let submitted = needs.submitter.submit(message, extra, None)?;
        let started = submitted.started().await?;
        let outcome = answer(started).await;
        Ok(match outcome {
            Outcome::Failed(why) if self.is_of_the_day(&why) => {
                Outcome::Skipped(rows::OVER_BUDGET.to_owned())
            }
            Outcome::Failed(why) => Outcome::Failed(self.of_job(&why)),
            outcome => outcome,
        })
    }

    /// Whether nothing was asked because of what the day has cost: that is no fault of the run.
    fn is_of_the_day(&self, why: &str) -> bool {
        let is_less = self.limit_usd < self.job.budget().left(0.0);
        is_less && why.contains(NOTHING_ASKED)
    }

    /// Why its turn failed, in words for whoever has the job: nobody talks there, and
    /// the limit may be the job's own.
    fn of_job(&self, why: &str) -> String {
        let why = limit::unspoken(why);
        if self.limit_usd.is_none() {
            return why;
        }
        let id: String = self.job.id().chars().take(ID_SHOWN).collect();
        let budget = format!(
            "the job's budget: openclawctl cron edit {id} --budget-per-run USD, or --budget-per-day"
        );
        limit::renamed(&why, COST, &budget)
    }
}

/// How a command ended that did not do what it was to do, and what it printed.
fn failed(end: &str, printed: &str) -> String {
    let without_code = end
        .strip_prefix("none (")
        .and_then(|it| it.strip_suffix(')'));
    let how = without_code.map_or_else(|| format!("exit code {end}"), str::to_owned);
    match printed {
        "" => how,
        printed => format!("{how}: {printed}"),
    }
}

/// An isolated run has no history: what it costs does not grow with each.
pub(crate) async fn begin_anew(sessions: &Sessions, key: &SessionKey) -> Result<(), Refusal> {
    match sessions.reset(key, CHANNEL).await {
        Ok(_) | Err(Refusal::UnknownSession(_)) => Ok(()),
        Err(refusal) => Err(refusal),
    }
}

/// Until when a turn may take that is allowed some seconds.
pub(crate) fn deadline(seconds: u64) -> Deadline {
    Deadline::after(
        Duration::from_secs(seconds),
        "the job's timeoutSeconds passed",
    )
}

/// What the turn says.
pub(crate) async fn answer(started: Started) -> Outcome {
    let reply = reply_text::of(started.events).await;
    reply.map_or_else(Outcome::Failed, Outcome::Answered)
}

#[cfg(test)]
mod tests {
    use openclaw_proto::event::{GO_ON, limit_of_session};

    use super::*;

    fn run(limit_usd: Option<f64>) -> Run {
        let fields = json!({
            "name": "n", "schedule": {"kind": "every", "everyMs": 60_000}, "wakeMode": "now",
            "sessionTarget": "isolated", "payload": {"kind": "agentTurn", "message": "m"},
        });
        Run {
            job: Job::new("0123456789".to_owned(), fields, 0).unwrap(),
            id: "r".to_owned(),
            started_ms: 0,
            is_resumed: false,
            has_run: false,
            limit_usd,
        }
    }

    #[test]
    fn run_that_was_stopped_says_what_helps_a_job() {
        let why = format!(
            "it cost $2, and $1 is allowed; {GO_ON}, or raise agents.defaults.limits.costPerTurn"
        );
        let own = run(Some(1.0)).of_job(&why);
        assert!(own.contains("cron edit 01234567 --budget-per-run"), "{own}");
        let session = why.replace(
            "agents.defaults.limits.costPerTurn",
            &limit_of_session("costPerTurn"),
        );
        assert_eq!(run(Some(1.0)).of_job(&session), own);
        let agents = run(None).of_job(&why);
        assert!(
            agents.ends_with("; raise agents.defaults.limits.costPerTurn"),
            "{agents}"
        );
        assert!(!own.contains("continue") && !agents.contains("continue"));
    }

    #[test]
    fn run_that_asked_nothing_for_what_the_day_has_cost_is_none() {
        let budget = json!({"budget": {"perDayUsd": 1.0}});
        let budget = budget.as_object().unwrap().clone();
        let of = |limit: f64| {
            let run = run(Some(limit));
            Run {
                job: run.job.patched(budget.clone(), 0).unwrap(),
                ..run
            }
        };
        let why = format!("{NOTHING_ASKED}: a question costs about $0.30");
        assert!(of(0.25).is_of_the_day(&why));
        assert!(!of(0.25).is_of_the_day("no"));
        // The budget is too small on any day.
        assert!(!of(1.0).is_of_the_day(&why));
        assert!(!run(None).is_of_the_day(&why));
    }

    #[test]
    fn failed_says_how_a_command_ended() {
        assert_eq!(failed("3", "no such file"), "exit code 3: no such file");
        assert_eq!(failed("3", ""), "exit code 3");
        assert_eq!(failed("none (timed out)", ""), "timed out");
        assert_eq!(failed("none (timed out)", "so far"), "timed out: so far");
        let killed = failed("137 (killed by signal 9, SIGKILL)", "");
        assert_eq!(killed, "exit code 137 (killed by signal 9, SIGKILL)");
    }
}
