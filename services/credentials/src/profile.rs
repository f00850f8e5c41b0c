//! Credentials, and the profiles that hold them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use openclaw_config::secret::Secret;

use crate::endpoint::Endpoint;
use crate::usage::Usage;

/// Ids of profiles by provider, in the order in which they are tried.
pub type Listed = BTreeMap<String, Vec<String>>;

/// How a credential is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// As the provider's keys are.
    ApiKey,
    /// As the token of a login: `Authorization: Bearer`.
    Bearer,
}

/// What lets one in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// A key of the provider's.
    ApiKey(Secret),
    /// A login that somebody made in a browser.
    OAuth {
        /// Sent with requests.
        access: Secret,
        /// Gets a new one.
        refresh: Option<Secret>,
        /// When `access` ends, in milliseconds since 1970.
        expires_ms: Option<u64>,
    },
    /// A token that does not end by itself, as `claude setup-token` makes it.
    Token(Secret),
    /// The AWS SDK's own ways, for models on Bedrock.
    AwsSdk,
}

impl Credential {
    /// What is sent, and how.
    pub fn secret(&self) -> Option<(&Secret, Scheme)> {
        match self {
            Self::ApiKey(key) => Some((key, Scheme::ApiKey)),
            Self::OAuth { access, .. } => Some((access, Scheme::Bearer)),
            Self::Token(token) => Some((token, Scheme::Bearer)),
            Self::AwsSdk => None,
        }
    }

    /// What gets a new one, where that is a login's.
    pub fn refresh(&self) -> Option<&Secret> {
        match self {
            Self::OAuth { refresh, .. } => refresh.as_ref(),
            Self::ApiKey(_) | Self::Token(_) | Self::AwsSdk => None,
        }
    }

    /// OpenClaw's order: what was paid for anyway first.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::OAuth { .. } => 0,
            Self::Token(_) => 1,
            Self::ApiKey(_) => 2,
            Self::AwsSdk => 3,
        }
    }

    fn is_expired(&self, now_ms: u64) -> bool {
        matches!(self, Self::OAuth { expires_ms: Some(end), .. } if *end <= now_ms)
    }
}

/// A credential with its name and what it was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// `anthropic:default`, `anthropic:me@example.org`, …
    pub id: String,
    /// The provider it is for.
    pub provider: String,
    /// The credential.
    pub credential: Credential,
    /// What its file says of its use.
    pub usage: Usage,
    /// What it is, for messages to the user and to agents: its kind and its
    /// provider, and nothing else of what its file says.
    pub source: String,
    /// Where it was read; `None`: the service manager passed it.
    pub file: Option<PathBuf>,
    /// Who gives new tokens for it, where that is known.
    pub endpoint: Option<Endpoint>,
}

impl Profile {
    /// Whether it can be used now.
    pub fn is_usable(&self, now_ms: u64) -> bool {
        !self.credential.is_expired(now_ms)
    }
}

/// The profiles of an agent, and what is wrong with files that hold none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profiles {
    /// Those to be tried first come first.
    pub list: Vec<Profile>,
    /// The order that OpenClaw's file says, by provider.
    pub order: Listed,
    /// One line for each file that cannot be used.
    pub warnings: Vec<String>,
}
