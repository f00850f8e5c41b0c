//! Where a job's result goes beside the session it was made in, and what
//! became of it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::invalid::Invalid;

/// What clients show of jobs whose results go nowhere, as in OpenClaw.
pub(crate) const NOT_REQUESTED: &str = "not requested";

/// What clients ask for, in OpenClaw's fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    mode: Mode,
    /// A channel; none: the sessions themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// A session's key, or a recipient of another channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
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
    pub fn announcing(channel: Option<String>, to: Option<String>) -> Self {
        Self {
            mode: Mode::Announce,
            channel,
            to,
            best_effort: None,
            rest: Map::new(),
        }
    }

    /// Whether it can be done at all.
    pub(crate) fn checked(&self) -> Result<(), Invalid> {
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
    pub fn announces(&self) -> bool {
        self.mode == Mode::Announce
    }

    /// What clients show of it.
    pub(crate) fn words(&self) -> &'static str {
        match self.mode {
            Mode::Announce => "announce",
            Mode::None | Mode::Webhook => NOT_REQUESTED,
        }
    }

    /// Whether a result that cannot be announced is no failure.
    pub fn is_best_effort(&self) -> bool {
        self.best_effort.unwrap_or(false)
    }
}

fn is_webhook(destination: &Value) -> bool {
    destination["mode"] == "webhook"
}

/// What became of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    /// Nobody wants it.
    NotRequested,
    /// It was told.
    Yes,
    /// There was nothing to tell, and why.
    Suppressed(&'static str),
    /// It was not told, and why.
    Failed(String),
}

impl Delivered {
    /// OpenClaw's word for it.
    pub fn status(&self) -> &'static str {
        match self {
            Self::NotRequested => "not-requested",
            Self::Yes => "delivered",
            Self::Suppressed(_) | Self::Failed(_) => "not-delivered",
        }
    }
}
