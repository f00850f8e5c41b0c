//! The native and offline backends: `openclaw-agent` in the sandbox, with the
//! turn socket as its standard input.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use bytes::Bytes;
use openclaw_handoff::steering::Inbox;
use openclaw_turn::{Offer, TurnRequest};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::host;

mod asking;
mod code;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod lines;
mod refusal;
mod retry;
mod socket;

pub(crate) use asking::Asking;
pub(crate) use lines::Lines;

/// Our end of a turn socket: what the agent asks for waits until a turn is given.
#[derive(Debug)]
pub(crate) struct TurnSocket {
    turn: watch::Sender<Option<Arc<socket::Host>>>,
    _server: AbortOnDropHandle<()>,
}

impl TurnSocket {
    /// A served socket and the agent's end of it.
    pub(crate) fn open() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let ours = tokio::net::UnixStream::from_std(ours)?;
        let (turn, given) = watch::channel(None);
        let server = tokio::spawn(socket::serve(ours, given));
        let socket = Self {
            turn,
            _server: AbortOnDropHandle::new(server),
        };
        Ok((socket, theirs.into()))
    }

    /// Gives the agent its turn, with the conversation before it. Without `asking` the turn is
    /// offline.
    pub(crate) fn give(
        &self,
        request: (TurnRequest, Bytes),
        asking: Option<Arc<Asking>>,
        tools: host::Tools,
        inbox: Inbox,
    ) {
        let host = socket::Host::new(request, asking, tools, inbox);
        self.turn.send_replace(Some(Arc::new(host)));
    }
}

/// The same request with tools that were not known when it was written.
fn with_tools(request: &TurnRequest, offer: Offer) -> TurnRequest {
    TurnRequest {
        system: system(request, &offer),
        offer: Offer {
            host_tools: offer.host_tools,
            alone: offer.alone,
            ..request.offer.clone()
        },
        ..request.clone()
    }
}

/// The system prompt of `request` with the tools of `offer`.
fn system(request: &TurnRequest, offer: &Offer) -> String {
    request.system.clone() + &instructions(&offer.instructions)
}

/// The instructions of tool servers.
fn instructions(said: &str) -> String {
    if said.is_empty() {
        String::new()
    } else {
        format!("\n## Instructions of tool servers\n{said}")
    }
}
