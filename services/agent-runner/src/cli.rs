//! The seam behind which agent CLIs are that are not ours: what the runner has
//! to know of one to give it turns.

use std::ffi::OsString;
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_config::settings::{AgentSettings, SandboxLevel, Settings};
use openclaw_proto::history::Message;
use openclaw_proto::runner::{BackendSession, Turn};
use openclaw_tools::Policy;
use openclaw_tools::approval::Rules;
use serde::{Deserialize, Serialize};
use tokio::net::UnixStream;

use crate::approvals::Approvals;
use crate::claude::Claude;
use crate::codex::Codex;
use crate::environment::Variables;
use crate::places::Places;
use crate::servers::Pace;
use crate::translate::Translate;
use crate::{claude, codex, prompt};

pub(crate) mod access;
mod cli_input;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod given;
mod limits;
pub(crate) mod login;
mod pipe;
mod settings;

pub(crate) use access::Access;
pub(crate) use cli_input::CliInput;
pub(crate) use given::Given;
pub(crate) use limits::{Count, Limits};
pub(crate) use pipe::ToolPipe;

/// Messages told again to a session that has not seen them.
const RETOLD_MESSAGES: usize = 40;

/// An agent CLI.
pub(crate) trait Cli: Debug + Sync {
    /// The backend's name.
    fn name(&self) -> &'static str;

    /// What it is called, for people.
    fn title(&self) -> &'static str;

    /// How one gets it, for people.
    fn installation(&self) -> &'static str;

    /// How one gets it to its model, for people.
    fn connection(&self) -> &'static str;

    /// Whose models it asks.
    fn provider(&self) -> &'static str;

    /// The program, as the agent's settings name it.
    fn program<'a>(&self, agent: &'a AgentSettings) -> &'a str;

    /// Folders of the user's home where its installers put it.
    fn folders(&self) -> &'static [&'static str];

    /// The program that is to be run for the one that was found.
    fn resolve(&self, found: &Path) -> io::Result<PathBuf> {
        // The links it may be reached through are not granted.
        found.canonicalize()
    }

    /// What is left to it from turn to turn.
    fn kept(&self) -> &'static Kept;

    /// What would let it in, if anything, for people.
    fn way_in(&self, settings: &Settings, agent_id: &str) -> Option<String>;

    /// How it gets to its model.
    fn access(
        &self,
        settings: &Settings,
        agent_id: &str,
        level: SandboxLevel,
    ) -> Result<Access, access::Error>;

    /// Its part of the environment. `keys`: it has its credentials itself.
    fn variables(&self, start: &Start<'_>, keys: bool) -> Variables;

    /// Names of our tools that its own do instead. Its own file tools are not
    /// there where such tools are to stay in the workspace.
    fn covered(&self, policy: &Policy, rules: &Rules, workspace_only: bool) -> Vec<&'static str>;

    /// Writes what it reads into the folder it is given, and says how it is started
    /// and what is to be said to it.
    fn prepare(&self, start: &Start<'_>) -> io::Result<Prepared>;
}

/// All of them, those first that are looked for first.
pub(crate) const CLAUDE: &dyn Cli = &Claude;
/// The second one.
pub(crate) const CODEX: &dyn Cli = &Codex;

/// Whether a backend is one of them.
pub(crate) fn is_cli(backend: &str) -> bool {
    [CLAUDE, CODEX].iter().any(|cli| cli.name() == backend)
}

/// A start of a CLI.
pub(crate) struct Start<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) agent: &'a AgentSettings,
    pub(crate) turn: &'a Turn,
    pub(crate) places: &'a Places,
    pub(crate) model: Option<&'a str>,
    pub(crate) policy: &'a Policy,
    pub(crate) rules: &'a Rules,
    pub(crate) agent_program: &'a Path,
    /// What it reads, with the FIFOs by which its MCP server finds the host
    /// tools.
    pub(crate) given: &'a Given,
    /// The level it runs at.
    pub(crate) level: SandboxLevel,
    pub(crate) limits: &'a Limits,
}

impl Start<'_> {
    /// How the server of our tools is started.
    pub(crate) fn tool_server(&self) -> [&std::ffi::OsStr; 5] {
        [
            "mcp".as_ref(),
            "--workspace".as_ref(),
            self.places.workspace.as_os_str(),
            "--tool-pipe".as_ref(),
            self.given.path().as_os_str(),
        ]
    }

    /// The folder in which it finds its settings.
    pub(crate) fn folder(&self) -> PathBuf {
        let paths = &self.settings.paths;
        paths.turn_cli(&self.agent.id, &self.turn.run_id)
    }

    /// Makes that folder, with what is `kept` in it.
    pub(crate) fn make_folder(&self, kept: &Kept) -> Result<(), crate::places::Error> {
        settings::make(&self.folder(), self.places, kept)
    }
}

/// What a CLI keeps in the agent's home, for the turns after this one: its
/// sessions, and nothing that it obeys.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The CLI's folder in a home.
    pub(crate) folder: &'static str,
    /// The folder in it.
    pub(crate) name: &'static str,
}

/// A CLI that can be started.
pub(crate) struct Prepared {
    pub(crate) arguments: Vec<OsString>,
    pub(crate) dialogue: Dialogue,
}

/// What is said to a CLI and heard from it, told to the turn's process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Dialogue {
    Claude(claude::Dialogue),
    Codex(codex::Dialogue),
}

impl Dialogue {
    /// Files of the folder it is given that the CLI reads at its start.
    pub(crate) fn files(&self) -> &'static [&'static str] {
        match self {
            Self::Claude(_) => &claude::FILES,
            Self::Codex(_) => &[],
        }
    }

    /// Which servers of tools are waited for before it asks its model.
    pub(crate) fn patience(&self) -> Pace {
        match self {
            Self::Claude(_) => Pace::Prompt,
            // It takes no note of `tools/list_changed`.
            Self::Codex(_) => Pace::Late,
        }
    }

    /// Speaks to the CLI that was started; what it says is to be translated.
    pub(crate) fn begin(
        self,
        stdin: Option<UnixStream>,
        approvals: Arc<Approvals>,
        limits: Limits,
        model: Option<String>,
    ) -> Box<dyn Translate> {
        match self {
            Self::Claude(dialogue) => Box::new(dialogue.begin(stdin, approvals, limits, model)),
            Self::Codex(dialogue) => Box::new(dialogue.begin(stdin, approvals, limits, model)),
        }
    }
}

/// The CLI's own session that the conversation was in, if it was in one.
pub(crate) fn known_session<'a>(turn: &'a Turn, name: &str) -> Option<&'a BackendSession> {
    turn.backend_sessions
        .iter()
        .find(|session| session.backend == name)
        .filter(|session| uuid::Uuid::parse_str(&session.id).is_ok())
}

/// The message, with as many of the last ones as the session has not seen.
pub(crate) fn words(turn: &Turn, unseen: usize) -> String {
    let unseen = unseen.min(RETOLD_MESSAGES).min(turn.history.len());
    let unseen: &[Message] = &turn.history[turn.history.len() - unseen..];
    prompt::retold(unseen) + &prompt::message(&turn.text, &turn.passages)
}
