//! Room in a conversation that has outgrown the prompt: what was said first
//! gives way to a summary (seed 002, `compact` and property 14).
//!
//! The memory daemon plans, because it counts tokens; the agent writes the
//! summary in a turn of its own, after it has saved what is worth keeping; the
//! gateway enters it into the transcript. The conversation itself stays there.

mod summary;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openclaw_conversations::Refusal;
use openclaw_conversations::auth_profile;
use openclaw_conversations::sessions::Sessions;
use openclaw_conversations::storage::SERVER_TOOL_TOKENS;
use openclaw_daemon::{Configuration, failure};
use openclaw_notable as notable;
use openclaw_prompt::Fixed;
use openclaw_proto::call::{CallError, RefusalCode};
use openclaw_proto::event::Usage;
use openclaw_proto::memory::{Compaction, Conversation};
use openclaw_proto::origin::Origin;
use openclaw_proto::runner::AuthProfile;
use openclaw_proto::{memory, runner};
use openclaw_sessions::SessionKey;
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long memory may take to plan: it counts the tokens of a whole transcript.
const PLAN_DEADLINE: Duration = Duration::from_secs(30);

/// Attempts at a summary; then the turn goes on without one (seed 002, errors).
const ATTEMPTS: u32 = 2;

/// After a provider found a prompt too long, one part in so many of the
/// conversation is kept: nobody said how much would have fitted.
const OVERFLOW_SHARE: u32 = 2;

/// The conversation of a session, and what may be sent of it.
#[derive(Debug)]
pub struct Room<'a> {
    /// Of the session.
    pub key: &'a SessionKey,
    /// The session's id, after which its transcript is called.
    pub session_id: &'a str,
    /// The run that needs the room; empty when a person asked for it.
    pub run_id: &'a str,
    /// All that may be sent to the model, in tokens.
    pub tokens: u64,
    /// The part of it that is not the conversation.
    pub reserved: u64,
    /// Runs whose messages are not part of the conversation yet.
    pub waiting: &'a HashSet<String>,
    /// `provider/model` of the session, when it has one of its own.
    pub model: Option<&'a str>,
    /// The auth profile that it chose.
    pub auth_profile: Option<AuthProfile>,
}

/// The use of the model for summaries, failed ones included.
#[derive(Debug, Default)]
pub struct Spent {
    /// US dollars; 0 when nobody knows.
    pub cost_usd: f64,
    /// Tokens.
    pub usage: Usage,
}

/// The outcome.
#[derive(Debug)]
pub enum Made {
    /// Older messages are told by a summary now.
    Summarised,
    /// Nothing has to give way.
    Fits,
    /// There is no summary; why, for the user.
    Failed(String),
    /// The run was ended meanwhile.
    Cancelled,
}

/// Why there is no summary.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("memory did not plan it ({0})")]
    Plan(CallError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("the agent-runner did not take it ({0})")]
    Start(CallError),
    #[error("the agent-runner was lost over it ({0})")]
    Lost(CallError),
    #[error("{0}")]
    Turn(String),
    #[error("it took longer than {0:?}")]
    Late(Duration),
    #[error("the summary is empty")]
    Empty,
    #[error("the run was ended")]
    Cancelled,
}

impl Error {
    /// Whether nobody is there who could write one, which is not a fault.
    fn is_no_model(&self) -> bool {
        matches!(self, Self::Start(error) if error.is_refused(RefusalCode::FailedPrecondition))
    }

    /// Whether asking again may help.
    fn is_passing(&self) -> bool {
        match self {
            Self::Plan(_) | Self::Refused(_) | Self::Cancelled => false,
            Self::Start(_) => !self.is_no_model(),
            Self::Lost(_) | Self::Turn(_) | Self::Late(_) | Self::Empty => true,
        }
    }
}

/// Makes room in conversations. Cheap to clone.
#[derive(Clone)]
pub struct Compactor {
    configuration: Configuration,
    sessions: Sessions,
    memory: memory::Client,
    runner: runner::Client,
    /// The gateway's own turns, which write summaries.
    own: Arc<Mutex<HashSet<String>>>,
}

impl Compactor {
    /// One that asks memory for plans and the runner for summaries.
    pub fn new(
        configuration: Configuration,
        sessions: Sessions,
        memory: memory::Client,
        runner: runner::Client,
    ) -> Self {
        Self {
            configuration,
            sessions,
            memory,
            runner,
            own: Arc::default(),
        }
    }

    /// Makes room when there is too little, and adds its use to `spent`.
    pub async fn make_room(
        &self,
        room: &Room<'_>,
        cancel: &CancellationToken,
        spent: &mut Spent,
    ) -> Made {
        let planned = match self.plan(room, number(room.tokens)).await {
            Ok(planned) => planned,
            Err(error) => return failed(&error),
        };
        self.carry_out(room, planned, cancel, spent).await
    }

    /// Makes room after a provider has refused the prompt: how much it takes is not
    /// known, only that this was too much.
    pub async fn make_more_room(
        &self,
        room: &Room<'_>,
        cancel: &CancellationToken,
        spent: &mut Spent,
    ) -> Made {
        let planned = async {
            let whole = self.plan(room, u32::MAX).await?;
            let reserved = number(room.reserved);
            let said = whole.tokens_before.saturating_sub(reserved);
            self.plan(room, reserved + said / OVERFLOW_SHARE).await
        };
        match planned.await {
            Ok(planned) => self.carry_out(room, planned, cancel, spent).await,
            Err(error) => failed(&error),
        }
    }

    /// Puts a summary in the place of all but the newest `keep` messages of a
    /// session in which nobody works, because somebody asked for it.
    pub async fn on_request(
        &self,
        key: &SessionKey,
        keep: u32,
        cancel: &CancellationToken,
    ) -> Result<Made, Refusal> {
        let shown = self.sessions.get(key).await?;
        let session = shown.session;
        if session.message_count == 0 {
            // It may have no transcript yet.
            return Ok(Made::Fits);
        }
        let settings = self.configuration.settings();
        let own = Some(session.model_override.as_str()).filter(|model| !model.is_empty());
        let model = own.or_else(|| settings.model_of(key.agent().as_str()));
        let agent = settings.agent(key.agent().as_str());
        let fixed = agent.map_or(0, |agent| Fixed::of(agent, &[]).tokens());
        let of_servers = shown.entry.get(SERVER_TOOL_TOKENS).and_then(Value::as_u64);
        let reserved = fixed as u64 + of_servers.unwrap_or_default();
        let room = Room {
            key,
            session_id: &session.id,
            run_id: "",
            tokens: settings.context_tokens(model),
            reserved,
            waiting: &HashSet::new(),
            model: own,
            auth_profile: auth_profile::chosen(|name| shown.entry.get(name).cloned()),
        };
        let planned = match self
            .ask_for_plan(&room, number(room.tokens), Some(keep))
            .await
        {
            Ok(planned) => planned,
            Err(error) => return Ok(failed(&error)),
        };
        // It is in no run's bill; the runner counts it into the agent's day.
        let mut spent = Spent::default();
        Ok(self.carry_out(&room, planned, cancel, &mut spent).await)
    }

    async fn plan(&self, room: &Room<'_>, max_tokens: u32) -> Result<Compaction, Error> {
        self.ask_for_plan(room, max_tokens, None).await
    }

    async fn ask_for_plan(
        &self,
        room: &Room<'_>,
        max_tokens: u32,
        keep_messages: Option<u32>,
    ) -> Result<Compaction, Error> {
        let origin = Origin {
            run_id: room.run_id.to_owned(),
            session_key: room.key.to_string(),
        };
        let conversation = Conversation {
            agent_id: room.key.agent().to_string(),
            session_id: room.session_id.to_owned(),
            max_tokens,
            reserved_tokens: number(room.reserved),
            waiting_run_ids: room.waiting.iter().cloned().collect(),
            keep_messages,
        };
        let planning = self.memory.compact(&origin, conversation);
        let planned = timeout(PLAN_DEADLINE, planning).await;
        planned
            .map_err(|_| Error::Late(PLAN_DEADLINE))?
            .map_err(Error::Plan)
    }

    async fn carry_out(
        &self,
        room: &Room<'_>,
        planned: Compaction,
        cancel: &CancellationToken,
        spent: &mut Spent,
    ) -> Made {
        if planned.fits {
            return Made::Fits;
        }
        if planned.summarise.is_empty() {
            // One message alone is too long; the prompt has it shortened.
            return Made::Failed("a single message is longer than that".to_owned());
        }
        let mut attempt = 1;
        loop {
            match self.summarise(room, &planned, cancel, spent).await {
                Ok(()) => return Made::Summarised,
                Err(Error::Cancelled) => return Made::Cancelled,
                Err(error) if attempt < ATTEMPTS && error.is_passing() => {
                    tracing::warn!(error = %failure::chain(&error), "no summary, asking once more");
                    attempt += 1;
                }
                Err(error) => return failed(&error),
            }
        }
    }

    async fn summarise(
        &self,
        room: &Room<'_>,
        planned: &Compaction,
        cancel: &CancellationToken,
        spent: &mut Spent,
    ) -> Result<(), Error> {
        let compacting = self.sessions.begin_compaction(room.key)?;
        let text = self.write(room, planned, cancel, spent).await?;
        let first_kept = planned.first_kept_entry_id.clone();
        let before = u64::from(planned.tokens_before);
        self.sessions
            .compact_before(&compacting, text, first_kept, before)
            .await?;
        notable::summarised(planned);
        Ok(())
    }
}

fn failed(error: &Error) -> Made {
    if error.is_no_model() {
        tracing::info!(error = %failure::chain(error), "no summary of the conversation")
    } else {
        failure::report("summarise the conversation", error)
    }
    Made::Failed(failure::chain(error))
}

fn number(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
