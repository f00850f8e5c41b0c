//! A WebSocket client of the gateway, as plain as can be.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::{SinkExt as _, StreamExt as _};
use ring::digest::{SHA256, digest};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::{Suite, within};

/// All an operator can be.
pub const ALL_SCOPES: [&str; 5] = [
    "operator.read",
    "operator.write",
    "operator.admin",
    "operator.approvals",
    "operator.pairing",
];

/// A connection.
#[derive(Debug)]
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// Every frame that came, in order.
    pub seen: Vec<Value>,
    requests: u64,
}

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// 1006 when there was no close frame.
    pub code: u16,
    /// For people.
    pub reason: String,
}

impl Socket {
    /// Connects to `address`, `http://…`, with or without an Origin.
    pub async fn open(address: &str, origin: Option<&str>) -> Self {
        let url = format!("{}/", address.replacen("http", "ws", 1));
        let mut request = url.into_client_request().expect("a WebSocket URL");
        if let Some(origin) = origin {
            let origin = origin.parse().expect("an origin");
            request.headers_mut().insert("origin", origin);
        }
        let connected = tokio_tungstenite::connect_async(request);
        let (stream, _) = within("the upgrade", connected).await.expect("connect");
        Self {
            stream,
            seen: Vec::new(),
            requests: 0,
        }
    }

    /// Connects and is let in with all scopes.
    pub async fn enter(suite: &Suite) -> Self {
        Self::enter_as(suite, json!({})).await
    }

    /// Connects and is let in; `changes` replace fields of `connect`.
    pub async fn enter_as(suite: &Suite, changes: Value) -> Self {
        let (address, token) = (suite.address("http").await, suite.token().await);
        Self::enter_at(&address, &token, changes).await
    }

    /// The same, where address and token are known.
    pub async fn enter_at(address: &str, token: &str, changes: Value) -> Self {
        let mut socket = Self::open(address, None).await;
        let answer = socket.connect(token, changes).await.expect("an answer");
        assert_eq!(answer["ok"], true, "{answer}");
        assert_eq!(answer["payload"]["type"], "hello-ok", "{answer}");
        socket
    }

    /// Connects as an app of the device made from `seed`; the response to `connect`.
    pub async fn with_device(address: &str, auth: Value, seed: u8, scopes: Value) -> (Self, Value) {
        let mut socket = Self::open(address, None).await;
        let challenge = socket.next().await.expect("a challenge");
        let mut params = json!({
            "minProtocol": 4, "maxProtocol": 4,
            "client": {"id": "openclaw-ios", "version": "1.0.0", "platform": "ios", "mode": "ui"},
            "role": "operator", "scopes": scopes, "auth": auth,
        });
        params["device"] = device(seed, &params, &challenge["payload"]);
        let answer = socket.ask("connect", params).await.expect("an answer");
        (socket, answer)
    }

    /// Answers the challenge; the response to `connect`.
    pub async fn connect(&mut self, token: &str, changes: Value) -> Result<Value, Closed> {
        let challenge = self.next().await?;
        assert_eq!(challenge["event"], "connect.challenge", "{challenge}");
        let mut params = json!({
            "minProtocol": 4, "maxProtocol": 4,
            "client": {"id": "gateway-client", "version": "1.0.0", "platform": "linux", "mode": "backend"},
            "role": "operator", "scopes": ALL_SCOPES, "caps": ["tool-events"],
            "auth": {"token": token},
        });
        if let (Value::Object(params), Value::Object(changes)) = (&mut params, changes) {
            params.extend(changes);
        }
        self.ask("connect", params).await
    }

    /// Sends a request and waits for its response; events stay in `seen`.
    pub async fn ask(&mut self, method: &str, params: Value) -> Result<Value, Closed> {
        let id = self.begin(method, params).await;
        self.answer(&id).await
    }

    /// The payload of a request that must succeed.
    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await.expect(method);
        assert_eq!(answer["ok"], true, "{method}: {answer}");
        answer["payload"].clone()
    }

    /// The error of a request that must fail.
    pub async fn fail(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await.expect(method);
        assert_eq!(answer["ok"], false, "{method}: {answer}");
        answer["error"].clone()
    }

    /// Sends a request; its id.
    pub async fn begin(&mut self, method: &str, params: Value) -> String {
        self.requests += 1;
        let id = format!("r{}", self.requests);
        let frame = json!({"type": "req", "id": id, "method": method, "params": params});
        self.send(&frame.to_string()).await;
        id
    }

    /// Sends a text frame as it is. A connection that is closed already shows
    /// when it is read.
    pub async fn send(&mut self, text: &str) {
        self.send_message(Message::text(text)).await;
    }

    /// Sends any frame.
    pub async fn send_message(&mut self, message: Message) {
        let _ = within("sending a frame", self.stream.send(message)).await;
    }

    /// Waits for the response to the request `id`.
    pub async fn answer(&mut self, id: &str) -> Result<Value, Closed> {
        loop {
            let frame = self.next().await?;
            if frame["type"] == "res" && frame["id"] == id {
                return Ok(frame);
            }
        }
    }

    /// Waits for an event that `wanted` wants.
    pub async fn event(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self.next().await.expect("an event");
            if frame["type"] == "event" && wanted(&frame) {
                return frame;
            }
        }
    }

    /// The first event that `wanted` wants, if it came already or when it comes.
    pub async fn heard(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let is_wanted = |frame: &Value| frame["type"] == "event" && wanted(frame);
        match self.seen.iter().find(|frame| is_wanted(frame)) {
            Some(frame) => frame.clone(),
            None => self.event(wanted).await,
        }
    }

    /// Waits for the end of a run: its last `chat` event.
    pub async fn end_of(&mut self, run_id: &str) -> Value {
        let is_end = |frame: &Value| {
            let state = frame["payload"]["state"].as_str();
            frame["event"] == "chat"
                && frame["payload"]["runId"] == run_id
                && matches!(state, Some("final" | "aborted" | "error"))
        };
        if let Some(end) = self.seen.iter().find(|frame| is_end(frame)) {
            return end.clone();
        }
        self.event(is_end).await
    }

    /// The next frame.
    pub async fn next(&mut self) -> Result<Value, Closed> {
        loop {
            match within("a frame", self.stream.next()).await {
                Some(Ok(Message::Text(text))) => {
                    let frame: Value = serde_json::from_str(&text).expect("JSON");
                    self.seen.push(frame.clone());
                    return Ok(frame);
                }
                Some(Ok(Message::Close(frame))) => {
                    return Err(frame.map_or_else(Closed::without_frame, |frame| Closed {
                        code: frame.code.into(),
                        reason: frame.reason.to_string(),
                    }));
                }
                Some(Ok(_)) => {}
                Some(Err(Error::ConnectionClosed)) | None | Some(Err(_)) => {
                    return Err(Closed::without_frame());
                }
            }
        }
    }

    /// Waits until the gateway closes the connection.
    pub async fn closed(&mut self) -> Closed {
        loop {
            if let Err(closed) = self.next().await {
                return closed;
            }
        }
    }

    /// Closes it.
    pub async fn close(mut self) {
        let _ = self.stream.close(None).await;
    }
}

impl Closed {
    fn without_frame() -> Self {
        Self {
            code: 1006,
            reason: String::new(),
        }
    }
}

/// The identity of a device made from `seed`, signed for the challenge and for
/// what `params` of `connect` ask.
pub fn device(seed: u8, params: &Value, challenge: &Value) -> Value {
    let pair = Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).expect("a key");
    let key = pair.public_key().as_ref();
    let id: String = digest(&SHA256, key)
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let client = &params["client"];
    let scopes: Vec<String> = params["scopes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(text)
        .collect();
    let auth = &params["auth"];
    let tokens = [&auth["token"], &auth["deviceToken"]];
    let token = tokens.into_iter().map(text).find(|token| !token.is_empty());
    let signed = format!(
        "v3|{id}|{}|{}|{}|{}|{}|{}|{}|{}|{}",
        text(&client["id"]),
        text(&client["mode"]),
        text(&params["role"]),
        scopes.join(","),
        challenge["ts"],
        token.unwrap_or_default(),
        text(&challenge["nonce"]),
        text(&client["platform"]).to_lowercase(),
        text(&client["deviceFamily"]).to_lowercase(),
    );
    json!({
        "id": id,
        "publicKey": URL_SAFE_NO_PAD.encode(key),
        "signature": URL_SAFE_NO_PAD.encode(pair.sign(signed.as_bytes())),
        "signedAt": challenge["ts"],
        "nonce": challenge["nonce"],
    })
}
