//! The servers as a turn's process has them: what they offer, by the turn's
//! policy, and calls of their tools.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use openclaw_handoff::servers::Pace;
use openclaw_tools::{Policy, ToolDefinition};
use openclaw_turn::Offer;
use serde_json::{Map, Value};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use tokio_util::codec::{FramedRead, LinesCodec};
use tokio_util::task::AbortOnDropHandle;

use super::line::{Call, CallFailure, CallResult, LINE_BYTES, PoolMessage};
use super::offered::State;
use super::output::Output;

/// The longest a turn waits for what its servers offer. They say themselves
/// when they are not to be waited for; this is for a pool that says nothing.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);

/// What is said where there is no way to the servers any more.
const GONE: &str = "the process of the MCP servers has ended";

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No server has a tool of that name, or the policy has taken it away.
    #[error("the server has no such tool")]
    Unknown,
    /// What it is called with is no object.
    #[error("the arguments are no object")]
    Arguments,
    /// Nothing came in time.
    #[error("the server did not answer within {0:?}; calls fail at once for a while")]
    TooSlow(Duration),
    /// There is no server, or no more.
    #[error("the server did not answer: {0}")]
    Gone(String),
    /// Its own words.
    #[error("{}", .0.text)]
    Tool(Output),
}

/// The servers of a turn.
#[derive(Debug)]
pub struct Servers {
    state: watch::Receiver<Option<State>>,
    writer: tokio::sync::Mutex<Option<OwnedWriteHalf>>,
    waiting: Waiting,
    next_id: AtomicU64,
    _reading: Option<AbortOnDropHandle<()>>,
}

/// Calls that wait for their answers, by id.
type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<CallResult>>>>;

impl Servers {
    /// Without any.
    pub fn none() -> Self {
        let (_, state) = watch::channel(Some(State::default()));
        Self {
            state,
            writer: tokio::sync::Mutex::default(),
            waiting: Waiting::default(),
            next_id: AtomicU64::default(),
            _reading: None,
        }
    }

    /// As [`Servers::connect`].
    pub fn at(connection: OwnedFd, policy: Policy, patience: Pace) -> io::Result<Self> {
        let stream = std::os::unix::net::UnixStream::from(connection);
        stream.set_nonblocking(true)?;
        let stream = UnixStream::from_std(stream)?;
        Ok(Self::connect(stream, policy, patience))
    }

    /// Those at the other end, of whose tools `policy` decides. Those that are
    /// no slower than `patience` are waited for.
    pub fn connect(connection: UnixStream, policy: Policy, patience: Pace) -> Self {
        let (reader, writer) = connection.into_split();
        let (known, state) = watch::channel(None);
        let waiting = Waiting::default();
        let reading = read(reader, known, (policy, patience), Arc::clone(&waiting));
        Self {
            state,
            writer: tokio::sync::Mutex::new(Some(writer)),
            waiting,
            next_id: AtomicU64::default(),
            _reading: Some(AbortOnDropHandle::new(tokio::spawn(reading))),
        }
    }

    /// Returns when no server is waited for any more.
    pub async fn settled(&self) {
        let mut state = self.state.clone();
        let is_settled = |state: &Option<State>| state.as_ref().is_some_and(|it| !it.is_awaited);
        let settled = timeout(SETTLE_LIMIT, state.wait_for(is_settled)).await;
        if settled.is_err() {
            tracing::warn!("the MCP servers are not waited for any longer");
        }
    }

    /// Changes of what there is, from now on.
    pub fn changes(&self) -> Changes {
        let mut state = self.state.clone();
        state.mark_unchanged();
        Changes(state)
    }

    /// `offer` with their tools.
    pub fn added_to(&self, offer: &Offer) -> Offer {
        Offer {
            host_tools: self.definitions(),
            alone: self.alone(),
            instructions: self.instructions(),
            ..offer.clone()
        }
    }

    /// Tokens that what they offer takes of each request to a model at most; `None`: they
    /// have not all told it.
    pub fn tokens(&self) -> Option<u64> {
        self.look(State::tokens)
    }

    /// What models are told of their tools.
    pub(crate) fn definitions(&self) -> Vec<ToolDefinition> {
        self.look(|state| state.definitions.clone())
    }

    /// What they say of how they are to be used.
    pub fn instructions(&self) -> String {
        self.look(|state| state.instructions.clone())
    }

    /// Those of their tools that run alone.
    pub fn alone(&self) -> Vec<String> {
        self.look(|state| state.alone().cloned().collect())
    }

    /// What the user is to know of them.
    pub fn notes(&self) -> Vec<String> {
        self.look(|state| state.notes.clone())
    }

    /// Whether a server has the tool `name`.
    pub fn has(&self, name: &str) -> bool {
        self.look(|state| state.tools.contains_key(name))
    }

    /// The server of the tool `name` and what that may reach, in words; empty: there is none.
    pub fn reach(&self, name: &str) -> String {
        let of = |tool: &super::offered::Offered| match tool.reach.as_str() {
            "" => format!(
                "server {}, of which it is not known what it reaches",
                tool.server
            ),
            reach => format!("server {}: {reach}", tool.server),
        };
        self.look(|state| state.tools.get(name).map(of).unwrap_or_default())
    }

    /// Whether a server that is believed says of the tool that it only reads.
    pub fn only_reads(&self, name: &str) -> bool {
        self.look(|state| state.tools.get(name).is_some_and(|tool| tool.only_reads))
    }

    fn look<T: Default>(&self, of: impl FnOnce(&State) -> T) -> T {
        self.state.borrow().as_ref().map(of).unwrap_or_default()
    }

    /// Why `name`, which would be the tool of a server, is not there: its server
    /// does not run.
    pub fn absence(&self, name: &str) -> Option<String> {
        self.look(|state| state.absence(name))
    }

    /// Whether a call of the tool `name` would be made now: its server runs and
    /// does not leave calls unanswered.
    pub async fn would_answer(&self, name: &str) -> Result<(), CallError> {
        self.ask(name, Value::Null, true).await.map(|_| ())
    }

    /// Calls the tool `name`; what it said.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Output, CallError> {
        self.ask(name, arguments, false).await
    }

    async fn ask(
        &self,
        name: &str,
        arguments: Value,
        is_question: bool,
    ) -> Result<Output, CallError> {
        let tool = self.look(|state| state.tools.get(name).cloned());
        let tool = tool.ok_or(CallError::Unknown)?;
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            Value::Null => Map::new(),
            _ => return Err(CallError::Arguments),
        };
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let call = Call {
            id,
            server: tool.server,
            tool: tool.name,
            arguments,
            is_question,
        };
        let (answer, answered) = oneshot::channel();
        lock(&self.waiting).insert(id, answer);
        let _forgotten = Forgotten(&self.waiting, id);
        let gone = || CallError::Gone(GONE.to_owned());
        self.send(&call).await.ok_or_else(gone)?;
        match answered.await.map_err(|_| gone())? {
            Ok(output) => Ok(output),
            Err(CallFailure::TooSlow(limit)) => {
                Err(CallError::TooSlow(Duration::from_millis(limit)))
            }
            Err(CallFailure::Gone(why)) => Err(CallError::Gone(why)),
            Err(CallFailure::Tool(output)) => Err(CallError::Tool(output)),
        }
    }

    async fn send(&self, call: &Call) -> Option<()> {
        let mut line = serde_json::to_vec(call).ok()?;
        line.push(b'\n');
        let mut place = self.writer.lock().await;
        // Taken out: a call that is dropped half way leaves half a line, after
        // which nothing can be said any more.
        let mut writer = place.take()?;
        writer.write_all(&line).await.ok()?;
        *place = Some(writer);
        Some(())
    }
}

/// What there is changes.
#[derive(Debug, Clone)]
pub struct Changes(watch::Receiver<Option<State>>);

impl Changes {
    /// Whether there was one since this was last asked.
    pub fn take(&mut self) -> bool {
        let is_changed = self.0.has_changed().unwrap_or(false);
        self.0.mark_unchanged();
        is_changed
    }

    /// Waits for the next one; without an end when there will be none.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nobody waits for the answer any more.
struct Forgotten<'a>(&'a Waiting, u64);

impl Drop for Forgotten<'_> {
    fn drop(&mut self) {
        lock(self.0).remove(&self.1);
    }
}

/// Keeps what the servers offer, and hands answers to those who wait.
async fn read(
    reader: OwnedReadHalf,
    known: watch::Sender<Option<State>>,
    (policy, patience): (Policy, Pace),
    waiting: Waiting,
) {
    let mut lines = FramedRead::new(reader, LinesCodec::new_with_max_length(LINE_BYTES));
    while let Some(Ok(line)) = lines.next().await {
        match serde_json::from_str(&line) {
            Ok(PoolMessage::Servers(servers)) => {
                known.send_replace(Some(State::of(&servers, &policy, patience)));
            }
            Ok(PoolMessage::Answer { id, result }) => {
                if let Some(caller) = lock(&waiting).remove(&id) {
                    // Who does not wait any more needs no answer.
                    let _ = caller.send(result);
                }
            }
            Err(error) => {
                openclaw_daemon::failure::report("read what the MCP servers say", &error);
                break;
            }
        }
    }
    // Everybody who waits hears of the break by this.
    lock(&waiting).clear();
    known.send_if_modified(|state| {
        let state = state.get_or_insert_default();
        state.is_awaited = false;
        state.notes.push(GONE.to_owned());
        true
    });
}
