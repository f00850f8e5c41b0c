//! The claude-cli backend: the real Claude Code CLI in print mode, stream-json
//! in and out, its session continued from turn to turn.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use openclaw_agent_clis::claude::{CLI, ClaudeDialogue};
use openclaw_agent_clis::{AgentCli, Dialogue};
use openclaw_folder::Folder;
use openclaw_proto::runner::{Purpose, Turn};
use openclaw_sandbox::Level;
use openclaw_settings::RunnerSettings;
use openclaw_tools::Policy;
use openclaw_tools::approval::Rules;
use serde_json::json;
use uuid::Uuid;

use crate::cli::{self, Access, Cli, Prepared, Start};
use crate::environment::Variables;
use crate::places::Places;
use crate::prompt;

mod access;
mod own;
mod variables;

/// The files it reads at its start, in the folder it is given: its system prompt and the list of
/// our tools.
const FILES: [&str; 2] = ["system-prompt.md", "mcp.json"];
/// Our own tools, of which the policy has taken away what is not to be there.
const OURS: &str = "mcp__openclaw";
/// The only tool of a turn that summarises a conversation.
const ALLOWED_FOR_SUMMARY: &str = "mcp__openclaw__memory_write";
/// Its part of the system prompt beside every agent's.
const TOLD: &str = "\nA command or an agent that you start in the background is ended when you have \
     answered, and its result is lost: wait for what matters before you answer.\n";

/// The Claude Code CLI.
#[derive(Debug)]
pub(crate) struct Claude;

impl Cli for Claude {
    fn known(&self) -> &'static AgentCli {
        &CLI
    }

    fn way_in(&self, settings: &RunnerSettings, agent_id: &str) -> Option<String> {
        access::way_in(settings, agent_id)
    }

    fn access(
        &self,
        settings: &RunnerSettings,
        agent_id: &str,
        level: Level,
    ) -> Result<Access, cli::access::Error> {
        access::find(settings, agent_id, level)
    }

    fn variables(&self, start: &Start<'_>, keys: bool) -> Variables {
        variables::of(start, keys)
    }

    fn covered(&self, policy: &Policy, _rules: &Rules, workspace_only: bool) -> Vec<&'static str> {
        own::covered(policy, workspace_only)
    }

    fn prepare(&self, start: &Start<'_>) -> io::Result<Prepared> {
        let session = session(start.turn, start.places, &start.kept());
        Ok(Prepared {
            arguments: arguments(start, &session)?,
            files: &FILES,
            dialogue: Dialogue::Claude(ClaudeDialogue {
                input: input(start.turn, &session),
                session: session.id,
            }),
        })
    }
}

/// The CLI's own session for a turn.
#[derive(Debug, PartialEq, Eq)]
struct Session {
    id: String,
    /// Whether the CLI has it already.
    resumed: bool,
    /// How many of the last history messages it has not seen.
    unseen: usize,
}

/// The session to continue, or a new one when there is none on the disk: the
/// CLI hangs or fails on a session whose transcript was deleted.
fn session(turn: &Turn, places: &Places, kept: &Path) -> Session {
    let known = cli::known_session(turn, CLI.backend)
        .filter(|session| has_transcript(places, kept, &session.id));
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
fn has_transcript(places: &Places, kept: &Path, id: &str) -> bool {
    let workspace = places.workspace.to_string_lossy();
    let project: String = workspace
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let sessions = Path::new(CLI.sessions);
    let transcript = sessions.join(project).join(format!("{id}.jsonl"));
    let kept = Folder::open(kept).ok().flatten();
    kept.is_some_and(|kept| kept.is_file(transcript))
}

/// The arguments of the CLI. Writes its prompt and MCP files into the folder it is given: arguments
/// have a length limit (execve(2)).
fn arguments(start: &Start<'_>, session: &Session) -> io::Result<Vec<OsString>> {
    let [system, mcp] = FILES;
    let persona = &start.agent.persona;
    let told = prompt::system(start.turn, start.places, persona);
    let (told, option) = match prompt::whole(start.turn, persona) {
        Some(_) => (told, "--system-prompt-file"),
        None => (told + TOLD, "--append-system-prompt-file"),
    };
    let system = start.given.write(system, &told)?;
    let mcp = start.given.write(mcp, &mcp_configuration(start))?;
    let mut arguments = fixed(start);
    arguments.push("--mcp-config".into());
    arguments.push(mcp.into());
    arguments.push("--max-budget-usd".into());
    arguments.push(start.limits.cost().to_string().into());
    arguments.push(option.into());
    arguments.push(system.into());
    arguments.push(
        if session.resumed {
            "--resume"
        } else {
            "--session-id"
        }
        .into(),
    );
    arguments.push(session.id.clone().into());
    if let Some(model) = start.model {
        arguments.push("--model".into());
        arguments.push(model.into());
    }
    Ok(arguments)
}

/// The arguments that name no file. Calls that are neither allowed nor disallowed are asked about
/// over its standard input and output.
fn fixed(start: &Start<'_>) -> Vec<OsString> {
    let own = own::tools(start);
    let ours = match start.turn.purpose {
        Purpose::Message => OURS,
        // No CLI is told a command.
        Purpose::Summary | Purpose::Command => ALLOWED_FOR_SUMMARY,
    };
    let there = own.there.join(",");
    let allowed = [&own.unasked[..], &[ours]].concat().join(",");
    let settings = own::settings(start);
    [
        "--print",
        "--verbose",
        "--input-format=stream-json",
        "--output-format=stream-json",
        "--include-partial-messages",
        "--permission-mode=default",
        "--permission-prompt-tool",
        "stdio",
        // No file of settings: they are the agent's to write, in the workspace and in its home.
        "--setting-sources=",
        "--strict-mcp-config",
        "--settings",
        &settings,
        // Of its skills and commands none is for here.
        "--disable-slash-commands",
        "--tools",
        &there,
        "--allowedTools",
        &allowed,
    ]
    .map(OsString::from)
    .into()
}

fn mcp_configuration(start: &Start<'_>) -> String {
    json!({"mcpServers": {"openclaw": {
        "type": "stdio",
        "command": start.agent_program,
        "args": start.tool_server().map(std::ffi::OsStr::to_string_lossy),
    }}})
    .to_string()
}

/// The line that gives the CLI the user's message.
fn input(turn: &Turn, session: &Session) -> String {
    let mut words = cli::words(turn, session.unseen);
    // It takes a word that begins with this for a command of its own.
    if words.starts_with('/') {
        words.insert(0, ' ');
    }
    let parts = unread(&words).into_iter();
    let blocks = parts.map(|part| json!({"type": "text", "text": part}));
    let line = json!({
        "type": "user",
        "message": {"role": "user", "content": blocks.collect::<Vec<_>>()},
        "parent_tool_use_id": null,
        "session_id": session.id,
    });
    format!("{line}\n")
}

/// The parts in which it is given words. It takes what begins with an `@` for the name of a file,
/// or of what a server of tools has, reads it before the model is asked, and sends what is in it:
/// without a tool or a question, whoever said it. It does so in the last part alone, which has
/// therefore but the last character that can be of a name, and what is behind it.
fn unread(words: &str) -> Vec<&str> {
    let last = words.rfind(|c: char| !c.is_whitespace() && !"/@".contains(c));
    let parts = last.filter(|_| words.contains('@'));
    let parts = parts.map(|at| words.split_at(at));
    // The API takes no part without a word.
    match parts.filter(|(first, _)| !first.trim().is_empty()) {
        Some((first, rest)) => vec![first, rest],
        None => vec![words],
    }
}

#[cfg(test)]
mod tests;
