//! The native and offline backends: what `openclaw-agent` is told of its turn.

use openclaw_handoff::own_limits;
use openclaw_model_api::route::Stop;
use openclaw_proto::runner::{Purpose, Turn};
use openclaw_settings::{AgentSettings, MAX_TOKENS};
use openclaw_turn::{Api, Hint, Mode, Offer, TurnRequest, VERSION};

use crate::places::Places;
use crate::{prompt, thinking};

mod history;

pub use history::written as history;

/// Channels of turns that nobody's words begin: jobs, heartbeats, webhooks, and what happened.
const UNSAID: [&str; 4] = ["cron", "heartbeat", "hook", "system"];

/// The key of the step limit.
const STEPS: &str = "agents.defaults.limits.steps";

/// The request to the agent. Without a model the turn is offline.
pub fn request(
    turn: &Turn,
    agent: &AgentSettings,
    places: &Places,
    model: Option<&Stop>,
    offer: &Offer,
    hint: Hint,
) -> TurnRequest {
    TurnRequest {
        version: VERSION,
        run_id: turn.run_id.clone(),
        mode: match (turn.purpose, model) {
            (Purpose::Command, _) => Mode::Command,
            (_, Some(_)) => Mode::Native,
            (_, None) => Mode::Offline,
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
        workspace: places.workspace.to_path_buf(),
        system: prompt::system(turn, places, &agent.persona),
        text: match model {
            Some(_) => prompt::message(&turn.text, &turn.passages),
            None => turn.text.clone(),
        },
        is_unsaid: UNSAID.contains(&turn.channel.as_str()),
        hits: turn
            .passages
            .iter()
            .filter(|passage| model.is_none() || !passage.held)
            .map(history::passage)
            .collect(),
        offer: offer.clone(),
        hint,
        sees_images: model.is_some_and(|model| model.sees_images),
    }
}
