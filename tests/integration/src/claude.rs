//! The Claude Code CLI.

use crate::cli::Cli;

/// The real one, and what plays it.
pub const CLAUDE: Cli = Cli {
    name: "claude",
    title: "Claude Code",
    variable: "OPENCLAW_TEST_CLAUDE",
    installed: "target/claude/node_modules/.bin/claude",
};

/// A line of the CLI with a piece of text.
pub fn delta(text: &str) -> String {
    serde_json::json!({
        "type": "stream_event",
        "event": {
            "type": "content_block_delta",
            "delta": {"type": "text_delta", "text": text},
        },
    })
    .to_string()
}
