//! Arguments of `auth`.

use clap::{Args, Subcommand, ValueEnum};
use openclaw_credentials::login::Login;

/// Arguments of `auth`.
#[derive(Debug, Args)]
pub(crate) struct Auth {
    #[command(subcommand)]
    pub(crate) action: Action,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Show the logins that lie in an agent's home, and have turns run on one
    Adopt(Adopt),
}

/// Arguments of `auth adopt`.
#[derive(Debug, Args)]
pub(crate) struct Adopt {
    /// Whose login [default: of each CLI that has one there]
    #[arg(value_name = "CLI")]
    pub(crate) cli: Option<Which>,
    /// The agent [default: the default agent]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Adopt what is found without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

/// A CLI that has logins.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Which {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
}

impl Which {
    pub(crate) fn login(self) -> Login {
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
