//! The processes of servers of tools that the daemon keeps: one for each of the
//! latest sessions, so that servers stay up, with what they know, from message
//! to message. None is shared by two sessions, nor by two agents.

use std::collections::{BTreeMap, HashMap};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use openclaw_backends::places::{self, RunFolders};
use openclaw_daemon::{Configuration, failure};
use openclaw_handoff::order::Hello;
use openclaw_handoff::passed;
use openclaw_handoff::servers::{CONNECTION, Pace, Paces, Server, ServersOrder};
use openclaw_proto::runner::Turn;
use openclaw_sandbox::Level;
use openclaw_settings::{AgentSettings, RunnerSettings};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::codec::{FramedRead, LinesCodec};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::removal;
use crate::units::{self, UnitRef, Units};

mod plan;
mod python;

/// Sessions whose servers stay up: some of them take a hundred megabytes and more.
const MOST: usize = 4;

/// How long their process may take to say that it is there.
const HELLO_DEADLINE: Duration = Duration::from_secs(15);

/// Bytes of a line of theirs.
const LINE_LIMIT: usize = 1 << 20;

/// Why there are no servers.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Units(#[from] units::Error),
    #[error("talk to the process of the MCP servers")]
    Line(#[from] std::io::Error),
    #[error("write down the MCP servers")]
    Encode(#[from] serde_json::Error),
    #[error("the process of the MCP servers did not answer within {HELLO_DEADLINE:?}")]
    Silent,
    #[error("the process of the MCP servers ended at its start")]
    Ended,
}

/// The agent of the turn and the confinement of its servers.
pub(crate) struct ServersRequest<'a> {
    pub(crate) settings: &'a Arc<RunnerSettings>,
    pub(crate) agent: &'a AgentSettings,
    pub(crate) turn: &'a Turn,
    pub(crate) level: Level,
    /// Whether a server without a network of its own is kept to its doors.
    pub(crate) judges_addresses: bool,
}

/// The processes. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionServers(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    sessions: HashMap<String, Session>,
    /// Their keys, that of the latest turn last.
    order: Vec<String>,
    /// By agent and server, how long messages wait for it.
    paces: BTreeMap<String, BTreeMap<String, Pace>>,
}

/// A session's place, held by whoever starts its process.
type Session = Arc<tokio::sync::Mutex<Option<Process>>>;

/// The process of a session's servers. Without this it ends, after its turn.
#[derive(Debug)]
struct Process {
    /// The writing half: with it the line ends.
    line: OwnedWriteHalf,
    /// The faults of servers that are left out.
    notes: Vec<String>,
    settings: Arc<RunnerSettings>,
    level: Level,
    agent_id: String,
    session_id: String,
    /// When it has ended.
    ended: CancellationToken,
    used: Instant,
}

impl Process {
    fn fits(&self, wanted: &ServersRequest<'_>) -> bool {
        Arc::ptr_eq(&self.settings, wanted.settings)
            && self.level == wanted.level
            && self.agent_id == wanted.agent.id
            && self.session_id == wanted.turn.session_id
            && !self.ended.is_cancelled()
    }

    /// Until when it stays; `None`: as long as there is a place for it.
    fn until(&self) -> Option<Instant> {
        Some(self.used + self.settings.mcp_idle?)
    }

    /// A connection for a turn.
    async fn connect(&mut self) -> std::io::Result<OwnedFd> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        passed::write(self.line.as_ref(), CONNECTION, &theirs.into()).await?;
        self.used = Instant::now();
        Ok(ours.into())
    }
}

impl SessionServers {
    /// A connection to the servers of a turn's session, whose process is started unless it is
    /// there; `None` where there are no servers. Beside it what is wrong with some.
    pub(crate) async fn connection(
        &self,
        units: &Units,
        wanted: &ServersRequest<'_>,
    ) -> (Option<OwnedFd>, Vec<String>) {
        let session = self.session(&wanted.turn.session_key);
        let mut place = session.lock().await;
        if let Some(process) = place.as_mut().filter(|process| process.fits(wanted))
            && let Ok(connection) = process.connect().await
        {
            return (Some(connection), process.notes.clone());
        }
        // The one before ends with its line.
        *place = None;
        let id = format!("{}{}", places::SERVERS, Uuid::new_v4());
        let (servers, mut notes) = plan::servers(wanted, &id);
        if servers.is_empty() {
            return (None, notes);
        }
        let connection = match self.start(units, wanted, id, servers).await {
            Ok(mut process) => {
                process.notes.clone_from(&notes);
                let connection = process.connect().await.map_err(Error::Line);
                *place = Some(process);
                connection
            }
            Err(error) => Err(error),
        };
        drop(place);
        self.retire(wanted.turn.session_key.clone(), &session);
        match connection {
            Ok(connection) => (Some(connection), notes),
            Err(error) => {
                failure::report("start the MCP servers", &error);
                let error = failure::chain(&error);
                notes.push(format!("the MCP servers cannot be used: {error}"));
                (None, notes)
            }
        }
    }

    /// The session's place, from now on the latest one; those of sessions that
    /// are too many are let go.
    fn session(&self, key: &str) -> Session {
        let mut inner = self.lock();
        inner.order.retain(|known| known != key);
        inner.order.push(key.to_owned());
        let surplus = inner.order.len().saturating_sub(MOST);
        let surplus: Vec<String> = inner.order.drain(..surplus).collect();
        for key in surplus {
            inner.sessions.remove(&key);
        }
        Arc::clone(inner.sessions.entry(key.to_owned()).or_default())
    }

    async fn start(
        &self,
        units: &Units,
        wanted: &ServersRequest<'_>,
        id: String,
        servers: Vec<Server>,
    ) -> Result<Process, Error> {
        let ServersRequest {
            settings,
            agent,
            turn: begun,
            level,
            ..
        } = *wanted;
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let (reader, mut line) = UnixStream::from_std(ours)?.into_split();
        let writable = servers.iter().flat_map(|server| &server.plan.read_write);
        let hold = units
            .start(units::Request {
                part: units::Part::Servers,
                run_id: &id,
                settings,
                agent,
                writable: writable.cloned().collect(),
                confined: level != Level::Off,
                stdin: theirs.into(),
            })
            .await?;
        let order = ServersOrder {
            helper: plan::helper(settings)?,
            servers,
            paces: self.paces(&agent.id),
            log_level: settings.log_level,
        };
        let mut text = serde_json::to_vec(&order)?;
        text.push(b'\n');
        line.write_all(&text).await?;
        let mut lines = FramedRead::new(reader, LinesCodec::new_with_max_length(LINE_LIMIT));
        let hello = timeout(HELLO_DEADLINE, lines.next()).await;
        let hello = hello.map_err(|_| Error::Silent)?;
        let hello = hello.and_then(Result::ok).ok_or(Error::Ended)?;
        serde_json::from_str::<Hello>(&hello)?;
        let ended = CancellationToken::new();
        let watch = Watch {
            servers: self.clone(),
            agent_id: agent.id.clone(),
            passing: RunFolders::of(&settings.paths, &agent.id, &id),
            ended: ended.clone(),
            _hold: hold,
        };
        tokio::spawn(watch.follow(lines));
        Ok(Process {
            line,
            notes: Vec::new(),
            settings: Arc::clone(settings),
            level,
            agent_id: agent.id.clone(),
            session_id: begun.session_id.clone(),
            ended,
            used: Instant::now(),
        })
    }

    /// Lets the process of a session go when no message has come for long.
    fn retire(&self, key: String, session: &Session) {
        let (servers, session) = (self.clone(), Arc::downgrade(session));
        tokio::spawn(async move {
            loop {
                let Some(place) = session.upgrade() else {
                    return;
                };
                let mut place = place.lock().await;
                let until = place.as_ref().and_then(Process::until);
                let Some(until) = until else {
                    return;
                };
                if until <= Instant::now() {
                    *place = None;
                    tracing::debug!(openclaw_session = key, "the MCP servers of a session end");
                    return servers.forget(&key);
                }
                drop(place);
                sleep_until(until).await;
            }
        });
    }

    /// Lets all of them go whenever the configuration changes: they were
    /// started with the one before.
    pub(crate) async fn follow(self, mut configuration: Configuration<RunnerSettings>) {
        while configuration.changed().await {
            self.clear();
            self.lock().paces.clear();
        }
    }

    /// Whether those of some session are up, or being started.
    pub(crate) fn are_up(&self) -> bool {
        let is_up = |session: &Session| match session.try_lock() {
            Ok(place) => place.as_ref().is_some_and(|it| !it.ended.is_cancelled()),
            Err(_) => true,
        };
        self.lock().sessions.values().any(is_up)
    }

    /// Lets all of them go.
    pub(crate) fn clear(&self) {
        let mut inner = self.lock();
        inner.sessions.clear();
        inner.order.clear();
    }

    fn forget(&self, key: &str) {
        let mut inner = self.lock();
        inner.sessions.remove(key);
        inner.order.retain(|known| known != key);
    }

    fn paces(&self, agent_id: &str) -> BTreeMap<String, Pace> {
        self.lock().paces.get(agent_id).cloned().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hears what a process says, until it ends.
struct Watch {
    servers: SessionServers,
    agent_id: String,
    /// What is cleaned up with it.
    passing: RunFolders,
    ended: CancellationToken,
    _hold: Option<UnitRef>,
}

impl Watch {
    async fn follow(self, mut lines: FramedRead<OwnedReadHalf, LinesCodec>) {
        while let Some(Ok(line)) = lines.next().await {
            if let Ok(Paces { paces }) = serde_json::from_str(&line) {
                let mut inner = self.servers.lock();
                let known = inner.paces.entry(self.agent_id.clone()).or_default();
                known.extend(paces);
            }
        }
        self.ended.cancel();
        let passing = self.passing;
        removal::remove(move || passing.remove()).await;
    }
}
