//! A model of Ollama's on this machine: whether it runs, which models it has, and
//! the configuration that asks one.

use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use openclaw_config::{Environment, Error as ConfigError, Paths};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::change;

/// Where Ollama listens unless it is told otherwise.
pub const ADDRESS: &str = "127.0.0.1:11434";
/// Its list of models.
const LIST: &str = "/api/tags";
/// Nothing that is on this machine takes longer for a list.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of the list: some hundred models.
const LIMIT: usize = 1 << 20;
/// Models that are looked at.
const MODELS: usize = 200;
/// Characters of a model's name.
const NAME: usize = 200;

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody listens.
    #[error("nobody listens at {0}")]
    Absent(SocketAddr),
    /// Whoever listens is not Ollama, or is not well.
    #[error("what listens at {address} is no Ollama that works: {problem}")]
    Strange {
        /// Where.
        address: SocketAddr,
        /// What it does.
        problem: String,
    },
}

#[derive(Debug, Deserialize)]
struct List {
    models: Vec<Model>,
}

#[derive(Debug, Deserialize)]
struct Model {
    name: String,
    #[serde(default)]
    details: Details,
}

#[derive(Debug, Default, Deserialize)]
struct Details {
    #[serde(default)]
    family: String,
}

/// The names of the models that can be talked to, as Ollama lists them: the one
/// that was changed last comes first.
///
/// # Errors
/// When nobody listens there, or something else does.
pub async fn models(address: SocketAddr) -> Result<Vec<String>, Error> {
    let strange = |problem: String| Error::Strange { address, problem };
    let connected = timeout(PATIENCE, TcpStream::connect(address)).await;
    let Ok(Ok(stream)) = connected else {
        return Err(Error::Absent(address));
    };
    let bytes = match timeout(PATIENCE, ask(stream, address)).await {
        Ok(bytes) => bytes.map_err(strange)?,
        Err(_) => return Err(strange("it does not answer".to_owned())),
    };
    let list: List = serde_json::from_slice(&bytes)
        .map_err(|_| strange(format!("{LIST} is no list of models")))?;
    let names = list.models.into_iter().take(MODELS);
    Ok(names.filter(is_spoken).map(|model| model.name).collect())
}

async fn ask(stream: TcpStream, address: SocketAddr) -> Result<Bytes, String> {
    let failed = |error: hyper::Error| error.to_string();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    // It ends with the sender.
    let connection = tokio::spawn(connection);
    let request = Request::get(LIST)
        .header(HOST, address.to_string())
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let answer = sender.send_request(request).await.map_err(failed)?;
    if answer.status() != StatusCode::OK {
        return Err(format!("{LIST} is answered with {}", answer.status()));
    }
    let body = Limited::new(answer.into_body(), LIMIT).collect().await;
    connection.abort();
    body.map(|body| body.to_bytes())
        .map_err(|error| error.to_string())
}

/// Models that make vectors answer nothing; a name is put into a key of the
/// configuration and shown.
fn is_spoken(model: &Model) -> bool {
    let Model { name, details } = model;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.:/".contains(c);
    let makes_vectors = name.contains("embed") || details.family.contains("bert");
    !name.is_empty() && name.len() <= NAME && name.chars().all(is_name) && !makes_vectors
}

/// Makes the configuration ask `model` at `address`; whether that changed it.
///
/// # Errors
/// When the file cannot be written, or would be wrong.
pub(crate) fn configure(
    model: &str,
    address: SocketAddr,
    paths: &Paths,
    environment: &Environment,
) -> Result<bool, ConfigError> {
    let patch = json!({
        "agents": {"defaults": {"model": format!("ollama/{model}")}},
        "models": {"providers": {"ollama": {
            "api": "openai-completions",
            "baseUrl": format!("http://{address}/v1"),
        }}},
    });
    change::merge(&patch, paths, environment)
}

#[cfg(test)]
mod tests;
