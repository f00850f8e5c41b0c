//! What the user is told where no model answers. Facts: whoever says them knows
//! his language.

use serde::{Deserialize, Serialize};

/// What is to be known of a turn without a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// Why the model that is configured cannot be asked; `None`: none is.
    pub lack: Option<String>,
    /// Whether this machine gives no more than thinking, and the user has not
    /// been told yet in this conversation.
    pub thinks_only: bool,
}
