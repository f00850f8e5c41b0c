//! A client of the gateway's WebSocket protocol that does no more than the measuring needs.

use anyhow::{Context as _, bail, ensure};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::suite::Suite;

/// Bytes of a client's buffers: a thousand clients are in this process.
const BUFFER: usize = 8 * 1024;

/// Where the gateway is, and its token.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Place {
    pub(crate) async fn of(suite: &Suite) -> anyhow::Result<Self> {
        let gateway = suite.client();
        let status = gateway.status().await.context("ask for the status")?;
        let mut listeners = status.listeners.into_iter();
        let listener = listeners.find(|listener| listener.name == "http");
        let token = gateway.access_token(false).await;
        let token = token.context("ask for the token")?.token;
        Ok(Self {
            address: listener.context("the gateway has no port")?.address,
            token: token.unwrap_or_default(),
        })
    }
}

/// A connection that was let in.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
    requests: u64,
}

impl Socket {
    pub(crate) async fn enter(place: &Place) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(&place.address).await;
        let stream = stream.context("connect to the gateway")?;
        stream.set_nodelay(true).context("set TCP_NODELAY")?;
        let config = WebSocketConfig::default()
            .read_buffer_size(BUFFER)
            .write_buffer_size(0);
        let url = format!("ws://{}/", place.address);
        let upgraded = tokio_tungstenite::client_async_with_config(url, stream, Some(config)).await;
        let (stream, _) = upgraded.context("upgrade to a WebSocket")?;
        let mut socket = Self {
            stream,
            requests: 0,
        };
        socket.text().await.context("wait for the challenge")?;
        let hello = socket.call("connect", greeting(&place.token)).await?;
        ensure!(hello["type"] == "hello-ok", "no hello-ok: {hello}");
        Ok(socket)
    }

    /// Sends a request; its id.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> anyhow::Result<String> {
        self.requests += 1;
        let id = self.requests.to_string();
        let frame = json!({"type": "req", "id": id, "method": method, "params": params});
        let sent = self.stream.send(Message::text(frame.to_string())).await;
        sent.with_context(|| format!("send {method}"))?;
        Ok(id)
    }

    /// The payload of the answer to a request; events before it are left out.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        let id = self.begin(method, params).await?;
        loop {
            let frame = self.frame().await?;
            if frame["type"] == "res" && frame["id"] == id.as_str() {
                ensure!(frame["ok"] == true, "{method} was refused: {frame}");
                return Ok(frame["payload"].clone());
            }
        }
    }

    /// The next frame.
    pub(crate) async fn frame(&mut self) -> anyhow::Result<Value> {
        let text = self.text().await?;
        serde_json::from_str(&text).context("a frame is no JSON")
    }

    /// The next frame as it came.
    pub(crate) async fn text(&mut self) -> anyhow::Result<String> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => return Ok(text.as_str().to_owned()),
                Some(Ok(Message::Close(frame))) => bail!("the gateway closed: {frame:?}"),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error).context("the connection broke off"),
                None => bail!("the connection ended"),
            }
        }
    }
}

fn greeting(token: &str) -> Value {
    json!({
        "minProtocol": 4, "maxProtocol": 4,
        "client": {"id": "gateway-client", "version": "1.0.0", "platform": "linux", "mode": "backend"},
        "role": "operator", "scopes": ["operator.read", "operator.write"], "caps": [],
        "auth": {"token": token},
    })
}

/// Whether `frame` is the last `chat` event of a run.
pub(crate) fn is_end(frame: &Value) -> bool {
    let state = frame["payload"]["state"].as_str();
    frame["event"] == "chat" && matches!(state, Some("final" | "aborted" | "error"))
}
