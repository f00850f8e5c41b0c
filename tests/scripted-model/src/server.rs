//! The server, and the handle a test holds.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

use crate::connection;
use crate::record::{Log, Outcome, Recorded};
use crate::routes::Shared;
use crate::scenario::Scenario;
use crate::scenario_name::parse_script;
use crate::stage::Stage;

/// Connections served at a time: far above what tests open, low enough that a client gone wild is noticed.
const MAX_CONNECTIONS: usize = 512;

/// A running server. Dropping it ends it and breaks its connections.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Shared,
    accepting: AbortHandle,
}

/// The server could not listen.
#[derive(Debug)]
pub struct StartError {
    address: SocketAddr,
    source: io::Error,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot listen on {}", self.address)
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl Server {
    /// Starts on a free loopback port, in the current tokio runtime.
    pub async fn start() -> Result<Self, StartError> {
        Self::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
    }

    /// Starts on `address`.
    pub async fn start_at(address: SocketAddr) -> Result<Self, StartError> {
        let failed = |source| StartError { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Shared {
            stage: Arc::new(Stage::new(Scenario::echo())),
            log: Arc::new(Log::new()),
        };
        let accepting = tokio::spawn(accept(listener, shared.clone())).abort_handle();
        Ok(Self {
            address,
            shared,
            accepting,
        })
    }

    /// Address listened on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Base URL of the Anthropic API, without a trailing slash: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Base URL of the OpenAI API: `http://127.0.0.1:PORT/v1`.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Queues the answer to one request.
    pub fn push(&self, scenario: Scenario) {
        self.shared.stage.push(scenario);
    }

    /// Queues the answers of a JSON script: a scenario or a list of them, each an object or a name.
    pub fn push_script(&self, json: &[u8]) -> Result<(), String> {
        parse_script(json)?
            .into_iter()
            .for_each(|scenario| self.push(scenario));
        Ok(())
    }

    /// Sets the answer given when the queue is empty.
    pub fn default(&self, scenario: Scenario) {
        self.shared.stage.set_default(scenario);
    }

    /// Scenarios still in the queue.
    pub fn queued(&self) -> usize {
        self.shared.stage.queued()
    }

    /// Lets the answers held at `gate` go on, and all later ones that name it.
    pub fn release(&self, gate: &str) {
        self.shared.stage.release(gate);
    }

    /// Everything received so far, control requests left out.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.log.all()
    }

    /// The requests that asked for an answer of the model ([`Recorded::turn`]).
    pub fn turns(&self) -> Vec<Recorded> {
        self.shared.log.turns()
    }

    /// Forgets what was received.
    pub fn forget(&self) {
        self.shared.log.clear();
    }

    /// Waits until the model was asked `count` times; has no deadline of its own.
    pub async fn wait_for_turns(&self, count: usize) -> Vec<Recorded> {
        self.shared
            .log
            .wait(|entries| entries.turns().count() >= count)
            .await;
        self.turns()
    }

    /// Waits until the answer to the turn at `index` has ended, and says how; has no deadline of its own.
    pub async fn wait_for_outcome(&self, index: usize) -> Outcome {
        let mut outcome = Outcome::Open;
        self.shared
            .log
            .wait(|entries| {
                outcome = entries
                    .turns()
                    .nth(index)
                    .map_or(Outcome::Open, |turn| turn.outcome);
                outcome != Outcome::Open
            })
            .await;
        outcome
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Accepts until aborted; the set of connections ends with it.
async fn accept(listener: TcpListener, shared: Shared) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection::serve(stream, shared.clone()));
                }
                // Out of descriptors or the like: wait for a connection to end and free some.
                Err(_) => {
                    connections.join_next().await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
