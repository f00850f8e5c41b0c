//! What Telegram has of a bot's menu.

use serde_json::Value;
use tokio::time::Instant;

/// A menu of commands that Telegram has.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    /// Of which bot, and what.
    pub(crate) last: Option<(String, Value)>,
    /// When another one may be offered.
    pub(crate) next: Option<Instant>,
}
