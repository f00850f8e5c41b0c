//! Whether a token is valid, for whoever sets it up.

use std::io::{self, Read as _, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use openclaw_config::secret::Secret;
use openclaw_daemon::exit;
use serde_json::json;

use crate::api::{Api, Error};
use crate::settings::Options;
use crate::token;

/// The exit code for a token that Telegram does not accept.
const REFUSED: u8 = 4;
/// Bytes of a token on standard input.
const SIZE_LIMIT: u64 = 4096;

/// What is to be checked.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// The file with the token; without it, the token is read from standard input.
    #[arg(long, value_name = "PATH")]
    token_file: Option<PathBuf>,
    /// Another Bot API server than Telegram's.
    #[arg(long, value_name = "URL")]
    api_root: Option<String>,
    /// An HTTP proxy.
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
}

enum Failure {
    Token(String),
    Other(String),
}

/// Asks Telegram who the token is of, and prints its name.
pub fn run(check: &Check) -> ExitCode {
    match asked(check) {
        Ok(name) => match writeln!(io::stdout(), "@{}", openclaw_escape::line(&name)) {
            Ok(()) => ExitCode::from(exit::SUCCESS),
            Err(_) => ExitCode::from(exit::FAILURE),
        },
        Err(failure) => {
            let (code, words) = match failure {
                Failure::Token(words) => (REFUSED, words),
                Failure::Other(words) => (exit::FAILURE, words),
            };
            // Nobody is left to tell when standard error is gone.
            let _ = writeln!(io::stderr(), "{}", openclaw_escape::line(&words));
            ExitCode::from(code)
        }
    }
}

fn asked(check: &Check) -> Result<String, Failure> {
    let token = read(check).map_err(|error| Failure::Token(error.to_string()))?;
    let options = Options {
        api_root: check.api_root.clone(),
        proxy: check.proxy.clone(),
        ..Options::default()
    };
    let api = Api::new(&options, token).map_err(Failure::Other)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Other(error.to_string()))?;
    match runtime.block_on(api.call("getMe", &json!({}))) {
        Ok(me) => Ok(me["username"].as_str().unwrap_or_default().to_owned()),
        Err(error) if error.is_token_refused() => Err(Failure::Token(format!(
            "Telegram does not accept the token ({}): get one from @BotFather",
            description(&error)
        ))),
        Err(error) => Err(Failure::Other(format!(
            "Telegram cannot be reached: {error}"
        ))),
    }
}

fn description(error: &Error) -> String {
    format!(
        "{}, {}",
        error.code().unwrap_or_default(),
        error.description()
    )
}

fn read(check: &Check) -> Result<Secret, token::Error> {
    if let Some(path) = &check.token_file {
        return token::in_file(path);
    }
    let mut text = String::new();
    let place = "standard input";
    io::stdin()
        .take(SIZE_LIMIT)
        .read_to_string(&mut text)
        .map_err(|source| token::Error::File {
            path: place.to_owned(),
            source,
        })?;
    token::check(&text, place)
}
