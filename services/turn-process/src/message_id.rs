//! MESSAGE_ID of the notable events (systemd.journal-fields(7)).

/// A turn's agent process was started.
pub(crate) const TURN_STARTED: &str = "5b0c1f6f0d0e4a3c9e7d3a4f5f7a9b01";
/// The agent called a tool.
pub(crate) const TOOL_CALLED: &str = "5b0c1f6f0d0e4a3c9e7d3a4f5f7a9b03";
/// A call waits until somebody allows it.
pub(crate) const APPROVAL_REQUESTED: &str = "5b0c1f6f0d0e4a3c9e7d3a4f5f7a9b04";
/// Somebody decided about it, or nobody did in time.
pub(crate) const APPROVAL_RESOLVED: &str = "5b0c1f6f0d0e4a3c9e7d3a4f5f7a9b05";
/// A tool answered, or failed.
pub(crate) const TOOL_ENDED: &str = "5b0c1f6f0d0e4a3c9e7d3a4f5f7a9b06";
/// The summary of calls without a line of their own.
pub(crate) const TOOLS_ENDED: &str = "5b0c1f6f0d0e4a3c9e7d3a4f5f7a9b07";
/// The model is asked again, or another one.
pub(crate) const MODEL_ASKED_AGAIN: &str = "5b0c1f6f0d0e4a3c9e7d3a4f5f7a9b08";
