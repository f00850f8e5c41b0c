//! Arguments of `auth`.

use clap::{Args, Subcommand, ValueEnum};
use openclaw_credentials::login::Login;
use openclaw_setup::key;

/// List, add and remove the keys and logins that agents' turns run on.
#[derive(Debug, Args)]
pub struct Auth {
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the profiles of agents and the logins that were adopted, without their secrets
    #[command(visible_alias = "ls")]
    List(List),
    /// Keep a provider's key, which is asked for unseen, or read from standard input or a variable
    Add(Add),
    /// Take a profile or an adopted login away
    #[command(visible_alias = "rm")]
    Remove(Remove),
    /// Show the logins that lie in an agent's home, and have turns run on one
    Adopt(Adopt),
}

/// Arguments of `auth list`.
#[derive(Debug, Args)]
pub struct List {
    /// Only this agent's
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `auth add`.
#[derive(Debug, Args)]
pub struct Add {
    /// Whose key it is
    #[arg(value_name = "PROVIDER")]
    pub provider: Provider,
    /// The agent [default: the default agent]
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// Where it comes from.
    #[command(flatten)]
    pub key: Key,
    /// Put it in the place of the key that is there
    #[arg(long)]
    pub replace: bool,
    /// Keep it in a file, also where the service manager can keep it encrypted
    #[arg(long)]
    pub plain: bool,
}

/// Where a key comes from: never the command line itself.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct Key {
    /// Read the key from standard input
    #[arg(long)]
    pub key_stdin: bool,
    /// Take the key from this variable of the environment
    #[arg(long, value_name = "NAME")]
    pub key_variable: Option<String>,
}

/// A provider whose keys are kept.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Provider {
    /// Anthropic
    Anthropic,
    /// OpenAI
    Openai,
}

impl Provider {
    /// As the keys are kept.
    pub fn provider(self) -> key::Provider {
        match self {
            Self::Anthropic => key::Provider::Anthropic,
            Self::Openai => key::Provider::OpenAi,
        }
    }
}

/// Arguments of `auth remove`.
#[derive(Debug, Args)]
pub struct Remove {
    /// The profile or login, as `auth list` names it; or its provider
    #[arg(value_name = "PROFILE")]
    pub profile: String,
    /// The agent [default: the default agent]
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// Arguments of `auth adopt`.
#[derive(Debug, Args)]
pub struct Adopt {
    /// Whose login [default: of each CLI that has one there]
    #[arg(value_name = "CLI")]
    pub cli: Option<Which>,
    /// The agent [default: the default agent]
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// Adopt what is found without asking
    #[arg(long)]
    pub yes: bool,
}

/// A CLI that has logins.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Which {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
}

impl Which {
    /// As the credentials are told apart.
    pub fn login(self) -> Login {
        match self {
            Self::Claude => Login::Claude,
            Self::Codex => Login::Codex,
        }
    }
}

impl From<Login> for Which {
    fn from(login: Login) -> Self {
        match login {
            Login::Claude => Self::Claude,
            Login::Codex => Self::Codex,
        }
    }
}
