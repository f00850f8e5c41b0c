//! One message and its answer, over the control socket as `openclawctl message` does it.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::{Client, Message, Reply};
use tokio_stream::StreamExt as _;
use uuid::Uuid;

/// What is said.
pub(crate) const TEXT: &str = "hi";

/// When things happened, since the message was sent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Exchange {
    /// The user's entry was durable.
    pub(crate) accepted: Duration,
    /// The first words of the answer were there.
    pub(crate) first_text: Duration,
    /// The run had ended.
    pub(crate) ended: Duration,
}

/// Sends a message to `session` and waits for the end of its answer.
pub(crate) async fn exchange(client: &Client, session: &str) -> anyhow::Result<Exchange> {
    exchange_of(client, session, TEXT).await
}

/// Sends `text` to `session` and waits for the end of its answer.
pub(crate) async fn exchange_of(
    client: &Client,
    session: &str,
    text: &str,
) -> anyhow::Result<Exchange> {
    match send_text(client, session, text).await? {
        (exchange, Kind::Done(_)) => Ok(exchange),
        (_, Kind::Failed(failed)) => bail!("the run failed: {}", failed.message),
        (_, terminal) => bail!("the run ended with {terminal:?}"),
    }
}

/// Sends a message and waits for the run's end, whatever that is.
pub(crate) async fn send(client: &Client, session: &str) -> anyhow::Result<(Exchange, Kind)> {
    send_text(client, session, TEXT).await
}

async fn send_text(client: &Client, session: &str, text: &str) -> anyhow::Result<(Exchange, Kind)> {
    let message = Message {
        text: text.to_owned(),
        session_key: session.to_owned(),
        idempotency_key: Uuid::new_v4().to_string(),
        channel: "cli".to_owned(),
        ..Message::default()
    };
    let started = Instant::now();
    let mut exchange = Exchange::default();
    let replies = client.send_message(message).await;
    let mut replies = replies.context("the gateway refused the message")?;
    let mut terminal = None;
    while let Some(reply) = replies.next().await {
        let now = started.elapsed();
        match reply.context("the answer broke off")? {
            Reply::Accepted(..) => exchange.accepted = now,
            Reply::Event(event) if event.kind.is_terminal() => {
                exchange.ended = now;
                terminal = Some(event.kind);
            }
            Reply::Event(event) => {
                if matches!(event.kind, Kind::TextDelta { .. }) && exchange.first_text.is_zero() {
                    exchange.first_text = now;
                }
            }
        }
    }
    Ok((exchange, terminal.context("the answer has no end")?))
}
