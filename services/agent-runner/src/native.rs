//! The native and offline backends: `openclaw-agent` in the sandbox, with the
//! turn socket as its standard input.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use openclaw_config::settings::{AgentSettings, MAX_TOKENS};
use openclaw_proto::history::Message;
use openclaw_proto::runner::{Passage, Turn};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::host;
use crate::own_limits;
use crate::places::Places;
use crate::prompt;
use crate::route::Stop;
use crate::steering::Inbox;
use crate::thinking;
use crate::tools::Offer;

mod asking;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod lines;
mod refusal;
mod retry;
mod socket;

pub(crate) use asking::Asking;
pub(crate) use lines::Lines;

/// Where the step limit is set.
const STEPS: &str = "agents.defaults.limits.steps";

/// What the agent is given over the turn socket.
#[derive(Debug, Serialize)]
struct Request<'a> {
    run_id: &'a str,
    session_key: &'a str,
    agent_id: &'a str,
    mode: &'static str,
    api: &'static str,
    provider: &'a str,
    model: &'a str,
    max_tokens: u32,
    thinking_tokens: u32,
    reasoning_effort: Option<&'static str>,
    step_limit: u32,
    step_limit_key: String,
    identical_call_limit: u32,
    workspace: String,
    system: String,
    history: &'a [Message],
    text: String,
    hits: &'a [Passage],
    #[serde(flatten)]
    offer: &'a Offer,
    hint: &'a str,
    sees_images: bool,
}

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
        request: String,
        asking: Option<Arc<Asking>>,
        tools: host::Tools,
        inbox: Inbox,
    ) {
        let host = socket::Host::new(request, asking, tools, inbox);
        self.turn.send_replace(Some(Arc::new(host)));
    }
}

/// What the agent is told, as JSON. Without a model the turn is offline.
pub(crate) fn request(
    turn: &Turn,
    agent: &AgentSettings,
    places: &Places,
    model: Option<&Stop>,
    offer: &Offer,
    hint: &str,
) -> serde_json::Result<String> {
    serde_json::to_string(&render(turn, agent, places, model, offer, hint))
}

/// The same request with tools that were not known when it was written.
fn with_tools(request: &str, offer: &Offer) -> String {
    if offer.host_tools.is_empty() && offer.instructions.is_empty() {
        return request.to_owned();
    }
    // It was written by us a moment ago.
    let Ok(mut fields) = serde_json::from_str::<Map<String, Value>>(request) else {
        return request.to_owned();
    };
    fields.insert("host_tools".to_owned(), json!(offer.host_tools));
    fields.insert("alone".to_owned(), json!(offer.alone));
    fields.insert("system".to_owned(), json!(system(request, offer)));
    Value::Object(fields).to_string()
}

/// What the model is told with the tools of `offer`, in the turn of `request`.
fn system(request: &str, offer: &Offer) -> String {
    #[derive(Deserialize)]
    struct Known {
        system: String,
    }
    let known = serde_json::from_str::<Known>(request).map(|known| known.system);
    known.unwrap_or_default() + &prompt::instructions(&offer.instructions)
}

fn render<'a>(
    turn: &'a Turn,
    agent: &AgentSettings,
    places: &Places,
    model: Option<&'a Stop>,
    offer: &'a Offer,
    hint: &'a str,
) -> Request<'a> {
    Request {
        run_id: &turn.run_id,
        session_key: &turn.session_key,
        agent_id: &turn.agent_id,
        mode: if model.is_some() { "native" } else { "offline" },
        api: model.map_or("anthropic", Stop::api),
        provider: model.map_or("openclaw", |model| &model.provider),
        model: model.map_or("memory", |model| &model.model),
        max_tokens: model.map_or(MAX_TOKENS, |model| model.max_tokens),
        thinking_tokens: thinking::budget(turn.thinking_level.as_deref()).unwrap_or_default(),
        reasoning_effort: thinking::effort(turn.thinking_level.as_deref()),
        step_limit: agent.limits.steps,
        step_limit_key: own_limits::advise(STEPS.to_owned(), &own_limits::names(turn)),
        identical_call_limit: agent.limits.identical_calls,
        workspace: places.workspace.display().to_string(),
        system: prompt::system(turn, places, &agent.persona),
        history: &turn.history,
        text: match model {
            Some(_) => prompt::message(&turn.text, &turn.passages),
            None => turn.text.clone(),
        },
        hits: &turn.passages,
        offer,
        hint,
        sees_images: model.is_some_and(|model| model.sees_images),
    }
}
