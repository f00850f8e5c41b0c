//! The servers of one session of one agent, started once and kept. Whoever has
//! a connection to them hears what they are and calls their tools.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use openclaw_handoff::disk::{Disk, Short};
use openclaw_handoff::servers::{Pace, Server};
use openclaw_sandbox::{Launcher, Level};
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, ClientRequest, PingRequest};
use rmcp::service::{Peer, ServiceError};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::codec::{FramedRead, LinesCodec};

use super::line::{Call, CallFailure, CallResult, Known, LINE_BYTES, PoolMessage, Status};
use super::output::{self, Output};
use super::server::{END_LIMIT, Failure, Running, follow, start, too_much};
use super::silence::Silence;

/// How long a message waits for a server that is being started: a program that
/// is installed takes a second or two. What comes later is told to the agent
/// when it comes.
const GRACE: Duration = Duration::from_secs(2);

/// The same where the agent cannot be told: it would be without those tools for
/// a whole turn, and on a busy machine a start takes longer.
const LONG_GRACE: Duration = Duration::from_secs(5);

/// Between two starts of a server that let the whole time of one pass.
const HANGING_PAUSE: Duration = Duration::from_secs(300);

/// Calls of one connection that are answered at a time. The next one is not
/// read before one is.
const CALLS: usize = 32;

/// Why one ended that is not to stay.
const UNATTENDED: &str = "it runs while a turn has it alone";

/// What may wait for a connection that does not read.
const ANSWERS: usize = 32;

/// Tools of one server that are told of; the policy leaves fewer.
const TOOLS: usize = 256;

/// Bytes of all of them.
const TOOLS_BYTES: usize = 1024 * 1024;

/// Bytes of what a server says of how it is to be used.
const INSTRUCTIONS_BYTES: usize = 16 * 1024;

/// The servers. They end with this.
/// Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    shared: Arc<Shared>,
    _keeping: Arc<JoinSet<()>>,
}

#[derive(Debug)]
struct Shared {
    launcher: Launcher,
    places: Vec<Place>,
    known: watch::Sender<Vec<Known>>,
    /// Whether a turn has a connection, or is about to.
    attended: watch::Sender<bool>,
}

/// A server, whether it runs or not.
#[derive(Debug)]
struct Place {
    server: Server,
    /// The way to the one that runs.
    peer: Mutex<Option<Peer<RoleClient>>>,
    /// It is to be started again,
    wanted: Notify,
    /// but not before this.
    not_before: Mutex<Option<Instant>>,
    /// It runs and is to be started anew.
    anew: Notify,
    /// How long its latest start took.
    pace: Mutex<Pace>,
    silence: Silence,
}

/// How a server ended that ran.
enum Ended {
    /// By itself, with its last words, or because it was not to go on.
    Itself(String),
    /// To be started anew.
    Anew,
}

impl Pool {
    /// Starts them. `paces` is what is known of how long that takes.
    pub(crate) fn start(
        servers: Vec<Server>,
        helper: std::path::PathBuf,
        paces: &BTreeMap<String, Pace>,
    ) -> Self {
        let pace = |server: &Server| paces.get(&server.name).copied().unwrap_or_default();
        let known = servers.iter().map(|server| Known {
            name: server.name.clone(),
            trusted: server.trusted,
            reach: server.reach.clone(),
            status: Status::Starting {
                pace: pace(server),
                failed: None,
            },
        });
        let known = watch::Sender::new(known.collect());
        let places = servers.into_iter().map(|server| Place {
            pace: Mutex::new(pace(&server)),
            server,
            peer: Mutex::default(),
            wanted: Notify::new(),
            not_before: Mutex::default(),
            anew: Notify::new(),
            silence: Silence::default(),
        });
        let shared = Arc::new(Shared {
            launcher: Launcher { helper },
            places: places.collect(),
            known,
            attended: watch::Sender::new(true),
        });
        let mut keeping = JoinSet::new();
        for index in 0..shared.places.len() {
            keeping.spawn(keep(Arc::clone(&shared), index));
        }
        Self {
            shared,
            _keeping: Arc::new(keeping),
        }
    }

    /// Serves one connection to its end. Servers that do not run are started
    /// again for it.
    pub(crate) fn serve(&self, connection: UnixStream) -> impl Future<Output = ()> + use<> {
        self.shared.attended.send_replace(true);
        self.shared.revive();
        serve(Arc::clone(&self.shared), connection)
    }

    /// No turn has a connection any more: those that are not to stay end.
    pub(crate) fn leave(&self) {
        self.shared.attended.send_replace(false);
    }

    /// Changes of what the servers are.
    pub(super) fn changes(&self) -> watch::Receiver<Vec<Known>> {
        self.shared.known.subscribe()
    }

    /// How long the latest start of each took.
    pub(super) fn paces(&self) -> BTreeMap<String, Pace> {
        let places = self.shared.places.iter();
        let pace = |place: &Place| (place.server.name.clone(), *lock(&place.pace));
        places.map(pace).collect()
    }
}

impl Shared {
    fn set(&self, index: usize, status: Status) {
        self.known.send_modify(|known| known[index].status = status);
    }

    /// Starts those again that have ended, and anew those that leave calls
    /// unanswered. A message waits for those that ran before; one that could
    /// not be started is tried beside it.
    fn revive(&self) {
        for (index, place) in self.places.iter().enumerate() {
            if place.silence.is_whole() && lock(&place.peer).take().is_some() {
                place.silence.end();
                let pace = *lock(&place.pace);
                self.set(index, Status::Starting { pace, failed: None });
                place.anew.notify_one();
                continue;
            }
            let pause = *lock(&place.not_before);
            if pause.is_some_and(|until| Instant::now() < until) {
                continue;
            }
            self.known.send_if_modified(|known| {
                let status = &mut known[index].status;
                let Status::Failed(why) = status else {
                    return false;
                };
                let ran = std::mem::take(&mut *lock(&place.not_before)).is_none();
                *status = Status::Starting {
                    pace: *lock(&place.pace),
                    failed: Some(std::mem::take(why)).filter(|_| !ran),
                };
                place.wanted.notify_one();
                true
            });
        }
    }

    async fn call(self: &Arc<Self>, call: Call) -> CallResult {
        let mut places = self.places.iter();
        let Some(index) = places.position(|place| place.server.name == call.server) else {
            return Err(CallFailure::Gone("there is no such server".to_owned()));
        };
        let place = &self.places[index];
        let peer = lock(&place.peer).clone();
        let Some(peer) = peer else {
            return Err(CallFailure::Gone(gone(&self.known.borrow()[index].status)));
        };
        if let Some(why) = place.silence.refusal(&call.tool, std::time::Instant::now()) {
            return Err(CallFailure::Gone(why));
        }
        if call.is_question {
            return Ok(Output::default());
        }
        let limit = place.server.call_limit;
        let request = CallToolRequestParams::new(call.tool.clone()).with_arguments(call.arguments);
        let answered = timeout(limit, peer.call_tool(request)).await;
        if !matches!(
            answered,
            Err(_)
                | Ok(Err(
                    ServiceError::TransportClosed | ServiceError::TransportSend(_)
                ))
        ) {
            place.silence.answered(&call.tool);
        }
        match answered {
            Err(_) => {
                place
                    .silence
                    .begin(&call.tool, limit, std::time::Instant::now());
                tokio::spawn(Arc::clone(self).sound(index, peer));
                let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
                Err(CallFailure::TooSlow(limit))
            }
            Ok(Err(error @ (ServiceError::TransportClosed | ServiceError::TransportSend(_)))) => {
                Err(CallFailure::Gone(self.why_gone(&call.server, &error).await))
            }
            Ok(Err(error)) => {
                let why = openclaw_daemon::failure::chain(&error);
                Err(CallFailure::Gone(output::complaint(&why)))
            }
            Ok(Ok(result)) if result.is_error == Some(true) => {
                Err(CallFailure::Tool(Output::of(result)))
            }
            Ok(Ok(result)) => Ok(Output::of(result)),
        }
    }

    /// Ends a server's silence when it answers: it may have been one call alone
    /// that got no answer. A server that is gone or was started anew does not.
    async fn sound(self: Arc<Self>, index: usize, peer: Peer<RoleClient>) {
        let ping = ClientRequest::PingRequest(PingRequest::default());
        let gone = |error: &ServiceError| {
            matches!(
                error,
                ServiceError::TransportClosed | ServiceError::TransportSend(_)
            )
        };
        let answered = peer.send_request(ping).await;
        if !answered.is_err_and(|error| gone(&error)) {
            self.places[index].silence.end();
        }
    }

    /// Why a server went away in the middle of a call, in its own words where
    /// it has some.
    async fn why_gone(&self, server: &str, error: &ServiceError) -> String {
        let mut known = self.known.subscribe();
        let gone = known.wait_for(|known| {
            let mut named = known.iter().filter(|known| known.name == server);
            named.any(|known| matches!(known.status, Status::Failed(_)))
        });
        // It takes its last words' time.
        let gone = timeout(2 * END_LIMIT, gone).await;
        let why = gone.ok().and_then(Result::ok).and_then(|known| {
            let mut named = known.iter().filter(|known| known.name == server);
            named.find_map(|known| match &known.status {
                Status::Failed(why) => Some(why.clone()),
                _ => None,
            })
        });
        why.unwrap_or_else(|| openclaw_daemon::failure::chain(error))
    }
}

fn gone(status: &Status) -> String {
    let absence = status.absence();
    absence.unwrap_or_else(|| "it has just ended".to_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a server, and once more whenever it is wanted again.
async fn keep(shared: Arc<Shared>, index: usize) {
    let place = &shared.places[index];
    loop {
        let changes = Arc::new(Notify::new());
        let starting = start(&place.server, &shared.launcher, &changes);
        let begun = Instant::now();
        let started = tokio::select! {
            started = starting => started,
            never = grow_tired(&shared, index) => match never {},
            words = unwanted(&shared, &place.server) => Err(Failure {
                words,
                is_hanging: false,
            }),
        };
        *lock(&place.pace) = match &started {
            Ok(_) => pace(begun.elapsed()),
            Err(_) => Pace::Slow,
        };
        let (why, pause) = match started {
            Ok(running) => match attend(&shared, index, running, &changes).await {
                Ended::Itself(why) => (why, None),
                Ended::Anew => continue,
            },
            Err(Failure { words, is_hanging }) => {
                let pause = if is_hanging {
                    HANGING_PAUSE
                } else {
                    Duration::ZERO
                };
                (words, Some(Instant::now() + pause))
            }
        };
        let name = &place.server.name;
        if place.server.passing && !*shared.attended.borrow() {
            tracing::debug!(server = name, why, "a server of tools ends");
        } else {
            tracing::warn!(server = name, why, "a server of tools cannot be used");
        }
        *lock(&place.not_before) = pause;
        shared.set(index, Status::Failed(why));
        place.wanted.notified().await;
    }
}

/// That of a start that took so long.
fn pace(start: Duration) -> Pace {
    match start {
        prompt if prompt < GRACE => Pace::Prompt,
        late if late < LONG_GRACE => Pace::Late,
        _ => Pace::Slow,
    }
}

/// Lets messages wait no longer than that for a server that is being started.
async fn grow_tired(shared: &Shared, index: usize) -> std::convert::Infallible {
    let begun = Instant::now();
    for limit in [GRACE, LONG_GRACE] {
        sleep_until(begun + limit).await;
        let reached = pace(limit);
        let mut known = lock(&shared.places[index].pace);
        *known = reached.max(*known);
        drop(known);
        shared.known.send_if_modified(|known| {
            let Status::Starting { pace, .. } = &mut known[index].status else {
                return false;
            };
            let before = std::mem::replace(pace, reached.max(*pace));
            before != *pace
        });
    }
    std::future::pending().await
}

/// Tells of the tools of a server that runs, until it ends.
async fn attend(shared: &Shared, index: usize, running: Running, changes: &Notify) -> Ended {
    let Running {
        child,
        proxies,
        service,
        tools,
        words,
        refused,
    } = running;
    let peer = service.peer().clone();
    let instructions = instructions(&peer);
    let place = &shared.places[index];
    *lock(&place.peer) = Some(peer.clone());
    shared.set(index, ready(tools, instructions.clone()));
    let tell = follow(&peer, changes, |tools| {
        shared.set(index, ready(tools, instructions.clone()));
    });
    let why = tokio::select! {
        _ = service.waiting() => None,
        why = unwanted(shared, &place.server) => Some(why),
        () = place.anew.notified() => return Ended::Anew,
        never = tell => match never {},
    };
    *lock(&place.peer) = None;
    // What it did not answer before it ended says nothing of the next one.
    place.silence.end();
    drop((child, proxies));
    Ended::Itself(match why {
        Some(why) => why,
        None => {
            let last = words.end().await;
            format!("it has ended{}", too_much(&refused).unwrap_or(last))
        }
    })
}

/// Waits until a server is not to go on; why.
async fn unwanted(shared: &Shared, server: &Server) -> String {
    tokio::select! {
        short = filled(server) => format!("it was ended: {short}"),
        () = unattended(shared, server) => UNATTENDED.to_owned(),
    }
}

/// Waits until no turn has a server that is not to stay.
async fn unattended(shared: &Shared, server: &Server) {
    if server.passing {
        let mut attended = shared.attended.subscribe();
        if attended.wait_for(|attended| !attended).await.is_ok() {
            return;
        }
    }
    std::future::pending().await
}

/// Waits until a server has used up a disk. It runs between turns, too, when nobody else looks.
async fn filled(server: &Server) -> Short {
    let plan = &server.plan;
    if plan.level == Level::Off {
        return std::future::pending().await;
    }
    Disk::watch(&plan.read_write).until_used_up().await
}

fn instructions(peer: &Peer<RoleClient>) -> String {
    let info = peer.peer_info();
    let text = info.and_then(|info| info.instructions.clone());
    output::cut(&text.unwrap_or_default(), INSTRUCTIONS_BYTES).to_owned()
}

/// As many of the tools as can be told.
pub(super) fn ready(tools: Vec<rmcp::model::Tool>, instructions: String) -> Status {
    let all = tools.len();
    let mut left = TOOLS_BYTES;
    // One that is too large takes none of the others away.
    let fits = |tool: &rmcp::model::Tool| {
        let bytes = serde_json::to_string(tool).map_or(usize::MAX, |text| text.len());
        let rest = left.checked_sub(bytes);
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    let tools: Vec<_> = tools.into_iter().filter(fits).take(TOOLS).collect();
    Status::Ready {
        more: all - tools.len(),
        tools,
        instructions,
    }
}

async fn serve(shared: Arc<Shared>, connection: UnixStream) {
    let (reader, writer) = connection.into_split();
    let (answers, waiting) = mpsc::channel(ANSWERS);
    let known = shared.known.subscribe();
    tokio::select! {
        () = write(writer, waiting, known) => {}
        () = read(reader, shared, answers) => {}
    }
}

/// Tells what the servers are, and answers.
async fn write(
    mut writer: OwnedWriteHalf,
    mut answers: mpsc::Receiver<PoolMessage>,
    mut known: watch::Receiver<Vec<Known>>,
) {
    known.mark_changed();
    loop {
        let told = tokio::select! {
            changed = known.changed() => match changed {
                Ok(()) => PoolMessage::Servers(known.borrow_and_update().clone()),
                Err(_) => return,
            },
            answer = answers.recv() => match answer {
                Some(answer) => answer,
                None => return,
            },
        };
        let Ok(mut line) = serde_json::to_vec(&told) else {
            continue;
        };
        line.push(b'\n');
        if writer.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// Answers each call by itself. Those under way end with the connection.
async fn read(reader: OwnedReadHalf, shared: Arc<Shared>, answers: mpsc::Sender<PoolMessage>) {
    let mut lines = FramedRead::new(reader, LinesCodec::new_with_max_length(LINE_BYTES));
    let places = Arc::new(Semaphore::new(CALLS));
    let mut calls = JoinSet::new();
    while let Some(Ok(line)) = lines.next().await {
        let Ok(call) = serde_json::from_str::<Call>(&line) else {
            return;
        };
        // Never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        while calls.try_join_next().is_some() {}
        let (shared, answers) = (Arc::clone(&shared), answers.clone());
        calls.spawn(async move {
            let _place = place;
            let id = call.id;
            let result = shared.call(call).await;
            let _ = answers.send(PoolMessage::Answer { id, result }).await;
        });
    }
}
