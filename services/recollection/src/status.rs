//! `memory status`.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use openclaw_proto::wire::memory::{AgentStatus, StatusResponse};
use openclaw_terminal::{Failure, output, words};
use serde_json::{Value, json};

use crate::daemon::Memory;
use crate::whose::Whose;

/// Arguments of `memory status`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    whose: Whose,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Shows the state of the memories.
pub(super) async fn run(arguments: &Arguments, memory: &Memory) -> Result<ExitCode, Failure> {
    let status = memory.client.status().await;
    let mut status = status.map_err(|status| memory.failure(&status))?;
    let wanted = &arguments.whose.agent;
    if !wanted.is_empty() {
        if !status.agents.iter().any(|agent| agent.agent_id == *wanted) {
            let known = status.agents.iter().map(|agent| &*agent.agent_id);
            let failure = Failure::new(format!("there is no agent {wanted:?}"));
            return Err(failure.near(wanted, known, "openclawctl agents lists them"));
        }
        status.agents.retain(|agent| agent.agent_id == *wanted);
    }
    if arguments.json {
        output::document(&document(&status))?
    } else {
        output::stdout(&rendered(&status))?
    }
    Ok(ExitCode::SUCCESS)
}

fn document(status: &StatusResponse) -> Value {
    json!({
        "version": status.version,
        "agents": status.agents.iter().map(agent_document).collect::<Vec<_>>(),
        "configurationProblem": status.configuration_problem,
    })
}

fn agent_document(agent: &AgentStatus) -> Value {
    json!({
        "agentId": agent.agent_id,
        "workspace": agent.workspace,
        "store": agent.store,
        "provider": agent.provider,
        "model": agent.model,
        "sources": sources(agent),
        "extraPaths": agent.extra_paths,
        "files": agent.files,
        "chunks": agent.chunks,
        "dirty": agent.pending > 0,
        "pending": agent.pending,
        "vectorsMissing": agent.vectors_missing,
        "indexBytes": agent.index_bytes,
        "watching": agent.watching,
        "problems": agent.problems,
    })
}

fn sources(agent: &AgentStatus) -> Vec<&'static str> {
    let sessions = agent.searches_sessions.then_some("sessions");
    ["memory"].into_iter().chain(sessions).collect()
}

fn rendered(status: &StatusResponse) -> String {
    let mut text: String = status.agents.iter().map(agent_text).collect();
    if !status.configuration_problem.is_empty() {
        // Writing to a String cannot fail.
        let problem = output::line(&status.configuration_problem);
        let _ = writeln!(text, "configuration: {problem}");
    }
    text
}

fn agent_text(agent: &AgentStatus) -> String {
    let mut text = format!("Memory of agent {}\n", output::line(&agent.agent_id));
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<11} {}", output::line(&value));
    };
    line("indexed", {
        let files = words::count(agent.files, "file");
        format!("{files}, {}", words::count(agent.chunks, "passage"))
    });
    if agent.pending > 0 {
        line("to take in", words::count(agent.pending, "file"));
    }
    line("embedder", format!("{} ({})", agent.provider, agent.model));
    if agent.vectors_missing > 0 {
        line("no vectors", words::count(agent.vectors_missing, "passage"));
    }
    line("sources", sources(agent).join(", "));
    for path in &agent.extra_paths {
        line("also", path.clone());
    }
    line("workspace", agent.workspace.clone());
    let size = words::bytes(agent.index_bytes);
    line("index", format!("{} ({size})", agent.store));
    let watching = if agent.watching {
        "changes are seen at once"
    } else {
        "files are not watched; they are looked at every few seconds"
    };
    line("watching", watching.to_owned());
    for problem in &agent.problems {
        line("problem", problem.clone());
    }
    text
}
