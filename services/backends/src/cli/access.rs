//! How a CLI gets to its model: over the turn's own proxy, with a credential
//! that stays in the turn's process.

use std::fs::File;
use std::io::Read as _;
use std::time::{SystemTime, UNIX_EPOCH};

use openclaw_config::secret::Secret;
use openclaw_handoff::proxies::ModelVariables;
use openclaw_model_api::relay::{HeaderSecret, Relay};
use serde::de::DeserializeOwned;

use crate::cli::login::FoundLogin;

/// Bytes of a login's file, which holds some tokens.
const LOGIN_BYTES: u64 = 64 << 10;

/// The way to the model for a turn of a CLI.
#[derive(Debug)]
pub enum Access {
    /// A proxy, and what is behind it.
    Proxy {
        /// The variables that tell it of the proxy.
        variables: ModelVariables,
        /// The address of the model, and the credential.
        relay: Relay,
    },
    /// The CLI signs its requests itself, with keys in its environment.
    Own,
}

/// Why a CLI cannot get to its model.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It signs requests itself, with keys that it would have to hold.
    #[error(
        "Claude Code signs what it asks {0} for itself and would have to hold the keys, which the \
         sandbox keeps from agents; set AWS_BEARER_TOKEN_BEDROCK for Bedrock, or for this agent \
         sandbox.level to \"workspace\" and sandbox.network to \"full\""
    )]
    Signing(&'static str),
    /// The login has to be renewed.
    #[error("{login} has expired; {}", login.fix(renew))]
    Expired {
        /// Which one.
        login: FoundLogin,
        /// The command that renews it.
        renew: &'static str,
    },
    /// The file of the login is not as expected.
    #[error("{login} cannot be read: {problem}; {}", login.fix(renew))]
    Login {
        /// Which one.
        login: FoundLogin,
        /// The problem with it.
        problem: String,
        /// The command that renews it.
        renew: &'static str,
    },
    /// The credential that let it in is gone.
    #[error("there is no key and no login for {0} any more")]
    Missing(&'static str),
    /// The variable with headers of the user cannot be read.
    #[error("ANTHROPIC_CUSTOM_HEADERS has a line without a colon")]
    CustomHeaders,
}

/// A header that goes out with every request.
pub(crate) type Header = (String, HeaderSecret);

/// `Authorization: Bearer`.
pub(crate) fn bearer(token: &str) -> Header {
    header("authorization", format!("Bearer {token}"))
}

/// The header `name`, in lower case.
pub(crate) fn header(name: &str, value: impl Into<String>) -> Header {
    (name.to_owned(), HeaderSecret(Secret::new(value.into())))
}

/// Reads the file of `login`; `renew` is the command that renews a login of the user's that cannot
/// be read.
pub(crate) fn read_login<T: DeserializeOwned>(
    login: &FoundLogin,
    renew: &'static str,
) -> Result<T, Error> {
    let broken = |problem: String| Error::Login {
        login: login.clone(),
        problem,
        renew,
    };
    let mut text = Vec::new();
    File::open(&login.path)
        .and_then(|file| file.take(LOGIN_BYTES).read_to_end(&mut text))
        .map_err(|error| broken(error.to_string()))?;
    // serde_json's words could hold a part of the token.
    serde_json::from_slice(&text)
        .map_err(|error| broken(format!("line {} is not as expected", error.line())))
}

/// Unix milliseconds.
pub(crate) fn now() -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis())
}
