//! Which backend answers an agent's turns; [`openclaw_agent_clis::ALL`] has the CLIs among them.

use openclaw_agent_clis::{ALL, AgentCli};
use serde::{Deserialize, Serialize};

/// Which backend answers an agent's turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Backend {
    /// The first that is there: CLIs that come first, native, other CLIs, offline.
    Auto,
    /// An agent CLI that is not ours.
    Cli(&'static AgentCli),
    /// Our own loop.
    Native,
    /// No model: answers from memory.
    Offline,
}

impl Backend {
    /// As it is written in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cli(cli) => cli.backend,
            Self::Native => "native",
            Self::Offline => "offline",
        }
    }

    /// The only provider whose models it asks; `None`: it asks any, or none.
    pub const fn provider(self) -> Option<&'static str> {
        match self {
            Self::Cli(cli) => Some(cli.provider),
            Self::Auto | Self::Native | Self::Offline => None,
        }
    }

    /// All words for backends, each with its meaning.
    pub(super) fn words() -> Vec<(&'static str, Self)> {
        let clis = ALL.map(|cli| [cli.backend, cli.program].map(|it| (it, Self::Cli(cli))));
        let ours = [Self::Native, Self::Offline].map(|it| (it.name(), it));
        [
            &[(Self::Auto.name(), Self::Auto)],
            clis.as_flattened(),
            &ours,
        ]
        .concat()
    }
}

impl From<Backend> for &'static str {
    fn from(backend: Backend) -> Self {
        backend.name()
    }
}

impl TryFrom<String> for Backend {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        let mut words = Self::words().into_iter();
        let meant = words.find_map(|(it, backend)| (it == word).then_some(backend));
        meant.ok_or_else(|| {
            let words: Vec<_> = Self::words().iter().map(|(it, _)| *it).collect();
            format!("{word:?} is none of {}", words.join(", "))
        })
    }
}
