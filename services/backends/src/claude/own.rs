//! What the CLI has of its own: which of its tools a turn has, and what of it is switched off.
//! `tests/cli/news` says what a newer version has that is not listed here.

use openclaw_agent_clis::claude::STARTING;
use openclaw_model_api::wire::Grants;
use openclaw_proto::runner::Purpose;
use openclaw_sandbox::Level;
use openclaw_settings::{Network, ProviderTool};
use openclaw_tools::Policy;
use openclaw_tools::approval::Ask;
use serde_json::json;

use crate::cli::Start;
use crate::tools;

/// When a tool is there, the policy permitting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// The tools that need a network for pages.
    Network,
    /// The tools that need the provider's search.
    Search,
    /// For this reason.
    Never(&'static str),
}

use When::{Always, Never, Search};

const ENDS: &str = "it ends with its turn";
const JOBS: &str = "jobs are kept by the gateway";
const FORM: &str = "it shows a form, and nobody sees one";
const LIST: &str = "its list is seen by nobody, and takes ten kilobytes of every request";
const WORKSPACE: &str = "a turn has one workspace";

/// Its tools by their names for its own options, those of older versions among
/// them: what is not listed is not there.
const TOOLS: [(&str, When); 38] = [
    ("AskUserQuestion", Never(FORM)),
    ("Bash", Always),
    ("BashOutput", Always),
    ("CronCreate", Never(JOBS)),
    ("CronDelete", Never(JOBS)),
    ("CronList", Never(JOBS)),
    (
        "DesignSync",
        Never("it speaks to a service that a turn does not reach"),
    ),
    ("Edit", Always),
    ("EnterPlanMode", Never(FORM)),
    ("EnterWorktree", Never(WORKSPACE)),
    ("ExitPlanMode", Never(FORM)),
    ("ExitWorktree", Never(WORKSPACE)),
    ("Glob", Always),
    ("Grep", Always),
    ("KillShell", Always),
    ("LS", Always),
    ("ListAgents", Never(ENDS)),
    ("Monitor", Never(ENDS)),
    ("MultiEdit", Always),
    ("NotebookEdit", Always),
    ("Read", Always),
    ("ReportFindings", Never(FORM)),
    ("ScheduleWakeup", Never(JOBS)),
    ("SendMessage", Never(ENDS)),
    ("Skill", Never("its skills are about itself")),
    ("Task", Always),
    ("TaskCreate", Never(LIST)),
    ("TaskGet", Never(LIST)),
    ("TaskList", Never(LIST)),
    ("TaskOutput", Always),
    ("TaskStop", Always),
    ("TaskUpdate", Never(LIST)),
    ("TodoWrite", Never(LIST)),
    (
        "ToolSearch",
        Never("those that are there are told of at once"),
    ),
    ("WebFetch", When::Network),
    ("WebSearch", Search),
    ("Workflow", Never("it takes 21 kilobytes of every request")),
    ("Write", Always),
];

/// The tools that work with files.
const FILES: [&str; 8] = [
    "Edit",
    "Glob",
    "Grep",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "Write",
];

/// Switched off by a variable: what it is, and why.
pub(super) const OFF: [(&str, &str); 6] = [
    (
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
        "ours is the memory that is searched",
    ),
    (
        "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS",
        "they are about the CLI itself",
    ),
    ("CLAUDE_CODE_DISABLE_CRON", JOBS),
    (
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "a turn speaks to its model alone",
    ),
    ("CLAUDE_CODE_DISABLE_WORKFLOWS", "as the tool"),
    (
        "DISABLE_AUTOUPDATER",
        "it is updated by whoever installed it, not by a turn",
    ),
];

/// Its tools in a turn.
#[derive(Debug, Default)]
pub(super) struct Own {
    pub(super) there: Vec<&'static str>,
    /// The tools that run without a question.
    pub(super) unasked: Vec<&'static str>,
}

/// As the policy has them. What may have to be asked about is not allowed
/// beforehand, so that the CLI asks, and the call is judged here.
pub(super) fn tools(start: &Start<'_>) -> Own {
    if start.turn.purpose == Purpose::Summary {
        return Own::default();
    }
    let sandbox = &start.agent.sandbox;
    let grants = Grants::of(sandbox);
    let has_network = start.level == Level::Off || sandbox.network != Network::ModelOnly;
    let is_there = |(name, when): &(&str, When)| {
        let there = match when {
            Always => true,
            When::Network => has_network,
            Search => grants.has(ProviderTool::WebSearch),
            Never(_) => false,
        };
        // Its own go anywhere that the sandbox lets them; ours stay.
        let strays = start.agent.tools.workspace_only && FILES.contains(name);
        there && !strays && start.policy.denies(name).is_none()
    };
    let there = TOOLS.iter().filter(|tool| is_there(tool));
    let there: Vec<&str> = there.map(|(name, _)| *name).collect();
    let unasked = there.iter().copied();
    Own {
        unasked: unasked
            .filter(|name| !tools::is_asked_about(name, start.rules) && !STARTING.contains(name))
            .collect(),
        there,
    }
}

/// Ours that its own do: a model that has both cannot know which to take.
pub(super) fn covered(policy: &Policy, workspace_only: bool) -> Vec<&'static str> {
    if workspace_only {
        return vec!["execute_shell", "process"];
    }
    let has = |name: &str| policy.denies(name).is_none();
    let mut covered = vec![
        "read_file",
        "write_file",
        "edit",
        "execute_shell",
        "process",
    ];
    if has("edit") && has("write_file") {
        covered.push("apply_patch");
    }
    if has("read_file") || has("execute_shell") {
        covered.push("list_directory");
    }
    covered
}

/// Settings of the turn, which are ours and in no file. It runs commands that
/// it takes for reading without a question, unless it is to ask about all; then
/// they are judged here, like those of every backend. How agents are started is
/// looked at here in any case (`openclaw_turn_process::claude`). Its look at whether a
/// site is a good one would leave the turn's network.
pub(super) fn settings(start: &Start<'_>) -> String {
    let commands: &[&str] = match start.rules.ask {
        Ask::Off => &[],
        Ask::OnMiss | Ask::Always => &["Bash"],
    };
    let asked = [commands, &STARTING].concat();
    json!({"permissions": {"ask": asked}, "skipWebFetchPreflight": true}).to_string()
}

#[cfg(test)]
mod tests;
