//! Servers of tools (MCP, `mcp.servers`): each a confined process of the
//! turn's process, spoken to over its standard input and output. One that does
//! not start takes only its own tools away.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use openclaw_sandbox::{LaunchError, Launcher, Plan};
use openclaw_tools::{Policy, ToolDefinition};
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, Tool};
use rmcp::service::{ClientInitializeError, RunningService, ServiceError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::doors::{Doors, OpenDoors, Opened};
use crate::stdio;

#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod greeting;
mod naming;
pub(crate) mod plan;

use greeting::Greeted;

/// What a server gets to say which tools it has: the answer waits for it, and
/// many are started by a package manager.
const START_LIMIT: Duration = Duration::from_secs(20);

/// For one call, as for a command.
const CALL_LIMIT: Duration = Duration::from_secs(120);

/// Tools of one server; the model's providers take 128 in all.
const TOOLS: usize = 64;

/// Bytes of a tool's description, all of which the model reads in every turn.
const DESCRIPTION_BYTES: usize = 2048;

/// Bytes of what a call gave back.
const OUTPUT_BYTES: usize = 256 * 1024;

/// Bytes of the last words of a server.
const COMPLAINT_BYTES: usize = 2048;

/// A server as the turn's process is told of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) plan: Plan,
    /// What it reaches over the network.
    pub(crate) doors: Doors,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Credentials may be among them.
    pub(crate) variables: Vec<(String, String)>,
    /// Whether it is believed which of its tools only read.
    pub(crate) trusted: bool,
}

/// Why a server has no tools.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("open its way out")]
    Doors(#[source] io::Error),
    #[error("start its program")]
    Launch(#[from] LaunchError),
    #[error("start its program")]
    Spawn(#[from] io::Error),
    #[error("greet it")]
    Greet(#[from] Box<ClientInitializeError>),
    #[error("ask for its tools")]
    List(#[from] ServiceError),
    #[error("it did not answer within {} s", START_LIMIT.as_secs())]
    TooSlow,
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("the server has no such tool")]
    Unknown,
    #[error("the arguments are no object")]
    Arguments,
    #[error("the server did not answer within {} s", CALL_LIMIT.as_secs())]
    TooSlow,
    #[error("the server did not answer")]
    Service(#[from] ServiceError),
    /// Its own words.
    #[error("{0}")]
    Tool(String),
}

/// A tool of a server.
#[derive(Debug)]
struct Offered {
    service: Arc<RunningService<RoleClient, ()>>,
    /// As the server calls it.
    name: String,
    /// Whether it says of it that it only reads, and is believed.
    only_reads: bool,
}

/// The servers that run. They end with this.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    tools: BTreeMap<String, Offered>,
    children: Vec<Supervised>,
    doors: Vec<OpenDoors>,
}

/// The supervisor of a server's processes, asked to end them all when dropped.
#[derive(Debug)]
struct Supervised(Child);

impl Drop for Supervised {
    fn drop(&mut self) {
        if let Some(pid) = self.0.id().and_then(|pid| i32::try_from(pid).ok()) {
            // One that is gone already needs nothing.
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
    }
}

/// A server that runs.
struct Running {
    child: Supervised,
    doors: Option<OpenDoors>,
    greeted: Greeted,
}

impl Servers {
    /// Starts all of them, and says what models are told of their tools, as far
    /// as `policy` has them, and what went wrong, for the user.
    pub(crate) async fn start(
        servers: Vec<Server>,
        launcher: &Launcher,
        policy: &Policy,
    ) -> (Self, Vec<ToolDefinition>, Vec<String>) {
        let starting = servers.into_iter().map(|server| async move {
            let started = start(&server, launcher).await;
            (server.name, started)
        });
        let (mut all, mut definitions, mut notes) = (Self::default(), Vec::new(), Vec::new());
        for (name, started) in join_all(starting).await {
            match started {
                Ok(running) => {
                    all.children.push(running.child);
                    all.doors.extend(running.doors);
                    let (told, left_out) = all.add(&name, running.greeted, policy);
                    definitions.extend(told);
                    notes.extend(left_out);
                }
                Err(why) => {
                    tracing::warn!(server = name, why, "a server of tools cannot be used");
                    notes.push(format!("the MCP server {name} cannot be used: {why}"));
                }
            }
        }
        (all, definitions, notes)
    }

    fn add(
        &mut self,
        server: &str,
        greeted: Greeted,
        policy: &Policy,
    ) -> (Vec<ToolDefinition>, Option<String>) {
        let service = Arc::new(greeted.service);
        let mut definitions = Vec::new();
        let mut left_out = 0;
        for tool in greeted.tools {
            let Some(name) = naming::of(server, &tool.name) else {
                left_out += 1;
                continue;
            };
            if policy.denies(&name).is_some() {
                continue;
            }
            if definitions.len() >= TOOLS || self.tools.contains_key(&name) {
                left_out += 1;
                continue;
            }
            definitions.push(definition(&name, &tool));
            let hints = tool.annotations.as_ref();
            let offered = Offered {
                service: Arc::clone(&service),
                name: tool.name.clone().into_owned(),
                only_reads: greeted.trusted
                    && hints.and_then(|hints| hints.read_only_hint) == Some(true),
            };
            self.tools.insert(name, offered);
        }
        let note = (left_out > 0).then(|| {
            format!(
                "{left_out} tools of the MCP server {server} are left out: their names are too \
                 long or taken, or there are more than {TOOLS}"
            )
        });
        (definitions, note)
    }

    /// Whether a server has the tool `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Whether a server that is believed says of the tool that it only reads.
    pub(crate) fn only_reads(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|tool| tool.only_reads)
    }

    /// Calls the tool `name`; what it said.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Result<String, CallError> {
        let tool = self.tools.get(name).ok_or(CallError::Unknown)?;
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            Value::Null => Map::new(),
            _ => return Err(CallError::Arguments),
        };
        let request = CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments);
        let answered = timeout(CALL_LIMIT, tool.service.call_tool(request)).await;
        let result = answered.map_err(|_| CallError::TooSlow)??;
        let output = text(&result);
        match result.is_error {
            Some(true) => Err(CallError::Tool(output)),
            _ => Ok(output),
        }
    }
}

/// Starts one; the error in words, with the last ones of its own.
async fn start(server: &Server, launcher: &Launcher) -> Result<Running, String> {
    let mut complaint = None;
    let started = timeout(START_LIMIT, greet(server, launcher, &mut complaint)).await;
    let error = match started.unwrap_or(Err(StartError::TooSlow)) {
        Ok(running) => return Ok(running),
        Err(error) => error,
    };
    let mut words = openclaw_daemon::failure::chain(&error);
    if let Some(complaint) = complaint {
        let last = timeout(Duration::from_secs(1), complaint).await;
        let last = last.map_or_else(|_| String::new(), Result::unwrap_or_default);
        if !last.trim().is_empty() {
            words.push_str(&format!("; it said: {}", last.trim()));
        }
    }
    Err(words)
}

async fn greet(
    server: &Server,
    launcher: &Launcher,
    complaint: &mut Option<JoinHandle<String>>,
) -> Result<Running, StartError> {
    let arguments: Vec<_> = server.arguments.iter().map(Into::into).collect();
    let (mut plan, mut variables) = (server.plan.clone(), server.variables.clone());
    let opened = Opened::of(&server.doors, &mut plan, &mut variables).map_err(StartError::Doors)?;
    let opened = opened.map(|(opened, _)| opened);
    let program = &server.program;
    let command = match opened.as_ref().and_then(Opened::theirs) {
        Some(theirs) => {
            launcher.command_with_doors(&plan, program, &arguments, &variables, theirs)?
        }
        None => launcher.command(&plan, program, &arguments, &variables)?,
    };
    let (stdin, their_stdin) = stdio::input()?;
    let (stdout, their_stdout) = stdio::output()?;
    let (stderr, their_stderr) = stdio::output()?;
    let child = Command::from(command)
        .stdin(Stdio::from(their_stdin))
        .stdout(Stdio::from(their_stdout))
        .stderr(Stdio::from(their_stderr))
        .spawn()
        .map(Supervised)?;
    *complaint = Some(tokio::spawn(last_words(stderr)));
    let doors = opened.map(OpenDoors::serve);
    let greeted = greeting::greet((stdout, stdin), server.trusted).await?;
    Ok(Running {
        child,
        doors,
        greeted,
    })
}

/// Reads to the end, so that it is never held up, and keeps the end.
async fn last_words(mut stream: impl AsyncRead + Unpin) -> String {
    let mut kept = Vec::new();
    let mut chunk = [0; 1024];
    while let Ok(read @ 1..) = stream.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..read]);
        let surplus = kept.len().saturating_sub(COMPLAINT_BYTES);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

fn definition(name: &str, tool: &Tool) -> ToolDefinition {
    let description = tool.description.as_deref().unwrap_or_default();
    let parameters = Value::Object(tool.input_schema.as_ref().clone());
    ToolDefinition::new(name, cut(description, DESCRIPTION_BYTES), parameters)
}

/// Its texts; what is no text is named.
fn text(result: &CallToolResult) -> String {
    let blocks = result.content.iter().map(|block| match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[an image, {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[a sound, {}]", audio.mime_type),
        other => serde_json::to_string(other).unwrap_or_default(),
    });
    let blocks: Vec<String> = blocks.collect();
    let text = match (&result.structured_content, blocks.is_empty()) {
        (Some(structured), true) => structured.to_string(),
        _ => blocks.join("\n"),
    };
    match text.len() > OUTPUT_BYTES {
        true => format!(
            "{}\n[… {} bytes elided …]",
            cut(&text, OUTPUT_BYTES),
            text.len() - OUTPUT_BYTES
        ),
        false => text,
    }
}

fn cut(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
