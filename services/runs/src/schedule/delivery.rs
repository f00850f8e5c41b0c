//! Where a job's result goes beside the session it was made in.

use openclaw_daemon::failure;
use openclaw_sessions::SessionKey;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::job::{Invalid, Job};
use crate::core::Core;
use crate::injected;
use crate::reply_text::SILENT;

/// The one channel that is always there: the sessions themselves.
const SESSIONS: &str = "webchat";

/// The channel that was spoken over last, which is [`SESSIONS`] as long as
/// other channels are clients of their own.
const LAST: &str = "last";

/// What clients show of jobs whose results go nowhere, as in OpenClaw.
pub(super) const NOT_REQUESTED: &str = "not requested";

/// What clients ask for, in OpenClaw's fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Delivery {
    mode: Mode,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    /// A session's key, or a recipient of another channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// A result that cannot be delivered is no failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    best_effort: Option<bool>,
    /// Kept for OpenClaw: accounts, threads.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    None,
    Announce,
    Webhook,
}

impl Delivery {
    /// An announcement to somebody.
    pub(super) fn announcing(channel: Option<String>, to: Option<String>) -> Self {
        Self {
            mode: Mode::Announce,
            channel,
            to,
            best_effort: None,
            rest: Map::new(),
        }
    }

    /// Whether it can be done at all.
    pub(super) fn checked(&self) -> Result<(), Invalid> {
        let calls_out = self.mode == Mode::Webhook
            || ["completionDestination", "failureDestination"]
                .iter()
                .any(|name| self.rest.get(*name).is_some_and(is_webhook));
        if calls_out {
            Err(Invalid::field(
                "delivery",
                "webhook is not offered, the gateway calls nobody; use announce or none",
            ))
        } else {
            Ok(())
        }
    }

    /// Whether a result is announced.
    pub(super) fn announces(&self) -> bool {
        self.mode == Mode::Announce
    }

    /// What clients show of it.
    pub(super) fn words(&self) -> &'static str {
        match self.mode {
            Mode::Announce => "announce",
            Mode::None | Mode::Webhook => NOT_REQUESTED,
        }
    }

    /// Whether a result that cannot be announced is no failure.
    pub(super) fn is_best_effort(&self) -> bool {
        self.best_effort.unwrap_or(false)
    }

    /// The session to tell, or why there is none.
    fn target(&self, core: &Core, agent: &str) -> Result<SessionKey, String> {
        let channel = self.channel.as_deref().unwrap_or(LAST);
        if channel != LAST && channel != SESSIONS {
            return Err(format!(
                "channel {channel} is not configured; configured: {SESSIONS}"
            ));
        }
        let key = core.key(self.to.as_deref().unwrap_or_default(), agent);
        key.map_err(|refusal| refusal.to_string())
    }
}

fn is_webhook(destination: &Value) -> bool {
    destination["mode"] == "webhook"
}

/// What became of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Delivered {
    NotRequested,
    Yes,
    /// There was nothing to tell, and why.
    Suppressed(&'static str),
    Failed(String),
}

impl Delivered {
    /// OpenClaw's word for it.
    pub(super) fn status(&self) -> &'static str {
        match self {
            Self::NotRequested => "not-requested",
            Self::Yes => "delivered",
            Self::Suppressed(_) | Self::Failed(_) => "not-delivered",
        }
    }
}

/// Announces what a run of `job` in the session `made_in` answered, if the job
/// asks for it.
pub(super) async fn announce(
    core: &Core,
    job: &Job,
    made_in: &SessionKey,
    text: &str,
) -> Delivered {
    let Some(delivery) = job.delivery.as_ref().filter(|it| it.announces()) else {
        return Delivered::NotRequested;
    };
    match text.trim() {
        "" => Delivered::Suppressed("empty"),
        silent if SILENT.contains(&silent) => Delivered::Suppressed("silent"),
        text => tell(core, job, delivery, Some(made_in), text).await,
    }
}

/// Tells that `job` fails, or does so no more.
pub(super) async fn alert(core: &Core, job: &Job, text: &str) -> Delivered {
    tell(core, job, &job.alert_route(), None, text).await
}

async fn tell(
    core: &Core,
    job: &Job,
    delivery: &Delivery,
    made_in: Option<&SessionKey>,
    text: &str,
) -> Delivered {
    let key = match delivery.target(core, job.agent_id().unwrap_or_default()) {
        Ok(key) => key,
        Err(problem) => return Delivered::Failed(problem),
    };
    if made_in == Some(&key) {
        // It is said there already.
        return Delivered::Yes;
    }
    let text = format!("[{}]\n\n{text}", job.name);
    match injected::say(core, &key, &text).await {
        Ok(_) => Delivered::Yes,
        Err(fault) => Delivered::Failed(failure::chain(&fault)),
    }
}
