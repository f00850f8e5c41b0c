//! Commands in the sandbox of an agent, for which no model is asked. A command is a
//! turn of the agent-runner's under an id that follows from its run's, so that a
//! gateway that is started again finds it and begins none twice.

use std::pin::pin;
use std::time::Duration;

use crate::limit;
use crate::needs::Needs;
use crate::terms;
use openclaw_daemon::failure;
use openclaw_jobs::{Command, fingerprint};
use openclaw_kept_turns::{self as kept, ABSENCE};
use openclaw_proto::approval::Terms;
use openclaw_proto::call::{CallError, Patience, RefusalCode, within};
use openclaw_proto::event::Kind;
use openclaw_proto::runner::{Purpose, Turn};
use openclaw_runs::is_of_this_boot;
use openclaw_sessions::SessionKey;
use openclaw_tools::Printed;
use serde_json::json;
use tokio::time::sleep;
use tokio_stream::StreamExt as _;

/// How long the runner may take to acknowledge a command; it may have to be started first.
const START_DEADLINE: Duration = Duration::from_secs(30);

/// Between attempts, while as many turns run as may.
const PAUSE: Duration = Duration::from_secs(2);

/// Starts of one command: a runner that dies right after it took it has begun nothing.
const STARTS: usize = 20;

/// What a turn has beside its command, in seconds.
const SLACK: u64 = 30;

/// What a command is of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Command,
    /// What is asked before it.
    Gate,
}

impl Part {
    const ALL: [Self; 2] = [Self::Command, Self::Gate];
}

/// Lets the runner forget the commands of a run. Not before its end is durable: a
/// command that the runner does not know is begun.
pub(crate) async fn forget(needs: &Needs, run_id: &str) {
    for part in Part::ALL {
        kept::close(&needs.runner, &turn_id(&name(run_id, part))).await;
    }
}

/// The same for those of `run_ids` that the gateway before did not come to.
pub(crate) async fn forget_ended(needs: &Needs, run_ids: &[String]) {
    let kept = kept::all(&needs.runner).await;
    for run_id in run_ids {
        let is_kept = |part: Part| kept.contains(&turn_id(&name(run_id, part)));
        if Part::ALL.into_iter().any(is_kept) {
            forget(needs, run_id).await;
        }
    }
}

fn name(run_id: &str, part: Part) -> String {
    match part {
        Part::Command => format!("{run_id} command"),
        Part::Gate => format!("{run_id} gate"),
    }
}

/// A command of a run.
pub(crate) struct Script<'a> {
    /// The job,
    pub(crate) job_id: &'a str,
    /// its run,
    pub(crate) run_id: &'a str,
    /// and what it is of that.
    pub(crate) part: Part,
    pub(crate) key: &'a SessionKey,
    pub(crate) command: &'a Command,
    /// When the run was begun, if a gateway before this one did that.
    pub(crate) resumed_ms: Option<i64>,
}

impl Script<'_> {
    /// Runs it to its end; the error says why there is none. What came of it is kept
    /// until it is forgotten ([`forget`]).
    pub(crate) async fn run(&self, needs: &Needs) -> Result<Printed, String> {
        let outcome = self.outcome(needs, &turn_id(&self.name())).await;
        outcome.map_err(|why| of_command(&why, self.command))
    }

    fn name(&self) -> String {
        name(self.run_id, self.part)
    }

    async fn outcome(&self, needs: &Needs, id: &str) -> Result<Printed, String> {
        if let Some(began_ms) = self.resumed_ms {
            match follow(needs, id).await {
                Err(Unfinished::Unseen(error)) if error.is_refused(RefusalCode::NotFound) => {}
                followed => return followed.map_err(|why| why.to_string()),
            }
            if !is_of_this_boot(began_ms) {
                return Err("the machine stopped while the command ran".to_owned());
            }
        }
        let given = terms::given(needs, (self.job_id, self.run_id), self.command);
        let given = given.await.map_err(|fault| failure::chain(&fault))?;
        for _ in 0..STARTS {
            let started = self.start(needs, id, given.as_ref());
            let now = started.await.map_err(|error| error.to_string())?;
            if let (None, Some(now)) = (&given, now) {
                terms::note(needs, self.job_id, self.command, &now).await;
            }
            match follow(needs, id).await {
                // The runner died before it had begun.
                Err(Unfinished::Unseen(error)) if error.is_refused(RefusalCode::NotFound) => {}
                followed => return followed.map_err(|why| why.to_string()),
            }
        }
        Err("the agent-runner dies of it".to_owned())
    }

    /// How confined it runs, if the answer said so.
    async fn start(
        &self,
        needs: &Needs,
        id: &str,
        given: Option<&Terms>,
    ) -> Result<Option<Terms>, CallError> {
        let mut patience = Patience::of(ABSENCE).with_absent();
        loop {
            let starting = needs.runner.start_turn(self.turn(id, given));
            match within(START_DEADLINE, starting).await {
                Ok(started) => return Ok(started.terms),
                // The answer to the first attempt was lost.
                Err(error) if error.is_refused(RefusalCode::AlreadyExists) => return Ok(None),
                Err(error) if error.is_refused(RefusalCode::ResourceExhausted) => {
                    sleep(PAUSE).await;
                }
                Err(error) => patience.wait(error).await?,
            }
        }
    }

    fn turn(&self, id: &str, given: Option<&Terms>) -> Turn {
        let seconds = self.command.seconds() + SLACK;
        let silent = self.command.silent_seconds().unwrap_or(seconds);
        Turn {
            run_id: id.to_owned(),
            session_key: self.key.to_string(),
            session_id: id.to_owned(),
            agent_id: self.key.agent().to_string(),
            channel: "cron".to_owned(),
            text: self.command.arguments().to_string(),
            limits: json!({"timeoutSeconds": seconds, "noOutputSeconds": silent}).to_string(),
            purpose: Purpose::Command,
            command_terms: given.cloned(),
            ..Turn::default()
        }
    }
}

/// Why a command printed nothing that can be told.
#[derive(Debug, thiserror::Error)]
enum Unfinished {
    /// Its turn cannot be followed.
    #[error("{0}")]
    Unseen(#[from] CallError),
    /// It failed.
    #[error("{0}")]
    Failed(String),
}

/// The turn's events to the last, however often they break off.
async fn follow(needs: &Needs, id: &str) -> Result<Printed, Unfinished> {
    let mut patience = Patience::of(ABSENCE).with_absent();
    loop {
        match attach(needs, id).await {
            Err(Unfinished::Unseen(error)) => patience.wait(error).await?,
            seen => return seen,
        }
    }
}

async fn attach(needs: &Needs, id: &str) -> Result<Printed, Unfinished> {
    let failed = |why: String| Err(Unfinished::Failed(why));
    let mut events = pin!(needs.runner.attach(id, 1).await?);
    let mut outcome = failed("the command said nothing of how it ended".to_owned());
    while let Some(event) = events.next().await {
        match event?.kind {
            Kind::ToolResult(result) => {
                outcome = Printed::read(&result.output).ok_or_else(|| {
                    let why = result.error.map(|error| error.message);
                    Unfinished::Failed(why.unwrap_or(result.output))
                });
            }
            Kind::Done(_) => return outcome,
            Kind::Failed(end) => return failed(end.message),
            Kind::Aborted { reason, .. } => return failed(format!("aborted: {reason}")),
            _ => {}
        }
    }
    Err(CallError::cut_off().into())
}

/// The id of the turn: a UUID as those of messages are.
fn turn_id(name: &str) -> String {
    let bytes = fingerprint(name);
    uuid::Builder::from_random_bytes(bytes)
        .into_uuid()
        .to_string()
}

/// Why a command was stopped, in words for whoever has the job: what stopped it is the
/// job's, not the agent's.
fn of_command(why: &str, command: &Command) -> String {
    let silence = match command.silent_seconds() {
        Some(_) => "the job's payload.noOutputTimeoutSeconds (cron edit --no-output-timeout SPAN)",
        None => "the job's payload.timeoutSeconds (cron edit --timeout SPAN)",
    };
    let time = "the job's payload.timeoutSeconds (cron edit --timeout SPAN)";
    let why = why
        .replace("the turn was stopped", "the command was stopped")
        .replace("the agent said nothing", "it printed nothing");
    let why = limit::renamed(&why, "noOutputSeconds", silence);
    limit::renamed(&why, "timeoutSeconds", time)
}

/// What people are told of what a command printed, at most `limit` bytes of it.
pub(crate) fn told(printed: &Printed, limit: Option<usize>) -> String {
    let text = printed.text();
    let limit = limit.unwrap_or(usize::MAX);
    let end = (0..=limit.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    text[..end.unwrap_or(0)].to_owned()
}

#[cfg(test)]
mod tests {
    use openclaw_proto::event::limit_of_session;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn turn_id_follows_from_the_run() {
        let one = turn_id("cron:j:1 command");
        assert_eq!(one, turn_id("cron:j:1 command"));
        assert_ne!(one, turn_id("cron:j:2 command"));
        // Its version is not that of summaries, which a gateway throws away.
        assert_eq!(Uuid::parse_str(&one).unwrap().get_version_num(), 4);
    }

    #[test]
    fn script_of_command_names_what_the_job_says() {
        let command = |fields: serde_json::Value| {
            let mut fields = fields;
            fields["argv"] = json!(["x"]);
            serde_json::from_value::<Command>(fields).unwrap()
        };
        let silent = command(json!({"noOutputTimeoutSeconds": 2}));
        let why = "the turn was stopped: the agent said nothing for 2s; raise \
                   agents.defaults.noOutputSeconds";
        assert_eq!(
            of_command(why, &silent),
            "the command was stopped: it printed nothing for 2s; raise the job's \
             payload.noOutputTimeoutSeconds (cron edit --no-output-timeout SPAN)"
        );
        let session = limit_of_session("noOutputSeconds");
        let own = why.replace("agents.defaults.noOutputSeconds", &session);
        assert_eq!(of_command(&own, &silent), of_command(why, &silent));
        let said = of_command(why, &command(json!({"timeoutSeconds": 2})));
        assert!(said.contains("payload.timeoutSeconds"), "{said}");
    }

    #[test]
    fn told_is_cut_between_characters() {
        let printed = Printed {
            end: "0".to_owned(),
            stdout: "grün".to_owned(),
            stderr: String::new(),
        };
        assert_eq!(told(&printed, None), "grün");
        assert_eq!(told(&printed, Some(3)), "gr");
        assert_eq!(told(&printed, Some(4)), "grü");
    }
}
