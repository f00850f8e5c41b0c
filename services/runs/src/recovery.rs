//! Runs that the last gateway left open.

use std::path::Path;
use std::sync::Arc;

use openclaw_commands::Sender;
use openclaw_conversations::storage::{
    ChannelReply, Closing, Fault, Intent, Record, Storage, StoredRun, TurnOptions, replay,
};
use openclaw_conversations::{Lanes, Ticket};
use openclaw_daemon::failure;
use openclaw_proto::event::{Code, Done, Event, Failed, Kind};
use openclaw_proto::gateway::Message as Sent;
use openclaw_proto::runner;
use openclaw_sessions::transcript::{self, AssistantMessage, Content, Message, StopReason, Usage};
use openclaw_sessions::{Error, SessionKey, now_ms, silence};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::command;
use crate::reply_text::{self, Author};
use crate::run::{MessageStatus, Registry, Run};
use crate::submission::Submitter;
use crate::turn::{Extra, Left, Turns, interrupted, of_backup};
use openclaw_compaction::Compactor;
use openclaw_kept_turns as kept;

/// Takes up what the last gateway left.
#[derive(Clone)]
pub(crate) struct Recovery {
    pub(crate) storage: Storage,
    pub(crate) runner: runner::Client,
    pub(crate) lanes: Lanes,
    pub(crate) runs: Registry,
    pub(crate) compactor: Compactor,
    pub(crate) turns: Arc<Turns>,
    pub(crate) submitter: Submitter,
    pub(crate) tasks: TaskTracker,
}

impl Recovery {
    /// Takes up the runs of `records`: a run whose reply is in the transcript had
    /// only not been closed, the others go on. A turn that the runner has never
    /// heard of is started now, unless the machine was started since: then it may
    /// have run, and whatever it did must not be done twice unasked.
    pub(crate) async fn take_up(&self, records: Vec<Record>) {
        // A turn is asked with nothing that waits behind it: none begins before all wait that do.
        let all_wait = CancellationToken::new();
        let _begin = all_wait.clone().drop_guard();
        for record in records {
            let run_id = record.run_id.clone();
            match self.one(record, &all_wait).await {
                Ok(true) => {}
                Ok(false) => {
                    let runner = self.runner.clone();
                    self.tasks
                        .spawn(async move { kept::close(&runner, &run_id).await });
                }
                Err(fault) => failure::report("take up an open run", &fault),
            }
        }
        let closing = self.clone();
        self.tasks.spawn(async move { closing.close_ended().await });
    }

    /// Lets the runner forget the turns that the last gateway saw to their end but
    /// could not say so.
    async fn close_ended(&self) {
        for run_id in kept::all(&self.runner).await {
            if self.compactor.is_left(&run_id) {
                kept::end(&self.runner, &run_id).await;
                continue;
            }
            let found = self.storage.find(&run_id).await;
            if let Ok(Some(found)) = found
                && found.record.ended_ms.is_some()
            {
                // One whose run was stopped may go on to this day.
                kept::stop(&self.runner, &run_id, "the run has ended").await;
                kept::close(&self.runner, &run_id).await;
            }
        }
    }

    /// True when the run goes on, which is when `all_wait`.
    async fn one(&self, record: Record, all_wait: &CancellationToken) -> Result<bool, Fault> {
        let Some(key) = key_of(&record) else {
            return Ok(false);
        };
        let found = self.storage.find(&record.run_id).await?;
        let Some(StoredRun {
            transcript,
            overrides,
            options,
            ..
        }) = found
        else {
            return Ok(false);
        };
        let known = known(&transcript, &record.run_id)?;
        let run = Run::new(
            record.run_id.clone(),
            key.clone(),
            record.channel.clone(),
            record.route.clone(),
            record.idempotency_key.clone(),
        );
        if self.storage.is_from_backup(&record) {
            self.leave_to_original(record, key, known).await?;
            return Ok(false);
        }
        if let Some((name, _)) = &known.command {
            run.set_command(name);
        }
        if let Some(outcome) = known.outcome {
            self.close_known(record, &run, outcome, &transcript).await?;
            return Ok(false);
        }
        self.runs.start(&run);
        if let Some((_, text)) = known.command {
            self.carry_out(run, &record, text);
            return Ok(true);
        }
        let Ok(ticket) = self.lanes.enter(&key, &record.run_id) else {
            self.give_up(record, key, &run).await?;
            return Ok(false);
        };
        let may_start = record.state == "accepted" || is_of_this_boot(record.created_ms);
        let said = known.said.filter(|_| may_start && options.is_some());
        let left = Left {
            accepted_ms: record.created_ms,
            accepted: record.accepted(),
            transcript,
            said,
            entries: known.entries,
            overrides,
            options: options.unwrap_or_default(),
        };
        self.resume(run, left, ticket, all_wait.clone());
        Ok(true)
    }

    /// Goes on with a run when `all_wait` that do.
    fn resume(&self, run: Arc<Run>, left: Left, ticket: Ticket, all_wait: CancellationToken) {
        run.span
            .in_scope(|| tracing::info!("the gateway was started again; the run goes on"));
        let span = run.span.clone();
        let (turns, submitter) = (Arc::clone(&self.turns), self.submitter.clone());
        let resume = async move {
            all_wait.cancelled().await;
            if let Some((message, options)) = turns.resume(run, left, ticket).await {
                go_on(&submitter, message, options);
            }
        };
        self.tasks.spawn(resume.instrument(span));
    }

    /// Ends a run for which its session's lane has no place.
    async fn give_up(&self, record: Record, key: SessionKey, run: &Arc<Run>) -> Result<(), Fault> {
        self.runs.end(run);
        let outcome = interrupted();
        let messages = vec![notice(&record.run_id, &outcome)];
        let reply = reply_text::on_channel(run, &outcome, String::new(), Author::Gateway).await;
        self.close(record, key, outcome, messages, reply).await
    }

    /// Closes a run whose end is in its transcript already.
    async fn close_known(
        &self,
        mut record: Record,
        run: &Run,
        outcome: Kind,
        transcript: &Path,
    ) -> Result<(), Fault> {
        record.outcome = Some(outcome.clone());
        let text = said(&replay(transcript, &record)?);
        let settings = self.turns.configuration.settings();
        let agent = settings.agent(run.key.agent().as_str());
        let author = match run.command() {
            Some(_) => Author::Gateway,
            None => Author::Agent(&self.turns.runner, agent),
        };
        let reply = reply_text::on_channel(run, &outcome, text.clone(), author).await;
        let outcome = silenced(outcome, &text);
        let key = run.key.clone();
        self.close(record, key, outcome, Vec::new(), reply).await
    }

    /// Ends a run that came with a backup. The suite that was backed up has gone on
    /// with it, and has said on its channel what there was to say.
    async fn leave_to_original(
        &self,
        record: Record,
        key: SessionKey,
        known: Known,
    ) -> Result<(), Fault> {
        let (outcome, messages) = match known.outcome {
            Some(outcome) => (outcome, Vec::new()),
            None => {
                let outcome = of_backup();
                let messages = vec![notice(&record.run_id, &outcome)];
                (outcome, messages)
            }
        };
        self.close(record, key, outcome, messages, None).await
    }

    /// Carries out a command that the last gateway had not answered.
    fn carry_out(&self, run: Arc<Run>, record: &Record, text: String) {
        run.settle(MessageStatus::Accepted(record.accepted()));
        let commands = self.submitter.commands.clone();
        // Before the runs are taken up that came after it.
        commands.halt(&run);
        let span = run.span.clone();
        self.tasks.spawn(commands.go_on(run, text).instrument(span));
    }

    async fn close(
        &self,
        record: Record,
        key: SessionKey,
        outcome: Kind,
        messages: Vec<Message>,
        reply: Option<ChannelReply>,
    ) -> Result<(), Fault> {
        let closing = Closing {
            run_id: record.run_id,
            key,
            messages,
            outcome,
            usage: Usage::default(),
            context_tokens: 0,
            resources: None,
            reply,
            of_command: false,
        };
        self.storage.close(closing).await
    }
}

/// Sends the message that goes on with an interrupted run.
fn go_on(submitter: &Submitter, message: Sent, options: TurnOptions) {
    let extra = Extra {
        sender: Sender::program(),
        turn: options,
        ..Extra::default()
    };
    match submitter.submit(message, extra, None) {
        Ok(_) => tracing::info!("the interrupted run is gone on with, as session.interrupted says"),
        Err(refusal) => tracing::warn!(%refusal, "the interrupted run is not gone on with"),
    }
}

/// The state of a run by its transcript.
#[derive(Debug, Default)]
struct Known {
    said: Option<Intent>,
    /// The command that its message is, and its text.
    command: Option<(&'static str, String)>,
    entries: usize,
    outcome: Option<Kind>,
}

/// The outcome of a run that said `text`, of which nobody is told if it is the token of silence.
fn silenced(mut outcome: Kind, text: &str) -> Kind {
    if let Kind::Done(done) = &mut outcome
        && silence::is_silent(text)
    {
        silence::STOP_REASON.clone_into(&mut done.stop_reason);
    }
    outcome
}

/// All that a run said.
fn said(events: &[Event]) -> String {
    let texts = events.iter().filter_map(|event| match &event.kind {
        Kind::TextDelta { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Whether the machine has been up since then (`btime`, proc_stat(5)).
pub fn is_of_this_boot(at_ms: i64) -> bool {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let seconds = stat
        .lines()
        .find_map(|line| line.strip_prefix("btime ")?.trim().parse::<i64>().ok());
    seconds.is_some_and(|seconds| at_ms > seconds.saturating_mul(1000))
}

fn key_of(record: &Record) -> Option<SessionKey> {
    let agent = record.agent_id.parse().ok()?;
    SessionKey::stored(&record.session_key, &agent).ok()
}

fn known(path: &Path, run_id: &str) -> Result<Known, Error> {
    let mut known = Known::default();
    for entry in transcript::of_run(path, run_id)? {
        match &entry.message {
            Message::User(user) if entry.message.is_command() => {
                let name = entry.message.command().unwrap_or_default();
                known.said = Some(Intent::Reset);
                known.command = command::name(name).map(|name| (name, user.content.to_text()));
            }
            Message::User(user) => known.said = Some(Intent::Text(user.content.to_text())),
            message => {
                known.entries += 1;
                known.outcome = outcome_of(message);
            }
        }
    }
    Ok(known)
}

fn outcome_of(message: &Message) -> Option<Kind> {
    let Message::Assistant(assistant) = message else {
        return None;
    };
    let words = || assistant.error_message.clone().unwrap_or_default();
    match &assistant.stop_reason {
        StopReason::ToolUse | StopReason::Other(_) => None,
        StopReason::Stop | StopReason::Length => Some(Kind::Done(Done {
            stop_reason: match assistant.stop_reason {
                StopReason::Length => "length".to_owned(),
                _ => "stop".to_owned(),
            },
            provider: assistant.provider.clone(),
            model: assistant.model.clone(),
            ..Done::default()
        })),
        StopReason::Error => Some(Kind::Failed(Failed {
            code: Code::Interrupted,
            message: words(),
            retry_after_ms: None,
            backend_session: None,
            backend: String::new(),
        })),
        StopReason::Aborted => Some(Kind::Aborted {
            reason: words(),
            backend_session: None,
            backend: String::new(),
        }),
    }
}

/// The entry that says that a run was interrupted.
fn notice(run_id: &str, outcome: &Kind) -> Message {
    let message = match outcome {
        Kind::Failed(failed) => failed.message.clone(),
        _ => String::new(),
    };
    let mut notice = Message::Assistant(AssistantMessage {
        content: Content::Blocks(Vec::new()),
        stop_reason: StopReason::Error,
        error_message: Some(message),
        timestamp: now_ms(),
        ..AssistantMessage::default()
    });
    notice.set_run_id(run_id);
    notice
}
