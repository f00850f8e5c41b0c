//! One connection, from the challenge to the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use openclaw_doors::front::Peer;
use openclaw_protocol::{Failure, Request, response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::client::Client;
use super::handshake::{Entered, Handshake};
use super::methods::{self, Call, Context};
use super::outbox::{Close, Outgoing, Queue};
use super::socket::{self, Socket, frame};

/// How often a silent client is asked whether it is there; it is dropped when
/// it has said nothing until the next time.
const PING_INTERVAL: Duration = Duration::from_secs(25);

/// The longest time a client gets to read our close frame.
const LINGER: Duration = Duration::from_secs(1);

/// The most requests of one connection at a time: nobody waits for so many runs (`agent.wait`).
const PENDING_LIMIT: usize = 256;

/// Frames that are no requests before the connection is closed: a client with
/// a bug is told, one that sends rubbish is not worth the work.
const RUBBISH_LIMIT: u32 = 32;

/// Serves a connection.
pub(super) async fn serve<S>(stream: S, peer: Peer, handshake: Arc<Handshake>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let (mut socket, allowance) = socket::over(stream).await;
    // In a box of its own: a connection that is let in does not keep its size.
    let entering = Box::pin(handshake.run(&mut socket, &allowance, &peer));
    let entered = match entering.await {
        Ok(entered) => entered,
        Err(close) => return turn_away(&mut socket, close).await,
    };
    let client = Arc::clone(&entered.client);
    converse(socket, entered, &handshake.context).await;
    handshake.context.hub.leave(&client);
    handshake.context.presence.left(&client);
}

async fn turn_away<S>(socket: &mut Socket<S>, close: Close)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let farewell = async {
        let _ = socket.send(Message::Close(Some(frame(close)))).await;
        // Closing with unread bytes would take the close frame along.
        while let Some(Ok(_)) = socket.next().await {}
    };
    let _ = timeout(LINGER, farewell).await;
}

/// Reads and writes until either ends.
async fn converse<S>(socket: Socket<S>, entered: Entered, context: &Arc<Context>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let Entered { client, queue } = entered;
    let (mut sink, mut stream) = socket.split();
    let heard = AtomicBool::new(true);
    let mut writing = Box::pin(write(&mut sink, queue, &heard));
    let close = tokio::select! {
        close = read(&mut stream, &client, context, &heard) => close,
        () = &mut writing => None,
    };
    if let Some(close) = close {
        client.close(close);
        let _ = timeout(LINGER, writing).await;
    }
    let drain = async { while let Some(Ok(_)) = stream.next().await {} };
    let _ = timeout(LINGER, drain).await;
}

/// Takes requests; returns why the connection is to be closed, if it still can be.
async fn read<S>(
    stream: &mut SplitStream<Socket<S>>,
    client: &Arc<Client>,
    context: &Arc<Context>,
    heard: &AtomicBool,
) -> Option<Close>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let pending = Arc::new(Semaphore::new(PENDING_LIMIT));
    let mut rubbish = 0;
    while let Some(message) = stream.next().await {
        heard.store(true, Ordering::Relaxed);
        match message {
            Ok(Message::Text(text)) => match Request::parse(&text) {
                Ok(request) => {
                    context.core.configuration.catch_up().await;
                    take(request, client, context, &pending);
                }
                Err(malformed) => {
                    rubbish += 1;
                    let id = malformed.id.as_deref().unwrap_or(response::NO_ID);
                    let failure = Failure::invalid(malformed.to_string());
                    client.text(response::text(id, Err(&failure)));
                    if rubbish >= RUBBISH_LIMIT {
                        return Some(Close::new(1008, "too many invalid frames"));
                    }
                }
            },
            Ok(Message::Binary(_)) => return Some(Close::new(1003, "only text frames")),
            Ok(Message::Close(_)) => return None,
            Ok(_) => {}
            Err(error) => return verdict(&error),
        }
    }
    None
}

/// Starts on a request. What needs no waiting is done right here, so that
/// requests take effect in the order in which they came.
fn take(request: Request, client: &Arc<Client>, context: &Arc<Context>, pending: &Arc<Semaphore>) {
    let Ok(permit) = Arc::clone(pending).try_acquire_owned() else {
        let failure = Failure::unavailable(format!(
            "{PENDING_LIMIT} requests of this connection are under way; wait for an answer"
        ))
        .retry_after(100);
        client.text(response::text(&request.id, Err(&failure)));
        return;
    };
    let call = Call::new(Arc::clone(context), Arc::clone(client), request);
    let mut work = Box::pin(async move {
        methods::run(call).await;
        drop(permit);
    });
    if work.as_mut().now_or_never().is_none() {
        tokio::spawn(work);
    }
}

/// The close frame for a broken stream; None when nothing can be sent any more.
fn verdict(error: &Error) -> Option<Close> {
    match error {
        Error::Capacity(_) => Some(Close::new(1009, "frame too large")),
        Error::Utf8(_) => Some(Close::new(1007, "not UTF-8")),
        Error::Protocol(_) => Some(Close::new(1002, "protocol error")),
        _ => None,
    }
}

/// Sends what is queued, and asks now and then whether the client is there.
async fn write<S>(sink: &mut SplitSink<Socket<S>, Message>, mut queue: Queue, heard: &AtomicBool)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut ping = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let overrun = queue.overrun.clone();
    let mut seq = 0;
    loop {
        let first = tokio::select! {
            biased;
            () = overrun.cancelled() => break,
            outgoing = queue.next() => outgoing,
            _ = ping.tick() => {
                if !heard.swap(false, Ordering::Relaxed) {
                    tracing::debug!("a client does not answer pings and is dropped");
                    return;
                }
                if sink.send(Message::Ping(Vec::new().into())).await.is_err() {
                    return;
                }
                continue;
            }
        };
        let Some(first) = first else { return };
        tokio::select! {
            biased;
            () = overrun.cancelled() => break,
            go_on = write_all(sink, first, &mut queue, &mut seq) => if !go_on { return },
        }
    }
    tracing::warn!("a client does not read what it is sent and is dropped");
    let close = Message::Close(Some(frame(Close::new(1008, "slow consumer"))));
    let _ = timeout(LINGER, sink.send(close)).await;
}

/// Writes what is there, in as few system calls as possible; false after the last frame.
async fn write_all<S>(
    sink: &mut SplitSink<Socket<S>, Message>,
    first: Outgoing,
    queue: &mut Queue,
    seq: &mut u64,
) -> bool
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut next = Some(first);
    while let Some(outgoing) = next {
        let (message, last) = match outgoing {
            Outgoing::Event(event) => {
                *seq += 1;
                (Message::Text(event.numbered(*seq).into()), false)
            }
            Outgoing::Text(text) => (Message::Text(text.into()), false),
            Outgoing::Close(close) => (Message::Close(Some(frame(close))), true),
        };
        if sink.feed(message).await.is_err() {
            return false;
        }
        if last {
            let _ = sink.flush().await;
            return false;
        }
        next = queue.ready();
    }
    sink.flush().await.is_ok()
}
