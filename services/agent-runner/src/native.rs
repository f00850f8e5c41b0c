//! The native and offline backends: `openclaw-agent` in the sandbox, with the
//! turn socket as its standard input.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use openclaw_config::settings::{AgentSettings, MAX_TOKENS};
use openclaw_proto::runner::Turn;
use openclaw_turn::{Api, Mode, Offer, TurnRequest, VERSION};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::host;
use crate::own_limits;
use crate::places::Places;
use crate::prompt;
use crate::route::Stop;
use crate::steering::Inbox;
use crate::thinking;

mod asking;
mod code;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod history;
mod lines;
mod refusal;
mod retry;
mod socket;

pub(crate) use asking::Asking;
pub(crate) use lines::Lines;

/// Where the step limit is set.
const STEPS: &str = "agents.defaults.limits.steps";

/// Our end of a turn socket: what the agent asks for waits until a turn is
/// given.
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

    /// Gives the agent its turn. Without `asking` the turn is offline.
    pub(crate) fn give(
        &self,
        request: TurnRequest,
        asking: Option<Arc<Asking>>,
        tools: host::Tools,
        inbox: Inbox,
    ) {
        let host = socket::Host::new(request, asking, tools, inbox);
        self.turn.send_replace(Some(Arc::new(host)));
    }
}

/// What the agent is told. Without a model the turn is offline.
pub(crate) fn request(
    turn: &Turn,
    agent: &AgentSettings,
    places: &Places,
    model: Option<&Stop>,
    offer: &Offer,
    hint: &str,
) -> TurnRequest {
    TurnRequest {
        version: VERSION,
        run_id: turn.run_id.clone(),
        mode: if model.is_some() {
            Mode::Native
        } else {
            Mode::Offline
        },
        api: model.map_or(Api::Anthropic, Stop::api),
        provider: model.map_or("openclaw", |model| &model.provider).to_owned(),
        model: model.map_or("memory", |model| &model.model).to_owned(),
        max_tokens: model.map_or(MAX_TOKENS, |model| model.max_tokens),
        thinking_tokens: thinking::budget(turn.thinking_level.as_deref()).unwrap_or_default(),
        reasoning_effort: thinking::effort(turn.thinking_level.as_deref()).map(str::to_owned),
        step_limit: agent.limits.steps,
        step_limit_key: own_limits::advise(STEPS.to_owned(), &own_limits::names(turn)),
        identical_call_limit: agent.limits.identical_calls,
        workspace: places.workspace.clone(),
        system: prompt::system(turn, places, &agent.persona),
        history: turn.history.iter().map(history::entry).collect(),
        text: match model {
            Some(_) => prompt::message(&turn.text, &turn.passages),
            None => turn.text.clone(),
        },
        hits: turn.passages.iter().map(history::passage).collect(),
        offer: offer.clone(),
        hint: hint.to_owned(),
        sees_images: model.is_some_and(|model| model.sees_images),
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

/// What the model is told with the tools of `offer`, in the turn of `request`.
fn system(request: &TurnRequest, offer: &Offer) -> String {
    request.system.clone() + &prompt::instructions(&offer.instructions)
}
