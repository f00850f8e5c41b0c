//! A gateway whose answers the test writes.

#![expect(clippy::disallowed_types, reason = "it stands in for a server")]

use std::os::unix::net::UnixListener;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::thread;

use openclaw_proto::event::{Done, Event, Kind};
use openclaw_proto::gateway::{Accepted, ConfigurationSeen, Reply};
use openclaw_proto::shown::Shown;
use openclaw_proto::wire::gateway as wire;
use openclaw_proto::wire::run;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::{ReceiverStream, UnixListenerStream};
use tokio_stream::{Stream, StreamExt as _};
use tonic::transport::Server;
use tonic::{Request, Response, Status};
use wire::gateway_server::{Gateway, GatewayServer};
use wire::sessions_server::SessionsServer;

use crate::scene::Scene;
use crate::sessions;

/// The run that every message becomes.
pub(crate) const RUN: &str = "run-1";

/// One answer to one call of SendMessage or Attach.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// An event.
    Event(u64, Kind),
    /// Hold the stream open until somebody cancels the run; then it is
    /// aborted with this sequence number.
    UntilCancelled(u64),
}

/// What was asked of the gateway.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) messages: Vec<wire::SendMessageRequest>,
    pub(crate) attached: Vec<u64>,
    pub(crate) cancelled: Vec<wire::CancelRunRequest>,
}

type Streams = Arc<Mutex<Vec<Vec<Step>>>>;

#[derive(Clone)]
struct Scripted {
    /// Each call takes the first; a script that ends early ends its stream.
    streams: Streams,
    asked: Arc<Mutex<Asked>>,
    cancel: Arc<tokio::sync::Notify>,
    status: wire::StatusResponse,
}

/// The running gateway; it ends with this.
pub(crate) struct ScriptedGateway {
    asked: Arc<Mutex<Asked>>,
    _stop: oneshot::Sender<()>,
}

impl ScriptedGateway {
    /// Answers one call after the other with `streams`.
    pub(crate) fn start(scene: &Scene, streams: Vec<Vec<Step>>) -> Self {
        Self::start_with(scene, streams, wire::StatusResponse::default())
    }

    /// The same, with a status.
    pub(crate) fn start_with(
        scene: &Scene,
        streams: Vec<Vec<Step>>,
        status: wire::StatusResponse,
    ) -> Self {
        Self::start_on(listen(scene), streams, status)
    }

    /// The same, at a socket that is there already.
    pub(crate) fn start_on(
        listener: UnixListener,
        streams: Vec<Vec<Step>>,
        status: wire::StatusResponse,
    ) -> Self {
        listener.set_nonblocking(true).unwrap();
        let asked = Arc::new(Mutex::new(Asked::default()));
        let service = Scripted {
            streams: Arc::new(Mutex::new(streams)),
            asked: Arc::clone(&asked),
            cancel: Arc::default(),
            status,
        };
        let (stop, stopped) = oneshot::channel::<()>();
        thread::spawn(move || serve(listener, service, stopped));
        Self { asked, _stop: stop }
    }

    pub(crate) fn asked(&self) -> std::sync::MutexGuard<'_, Asked> {
        self.asked.lock().unwrap()
    }
}

/// The gateway's socket.
pub(crate) fn listen(scene: &Scene) -> UnixListener {
    std::fs::create_dir_all(scene.runtime()).unwrap();
    UnixListener::bind(scene.socket("gateway")).unwrap()
}

fn serve(listener: UnixListener, service: Scripted, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = tokio::net::UnixListener::from_std(listener).unwrap();
        Server::builder()
            .add_service(GatewayServer::new(service))
            .add_service(SessionsServer::new(sessions::Listed))
            .serve_with_incoming_shutdown(UnixListenerStream::new(listener), async {
                let _ = stopped.await;
            })
            .await
            .unwrap();
    });
}

impl Scripted {
    fn play(&self) -> ReceiverStream<Event> {
        let mut streams = self.streams.lock().unwrap();
        let steps = if streams.is_empty() {
            Vec::new()
        } else {
            streams.remove(0)
        };
        let (sender, receiver) = mpsc::channel(16);
        let cancel = Arc::clone(&self.cancel);
        tokio::spawn(async move {
            for step in steps {
                let event = match step {
                    Step::Event(seq, kind) => event(seq, kind),
                    Step::UntilCancelled(seq) => {
                        cancel.notified().await;
                        event(seq, aborted())
                    }
                };
                let _ = sender.send(event).await;
            }
        });
        ReceiverStream::new(receiver)
    }
}

fn aborted() -> Kind {
    Kind::Aborted {
        reason: "as asked".to_owned(),
        backend_session: None,
        backend: "offline".to_owned(),
    }
}

fn event(seq: u64, kind: Kind) -> Event {
    Event {
        run_id: RUN.to_owned(),
        seq,
        at_ms: 1,
        kind,
    }
}

/// A piece of text.
pub(crate) fn delta(seq: u64, text: &str) -> Step {
    Step::Event(
        seq,
        Kind::TextDelta {
            text: text.to_owned(),
        },
    )
}

/// The end of a whole reply.
pub(crate) fn done(seq: u64) -> Step {
    Step::Event(
        seq,
        Kind::Done(Done {
            stop_reason: "stop".to_owned(),
            provider: "openclaw".to_owned(),
            model: "offline".to_owned(),
            backend_session: None,
            backend: "offline".to_owned(),
        }),
    )
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Gateway for Scripted {
    type SendMessageStream = Answers<wire::SendMessageResponse>;
    type AttachStream = Answers<run::Event>;

    async fn send_message(
        &self,
        request: Request<wire::SendMessageRequest>,
    ) -> Result<Response<Self::SendMessageStream>, Status> {
        let message = request.into_inner();
        if message.session_key == "bad" {
            return Err(Status::invalid_argument("session key: is no key"));
        }
        let accepted = Accepted {
            run_id: RUN.to_owned(),
            session_key: message.session_key.clone(),
            session_id: "session-1".to_owned(),
            agent_id: "main".to_owned(),
            existing: false,
        };
        // What the session wants shown is its name here.
        let shown = match message.session_key.as_str() {
            "calls" => Shown::of(Some("on"), Some("on"), Some("tokens")),
            "everything" => Shown::of(Some("full"), Some("stream"), Some("full")),
            _ => Shown::default(),
        };
        let accepted = Reply::Accepted(accepted, ConfigurationSeen::default(), shown);
        self.asked.lock().unwrap().messages.push(message);
        let events = self.play().map(Reply::Event);
        let replies = tokio_stream::once(accepted).chain(events);
        Ok(Response::new(Box::pin(
            replies.map(|reply| Ok(reply.into())),
        )))
    }

    async fn attach(
        &self,
        request: Request<wire::AttachRequest>,
    ) -> Result<Response<Self::AttachStream>, Status> {
        let from_seq = request.into_inner().from_seq;
        self.asked.lock().unwrap().attached.push(from_seq);
        Ok(Response::new(Box::pin(
            self.play().map(|event| Ok(event.into())),
        )))
    }

    async fn cancel_run(
        &self,
        request: Request<wire::CancelRunRequest>,
    ) -> Result<Response<wire::CancelRunResponse>, Status> {
        let request = request.into_inner();
        if request.run_id != RUN {
            return Err(Status::not_found("no such run"));
        }
        self.asked.lock().unwrap().cancelled.push(request);
        self.cancel.notify_one();
        Ok(Response::new(wire::CancelRunResponse { cancelled: true }))
    }

    async fn list_turns(
        &self,
        _: Request<wire::ListTurnsRequest>,
    ) -> Result<Response<wire::ListTurnsResponse>, Status> {
        Ok(Response::new(wire::ListTurnsResponse::default()))
    }

    async fn list_approvals(
        &self,
        _: Request<wire::ListApprovalsRequest>,
    ) -> Result<Response<wire::ListApprovalsResponse>, Status> {
        Ok(Response::new(wire::ListApprovalsResponse::default()))
    }

    async fn decide_approval(
        &self,
        _: Request<wire::DecideApprovalRequest>,
    ) -> Result<Response<wire::DecideApprovalResponse>, Status> {
        Err(Status::not_found("nothing waits here"))
    }

    async fn revoke_grant(
        &self,
        _: Request<wire::RevokeGrantRequest>,
    ) -> Result<Response<wire::RevokeGrantResponse>, Status> {
        Err(Status::not_found("that command was not allowed for good"))
    }

    async fn put_attachment(
        &self,
        request: Request<wire::PutAttachmentRequest>,
    ) -> Result<Response<wire::PutAttachmentResponse>, Status> {
        let path = format!("media/inbound/{}", request.into_inner().name);
        let words = format!("[media attached: {path}]");
        Ok(Response::new(wire::PutAttachmentResponse { path, words }))
    }

    async fn access_token(
        &self,
        _request: Request<wire::AccessTokenRequest>,
    ) -> Result<Response<wire::AccessTokenResponse>, Status> {
        Ok(Response::new(wire::AccessTokenResponse {
            mode: "token".to_owned(),
            token: "scripted".to_owned(),
        }))
    }

    async fn status(
        &self,
        _: Request<wire::StatusRequest>,
    ) -> Result<Response<wire::StatusResponse>, Status> {
        Ok(Response::new(self.status.clone()))
    }
}
