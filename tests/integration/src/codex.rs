//! The Codex CLI.

use serde_json::{Value, json};

use crate::cli::Cli;

/// The real one, and what plays it.
pub const CODEX: Cli = Cli {
    name: "codex",
    title: "Codex",
    variable: "OPENCLAW_TEST_CODEX",
    installed: "target/codex/node_modules/.bin/codex",
};

/// A script that plays the CLI until its turn has begun, and then does `rest`.
/// The ids are those of the requests that the runner makes in a turn.
pub fn opened(rest: &str) -> String {
    let thread = json!({"id": 2, "result": {"thread": {"id": "t"}, "model": "m"}});
    format!(
        "read -r initialize\necho '{}'\nread -r initialized\nread -r begin\necho '{thread}'\nread -r turn\n{rest}",
        json!({"id": 0, "result": {}})
    )
}

/// A line of the CLI with a piece of text.
pub fn delta(text: &str) -> String {
    news(
        "item/agentMessage/delta",
        &json!({"itemId": "m", "delta": text}),
    )
}

fn news(method: &str, parameters: &Value) -> String {
    json!({"method": method, "params": parameters}).to_string()
}
