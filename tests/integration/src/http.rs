//! A gateway, seen over HTTP.

use std::net::SocketAddr;

use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::within;

/// A client with a token.
#[derive(Debug, Clone)]
pub struct Http {
    client: Client,
    address: String,
    token: String,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Its headers, as `name: value`.
    pub headers: Vec<String>,
    /// Its body.
    pub text: String,
}

impl Http {
    /// A client of the gateway at `address`, a URL without a path.
    pub fn new(address: &str, token: &str) -> Self {
        // No proxy of the machine's environment between the two.
        let client = Client::builder().no_proxy().build();
        Self {
            client: client.expect("make an HTTP client"),
            address: address.to_owned(),
            token: token.to_owned(),
        }
    }

    /// The same with another token.
    pub fn with_token(&self, token: &str) -> Self {
        Self {
            token: token.to_owned(),
            ..self.clone()
        }
    }

    /// Where it is, without `http://`.
    pub fn host(&self) -> &str {
        self.address.trim_start_matches("http://")
    }

    /// A request with the token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.address);
        self.client.request(method, url).bearer_auth(&self.token)
    }

    /// A request without a token.
    pub fn anonymous(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.address);
        self.client.request(method, url)
    }

    /// GET, with the token.
    pub async fn get(&self, path: &str) -> Answer {
        answer(self.request(Method::GET, path)).await
    }

    /// POST of JSON, with the token.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        answer(json(self.request(Method::POST, path), body)).await
    }

    /// A connection of its own, for what no HTTP library would send.
    pub async fn raw(&self) -> TcpStream {
        let address: SocketAddr = self.host().parse().expect("an address");
        TcpStream::connect(address).await.expect("connect")
    }

    /// Sends `bytes` on a connection of its own; everything that comes back
    /// until the gateway closes it.
    pub async fn send_raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.raw().await;
        // The gateway may close before it has read everything.
        let _ = stream.write_all(bytes).await;
        let _ = stream.shutdown().await;
        let mut said = Vec::new();
        let _ = within("the end of a connection", stream.read_to_end(&mut said)).await;
        String::from_utf8_lossy(&said).into_owned()
    }
}

impl Answer {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// It has `status`, and its error the code `code`.
    #[track_caller]
    pub fn refuses(&self, status: u16, code: &str) -> String {
        assert_eq!(self.status, status, "{self:?}");
        let error = self.json()["error"].take();
        assert_eq!(error["code"], code, "{error}");
        error["message"].as_str().expect("a message").to_owned()
    }

    /// It is 200; its JSON.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The data of its server-sent events that have the name `name`; of all
    /// without one when it is empty.
    pub fn events(&self, name: &str) -> Vec<String> {
        let events = self.text.split("\n\n").map(event);
        let named = events.filter(|(event, _)| event == name);
        named.map(|(_, data)| data).collect()
    }
}

fn event(text: &str) -> (String, String) {
    let field = |name: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(name));
        lines.map(str::trim_start).collect::<Vec<_>>().join("\n")
    };
    (field("event:"), field("data:"))
}

/// With a JSON body.
pub fn json(request: RequestBuilder, body: &Value) -> RequestBuilder {
    let request = request.header("content-type", "application/json");
    request.body(body.to_string())
}

/// Sends it and reads the whole answer.
pub async fn answer(request: RequestBuilder) -> Answer {
    let response = within("an HTTP answer", request.send()).await;
    let response: Response = response.expect("an answer");
    let headers = response.headers().iter();
    let headers = headers
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    Answer {
        status: response.status().as_u16(),
        headers,
        text: within("the rest of an HTTP answer", response.text())
            .await
            .expect("a body"),
    }
}
