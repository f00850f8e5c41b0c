//! The server, and the handle that a test holds.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use crate::cut::{Cut, Valve};
use crate::limits::Storm;
use crate::state::{Call, Fault, Sent, Shared};
use crate::{BOT, SECRET, body, control, methods, webhook};

/// Bytes of a call, as Telegram takes them.
const BODY_LIMIT: usize = 52 * 1024 * 1024;

type Body = BoxBody<Bytes, io::Error>;

/// A running double. Dropping it ends it and breaks its connections.
#[derive(Debug)]
pub struct Double {
    address: SocketAddr,
    token: String,
    shared: Arc<Shared>,
    tasks: [AbortHandle; 2],
}

impl Double {
    /// Starts on a free port of loopback, in the current tokio runtime.
    pub async fn start() -> io::Result<Self> {
        Self::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
    }

    /// Starts as another bot than [`BOT`], with a token of its own.
    pub async fn start_as(bot: i64) -> io::Result<Self> {
        Self::bound(bot, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
    }

    /// Starts on `address`.
    pub async fn start_at(address: SocketAddr) -> io::Result<Self> {
        Self::bound(BOT, address).await
    }

    async fn bound(bot: i64, address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let token = format!("{bot}:{SECRET}");
        let shared = Arc::new(Shared::default());
        shared.state().bot = bot;
        shared.state().token.clone_from(&token);
        shared.state().next_update = 1000;
        shared.state().next_message = 10;
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        let calling = tokio::spawn(webhook::run(Arc::clone(&shared)));
        Ok(Self {
            address,
            token,
            shared,
            tasks: [accepting.abort_handle(), calling.abort_handle()],
        })
    }

    /// What `apiRoot` is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The one token that is valid.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Somebody says `text` in the private chat `chat`; the update's number.
    pub fn say(&self, chat: i64, text: &str) -> i64 {
        let id = self.shared.state().message_id();
        self.update(
            json!({"message": {"message_id": id, "date": 1_700_000_000, "text": text,
            "chat": {"id": chat, "type": "private", "first_name": format!("P{chat}")},
            "from": {"id": chat, "is_bot": false, "first_name": format!("P{chat}")}}}),
        )
    }

    /// Somebody presses a button below the message `message`.
    pub fn press(&self, chat: i64, message: i64, data: &str) -> i64 {
        let sent = self.sent_to(chat);
        let below = sent.iter().find(|it| it.id == message);
        let mut pressed = json!({"message_id": message, "date": 1,
            "chat": {"id": chat, "type": "private"}});
        // Telegram tells what buttons are there.
        if let Some(markup) = below.map(|it| &it.parameters["reply_markup"])
            && markup.is_object()
        {
            pressed["reply_markup"] = markup.clone();
        }
        self.update(
            json!({"callback_query": {"id": format!("q{message}"), "data": data,
            "chat_instance": "1", "message": pressed,
            "from": {"id": chat, "is_bot": false, "first_name": format!("P{chat}")}}}),
        )
    }

    /// Something happens; the update's number.
    pub fn update(&self, update: Value) -> i64 {
        let id = self.shared.state().add(update);
        self.shared.changed.notify_waiters();
        id
    }

    /// The next update has this number.
    pub fn number_from(&self, id: i64) {
        let mut state = self.shared.state();
        state.next_update = id;
        state.has_random_numbers = true;
    }

    /// Keeps a file that getFile finds.
    pub fn keep_file(&self, id: &str, content: Vec<u8>) {
        self.shared.state().files.insert(id.to_owned(), content);
    }

    /// Says of files where in `folder` of its own they are, as a server does that runs
    /// with --local.
    pub fn run_locally(&self, folder: &str) {
        self.shared.state().local_folder = format!("{folder}/");
    }

    /// Lets the bot write to a chat in which nobody said anything.
    pub fn open_chat(&self, chat: &str) {
        self.shared.state().chats.insert(chat.to_owned());
    }

    /// The group `former` becomes the supergroup `present`; updates say so only where
    /// they are made.
    pub fn migrate(&self, former: i64, present: i64) {
        let mut state = self.shared.state();
        state.chats.insert(present.to_string());
        state.moved.insert(former.to_string(), present);
    }

    /// Lets the next call of `method` go wrong; several: one after the other.
    pub fn inject(&self, method: &str, fault: Fault) {
        self.shared
            .state()
            .faults
            .push_back((method.to_owned(), fault));
    }

    /// Lets what is held go.
    pub fn release(&self) {
        self.shared.state().releases += 1;
        self.shared.changed.notify_waiters();
    }

    /// Refuses some of what is said with 429 from now on; None: nothing more.
    pub fn storm(&self, storm: Option<Storm>) {
        self.shared.state().limits.storm = storm;
    }

    /// Refusals of storms, and calls that came before the time one had named.
    pub fn refusals(&self) -> (usize, usize) {
        self.shared.state().limits.counts()
    }

    /// Whether the token is valid.
    pub fn revoke(&self, is_revoked: bool) {
        self.shared.state().is_revoked = is_revoked;
        self.shared.changed.notify_waiters();
    }

    /// All calls so far.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.state().calls.clone()
    }

    /// The calls of one method.
    pub fn calls_of(&self, method: &str) -> Vec<Call> {
        let mut calls = self.calls();
        calls.retain(|call| call.method == method);
        calls
    }

    /// What the bot said, without what was taken back.
    pub fn sent(&self) -> Vec<Sent> {
        let mut sent = self.shared.state().sent.clone();
        sent.retain(|it| !it.is_deleted);
        sent
    }

    /// What the bot said in a chat.
    pub fn sent_to(&self, chat: i64) -> Vec<Sent> {
        self.shared.state().sent_to(&chat.to_string())
    }

    /// The bot's menu.
    pub fn commands(&self) -> Value {
        self.shared.state().commands.clone()
    }

    /// The webhook.
    pub fn webhook(&self) -> Value {
        self.shared.state().webhook.clone()
    }

    /// Sets a webhook as another program does.
    pub fn set_webhook(&self, url: &str) {
        self.shared.state().webhook = json!({"url": url});
        self.shared.changed.notify_waiters();
    }

    /// Whether somebody has asked for updates.
    pub fn is_polled(&self) -> bool {
        self.shared.state().poll > 0
    }

    /// Updates that nobody confirmed.
    pub fn unconfirmed(&self) -> usize {
        self.shared.state().updates.len()
    }

    /// Waits until `is_so`; has no deadline of its own.
    pub async fn wait(&self, is_so: impl Fn(&Self) -> bool) {
        loop {
            let changed = self.shared.changed.notified();
            if is_so(self) {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(serve(stream, Arc::clone(&shared)));
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let valve = Valve::default();
    let cut = Cut {
        stream,
        valve: valve.clone(),
    };
    let service = service_fn(|request| answer(Arc::clone(&shared), valve.clone(), request));
    // A client that leaves, and a connection that is to break, end here.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(cut), service)
        .await;
}

async fn answer(
    shared: Arc<Shared>,
    valve: Valve,
    request: Request<Incoming>,
) -> Result<Response<Body>, io::Error> {
    valve.open();
    let (head, incoming) = request.into_parts();
    let kind = head
        .headers
        .get("content-type")
        .and_then(|it| it.to_str().ok());
    let kind = kind.unwrap_or_default().to_owned();
    let content = Limited::new(incoming, BODY_LIMIT).collect().await;
    let content = content.map_err(io::Error::other)?.to_bytes();
    let path = head.uri.path().to_owned();
    if let Some(answer) = control::carry_out(&shared, &path, &content) {
        return Ok(whole(200, answer));
    }
    if let Some(id) = path.strip_prefix(&format!("/file/bot{}/files/", shared.state().token)) {
        return file(&shared, id);
    }
    let method = match method(&shared, &path) {
        Ok(method) => method,
        Err((code, words)) => return Ok(refusal(code, &words, None)),
    };
    let asked = body::read(&kind, &content, head.uri.query().unwrap_or_default());
    let asked = match asked {
        Ok(asked) => asked,
        Err(words) => return Ok(refusal(400, &words, None)),
    };
    carry_out(&shared, &valve, &method, asked).await
}

fn method(shared: &Shared, path: &str) -> Result<String, methods::Refusal> {
    let Some((token, method)) = path.strip_prefix("/bot").and_then(|it| it.split_once('/')) else {
        return Err((404, "Not Found".into()));
    };
    let state = shared.state();
    if token != state.token || state.is_revoked {
        return Err((401, "Unauthorized".into()));
    }
    Ok(method.to_owned())
}

async fn carry_out(
    shared: &Shared,
    valve: &Valve,
    method: &str,
    asked: Value,
) -> Result<Response<Body>, io::Error> {
    let (fault, pause) = {
        let mut state = shared.state();
        let fault = state.fault(method);
        (fault, state.limits.refuse(method, &asked))
    };
    let record = |code: u16| {
        shared.state().calls.push(Call {
            method: method.to_owned(),
            parameters: asked.clone(),
            code,
        });
        shared.changed.notify_waiters();
    };
    let broken = || io::Error::other("the connection is to break");
    if let Some(seconds) = pause {
        record(429);
        let words = format!("Too Many Requests: retry after {seconds}");
        return Ok(refusal(429, &words, Some(seconds)));
    }
    match fault {
        Some(Fault::Refuse {
            code,
            description,
            retry_after,
        }) => {
            record(code);
            return Ok(refusal(code, &description, retry_after));
        }
        Some(Fault::DropBefore) => {
            record(0);
            return Err(broken());
        }
        Some(Fault::HoldBefore) => {
            record(0);
            released(shared).await;
            return Err(broken());
        }
        Some(Fault::DropAt(_) | Fault::Hold) | None => {}
    }
    let result = methods::call(shared, method, &asked).await;
    let (code, content) = match result {
        Ok(result) => (200, json!({"ok": true, "result": result})),
        Err((code, words)) => {
            let mut content = failed(code, &words, None);
            if let Some(present) = shared.state().moved.get(&chat_id(&asked)) {
                content["parameters"] = json!({"migrate_to_chat_id": present});
            }
            (code, content)
        }
    };
    match fault {
        Some(Fault::DropAt(bytes)) => {
            record(0);
            valve.close_after(bytes);
        }
        Some(Fault::Hold) => {
            record(0);
            released(shared).await;
        }
        _ => record(code),
    }
    Ok(whole(code, content))
}

/// As a parameter has it, a number or a text.
fn chat_id(asked: &Value) -> String {
    let id = &asked["chat_id"];
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn failed(code: u16, words: &str, retry_after: Option<u64>) -> Value {
    let mut content = json!({"ok": false, "error_code": code, "description": words});
    if let Some(seconds) = retry_after {
        content["parameters"] = json!({"retry_after": seconds});
    }
    content
}

fn refusal(code: u16, words: &str, retry_after: Option<u64>) -> Response<Body> {
    whole(code, failed(code, words, retry_after))
}

fn whole(code: u16, content: Value) -> Response<Body> {
    let body = Full::from(content.to_string()).map_err(|never: Infallible| match never {});
    response(code, body.boxed())
}

fn response(code: u16, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_GATEWAY);
    response
}

/// Waits until what is held may go.
async fn released(shared: &Shared) {
    let before = shared.state().releases;
    loop {
        let changed = shared.changed.notified();
        if shared.state().releases > before {
            return;
        }
        changed.await;
    }
}

fn file(shared: &Shared, id: &str) -> Result<Response<Body>, io::Error> {
    let mut state = shared.state();
    match state.fault("file") {
        Some(_) => Err(io::Error::other("the connection is to break")),
        None => Ok(match state.files.get(id) {
            Some(content) => {
                let body = Full::from(content.clone()).map_err(|never: Infallible| match never {});
                response(200, body.boxed())
            }
            None => refusal(404, "Not Found", None),
        }),
    }
}
