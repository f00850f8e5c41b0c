//! The claude-cli backend: the real Claude Code CLI in print mode, stream-json
//! in and out, its session continued from turn to turn.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use openclaw_proto::history::Message;
use openclaw_proto::runner::{Purpose, Turn};
use serde_json::json;
use uuid::Uuid;

use crate::places::Places;
use crate::prompt;
use crate::tools::ClaudeTools;

pub(crate) mod access;
mod limits;
mod output;
mod pipe;
mod speaker;

pub(crate) use limits::Limits;
pub(crate) use output::Output;
pub(crate) use pipe::ToolPipe;
pub(crate) use speaker::Speaker;

/// The backend's name.
pub(crate) const NAME: &str = "claude-cli";
/// Our own tools, of which the policy has taken away what is not to be there.
const OURS: &str = "mcp__openclaw";
/// The only tool of a turn that summarises a conversation.
const ALLOWED_FOR_SUMMARY: &str = "mcp__openclaw__memory_write";
/// Tools that would outlive the turn, or ask where nobody is asked.
const DISALLOWED: [&str; 5] = [
    "ScheduleWakeup",
    "CronCreate",
    "Monitor",
    "AskUserQuestion",
    "ExitPlanMode",
];
/// Messages told again to a session that has not seen them.
const RETOLD_MESSAGES: usize = 40;

/// The CLI's own session for a turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) id: String,
    /// Whether the CLI has it already.
    pub(crate) resumed: bool,
    /// How many of the last history messages it has not seen.
    pub(crate) unseen: usize,
}

/// The session to continue, or a new one when there is none on the disk: the
/// CLI hangs or fails on a session whose transcript was deleted.
pub(crate) fn session(turn: &Turn, places: &Places) -> Session {
    let known = turn
        .backend_sessions
        .iter()
        .find(|session| session.backend == NAME)
        .filter(|session| Uuid::parse_str(&session.id).is_ok())
        .filter(|session| has_transcript(places, &session.id));
    match known {
        Some(session) => Session {
            id: session.id.clone(),
            resumed: true,
            unseen: session.unseen as usize,
        },
        None => Session {
            id: Uuid::new_v4().to_string(),
            resumed: false,
            unseen: turn.history.len(),
        },
    }
}

/// The CLI keeps transcripts by working directory, every character of its path
/// but letters and digits written as `-`, and resumes only from the same one.
fn has_transcript(places: &Places, id: &str) -> bool {
    let workspace = places.workspace.to_string_lossy();
    let project: String = workspace
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let projects = places.home.join(".claude").join("projects");
    projects.join(project).join(format!("{id}.jsonl")).is_file()
}

/// A start of the CLI.
pub(crate) struct Start<'a> {
    pub(crate) turn: &'a Turn,
    pub(crate) places: &'a Places,
    pub(crate) session: &'a Session,
    pub(crate) model: Option<&'a str>,
    /// Its own tools.
    pub(crate) own: ClaudeTools,
    pub(crate) agent_program: &'a Path,
    /// Where its MCP server finds the host tools.
    pub(crate) pipe: &'a Path,
    pub(crate) limits: &'a Limits,
}

impl Start<'_> {
    /// What the CLI is started with. Writes its prompt and MCP files into the
    /// turn's temporary folder: arguments have a length limit (execve(2)).
    pub(crate) fn arguments(&self) -> io::Result<Vec<OsString>> {
        let temporary = &self.places.temporary;
        let system = temporary.join("system-prompt.md");
        fs::write(&system, prompt::system(self.turn, self.places))?;
        let mcp = temporary.join("mcp.json");
        let servers = mcp_configuration(self.places, self.agent_program, self.pipe);
        fs::write(&mcp, servers)?;
        let mut arguments = self.fixed();
        arguments.push("--mcp-config".into());
        arguments.push(mcp.into());
        arguments.push("--max-budget-usd".into());
        arguments.push(self.limits.cost().to_string().into());
        arguments.push("--append-system-prompt-file".into());
        arguments.push(system.into());
        arguments.push(
            match self.session.resumed {
                true => "--resume",
                false => "--session-id",
            }
            .into(),
        );
        arguments.push(self.session.id.clone().into());
        if let Some(model) = self.model {
            arguments.push("--model".into());
            arguments.push(model.into());
        }
        Ok(arguments)
    }

    /// Those that name no file. What is neither allowed nor disallowed is asked
    /// about over its standard input and output.
    fn fixed(&self) -> Vec<OsString> {
        let ours = match self.turn.purpose {
            Purpose::Message => OURS,
            Purpose::Summary => ALLOWED_FOR_SUMMARY,
        };
        let allowed = [&self.own.allowed[..], &[ours]].concat().join(",");
        let disallowed = [&self.own.denied[..], &DISALLOWED].concat().join(",");
        [
            "--print",
            "--verbose",
            "--input-format=stream-json",
            "--output-format=stream-json",
            "--include-partial-messages",
            "--permission-mode=default",
            "--permission-prompt-tool",
            "stdio",
            "--setting-sources=user",
            "--strict-mcp-config",
            "--allowedTools",
            &allowed,
            "--disallowedTools",
            &disallowed,
        ]
        .map(OsString::from)
        .into()
    }
}

fn mcp_configuration(places: &Places, agent_program: &Path, pipe: &Path) -> String {
    json!({"mcpServers": {"openclaw": {
        "type": "stdio",
        "command": agent_program,
        "args": ["mcp", "--workspace", places.workspace, "--tool-pipe", pipe],
    }}})
    .to_string()
}

/// The line that gives the CLI the user's message.
pub(crate) fn input(turn: &Turn, session: &Session) -> String {
    let unseen = session.unseen.min(RETOLD_MESSAGES).min(turn.history.len());
    let unseen: &[Message] = &turn.history[turn.history.len() - unseen..];
    let text = prompt::retold(unseen) + &prompt::message(&turn.text, &turn.passages);
    let line = json!({
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": text}]},
        "parent_tool_use_id": null,
        "session_id": session.id,
    });
    format!("{line}\n")
}

#[cfg(test)]
mod tests;
