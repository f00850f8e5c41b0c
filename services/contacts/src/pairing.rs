//! `pairing`: who wants to talk, and who may.

use clap::{Args, Subcommand};
use openclaw_proto::channel_admin::Pairings;
use openclaw_terminal::{Failure, output, table, words};

use crate::gateway::{Gateway, now_ms, shown};

/// Arguments of `pairing`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Pairing {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: List,
}

/// What to do with them.
#[derive(Debug, Subcommand)]
enum Action {
    /// List who wants to talk on a channel, and who was let in; as without a command
    List(List),
    /// Let somebody in, who may talk in direct chats from now on; the first one is the owner
    Approve(Code),
    /// Do not let somebody in
    Deny(Code),
}

/// Arguments of `pairing list`.
#[derive(Debug, Default, Args)]
struct List {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Arguments of `pairing approve` and `pairing deny`.
#[derive(Debug, Args)]
struct Code {
    /// The channel, which the code tells too, and the code that they were told
    #[arg(value_name = "CODE", num_args = 1..=2, required = true)]
    words: Vec<String>,
}

impl Pairing {
    /// Lists or decides.
    ///
    /// # Errors
    /// What the gateway does not do, and why.
    pub async fn execute(&self, gateway: &Gateway<'_>) -> Result<(), Failure> {
        match &self.action {
            None => list(gateway, self.list.json).await,
            Some(Action::List(arguments)) => list(gateway, arguments.json).await,
            Some(Action::Approve(code)) => decide(gateway, code, true).await,
            Some(Action::Deny(code)) => decide(gateway, code, false).await,
        }
    }
}

async fn decide(gateway: &Gateway<'_>, code: &Code, is_approved: bool) -> Result<(), Failure> {
    // OpenClaw's command has the channel before the code.
    let code = match code.words.as_slice() {
        [channel, code] => {
            let pairings = gateway.client.pairings().await;
            let pairings = pairings.map_err(|error| (gateway.failure)(&error))?;
            check_channel(channel, code, &pairings)?;
            code
        }
        words => words.first().map_or("", String::as_str),
    };
    let decided = gateway.client.decide(code, is_approved).await;
    let (request, is_owner) = decided.map_err(|error| (gateway.failure)(&error))?;
    let who = format!(
        "{} ({} {})",
        output::line(&request.name),
        shown(&request.account),
        output::line(&request.peer)
    );
    output::stdout_line(&match (is_approved, is_owner) {
        (true, true) => format!("{who} may talk, and is the owner: every command is open to them"),
        (true, false) => format!("{who} may talk"),
        (false, _) => format!("{who} may not talk"),
    })
}

/// A code that is somebody's on another channel is not what was meant.
fn check_channel(channel: &str, code: &str, pairings: &Pairings) -> Result<(), Failure> {
    crate::name::check_channel(channel)?;
    let code = code.trim().to_ascii_uppercase();
    let other = pairings
        .requests
        .iter()
        .find(|it| it.code == code && it.account.channel != channel);
    match other {
        Some(request) => Err(Failure::new(format!(
            "the code {code} is of {}, not of {channel}",
            request.account.channel
        ))),
        None => Ok(()),
    }
}

async fn list(gateway: &Gateway<'_>, json: bool) -> Result<(), Failure> {
    let pairings = gateway.client.pairings().await;
    let pairings = pairings.map_err(|error| (gateway.failure)(&error))?;
    if json {
        return output::document(&pairings);
    }
    if pairings.requests.is_empty() && pairings.peers.is_empty() {
        return output::stdout_line("nobody wants to talk on a channel, and nobody was let in");
    }
    let now = now_ms();
    let mut rows = Vec::new();
    for request in &pairings.requests {
        rows.push(vec![
            request.code.clone(),
            shown(&request.account),
            output::line(&request.peer),
            output::line(&request.name),
            format!("asked {}", words::ago(request.created_ms, now)),
        ]);
    }
    for peer in &pairings.peers {
        let role = if peer.is_owner { "owner" } else { "may talk" };
        rows.push(vec![
            "-".to_owned(),
            shown(&peer.account),
            output::line(&peer.peer),
            output::line(&peer.name),
            format!("{role}, since {}", words::ago(peer.approved_ms, now)),
        ]);
    }
    table::print(&rows)
}

#[cfg(test)]
mod tests {
    use openclaw_proto::channel::AccountName;
    use openclaw_proto::channel_admin::PairingRequest;

    use super::*;

    #[test]
    fn channel_before_the_code_is_that_of_the_code() {
        let of = |channel: &str| Pairings {
            requests: vec![PairingRequest {
                account: AccountName {
                    channel: channel.to_owned(),
                    account: "default".to_owned(),
                },
                code: "ABCDEFGH".to_owned(),
                ..PairingRequest::default()
            }],
            peers: Vec::new(),
        };
        assert!(check_channel("telegram", "abcdefgh ", &of("telegram")).is_ok());
        // The gateway says that no such code holds.
        assert!(check_channel("telegram", "ZZZZZZZZ", &of("signal")).is_ok());
        assert!(check_channel("telegram", "ABCDEFGH", &of("signal")).is_err());
        let unknown = check_channel("telegramm", "ABCDEFGH", &of("telegram"));
        let unknown = unknown.unwrap_err().text();
        assert!(unknown.contains("there are telegram"), "{unknown}");
    }
}
