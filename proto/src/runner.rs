//! The agent-runner, seen from its clients.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio_stream::{Stream, StreamExt as _};

use crate::address::{self, Channel};
use crate::approval::{Decision, GrantedCommand, Terms};
use crate::call::CallError;
use crate::event::{Event, Resources};
use crate::history::Message;
use crate::invalid::Invalid;
use crate::wire::runner as wire;
use wire::agent_runner_client::AgentRunnerClient;

/// What a turn is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// A message is answered.
    #[default]
    Message,
    /// A conversation is summarised: the agent has no tool but the one that
    /// writes notes.
    Summary,
    /// A command runs in the agent's sandbox, and no model is asked. The text is
    /// the arguments of the tool that runs commands, a JSON object.
    Command,
}

/// A turn to be run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    /// Names the run everywhere: ledger, journal, transcript.
    pub run_id: String,
    /// Canonical session key.
    pub session_key: String,
    /// The session's id.
    pub session_id: String,
    /// The agent.
    pub agent_id: String,
    /// Where the message came from.
    pub channel: String,
    /// What the user said.
    pub text: String,
    /// Bootstrap files in their order.
    pub bootstrap: Vec<ContextFile>,
    /// What memory found for the message.
    pub passages: Vec<Passage>,
    /// The conversation before the message.
    pub history: Vec<Message>,
    /// The sessions that backends of earlier turns keep themselves.
    pub backend_sessions: Vec<BackendSession>,
    /// When the message came, in Unix milliseconds; 0: not known.
    pub received_ms: i64,
    /// What the user should know from the start; the turn's first events.
    pub notes: Vec<String>,
    /// Commands of the agent that somebody allowed for good.
    pub granted_commands: Vec<GrantedCommand>,
    /// `provider/model` that the session wants instead of the agent's.
    pub model: Option<String>,
    /// How much the session wants the model to think.
    pub thinking_level: Option<String>,
    /// What it is for.
    pub purpose: Purpose,
    /// Limits that the session has instead of its agent's, a JSON object;
    /// empty: none.
    pub limits: String,
    /// The auth profile that the session chose.
    pub auth_profile: Option<AuthProfile>,
    /// Of a command: how confined it ran when it was given. Where it would be less so now,
    /// it is not run.
    pub command_terms: Option<Terms>,
}

/// The auth profile that a session chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthProfile {
    /// Its id.
    pub id: String,
    /// Nothing else is used for its provider; else it is used first.
    pub is_only: bool,
}

/// A turn that was taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Started {
    /// claude-cli, codex-cli, native or offline; empty when it is not known.
    pub backend: String,
    /// The model's provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The run id under which a process stands ready for the agent's next
    /// turn; a run that is given this id starts faster. Empty: there is none.
    pub next_run_id: String,
    /// Whether that process is for the next turn of this session alone.
    pub next_run_is_sessions: bool,
    /// Of a command: how confined it runs.
    pub terms: Option<Terms>,
}

/// A bootstrap file, cut to its budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextFile {
    /// The file's name.
    pub name: String,
    /// Its text.
    pub content: String,
}

/// A search hit of the memory daemon.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Passage {
    /// Relative to the workspace.
    pub path: String,
    /// First line, counted from 1.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
    /// The search's score.
    pub score: f64,
    /// The passage.
    pub snippet: String,
    /// What it is, and who said it: `note`, `user`, `assistant` or a name.
    pub role: String,
    /// Unix milliseconds.
    pub timestamp_ms: i64,
    /// What it stands under, outermost first.
    pub context: Vec<String>,
    /// The sentences of it that answer.
    pub answer: String,
    /// Whether the conversation has it already: it is for an answer of memory alone,
    /// which reads no conversation.
    pub held: bool,
}

/// How a turn is ended.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    /// Why, for whoever reads it.
    pub reason: &'a str,
    /// It is killed with everything in it when it does not end by itself in half
    /// a second, and the answer comes when it is gone.
    pub at_once: bool,
}

/// When the gateway is to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alarm {
    /// In Unix milliseconds.
    pub at_ms: i64,
    /// When a machine that sleeps is woken, in Unix milliseconds: then, or later.
    pub wake_at_ms: Option<i64>,
}

impl Alarm {
    /// The time that a request names, if it names one.
    pub fn of(request: &wire::ArmTimerRequest) -> Option<Self> {
        (request.at_ms > 0).then_some(Self {
            at_ms: request.at_ms,
            wake_at_ms: Some(request.wake_at_ms).filter(|at_ms| *at_ms > 0),
        })
    }
}

/// What came of that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Armed {
    /// There is a service manager that does it.
    pub is_armed: bool,
    /// It may wake the machine.
    pub wakes_system: bool,
}

impl From<Armed> for wire::ArmTimerResponse {
    fn from(armed: Armed) -> Self {
        Self {
            is_armed: armed.is_armed,
            wakes_system: armed.wakes_system,
        }
    }
}

/// A session that a backend keeps itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendSession {
    /// The backend.
    pub backend: String,
    /// Its name for the session.
    pub id: String,
    /// How many of the last history messages it has not seen.
    pub unseen: u32,
}

/// A client of the agent-runner. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(AgentRunnerClient<Channel>);

impl Client {
    /// A client of the daemon at `socket`; it connects on first use.
    pub fn new(socket: PathBuf) -> Self {
        Self(
            AgentRunnerClient::new(address::channel(socket))
                .max_decoding_message_size(crate::MESSAGE_LIMIT)
                .max_encoding_message_size(crate::MESSAGE_LIMIT),
        )
    }

    /// Starts a turn and returns what answers it.
    pub async fn start_turn(&self, turn: Turn) -> Result<Started, CallError> {
        let request: wire::StartTurnRequest = turn.into();
        let response = self.0.clone().start_turn(request).await?.into_inner();
        Ok(Started {
            backend: response.backend,
            provider: response.provider,
            model: response.model,
            next_run_id: response.next_run_id,
            next_run_is_sessions: response.next_run_is_sessions,
            terms: response.terms.map(Into::into),
        })
    }

    /// Says that the turn's events are durable: its spool may go.
    pub async fn close_turn(&self, run_id: &str) -> Result<(), CallError> {
        let request = wire::CloseTurnRequest {
            run_id: run_id.to_owned(),
        };
        self.0.clone().close_turn(request).await?;
        Ok(())
    }

    /// Keeps a message, which began as the run `message_run_id`, for the turn
    /// `run_id`, which may take it while it goes on.
    pub async fn steer_turn(
        &self,
        run_id: &str,
        message_run_id: &str,
        text: &str,
    ) -> Result<(), CallError> {
        let request = wire::SteerTurnRequest {
            run_id: run_id.to_owned(),
            message_run_id: message_run_id.to_owned(),
            text: text.to_owned(),
        };
        self.0.clone().steer_turn(request).await?;
        Ok(())
    }

    /// The run ids of the turns that were begun and not closed.
    pub async fn kept_turns(&self) -> Result<Vec<String>, CallError> {
        let request = wire::KeptTurnsRequest {};
        let response = self.0.clone().kept_turns(request).await?;
        Ok(response.into_inner().run_ids)
    }

    /// The turn's events from `from_seq` on, the terminal one last.
    pub async fn attach(
        &self,
        run_id: &str,
        from_seq: u64,
    ) -> Result<impl Stream<Item = Result<Event, CallError>> + Send + use<>, CallError> {
        let request = wire::AttachRequest {
            run_id: run_id.to_owned(),
            from_seq,
        };
        let stream = self.0.clone().attach(request).await?.into_inner();
        Ok(stream.map(|event| Event::try_from(event?).map_err(CallError::from)))
    }

    /// Ends the turn's whole process tree; false when it had ended already.
    pub async fn cancel_turn(&self, run_id: &str, end: End<'_>) -> Result<bool, CallError> {
        let request = wire::CancelTurnRequest {
            run_id: run_id.to_owned(),
            reason: end.reason.to_owned(),
            at_once: end.at_once,
        };
        let response = self.0.clone().cancel_turn(request).await?;
        Ok(response.into_inner().cancelled)
    }

    /// Decides about a call that waits in a turn; `by` names who does, and `key` the
    /// decision, which is one however often it is told.
    pub async fn decide_approval(
        &self,
        run_id: &str,
        approval_id: &str,
        decision: Decision,
        (by, key): (&str, &str),
    ) -> Result<(), CallError> {
        let request = wire::DecideApprovalRequest {
            run_id: run_id.to_owned(),
            approval_id: approval_id.to_owned(),
            decision: decision.as_str().to_owned(),
            by: by.to_owned(),
            key: key.to_owned(),
        };
        self.0.clone().decide_approval(request).await?;
        Ok(())
    }

    /// The turns that run, by run id, with what they use right now.
    pub async fn list_turns(&self) -> Result<Vec<(String, Resources)>, CallError> {
        let response = self.0.clone().list_turns(wire::ListTurnsRequest {}).await?;
        let turns = response.into_inner().turns.into_iter();
        Ok(turns
            .map(|turn| (turn.run_id, turn.resources.unwrap_or_default().into()))
            .collect())
    }

    /// Makes the service manager start the gateway at `at_ms`, which replaces the
    /// time before; None: at none.
    pub async fn arm_timer(&self, alarm: Option<Alarm>) -> Result<Armed, CallError> {
        let request = wire::ArmTimerRequest {
            at_ms: alarm.map_or(0, |alarm| alarm.at_ms),
            wake_at_ms: alarm.and_then(|alarm| alarm.wake_at_ms).unwrap_or(0),
        };
        let armed = self.0.clone().arm_timer(request).await?.into_inner();
        Ok(Armed {
            is_armed: armed.is_armed,
            wakes_system: armed.wakes_system,
        })
    }

    /// Posts the JSON document `body` to `url`; `key` names it when it is posted
    /// once more.
    pub async fn post_webhook(&self, url: &str, body: &str, key: &str) -> Result<(), CallError> {
        let request = wire::PostWebhookRequest {
            url: url.to_owned(),
            body: body.to_owned(),
            key: key.to_owned(),
            only_judged: false,
        };
        self.0.clone().post_webhook(request).await?;
        Ok(())
    }

    /// Whether anything may be posted to `url`: an error that is a refusal for its
    /// argument says why not.
    pub async fn judge_webhook(&self, url: &str) -> Result<(), CallError> {
        let request = wire::PostWebhookRequest {
            url: url.to_owned(),
            only_judged: true,
            ..wire::PostWebhookRequest::default()
        };
        self.0.clone().post_webhook(request).await?;
        Ok(())
    }

    /// What the daemon says of itself.
    pub async fn status(&self) -> Result<wire::StatusResponse, CallError> {
        let response = self.0.clone().status(wire::StatusRequest {}).await?;
        Ok(response.into_inner())
    }
}

impl TryFrom<wire::StartTurnRequest> for Turn {
    type Error = Invalid;

    fn try_from(request: wire::StartTurnRequest) -> Result<Self, Invalid> {
        for (field, value) in [
            ("run_id", &request.run_id),
            ("session_key", &request.session_key),
            ("agent_id", &request.agent_id),
            ("text", &request.text),
        ] {
            if value.is_empty() {
                return Err(Invalid::missing("StartTurnRequest", field));
            }
        }
        let purpose = request.purpose().into();
        Ok(Self {
            run_id: request.run_id,
            session_key: request.session_key,
            session_id: request.session_id,
            agent_id: request.agent_id,
            channel: request.channel,
            text: request.text,
            bootstrap: request.bootstrap.into_iter().map(Into::into).collect(),
            passages: request.passages.into_iter().map(Into::into).collect(),
            history: request
                .history
                .into_iter()
                .map(Message::try_from)
                .collect::<Result<_, _>>()?,
            received_ms: request.received_ms,
            backend_sessions: request
                .backend_sessions
                .into_iter()
                .map(Into::into)
                .collect(),
            notes: request.notes,
            granted_commands: request
                .granted_commands
                .into_iter()
                .map(Into::into)
                .collect(),
            model: Some(request.model).filter(|model| !model.is_empty()),
            thinking_level: Some(request.thinking_level).filter(|level| !level.is_empty()),
            purpose,
            limits: request.limits,
            auth_profile: (!request.auth_profile.is_empty()).then_some(AuthProfile {
                id: request.auth_profile,
                is_only: request.auth_profile_only,
            }),
            command_terms: request.command_terms.map(Into::into),
        })
    }
}

impl From<Turn> for wire::StartTurnRequest {
    fn from(turn: Turn) -> Self {
        let profile = turn.auth_profile;
        Self {
            run_id: turn.run_id,
            session_key: turn.session_key,
            session_id: turn.session_id,
            agent_id: turn.agent_id,
            channel: turn.channel,
            text: turn.text,
            bootstrap: turn.bootstrap.into_iter().map(Into::into).collect(),
            passages: turn.passages.into_iter().map(Into::into).collect(),
            history: turn.history.into_iter().map(Into::into).collect(),
            backend_sessions: turn.backend_sessions.into_iter().map(Into::into).collect(),
            received_ms: turn.received_ms,
            notes: turn.notes,
            granted_commands: turn.granted_commands.into_iter().map(Into::into).collect(),
            model: turn.model.unwrap_or_default(),
            thinking_level: turn.thinking_level.unwrap_or_default(),
            purpose: wire::Purpose::from(turn.purpose).into(),
            limits: turn.limits,
            auth_profile_only: profile.as_ref().is_some_and(|it| it.is_only),
            auth_profile: profile.map(|it| it.id).unwrap_or_default(),
            command_terms: turn.command_terms.map(Into::into),
        }
    }
}

impl From<wire::Purpose> for Purpose {
    fn from(purpose: wire::Purpose) -> Self {
        match purpose {
            wire::Purpose::Unspecified => Self::Message,
            wire::Purpose::Summary => Self::Summary,
            wire::Purpose::Command => Self::Command,
        }
    }
}

impl From<Purpose> for wire::Purpose {
    fn from(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Message => Self::Unspecified,
            Purpose::Summary => Self::Summary,
            Purpose::Command => Self::Command,
        }
    }
}

impl From<wire::ContextFile> for ContextFile {
    fn from(file: wire::ContextFile) -> Self {
        Self {
            name: file.name,
            content: file.content,
        }
    }
}

impl From<ContextFile> for wire::ContextFile {
    fn from(file: ContextFile) -> Self {
        Self {
            name: file.name,
            content: file.content,
        }
    }
}

impl From<wire::Passage> for Passage {
    fn from(passage: wire::Passage) -> Self {
        Self {
            path: passage.path,
            start_line: passage.start_line,
            end_line: passage.end_line,
            score: passage.score,
            snippet: passage.snippet,
            role: passage.role,
            timestamp_ms: passage.timestamp_ms,
            context: passage.context,
            answer: passage.answer,
            held: passage.held,
        }
    }
}

impl From<Passage> for wire::Passage {
    fn from(passage: Passage) -> Self {
        Self {
            path: passage.path,
            start_line: passage.start_line,
            end_line: passage.end_line,
            score: passage.score,
            snippet: passage.snippet,
            role: passage.role,
            timestamp_ms: passage.timestamp_ms,
            context: passage.context,
            answer: passage.answer,
            held: passage.held,
        }
    }
}

impl From<wire::BackendSession> for BackendSession {
    fn from(session: wire::BackendSession) -> Self {
        Self {
            backend: session.backend,
            id: session.id,
            unseen: session.unseen,
        }
    }
}

impl From<BackendSession> for wire::BackendSession {
    fn from(session: BackendSession) -> Self {
        Self {
            backend: session.backend,
            id: session.id,
            unseen: session.unseen,
        }
    }
}
