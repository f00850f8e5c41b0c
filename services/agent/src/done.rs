//! How a turn ends well.

use openclaw_turn::StopReason;

/// How a turn ended that did not fail.
pub(crate) struct Done {
    pub(crate) stop_reason: StopReason,
    pub(crate) model: String,
}
