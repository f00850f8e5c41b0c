//! Agent CLIs that are not ours, as the daemon knows them: where one is, how it gets to its model,
//! and how it is started. What it is spoken to is known to the turn's process.

use std::ffi::OsString;
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

use openclaw_agent_clis::{AgentCli, Dialogue};
use openclaw_handoff::limits::Limits;
use openclaw_proto::history::Message;
use openclaw_proto::runner::{BackendSession, Turn};
use openclaw_sandbox::Level;
use openclaw_settings::{AgentSettings, RunnerSettings};
use openclaw_tools::Policy;
use openclaw_tools::approval::Rules;

use crate::environment::Variables;
use crate::places::Places;
use crate::prompt;

pub mod access;
mod input_folder;
pub(crate) mod login;
mod settings;

pub use access::Access;
pub use input_folder::InputFolder;

/// Begins the names of folders of sessions, which no other folder beside them has.
const OF_SESSION: &str = "session-";

/// The name that only this id has.
fn file_name(id: &str) -> String {
    id.bytes()
        .map(|byte| match byte {
            b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
            other => format!("%{other:02x}"),
        })
        .collect()
}

/// Messages told again to a session that has not seen them.
const RETOLD_MESSAGES: usize = 40;

/// An agent CLI.
pub trait Cli: Debug + Sync {
    /// What is known of it everywhere.
    fn known(&self) -> &'static AgentCli;

    /// The program that is to be run for the one that was found.
    fn resolve(&self, found: &Path) -> io::Result<PathBuf> {
        // The links it may be reached through are not granted.
        found.canonicalize()
    }

    /// The credential that would let it in, if there is one, for people.
    fn way_in(&self, settings: &RunnerSettings, agent_id: &str) -> Option<String>;

    /// How it gets to its model.
    fn access(
        &self,
        settings: &RunnerSettings,
        agent_id: &str,
        level: Level,
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

/// A start of a CLI.
pub struct Start<'a> {
    /// The configuration,
    pub settings: &'a RunnerSettings,
    /// and the agent of it whose turn it is.
    pub agent: &'a AgentSettings,
    /// The turn.
    pub turn: &'a Turn,
    /// The places of the turn.
    pub places: &'a Places,
    /// The model that it is to ask; `None`: its own choice.
    pub model: Option<&'a str>,
    /// Which tools there are.
    pub policy: &'a Policy,
    /// The rules for calls.
    pub rules: &'a Rules,
    /// `openclaw-agent`, which serves our tools.
    pub agent_program: &'a Path,
    /// The folder it reads, with the FIFOs by which its MCP server finds the host tools.
    pub given: &'a InputFolder,
    /// The level it runs at.
    pub level: Level,
    /// The limits of the turn.
    pub limits: &'a Limits,
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
    pub fn folder(&self) -> PathBuf {
        let paths = &self.settings.paths;
        paths.turn_cli(&self.agent.id, &self.turn.run_id)
    }

    /// The folder of what it keeps of the turn's session. No other session's turn sees it: in a
    /// group others speak than in private.
    pub fn kept(&self) -> PathBuf {
        let sessions = self.settings.paths.cli_sessions(&self.agent.id);
        sessions.join(OF_SESSION.to_owned() + &file_name(&self.turn.session_id))
    }

    /// Makes both folders, with what `cli` keeps in the first.
    pub fn make_folder(&self, cli: &AgentCli) -> Result<(), crate::places::Error> {
        settings::make(&self.folder(), &self.kept(), self.places, cli)
    }
}

/// A CLI that can be started.
pub struct Prepared {
    /// The arguments of the program.
    pub arguments: Vec<OsString>,
    /// Files of the folder it is given that it reads at its start.
    pub files: &'static [&'static str],
    /// The dialogue with it.
    pub dialogue: Dialogue,
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
