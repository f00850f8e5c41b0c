//! The environment of the Claude Code CLI.

use std::path::Path;
use std::time::Duration;

use openclaw_agent_clis::claude::CLI;

use super::own::OFF;
use crate::cli::Start;
use crate::environment::{Variables, passed};
use crate::thinking;

/// Passed on: which service it is to speak to.
const PASSED: [&str; 5] = [
    "AWS_REGION",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLOUD_ML_REGION",
    "ANTHROPIC_VERTEX_PROJECT_ID",
];
/// Passed on where it signs its requests itself.
const KEYS: [&str; 6] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "ANTHROPIC_VERTEX_BASE_URL",
    "GOOGLE_APPLICATION_CREDENTIALS",
];

/// The shell that lines are judged for.
const BASH: &str = "/bin/bash";

/// The most tokens of one answer.
const LONGEST_ANSWER: &str = "CLAUDE_CODE_MAX_OUTPUT_TOKENS";

/// The longest start of our tools, in milliseconds.
const TOOLS_START: &str = "30000";

/// The CLI's own limit for a command of its model.
const LONGEST_COMMAND: Duration = Duration::from_secs(600);

/// What it has beside that which every agent has. Its way to the model comes
/// from the turn's proxies; with `keys` it has the keys for it.
pub(super) fn of(start: &Start<'_>, keys: bool) -> Variables {
    let (settings, places) = (start.settings, start.places);
    let outer = &settings.environment;
    let folder = start.folder().display().to_string();
    let temporary = places.temporary.display().to_string();
    let mut variables = passed(outer, &PASSED);
    if keys {
        variables.extend(passed(outer, &KEYS));
    }
    let has_bedrock = outer.get("CLAUDE_CODE_USE_BEDROCK").is_some();
    if keys && !has_bedrock && settings.aws_profile(&start.agent.id).is_some() {
        variables.push(("CLAUDE_CODE_USE_BEDROCK".to_owned(), "1".to_owned()));
    }
    variables.extend(
        [
            ("CLAUDE_CONFIG_DIR", folder.as_str()),
            ("CLAUDE_CODE_TMPDIR", &temporary),
            // What is allowed for good is for one directory, and the CLI does
            // not tell in which one a command runs: it is always the first.
            ("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR", "1"),
            // It would tell its model of the workspace's repository, whose settings,
            // which the agent can write, are programs to git.
            ("CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS", "1"),
            // Its default of ten keeps a user waiting for minutes.
            ("CLAUDE_CODE_MAX_RETRIES", "3"),
            // It asks its model without our tools when they take longer than five
            // seconds, which they do on a busy machine.
            ("MCP_CONNECTION_NONBLOCKING", "0"),
            ("MCP_CONNECT_TIMEOUT_MS", TOOLS_START),
            ("MCP_TIMEOUT", TOOLS_START),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    // It prefers zsh, which reads lines in other ways than they are judged.
    if Path::new(BASH).exists() {
        variables.push(("CLAUDE_CODE_SHELL".to_owned(), BASH.to_owned()));
    }
    variables.extend(OFF.map(|(name, _)| (name.to_owned(), "1".to_owned())));
    let model = start.model.map(|model| format!("{}/{model}", CLI.provider));
    if let Some(tokens) = settings.max_tokens(&start.agent.id, model.as_deref()) {
        variables.push((LONGEST_ANSWER.to_owned(), tokens.to_string()));
    }
    if let Some(time) = start.agent.tools.command_time {
        let most = time.max(LONGEST_COMMAND);
        for (name, time) in [
            ("BASH_DEFAULT_TIMEOUT_MS", time),
            ("BASH_MAX_TIMEOUT_MS", most),
        ] {
            variables.push((name.to_owned(), time.as_millis().to_string()));
        }
    }
    if let Some(tokens) = thinking::budget(start.turn.thinking_level.as_deref()) {
        variables.push(("MAX_THINKING_TOKENS".to_owned(), tokens.to_string()));
    }
    variables
}
