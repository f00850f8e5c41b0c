//! Whose memory is meant.

use clap::Args;

/// Whose memory.
#[derive(Debug, Args)]
pub(crate) struct Whose {
    /// The agent [default: the default agent]
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    pub(crate) agent: String,
}
