//! The codex-cli backend: the real Codex CLI as its `app-server`, spoken to in
//! JSON-RPC over standard input and output, its thread continued from turn to
//! turn. Unlike `codex exec` this tells words as they come, and asks.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_config::login::Login;
use openclaw_config::settings::{AgentSettings, SandboxLevel, Settings};
use openclaw_proto::runner::{Purpose, Turn};
use openclaw_tools::Policy;
use openclaw_tools::approval::Rules;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::UnixStream;

use crate::approvals::Approvals;
use crate::cli::{self, Access, Cli, CliInput, Kept, Limits, Prepared, Start};
use crate::environment::Variables;
use crate::tools::{self, CodexTools};
use crate::wire::Grants;
use crate::{prompt, thinking};

mod access;
pub(crate) use access::CHATGPT;
mod asked;
mod conversation;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod item;
mod options;
mod program;
mod said;

use asked::Asked;
use conversation::Conversation;

/// The backend's name.
pub(crate) const NAME: &str = "codex-cli";
/// Where it keeps its threads.
const KEPT: Kept = Kept {
    folder: ".codex",
    name: "sessions",
};

/// The Codex CLI.
#[derive(Debug)]
pub(crate) struct Codex;

impl Cli for Codex {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        Login::Codex.title()
    }

    fn installation(&self) -> &'static str {
        "install it with `npm install -g @openai/codex` or set agents.defaults.codexCliPath"
    }

    fn connection(&self) -> &'static str {
        "run `codex login`, or set OPENAI_API_KEY"
    }

    fn provider(&self) -> &'static str {
        "openai"
    }

    fn program<'a>(&self, agent: &'a AgentSettings) -> &'a str {
        &agent.codex_path
    }

    fn folders(&self) -> &'static [&'static str] {
        &[".local/bin", ".npm-global/bin", ".codex/bin"]
    }

    fn resolve(&self, found: &Path) -> io::Result<PathBuf> {
        Ok(program::native(found.canonicalize()?))
    }

    fn kept(&self) -> &'static Kept {
        &KEPT
    }

    fn way_in(&self, settings: &Settings, agent_id: &str) -> Option<String> {
        access::way_in(settings, agent_id)
    }

    fn access(
        &self,
        settings: &Settings,
        agent_id: &str,
        _level: SandboxLevel,
    ) -> Result<Access, cli::access::Error> {
        access::find(settings, agent_id)
    }

    fn variables(&self, start: &Start<'_>, _keys: bool) -> Variables {
        let folder = start.folder();
        vec![("CODEX_HOME".to_owned(), folder.display().to_string())]
    }

    fn covered(&self, policy: &Policy, rules: &Rules, workspace_only: bool) -> Vec<&'static str> {
        let nothing = Grants::default();
        let purpose = Purpose::Message;
        let own = tools::of_codex(purpose, policy, rules, &nothing, workspace_only);
        let mut covered = Vec::new();
        if own.commands {
            covered.extend(["execute_shell", "process", "read_file", "list_directory"]);
        }
        // Which of its models it gives its own to is not ours to know.
        if policy.denies("apply_patch").is_none() && !workspace_only {
            covered.extend(["write_file", "edit"]);
        }
        covered
    }

    fn prepare(&self, start: &Start<'_>) -> io::Result<Prepared> {
        let grants = Grants::of(&start.agent.sandbox);
        let workspace_only = start.agent.tools.workspace_only;
        let purpose = start.turn.purpose;
        let own = tools::of_codex(purpose, start.policy, start.rules, &grants, workspace_only);
        Ok(Prepared {
            arguments: options::arguments(start, &own),
            dialogue: cli::Dialogue::Codex(dialogue(start, own)),
        })
    }
}

fn dialogue(start: &Start<'_>, own: CodexTools) -> Dialogue {
    let (turn, places) = (start.turn, start.places);
    let persona = &start.agent.persona;
    let known = cli::known_session(turn, NAME);
    Dialogue {
        thread: json!({
            "cwd": places.workspace,
            "model": start.model,
            // Whatever it would run unasked is asked about here, where the
            // policy is: with the one exception of commands that only read.
            "approvalPolicy": "untrusted",
            // It is confined already, and by more than its own sandbox.
            "sandbox": "danger-full-access",
            "developerInstructions": prompt::system(turn, places, persona),
            // None leaves it its own.
            "baseInstructions": prompt::whole(turn, persona),
        }),
        resumed: known.map(|session| Resumed {
            id: session.id.clone(),
            words: cli::words(turn, session.unseen as usize),
        }),
        words: all_words(turn),
        effort: thinking::effort(turn.thinking_level.as_deref()).map(str::to_owned),
        own,
    }
}

fn all_words(turn: &Turn) -> String {
    cli::words(turn, turn.history.len())
}

/// What is said to the CLI.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Dialogue {
    /// What a thread is begun or resumed with.
    thread: Value,
    /// The thread to go on with.
    resumed: Option<Resumed>,
    /// Said to a thread that begins.
    words: String,
    /// How much it is to think.
    effort: Option<String>,
    /// Its own tools.
    own: CodexTools,
}

/// A thread that the conversation was in.
#[derive(Debug, Serialize, Deserialize)]
struct Resumed {
    id: String,
    /// Said to it.
    words: String,
}

impl Dialogue {
    pub(crate) fn begin(
        self,
        stdin: Option<UnixStream>,
        approvals: Arc<Approvals>,
        limits: Limits,
        model: Option<String>,
    ) -> Conversation {
        let first = format!("{}\n", said::initialize());
        let cli_input = stdin.map(|stdin| CliInput::new(stdin, first));
        let asked = cli_input.clone().map(|cli_input| Asked {
            cli_input,
            approvals,
            own: self.own,
        });
        let conversation = Conversation::new(self, cli_input, asked, limits);
        conversation.with_model(model)
    }
}

#[cfg(test)]
pub(crate) mod tests;
