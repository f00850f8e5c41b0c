//! `token`: what WebSocket and HTTP clients need.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_proto::gateway::AccessToken;
use openclaw_terminal::{Failure, output};
use serde_json::json;

use crate::cli;
use crate::connection::{self, Gateway};

/// Prints the token, after another was made if that was asked for.
pub(crate) fn execute(
    arguments: &cli::Token,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    let (rotate, is_json) = arguments.wish();
    let token = connection::runtime()?.block_on(ask(&paths, rotate))?;
    if is_json {
        let document = json!({"mode": token.mode, "token": token.token});
        output::json_line(&document.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    match token.token {
        Some(token) => output::stdout_line(&token)?,
        None => {
            return Err(Failure::new(
                "no token is needed: gateway.auth.mode is \"none\"",
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn ask(paths: &Paths, rotate: bool) -> Result<AccessToken, Failure> {
    let gateway = Gateway::at(paths);
    let answer = gateway.client.access_token(rotate).await;
    answer.map_err(|status| gateway.failure(&status))
}
