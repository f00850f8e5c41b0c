//! `pairing`: who wants to talk, and who may.

use clap::{Args, Subcommand};
use openclaw_proto::channel_admin::{Pairings, Revoked};
use openclaw_terminal::{Failure, output, table, words};

use crate::gateway::{ContactsGateway, now_ms, shown};
use crate::name::Typed;

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
    /// Let somebody in no more, from their next message on
    Revoke(Peer),
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

/// Arguments of `pairing revoke`.
#[derive(Debug, Args)]
struct Peer {
    #[command(flatten)]
    account: Typed,
    /// Their id, which `openclawctl pairing list` shows
    id: String,
}

impl Pairing {
    /// Lists or decides.
    ///
    /// # Errors
    /// What the gateway does not do, and why.
    pub async fn execute(&self, gateway: &ContactsGateway<'_>) -> Result<(), Failure> {
        match &self.action {
            None => list(gateway, self.list.json).await,
            Some(Action::List(arguments)) => list(gateway, arguments.json).await,
            Some(Action::Approve(code)) => decide(gateway, code, true).await,
            Some(Action::Deny(code)) => decide(gateway, code, false).await,
            Some(Action::Revoke(peer)) => revoke(gateway, peer).await,
        }
    }
}

async fn decide(
    gateway: &ContactsGateway<'_>,
    code: &Code,
    is_approved: bool,
) -> Result<(), Failure> {
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

async fn revoke(gateway: &ContactsGateway<'_>, peer: &Peer) -> Result<(), Failure> {
    let account = peer.account.named()?.told();
    let revoked = gateway.client.revoke(account, peer.id.trim()).await;
    let revoked = revoked.map_err(|error| (gateway.failure)(&error))?;
    revocation(&revoked)
        .iter()
        .try_for_each(|line| output::stdout_line(line))
}

/// What is said of somebody who is let in no more.
fn revocation(revoked: &Revoked) -> Vec<String> {
    let peer = &revoked.peer;
    let account = shown(&peer.account);
    let who = format!(
        "{} ({account} {})",
        output::line(&peer.name),
        output::line(&peer.peer)
    );
    let mut lines = vec![format!("{who} is let in no more")];
    if peer.is_owner {
        lines.push(
            "the owner was sent away: whoever is approved next is the owner, and nobody is until \
             then but those of commands.ownerAllowFrom"
                .to_owned(),
        );
    }
    if !revoked.keys.is_empty() {
        let keys: Vec<_> = revoked.keys.iter().map(|it| output::line(it)).collect();
        lines.push(format!(
            "they may talk all the same by the configuration of {account}: {}; openclawctl config \
             edit changes that",
            keys.join(", ")
        ));
    }
    lines
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
            output::line(&request.account.channel)
        ))),
        None => Ok(()),
    }
}

async fn list(gateway: &ContactsGateway<'_>, json: bool) -> Result<(), Failure> {
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
    table::print(&rows)?;
    if !pairings.peers.is_empty() {
        output::stderr_line("openclawctl pairing revoke CHANNEL ID lets somebody in no more");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use openclaw_proto::channel::AccountName;
    use openclaw_proto::channel_admin::{PairedPeer, PairingRequest};

    use super::*;

    #[test]
    fn revocation_says_what_lets_somebody_in_all_the_same() {
        let revoked = |is_owner: bool, keys: &[&str]| {
            let peer = PairedPeer {
                account: AccountName {
                    channel: "telegram".to_owned(),
                    account: "work".to_owned(),
                },
                peer: "30".to_owned(),
                name: "Ada".to_owned(),
                is_owner,
                ..PairedPeer::default()
            };
            let keys = keys.iter().map(|key| (*key).to_owned()).collect();
            revocation(&Revoked { peer, keys })
        };
        let plain = revoked(false, &[]);
        assert_eq!(plain, ["Ada (telegram:work 30) is let in no more"]);
        let listed = revoked(true, &["allowFrom", "groupPolicy"]);
        assert_eq!(listed.len(), 3, "{listed:?}");
        assert!(listed[1].contains("whoever is approved next"), "{listed:?}");
        let expected = "configuration of telegram:work: allowFrom, groupPolicy";
        assert!(listed[2].contains(expected), "{listed:?}");
    }

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
