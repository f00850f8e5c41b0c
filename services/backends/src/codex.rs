//! The codex-cli backend: the real Codex CLI as its `app-server`, spoken to in
//! JSON-RPC over standard input and output, its thread continued from turn to
//! turn. Unlike `codex exec` this tells words as they come, and asks.

use std::io;
use std::path::{Path, PathBuf};

use openclaw_agent_clis::codex::{CLI, CodexDialogue, CodexThread, CodexTools};
use openclaw_agent_clis::{AgentCli, Dialogue};
use openclaw_model_api::wire::Grants;
use openclaw_proto::runner::{Purpose, Turn};
use openclaw_sandbox::Level;
use openclaw_settings::RunnerSettings;
use openclaw_tools::Policy;
use openclaw_tools::approval::Rules;
use serde_json::json;

use crate::cli::{self, Access, Cli, Prepared, Start};
use crate::environment::Variables;
use crate::{prompt, thinking, tools};

mod access;
pub use access::CHATGPT;
mod options;
mod program;

/// The Codex CLI.
#[derive(Debug)]
pub(crate) struct Codex;

impl Cli for Codex {
    fn known(&self) -> &'static AgentCli {
        &CLI
    }

    fn resolve(&self, found: &Path) -> io::Result<PathBuf> {
        Ok(program::native(found.canonicalize()?))
    }

    fn way_in(&self, settings: &RunnerSettings, agent_id: &str) -> Option<String> {
        access::way_in(settings, agent_id)
    }

    fn access(
        &self,
        settings: &RunnerSettings,
        agent_id: &str,
        _level: Level,
    ) -> Result<Access, cli::access::Error> {
        access::find(settings, agent_id)
    }

    fn variables(&self, start: &Start<'_>, _keys: bool) -> Variables {
        let folder = start.folder();
        vec![
            ("CODEX_HOME".to_owned(), folder.display().to_string()),
            (options::REPOSITORY.to_owned(), "/dev/null".to_owned()),
        ]
    }

    fn covered(&self, policy: &Policy, rules: &Rules, workspace_only: bool) -> Vec<&'static str> {
        let nothing = Grants::default();
        let purpose = Purpose::Message;
        let own = tools::of_codex(purpose, policy, rules, &nothing, workspace_only);
        let mut covered = Vec::new();
        if own.commands {
            covered.extend(["execute_shell", "process", "read_file", "list_directory"]);
        }
        // We do not know to which of its models it gives a patch tool of its own.
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
            files: &[],
            dialogue: Dialogue::Codex(dialogue(start, own)),
        })
    }
}

fn dialogue(start: &Start<'_>, own: CodexTools) -> CodexDialogue {
    let (turn, places) = (start.turn, start.places);
    let persona = &start.agent.persona;
    let known = cli::known_session(turn, CLI.backend);
    CodexDialogue {
        thread: json!({
            "cwd": &*places.workspace,
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
        resumed: known.map(|session| CodexThread {
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
