//! A client that shows what went over the wire.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use scripted_model::Server;
use serde_json::Value;
use tokio::net::TcpStream;

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
    pub(crate) broken: bool,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        data.filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    pub(crate) fn text(&self) -> String {
        let text = |event: &Value| {
            let anthropic = event["delta"]["text"].as_str();
            anthropic
                .or(event["choices"][0]["delta"]["content"].as_str())
                .unwrap_or_default()
                .to_owned()
        };
        self.events().iter().map(text).collect()
    }

    /// Id, name and arguments of the calls in an Anthropic stream.
    pub(crate) fn tool_calls(&self) -> Vec<(String, String, Value)> {
        let events = self.events();
        let starts = events
            .iter()
            .filter(|event| event["content_block"]["type"] == "tool_use");
        let call = |start: &Value| {
            let block = &start["content_block"];
            let parts = events
                .iter()
                .filter(|event| event["index"] == start["index"]);
            let arguments: String = parts
                .filter_map(|event| event["delta"]["partial_json"].as_str())
                .collect();
            (
                string(&block["id"]),
                string(&block["name"]),
                serde_json::from_str(&arguments).unwrap(),
            )
        };
        starts.map(call).collect()
    }

    /// Id and name of the calls in an OpenAI stream.
    pub(crate) fn openai_calls(&self) -> Vec<(String, String)> {
        let events = self.events();
        let calls = events
            .iter()
            .map(|event| &event["choices"][0]["delta"]["tool_calls"][0]);
        calls
            .filter(|call| call["id"].is_string())
            .map(|call| (string(&call["id"]), string(&call["function"]["name"])))
            .collect()
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// A response still being read.
pub(crate) struct Stream {
    response: Response<Incoming>,
    seen: String,
}

impl Stream {
    /// Reads on until the body holds `mark`.
    pub(crate) async fn until(&mut self, mark: &str) -> String {
        while !self.seen.contains(mark) {
            let frame = self
                .response
                .body_mut()
                .frame()
                .await
                .expect("body ended")
                .expect("body broke");
            self.seen
                .push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
        self.seen.clone()
    }
}

async fn send(address: SocketAddr, method: &str, path: &str, body: String) -> Response<Incoming> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", address.to_string())
        .header("x-api-key", "made-up");
    sender
        .send_request(request.body(Full::new(Bytes::from(body))).unwrap())
        .await
        .unwrap()
}

/// Posts `body` and returns once the answer's head is there.
pub(crate) async fn ask_raw(server: &Server, path: &str, body: &Value) -> Stream {
    Stream {
        response: send(server.address(), "POST", path, body.to_string()).await,
        seen: String::new(),
    }
}

/// Posts `body` and reads the whole answer.
pub(crate) async fn ask(server: &Server, path: &str, body: &Value) -> Answer {
    read(send(server.address(), "POST", path, body.to_string()).await).await
}

/// Posts `body` to the server at `address`.
pub(crate) async fn ask_at(address: SocketAddr, path: &str, body: &Value) -> Answer {
    read(send(address, "POST", path, body.to_string()).await).await
}

/// Gets `path`.
pub(crate) async fn get(server: &Server, path: &str) -> Answer {
    read(send(server.address(), "GET", path, String::new()).await).await
}

async fn read(response: Response<Incoming>) -> Answer {
    let (head, mut body) = response.into_parts();
    let mut answer = Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        body: String::new(),
        broken: false,
    };
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => answer
                .body
                .push_str(&String::from_utf8_lossy(frame.data_ref().unwrap())),
            Err(_) => answer.broken = true,
        }
    }
    answer
}
