//! The beginning of a connection: challenge, `connect`, `hello-ok`.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use openclaw_doors::front::{Peer, Strangers};
use openclaw_protocol::connect::Connect;
use openclaw_protocol::{Event, Failure, Request, params, response};
use openclaw_sessions::now_ms;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{Error, Message};
use uuid::Uuid;

use super::client::Client;
use super::connect::{self, Admission, Rejected};
use super::hello;
use super::meter::Allowance;
use super::methods::Context;
use super::outbox::{Close, Outbox, Outgoing, Queue};
use super::socket::Socket;

/// How long a client may take to say who it is. Browsers on a bad line need some seconds.
const DEADLINE: Duration = Duration::from_secs(15);

/// Connections that have not said yet who they are: the next one turns the oldest away.
const STRANGER_LIMIT: usize = 256;

/// "Policy violation" (RFC 6455): everything that is wrong in a handshake.
const POLICY: u16 = 1008;

/// "Try again later" (RFC 6455 registry).
const TRY_AGAIN_LATER: u16 = 1013;

/// A connection that was let in.
pub(super) struct Entered {
    pub(super) client: Arc<Client>,
    /// The queue of frames for it; `hello-ok` is the first.
    pub(super) queue: Queue,
}

/// The parts of the gateway that a handshake needs.
pub(super) struct Handshake {
    pub(super) context: Arc<Context>,
    admission: Admission,
    /// Places of those who have not said yet who they are.
    strangers: Strangers,
}

impl Handshake {
    pub(super) fn new(context: Arc<Context>, admission: Admission) -> Self {
        Self {
            context,
            admission,
            strangers: Strangers::new(STRANGER_LIMIT),
        }
    }
}

impl Handshake {
    /// Lets the client in, or says why not. Its error response has been sent then.
    pub(super) async fn run<S>(
        &self,
        socket: &mut Socket<S>,
        allowance: &Allowance,
        peer: &Peer,
    ) -> Result<Entered, Close>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let stranger = self.strangers.enter();
        let turned_away = stranger.turned_away();
        // Its place among those that ask by HTTP is free.
        peer.admission.is_known();
        let nonce = Uuid::new_v4().to_string();
        let asking = async {
            challenge(socket, &nonce).await?;
            first_text(socket, allowance).await
        };
        let text = tokio::select! {
            text = timeout(DEADLINE, asking) => {
                text.unwrap_or_else(|_| Err(Close::new(POLICY, "connect timeout")))?
            }
            () = turned_away.cancelled() => {
                return Err(Close::new(TRY_AGAIN_LATER, "too many connections"));
            }
        };
        let (id, result) = match Request::parse(&text) {
            Ok(request) => (request.id.clone(), self.admit(request, &nonce, peer).await),
            Err(malformed) => {
                let id = malformed.id.clone().unwrap_or(response::NO_ID.to_owned());
                let failure = Failure::invalid(malformed.to_string());
                (id, Err(Rejected::new(failure, POLICY)))
            }
        };
        match result {
            Ok((connect, admitted)) => {
                allowance.lift();
                if let Err(refusal) = self.context.health.current(false).await {
                    tracing::debug!(%refusal, "a client is told an older health");
                }
                let configuration =
                    hello::configuration_hash(&self.context.core.configuration.settings()).await;
                self.enter(peer, &id, &connect, admitted, configuration)
            }
            Err(Rejected { failure, close }) => {
                let answer = response::text(&id, Err(failure.as_ref()));
                let _ = socket.send(Message::Text(answer.into())).await;
                Err(close)
            }
        }
    }

    async fn admit(
        &self,
        request: Request,
        nonce: &str,
        peer: &Peer,
    ) -> Result<(Connect, connect::Admitted), Rejected> {
        if request.method != "connect" {
            let failure = Failure::invalid("invalid handshake: first request must be connect");
            return Err(Rejected::new(failure, POLICY));
        }
        let connect: Connect = params::decode("connect", request.params)
            .map_err(|failure| Rejected::new(failure, POLICY))?;
        let admitted = self.admission.admit(peer, &connect, nonce).await?;
        Ok((connect, admitted))
    }

    fn enter(
        &self,
        peer: &Peer,
        id: &str,
        connect: &Connect,
        admitted: connect::Admitted,
        configuration: Option<String>,
    ) -> Result<Entered, Close> {
        let (outbox, queue) = Outbox::new();
        let conn_id = Uuid::new_v4().to_string();
        let hello = hello::payload(&self.context, &conn_id, &admitted, configuration);
        let method = admitted.method;
        // Before the client is among those that are told things.
        outbox.push(Outgoing::Text(response::text(id, Ok(&hello))));
        let (client, is_first) = self
            .context
            .hub
            .enter(conn_id, admitted.identity, outbox)
            .ok_or_else(|| Close::new(TRY_AGAIN_LATER, "too many connections"))?;
        if is_first {
            self.context.reporter.catch_up();
        }
        tracing::debug!(
            peer = %peer.addr,
            client = client.identity.id.as_str(),
            mode = client.identity.mode.as_str(),
            role = client.identity.role.as_str(),
            conn = client.conn_id,
            method,
            "a client is connected"
        );
        self.context.presence.entered(&client, connect, peer);
        Ok(Entered { client, queue })
    }
}

async fn challenge<S>(socket: &mut Socket<S>, nonce: &str) -> Result<(), Close>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let payload = json!({ "nonce": nonce, "ts": now_ms() });
    let text = Event::new("connect.challenge", &payload).unnumbered();
    let sent = socket.send(Message::Text(text.into())).await;
    sent.map_err(|_| Close::new(POLICY, "gone"))
}

/// The first text frame, whatever it says.
async fn first_text<S>(socket: &mut Socket<S>, allowance: &Allowance) -> Result<String, Close>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return Ok(text.as_str().to_owned()),
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
            Some(Ok(Message::Binary(_))) => return Err(Close::new(1003, "only text frames")),
            Some(Err(Error::Capacity(_))) => return Err(Close::new(1009, "frame too large")),
            Some(Err(_)) if allowance.is_spent() => {
                return Err(Close::new(1009, "frame too large before connect"));
            }
            Some(Err(_) | Ok(Message::Close(_))) | None => return Err(Close::new(POLICY, "gone")),
        }
    }
}
