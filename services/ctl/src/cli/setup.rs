//! Arguments of `setup`.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};
use openclaw_setup::key::Provider;
use openclaw_setup::ollama;

/// Arguments of `setup`.
#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// Ask nothing: do what is missing, and take the first model that is found
    #[arg(long)]
    pub(crate) yes: bool,
    /// Read a provider's key from standard input
    #[arg(long, conflicts_with = "key_variable")]
    pub(crate) key_stdin: bool,
    /// Take a provider's key from this variable of the environment
    #[arg(long, value_name = "NAME")]
    pub(crate) key_variable: Option<String>,
    /// Whose key it is [default: what the key itself says]
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<Whose>,
    /// Where Ollama is looked for
    #[arg(long, value_name = "ADDRESS:PORT", default_value = ollama::ADDRESS)]
    pub(crate) ollama: SocketAddr,
    /// The model of Ollama's that is to answer [default: the one that was changed last]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The message that is sent at the end
    #[arg(long, value_name = "TEXT", default_value = "hello")]
    pub(crate) message: String,
}

/// Whose key.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Whose {
    /// Anthropic
    Anthropic,
    /// OpenAI
    Openai,
}

impl Whose {
    pub(crate) fn provider(self) -> Provider {
        match self {
            Self::Anthropic => Provider::Anthropic,
            Self::Openai => Provider::OpenAi,
        }
    }
}
