//! The agent-runner and the memory daemon, played by the test.

#![expect(clippy::disallowed_types, reason = "it stands in for a server")]

use std::collections::HashMap;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::{Stream, StreamExt as _, stream};
use openclaw_proto::approval::ApprovalResolved;
use openclaw_proto::event::{Event, Kind};
use openclaw_proto::wire::{memory, run, runner};
use tokio::net::UnixListener;
use tokio::sync::{Notify, mpsc, watch};
use tokio_stream::wrappers::UnixListenerStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

use crate::suite::soon;

/// The agent-runner's part.
pub(crate) struct Runner {
    play: RunnerPlay,
    started: tokio::sync::Mutex<mpsc::UnboundedReceiver<runner::StartTurnRequest>>,
    _server: AbortOnDropHandle<()>,
    stop: CancellationToken,
}

#[derive(Clone)]
struct RunnerPlay(Arc<RunnerState>);

struct RunnerState {
    turns: Mutex<HashMap<String, Vec<Kind>>>,
    cancelled: Mutex<Vec<(String, String)>>,
    decided: Mutex<Vec<runner::DecideApprovalRequest>>,
    /// A turn has given up when a decision comes.
    gives_up: AtomicBool,
    /// The runner is lost when it has a decision, before it says so.
    is_lost: AtomicBool,
    asked_to_cancel: Notify,
    news: watch::Sender<u64>,
    /// Attach calls so far.
    attached: watch::Sender<u64>,
    started: mpsc::UnboundedSender<runner::StartTurnRequest>,
    /// Cancelled to break every stream off.
    cut: Mutex<CancellationToken>,
    /// What StartTurn answers first.
    refusals: Mutex<Vec<Status>>,
    /// What answers the agent.
    backend: Mutex<&'static str>,
}

impl Runner {
    pub(crate) fn serve(socket: &Path) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let play = RunnerPlay(Arc::new(RunnerState {
            turns: Mutex::default(),
            cancelled: Mutex::default(),
            decided: Mutex::default(),
            gives_up: AtomicBool::default(),
            is_lost: AtomicBool::default(),
            asked_to_cancel: Notify::new(),
            news: watch::Sender::new(0),
            attached: watch::Sender::new(0),
            started: sender,
            cut: Mutex::default(),
            refusals: Mutex::default(),
            backend: Mutex::new("native"),
        }));
        let stop = CancellationToken::new();
        let service = runner::agent_runner_server::AgentRunnerServer::new(play.clone());
        let incoming = UnixListenerStream::new(UnixListener::bind(socket).unwrap());
        let server = Server::builder()
            .add_service(service)
            .serve_with_incoming_shutdown(incoming, stop.clone().cancelled_owned());
        let server = tokio::spawn(async move { server.await.unwrap() });
        Self {
            play,
            started: tokio::sync::Mutex::new(receiver),
            _server: AbortOnDropHandle::new(server),
            stop,
        }
    }

    /// The next turn that is started.
    pub(crate) async fn started(&self) -> runner::StartTurnRequest {
        let mut started = self.started.lock().await;
        soon(started.recv()).await.unwrap()
    }

    /// Whether a turn was started that nobody asked about yet.
    pub(crate) async fn has_started(&self) -> bool {
        self.started.lock().await.try_recv().is_ok()
    }

    pub(crate) fn say(&self, run_id: &str, kind: Kind) {
        lock(&self.play.0.turns).get_mut(run_id).unwrap().push(kind);
        self.play.0.news.send_modify(|news| *news += 1);
    }

    /// Breaks the stream off and waits until it is taken up again.
    pub(crate) async fn interrupt(&self) {
        let mut attached = self.play.0.attached.subscribe();
        attached.mark_unchanged();
        self.cut();
        soon(attached.changed()).await.unwrap();
    }

    /// Breaks all streams off; the turns are still known.
    fn cut(&self) {
        let mut cut = lock(&self.play.0.cut);
        std::mem::take(&mut *cut).cancel();
    }

    /// What a restart of the runner looks like.
    pub(crate) fn forget(&self) {
        lock(&self.play.0.turns).clear();
        self.cut();
    }

    /// Ends the server: nobody listens any more.
    pub(crate) fn leave(&self) {
        self.stop.cancel();
        self.cut();
    }

    /// Turns give questions up at the moment in which they are decided about.
    pub(crate) fn give_up(&self) {
        self.play.0.gives_up.store(true, Ordering::Relaxed);
    }

    /// The runner is lost when it has the next decision, before it says so.
    pub(crate) fn lose_over_decision(&self) {
        self.play.0.is_lost.store(true, Ordering::Relaxed);
    }

    pub(crate) fn answer_with(&self, backend: &'static str) {
        *lock(&self.play.0.backend) = backend;
    }

    pub(crate) fn refuse_once(&self, status: Status) {
        lock(&self.play.0.refusals).push(status);
    }

    /// Whether a turn was cancelled that nobody asked about yet.
    pub(crate) fn was_cancelled(&self) -> bool {
        !lock(&self.play.0.cancelled).is_empty()
    }

    /// Waits until a turn is cancelled; with the reason.
    pub(crate) async fn cancelled(&self) -> (String, String) {
        soon(self.play.0.asked_to_cancel.notified()).await;
        lock(&self.play.0.cancelled).remove(0)
    }
}

#[tonic::async_trait]
impl runner::agent_runner_server::AgentRunner for RunnerPlay {
    type AttachStream = Pin<Box<dyn Stream<Item = Result<run::Event, Status>> + Send>>;

    async fn start_turn(
        &self,
        request: Request<runner::StartTurnRequest>,
    ) -> Result<Response<runner::StartTurnResponse>, Status> {
        if let Some(status) = lock(&self.0.refusals).pop() {
            return Err(status);
        }
        let request = request.into_inner();
        lock(&self.0.turns).insert(request.run_id.clone(), Vec::new());
        self.0.started.send(request).unwrap();
        Ok(Response::new(runner::StartTurnResponse {
            backend: "native".to_owned(),
            ..Default::default()
        }))
    }

    async fn close_turn(
        &self,
        _: Request<runner::CloseTurnRequest>,
    ) -> Result<Response<runner::CloseTurnResponse>, Status> {
        Ok(Response::new(runner::CloseTurnResponse::default()))
    }

    async fn attach(
        &self,
        request: Request<runner::AttachRequest>,
    ) -> Result<Response<Self::AttachStream>, Status> {
        let runner::AttachRequest { run_id, from_seq } = request.into_inner();
        if !lock(&self.0.turns).contains_key(&run_id) {
            return Err(Status::not_found("no such turn"));
        }
        self.0.attached.send_modify(|calls| *calls += 1);
        let state = Arc::clone(&self.0);
        let cut = lock(&self.0.cut).clone();
        let events = stream::unfold(from_seq.max(1), move |seq| {
            let (state, run_id) = (Arc::clone(&state), run_id.clone());
            async move { Some((state.event(&run_id, seq).await?, seq + 1)) }
        });
        let broken = stream::once(async move {
            cut.cancelled().await;
            Err(Status::unavailable("cut off"))
        });
        let ended = events.map(Some).chain(stream::iter([None]));
        let merged = stream::select(ended, broken.map(Some));
        // The terminal event ends the stream, and so does the cut.
        let until_end = merged.take_while(|item| std::future::ready(item.is_some()));
        Ok(Response::new(Box::pin(
            until_end.filter_map(std::future::ready),
        )))
    }

    async fn kept_turns(
        &self,
        _: Request<runner::KeptTurnsRequest>,
    ) -> Result<Response<runner::KeptTurnsResponse>, Status> {
        let run_ids = lock(&self.0.turns).keys().cloned().collect();
        Ok(Response::new(runner::KeptTurnsResponse { run_ids }))
    }

    async fn decide_approval(
        &self,
        request: Request<runner::DecideApprovalRequest>,
    ) -> Result<Response<runner::DecideApprovalResponse>, Status> {
        let request = request.into_inner();
        let mut decided = lock(&self.0.decided);
        let mut those = decided.iter();
        if let Some(known) = those.find(|it| it.approval_id == request.approval_id) {
            let is_this = !request.key.is_empty() && *known == request;
            let again = is_this.then(|| Response::new(runner::DecideApprovalResponse {}));
            return again.ok_or_else(|| Status::already_exists("decided"));
        }
        let decision = openclaw_proto::approval::Decision::parse(&request.decision);
        let gives_up = self.0.gives_up.load(Ordering::Relaxed);
        let said = Kind::ApprovalResolved(ApprovalResolved {
            id: request.approval_id.clone(),
            decision: decision.filter(|_| !gives_up),
            by: request.by.clone(),
        });
        if let Some(turn) = lock(&self.0.turns).get_mut(&request.run_id) {
            turn.push(said);
        }
        self.0.news.send_modify(|news| *news += 1);
        decided.push(request);
        if self.0.is_lost.swap(false, Ordering::Relaxed) {
            return Err(Status::unavailable("it ends"));
        }
        Ok(Response::new(runner::DecideApprovalResponse {}))
    }

    async fn steer_turn(
        &self,
        _: Request<runner::SteerTurnRequest>,
    ) -> Result<Response<runner::SteerTurnResponse>, Status> {
        // This runner's backend takes nothing in between.
        Ok(Response::new(runner::SteerTurnResponse::default()))
    }

    async fn list_turns(
        &self,
        _: Request<runner::ListTurnsRequest>,
    ) -> Result<Response<runner::ListTurnsResponse>, Status> {
        Ok(Response::new(runner::ListTurnsResponse::default()))
    }

    async fn cancel_turn(
        &self,
        request: Request<runner::CancelTurnRequest>,
    ) -> Result<Response<runner::CancelTurnResponse>, Status> {
        let runner::CancelTurnRequest { run_id, reason, .. } = request.into_inner();
        let aborted = Kind::Aborted {
            reason: reason.clone(),
            backend_session: None,
            backend: "native".to_owned(),
        };
        if let Some(events) = lock(&self.0.turns).get_mut(&run_id) {
            events.push(aborted);
        }
        lock(&self.0.cancelled).push((run_id, reason));
        self.0.news.send_modify(|news| *news += 1);
        self.0.asked_to_cancel.notify_one();
        Ok(Response::new(runner::CancelTurnResponse {
            cancelled: true,
        }))
    }

    async fn post_webhook(
        &self,
        _: Request<runner::PostWebhookRequest>,
    ) -> Result<Response<runner::PostWebhookResponse>, Status> {
        Ok(Response::new(runner::PostWebhookResponse {}))
    }

    async fn arm_timer(
        &self,
        _: Request<runner::ArmTimerRequest>,
    ) -> Result<Response<runner::ArmTimerResponse>, Status> {
        Ok(Response::new(runner::ArmTimerResponse::default()))
    }

    async fn status(
        &self,
        _: Request<runner::StatusRequest>,
    ) -> Result<Response<runner::StatusResponse>, Status> {
        let backend = *lock(&self.0.backend);
        let agent = runner::AgentModel {
            agent_id: "main".to_owned(),
            backend: backend.to_owned(),
            ..Default::default()
        };
        Ok(Response::new(runner::StatusResponse {
            backend: backend.to_owned(),
            agents: vec![agent],
            ..Default::default()
        }))
    }
}

impl RunnerState {
    /// The event with the number `seq`; None after the terminal one.
    async fn event(&self, run_id: &str, seq: u64) -> Option<Result<run::Event, Status>> {
        let mut news = self.news.subscribe();
        loop {
            {
                let turns = lock(&self.turns);
                let Some(events) = turns.get(run_id) else {
                    return Some(Err(Status::not_found("no such turn")));
                };
                if let Some(kind) = events.get(seq as usize - 1) {
                    let event = Event {
                        run_id: run_id.to_owned(),
                        seq,
                        at_ms: 1,
                        kind: kind.clone(),
                    };
                    return Some(Ok(event.into()));
                }
                if events.last().is_some_and(Kind::is_terminal) {
                    return None;
                }
            }
            news.changed().await.unwrap();
        }
    }
}

/// The memory daemon's part.
pub(crate) struct Memory {
    pub(crate) queries: Arc<Mutex<Vec<String>>>,
    reading: Arc<Mutex<Reading>>,
    /// Why bootstrap files are left out.
    pub(crate) problems: Arc<Mutex<Vec<String>>>,
    _server: AbortOnDropHandle<()>,
    stop: CancellationToken,
}

/// How far memory is with its files.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Reading {
    /// It has read them.
    #[default]
    Done,
    /// It has after a while, for those who wait.
    ForAWhile,
    /// It is not done by the time that somebody waits.
    Long,
    /// It has, and finds what the session of the question has said most of all.
    Own,
}

struct MemoryPlay {
    queries: Arc<Mutex<Vec<String>>>,
    reading: Arc<Mutex<Reading>>,
    problems: Arc<Mutex<Vec<String>>>,
}

impl Memory {
    pub(crate) fn serve(socket: &Path) -> Self {
        let (queries, reading, problems) = (Arc::default(), Arc::default(), Arc::default());
        let stop = CancellationToken::new();
        let play = MemoryPlay {
            queries: Arc::clone(&queries),
            reading: Arc::clone(&reading),
            problems: Arc::clone(&problems),
        };
        let service = memory::memory_server::MemoryServer::new(play);
        let incoming = UnixListenerStream::new(UnixListener::bind(socket).unwrap());
        let server = Server::builder()
            .add_service(service)
            .serve_with_incoming_shutdown(incoming, stop.clone().cancelled_owned());
        let server = tokio::spawn(async move { server.await.unwrap() });
        Self {
            queries,
            reading,
            problems,
            _server: AbortOnDropHandle::new(server),
            stop,
        }
    }

    pub(crate) fn read(&self, reading: Reading) {
        *lock(&self.reading) = reading;
    }

    pub(crate) fn leave(&self) {
        self.stop.cancel();
    }
}

/// What was said in the session `id` just now, and what is found beside it.
fn own_and_beside(id: &str) -> memory::RecallResponse {
    let recalled = |path: String, snippet: &str| memory::Recalled {
        hit: Some(memory::Hit {
            path,
            snippet: snippet.to_owned(),
            timestamp_ms: i64::MAX,
            ..Default::default()
        }),
        tokens: 10,
    };
    let own = recalled(format!("sessions/{id}.jsonl"), "my cat is Mourek");
    let note = recalled("MEMORY.md".to_owned(), "the cat is Mourek");
    memory::RecallResponse {
        passages: vec![own],
        beside: vec![note],
        limit: 3,
        tokens: 100,
        partial: false,
    }
}

#[tonic::async_trait]
impl memory::memory_server::Memory for MemoryPlay {
    async fn load_bootstrap(
        &self,
        _: Request<memory::LoadBootstrapRequest>,
    ) -> Result<Response<memory::LoadBootstrapResponse>, Status> {
        let file = memory::BootstrapFile {
            name: "SOUL.md".to_owned(),
            content: "kind".to_owned(),
            truncated: false,
        };
        Ok(Response::new(memory::LoadBootstrapResponse {
            files: vec![file],
            problems: lock(&self.problems).clone(),
        }))
    }

    async fn recall(
        &self,
        request: Request<memory::RecallRequest>,
    ) -> Result<Response<memory::RecallResponse>, Status> {
        let request = request.into_inner();
        lock(&self.queries).push(request.text);
        if *lock(&self.reading) == Reading::Own {
            return Ok(Response::new(own_and_beside(&request.session_id)));
        }
        let partial = match *lock(&self.reading) {
            Reading::Done | Reading::Own => false,
            Reading::ForAWhile => !request.patient,
            Reading::Long => true,
        };
        if partial {
            return Ok(Response::new(memory::RecallResponse {
                partial,
                ..Default::default()
            }));
        }
        let hit = memory::Hit {
            path: "memory/2026-11-20.md".to_owned(),
            snippet: "the cat is Mourek".to_owned(),
            start_line: 3,
            ..Default::default()
        };
        let recalled = memory::Recalled {
            hit: Some(hit),
            tokens: 10,
        };
        Ok(Response::new(memory::RecallResponse {
            passages: vec![recalled],
            limit: 3,
            tokens: 100,
            partial,
            beside: Vec::new(),
        }))
    }

    async fn search(
        &self,
        _: Request<memory::SearchRequest>,
    ) -> Result<Response<memory::SearchResponse>, Status> {
        Err(unused())
    }

    async fn get(
        &self,
        _: Request<memory::GetRequest>,
    ) -> Result<Response<memory::GetResponse>, Status> {
        Err(unused())
    }

    async fn remember(
        &self,
        _: Request<memory::RememberRequest>,
    ) -> Result<Response<memory::RememberResponse>, Status> {
        Err(unused())
    }

    async fn forget(
        &self,
        _: Request<memory::ForgetRequest>,
    ) -> Result<Response<memory::ForgetResponse>, Status> {
        Err(unused())
    }

    async fn find_notes(
        &self,
        _: Request<memory::FindNotesRequest>,
    ) -> Result<Response<memory::FindNotesResponse>, Status> {
        Err(unused())
    }

    async fn compact(
        &self,
        _: Request<memory::CompactRequest>,
    ) -> Result<Response<memory::CompactResponse>, Status> {
        Err(unused())
    }

    async fn shorten(
        &self,
        _: Request<memory::ShortenRequest>,
    ) -> Result<Response<memory::ShortenResponse>, Status> {
        Err(unused())
    }

    type ExportStream = tokio_stream::Empty<Result<memory::ExportedDocument, Status>>;

    async fn export(
        &self,
        _: Request<memory::ExportRequest>,
    ) -> Result<Response<Self::ExportStream>, Status> {
        Err(unused())
    }

    type IndexStream = tokio_stream::Empty<Result<memory::IndexProgress, Status>>;

    async fn index(
        &self,
        _: Request<memory::IndexRequest>,
    ) -> Result<Response<Self::IndexStream>, Status> {
        Err(unused())
    }

    type EmbedStream = tokio_stream::Empty<Result<memory::EmbedJob, Status>>;

    async fn embed(
        &self,
        _: Request<tonic::Streaming<memory::EmbedResult>>,
    ) -> Result<Response<Self::EmbedStream>, Status> {
        Err(unused())
    }

    async fn status(
        &self,
        _: Request<memory::StatusRequest>,
    ) -> Result<Response<memory::StatusResponse>, Status> {
        Ok(Response::new(memory::StatusResponse::default()))
    }
}

fn unused() -> Status {
    Status::unimplemented("the gateway does not ask for this")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}
