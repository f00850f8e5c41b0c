//! `token`: what WebSocket and HTTP clients need.

use std::path::Path;

use clap::{Args, Subcommand};
use openclaw_proto::call::CallError;
use openclaw_proto::gateway::Client;
use openclaw_terminal::{Failure, output};
use serde_json::json;

/// Arguments of `token`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Token {
    #[command(subcommand)]
    action: Option<TokenAction>,
    /// Make another one; clients with the old one are disconnected
    #[arg(long)]
    rotate: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// What to do with the token.
#[derive(Debug, Subcommand)]
enum TokenAction {
    /// Print it
    Show(TokenShow),
    /// Make another one; clients with the old one are disconnected
    Rotate(TokenShow),
}

/// Arguments of `token show` and `token rotate`.
#[derive(Debug, Args)]
struct TokenShow {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Token {
    /// Whether another one is made, and whether it is printed as JSON.
    fn wish(&self) -> (bool, bool) {
        match &self.action {
            None => (self.rotate, self.json),
            Some(TokenAction::Show(show)) => (false, show.json),
            Some(TokenAction::Rotate(show)) => (true, show.json),
        }
    }

    /// Prints the token, after another was made if that was asked for, over the
    /// gateway's `socket`.
    ///
    /// # Errors
    /// What the gateway does not do, as `failure` says it; or none is needed.
    pub async fn execute(
        &self,
        socket: &Path,
        failure: &dyn Fn(&CallError) -> Failure,
    ) -> Result<(), Failure> {
        let (rotate, is_json) = self.wish();
        let answer = Client::new(socket.to_owned()).access_token(rotate).await;
        let token = answer.map_err(|error| failure(&error))?;
        if is_json {
            let document = json!({"mode": token.mode, "token": token.token});
            return output::json_line(&document.to_string());
        }
        match token.token {
            Some(token) => output::stdout_line(&token),
            None => Err(Failure::new(
                "no token is needed: gateway.auth.mode is \"none\"",
            )),
        }
    }
}
