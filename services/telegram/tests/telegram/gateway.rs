//! The gateway's side of the contract: hand-ins are kept by their key, each message
//! is answered once, and a delivery is one taker's until it is reported.

#![expect(
    clippy::disallowed_types,
    reason = "this serves gRPC, as the gateway's door does"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use openclaw_proto::wire::{channel as c, gateway as g};
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio::sync::{Notify, mpsc, watch};
use tokio_stream::wrappers::{ReceiverStream, UnixListenerStream};
use tokio_stream::{Stream, StreamExt as _};
use tokio_util::task::AbortOnDropHandle;
use tonic::{Request, Response, Status, Streaming};

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[derive(Default)]
pub(crate) struct State {
    pub(crate) handed_in: BTreeMap<String, c::HandInRequest>,
    pub(crate) files: Vec<(c::FileHead, Vec<u8>)>,
    /// Those that nobody reported, and those that are over.
    pub(crate) open: BTreeMap<u64, g::Delivery>,
    pub(crate) over: BTreeMap<u64, g::ReportDeliveryRequest>,
    pub(crate) again: Vec<g::ReportDeliveryRequest>,
    pub(crate) health: Option<c::ReportHealthRequest>,
    /// All states that were told.
    pub(crate) states: Vec<String>,
    next: u64,
}

pub(crate) struct Shared {
    pub(crate) state: Mutex<State>,
    pub(crate) changed: Notify,
    settings: watch::Sender<Value>,
    takers: watch::Sender<u64>,
}

#[derive(Clone)]
struct Service(Arc<Shared>);

/// A running gateway.
pub(crate) struct Gateway {
    pub(crate) shared: Arc<Shared>,
    server: Option<AbortOnDropHandle<()>>,
}

impl Gateway {
    pub(crate) fn start(runtime: &Path, settings: Value) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Notify::new(),
            settings: watch::Sender::new(settings),
            takers: watch::Sender::new(0),
        });
        let mut gateway = Self {
            shared,
            server: None,
        };
        gateway.start_again(runtime);
        gateway
    }

    /// Ends it as SIGKILL does, what it knows being durable, and starts it again.
    pub(crate) fn start_again(&mut self, runtime: &Path) {
        self.server = None;
        let socket = runtime.join("gateway.sock");
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        let service = Service(Arc::clone(&self.shared));
        let server = tonic::transport::Server::builder()
            .add_service(c::channels_server::ChannelsServer::new(service.clone()))
            .add_service(g::outbox_server::OutboxServer::new(service))
            .serve_with_incoming(UnixListenerStream::new(listener));
        self.server = Some(AbortOnDropHandle::new(tokio::spawn(async {
            server.await.unwrap();
        })));
    }

    pub(crate) fn configure(&self, settings: Value) {
        self.shared.settings.send_replace(settings);
    }

    /// Something to be said to `chat`.
    pub(crate) fn say(&self, chat: i64, delivery: g::Delivery) -> u64 {
        self.shared.say(chat, delivery)
    }

    pub(crate) async fn wait(&self, is_so: impl Fn(&State) -> bool) {
        loop {
            let changed = self.shared.changed.notified();
            if is_so(&self.shared.state.lock().unwrap()) {
                return;
            }
            changed.await;
        }
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        let state = self.shared.state.lock().unwrap();
        state.handed_in.values().filter_map(text).collect()
    }
}

pub(crate) fn text(request: &c::HandInRequest) -> Option<String> {
    match request.what.as_ref()? {
        c::hand_in_request::What::Message(message) => Some(message.text.clone()),
        _ => None,
    }
}

fn has_waiting_files(request: &c::HandInRequest) -> bool {
    match &request.what {
        Some(c::hand_in_request::What::Message(message)) => {
            message.attachments.iter().any(|it| it.is_waiting)
        }
        _ => false,
    }
}

impl Shared {
    fn say(&self, chat: i64, delivery: g::Delivery) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.next += 1;
        let id = state.next;
        let run_id = match delivery.run_id.as_str() {
            "" => format!("run-{id}"),
            named => named.to_owned(),
        };
        let delivery = g::Delivery {
            id,
            to: chat.to_string(),
            channel: "telegram".into(),
            run_id,
            ..delivery
        };
        state.open.insert(id, delivery);
        drop(state);
        self.changed.notify_waiters();
        id
    }
}

#[tonic::async_trait]
impl c::channels_server::Channels for Service {
    type AttendStream = Answers<c::AttendResponse>;
    type FetchFileStream = Answers<c::FetchFileResponse>;

    async fn attend(
        &self,
        request: Request<c::AttendRequest>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        assert_eq!(request.into_inner().channel, "telegram");
        let settings = tokio_stream::wrappers::WatchStream::new(self.0.settings.subscribe());
        let answers = settings.map(|settings| {
            let told = c::AccountSettings {
                json: settings.to_string(),
                ..Default::default()
            };
            let what = Some(c::attend_response::What::Settings(told));
            Ok(c::AttendResponse { what })
        });
        Ok(Response::new(Box::pin(answers)))
    }

    async fn hand_in(
        &self,
        request: Request<c::HandInRequest>,
    ) -> Result<Response<c::HandInResponse>, Status> {
        use c::hand_in_response::Outcome;
        let request = request.into_inner();
        if has_waiting_files(&request) {
            let outcome = Some(Outcome::FilesWanted(c::FilesWanted {}));
            return Ok(Response::new(c::HandInResponse {
                existing: false,
                outcome,
            }));
        }
        let place = request.place.clone().unwrap();
        let known = {
            let mut state = self.0.state.lock().unwrap();
            state
                .handed_in
                .insert(request.key.clone(), request.clone())
                .is_some()
        };
        let mut outcome = Outcome::Answered(c::Answered {
            text: "noted".into(),
        });
        if let Some(text) = text(&request) {
            outcome = Outcome::Taken(c::Taken::default());
            if !known {
                let reply = g::RunReply {
                    text: format!("echo {text}"),
                    state: "done".into(),
                    ..Default::default()
                };
                let kind = Some(g::delivery::Kind::Reply(reply));
                let delivery = g::Delivery {
                    kind,
                    thread: place.thread,
                    ..Default::default()
                };
                self.0.say(place.id.parse().unwrap(), delivery);
            }
        }
        self.0.changed.notify_waiters();
        Ok(Response::new(c::HandInResponse {
            existing: known,
            outcome: Some(outcome),
        }))
    }

    async fn put_file(
        &self,
        request: Request<Streaming<c::PutFileRequest>>,
    ) -> Result<Response<c::PutFileResponse>, Status> {
        use c::put_file_request::Part;
        let mut parts = request.into_inner();
        let mut file = (c::FileHead::default(), Vec::new());
        while let Some(part) = parts.next().await {
            match part?.part {
                Some(Part::Head(head)) => file.0 = head,
                Some(Part::Content(content)) => file.1.extend(content),
                Some(Part::End(_)) => {}
                None => return Err(Status::invalid_argument("an empty part")),
            }
        }
        let size = file.1.len() as u64;
        let mut state = self.0.state.lock().unwrap();
        state.files.push(file);
        let file_id = state.files.len().to_string();
        Ok(Response::new(c::PutFileResponse { file_id, size }))
    }

    async fn fetch_file(
        &self,
        request: Request<c::FetchFileRequest>,
    ) -> Result<Response<Self::FetchFileStream>, Status> {
        let request = request.into_inner();
        let pieces = [
            b"con".to_vec(),
            format!("tent {}", request.index).into_bytes(),
        ];
        let pieces = pieces.map(|content| Ok(c::FetchFileResponse { content }));
        Ok(Response::new(Box::pin(tokio_stream::iter(pieces))))
    }

    async fn report_health(
        &self,
        request: Request<c::ReportHealthRequest>,
    ) -> Result<Response<c::ReportHealthResponse>, Status> {
        let health = request.into_inner();
        {
            let mut state = self.0.state.lock().unwrap();
            state.states.push(health.state.clone());
            state.health = Some(health);
        }
        self.0.changed.notify_waiters();
        Ok(Response::new(c::ReportHealthResponse {}))
    }
}

#[tonic::async_trait]
impl g::outbox_server::Outbox for Service {
    type TakeDeliveriesStream = Answers<g::Delivery>;

    async fn take_deliveries(
        &self,
        _: Request<g::TakeDeliveriesRequest>,
    ) -> Result<Response<Self::TakeDeliveriesStream>, Status> {
        let shared = Arc::clone(&self.0);
        let (sender, receiver) = mpsc::channel(16);
        shared.takers.send_modify(|taker| *taker += 1);
        let taker = *shared.takers.borrow();
        tokio::spawn(async move {
            let mut given: Vec<u64> = Vec::new();
            loop {
                let changed = shared.changed.notified();
                // Those of one chat one after the other.
                let next = {
                    let mut state = shared.state.lock().unwrap();
                    let state = &mut *state;
                    let mut chats = Vec::new();
                    let mut next = None;
                    for delivery in state.open.values_mut() {
                        if chats.contains(&delivery.to) {
                            continue;
                        }
                        chats.push(delivery.to.clone());
                        if !given.contains(&delivery.id) {
                            delivery.attempt += 1;
                            next = Some(delivery.clone());
                            break;
                        }
                    }
                    next
                };
                if *shared.takers.borrow() != taker {
                    return;
                }
                match next {
                    Some(delivery) => {
                        given.push(delivery.id);
                        if sender.send(Ok(delivery)).await.is_err() {
                            return;
                        }
                    }
                    None => changed.await,
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn report_delivery(
        &self,
        request: Request<g::ReportDeliveryRequest>,
    ) -> Result<Response<g::ReportDeliveryResponse>, Status> {
        use g::report_delivery_request::Outcome;
        let report = request.into_inner();
        {
            let mut state = self.0.state.lock().unwrap();
            if let Some(Outcome::TryAgain(_)) = report.outcome {
                state.again.push(report);
            } else {
                state.open.remove(&report.id);
                state.over.insert(report.id, report);
            }
        }
        self.0.changed.notify_waiters();
        Ok(Response::new(g::ReportDeliveryResponse {
            state: "delivered".into(),
        }))
    }
}

pub(crate) fn settings(root: &str) -> Value {
    json!({"apiRoot": root, "streaming": "off"})
}
