//! The codex-cli backend: the real Codex CLI as its `app-server`, spoken to in
//! JSON-RPC over standard input and output, its thread continued from turn to
//! turn. Unlike `codex exec` this tells words as they come, and asks.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_config::price::Price;
use openclaw_config::settings::{AgentSettings, SandboxLevel, Settings};
use openclaw_proto::runner::Turn;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::process::ChildStdin;

use crate::approvals::Approvals;
use crate::cli::{self, Access, Cli, Limits, LoginFile, Mouth, Prepared, Start};
use crate::environment::Variables;
use crate::tools::{self, CodexTools};
use crate::{prompt, thinking};

mod access;
mod asked;
mod conversation;
mod home;
mod item;
mod options;
mod program;
mod said;

use asked::Asked;
use conversation::Conversation;

/// The backend's name.
pub(crate) const NAME: &str = "codex-cli";
/// What it is called, for people.
const TITLE: &str = "Codex";
/// Where it keeps its login.
const LOGIN: LoginFile = LoginFile {
    folder: home::FOLDER,
    file: "auth.json",
    kept: "codex-auth.json",
};

/// The Codex CLI.
#[derive(Debug)]
pub(crate) struct Codex;

impl Cli for Codex {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        TITLE
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

    fn login(&self) -> &'static LoginFile {
        &LOGIN
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
        let folder = home::folder(start.places);
        vec![("CODEX_HOME".to_owned(), folder.display().to_string())]
    }

    fn prepare(&self, start: &Start<'_>) -> io::Result<Prepared> {
        home::prepare(start.places)?;
        let own = tools::of_codex(start.turn.purpose, start.policy, start.rules);
        Ok(Prepared {
            arguments: options::arguments(start, &own),
            dialogue: cli::Dialogue::Codex(dialogue(start, own)),
        })
    }
}

fn dialogue(start: &Start<'_>, own: CodexTools) -> Dialogue {
    let (turn, places) = (start.turn, start.places);
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
            "developerInstructions": prompt::system(turn, places),
        }),
        resumed: known.map(|session| Resumed {
            id: session.id.clone(),
            words: cli::words(turn, session.unseen as usize),
        }),
        words: all_words(turn),
        effort: thinking::effort(turn.thinking_level.as_deref()).map(str::to_owned),
        own,
        writable: std::iter::once(&places.workspace)
            .chain(&start.agent.sandbox.read_write)
            .cloned()
            .collect(),
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
    /// Where it may change files.
    writable: Vec<PathBuf>,
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
        stdin: Option<ChildStdin>,
        approvals: Arc<Approvals>,
        limits: Limits,
        (model, price): (Option<String>, Option<Price>),
    ) -> Conversation {
        let first = format!("{}\n", said::initialize());
        let mouth = stdin.map(|stdin| Mouth::new(stdin, first));
        let asked = mouth.clone().map(|mouth| Asked {
            mouth,
            approvals,
            own: self.own,
            writable: self.writable.clone(),
        });
        let conversation = Conversation::new(self, mouth, asked, limits);
        conversation.with_model(model, price)
    }
}

#[cfg(test)]
mod tests;
