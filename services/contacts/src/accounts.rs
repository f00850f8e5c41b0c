//! `channels`: the accounts, and how they do.

use clap::{Args, Subcommand};
use openclaw_proto::channel_admin::AccountState;
use openclaw_terminal::{Failure, output, table, words};

use crate::gateway::{ContactsGateway, now_ms, shown};
use crate::logs::Logs;
use crate::name::Typed;
use crate::{health, trial};

/// Arguments of `channels`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Channels {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: Format,
}

/// What to show of them.
#[derive(Debug, Subcommand)]
enum Action {
    /// List the accounts, and whether a daemon speaks for each; as without a command
    List(Format),
    /// Show how each account does: its connection, its last error, what waits
    Status(Format),
    /// Connect an account: its token is read from standard input, checked, and kept in a file
    Add(Typed),
    /// Give an account another token, from standard input, and switch it on
    Login(Typed),
    /// Take an account out of the configuration, and its token away
    Remove(Typed),
    /// Say something to the owner, or tell what is missing for it
    Test(Typed),
    /// Print what an account's daemon said last; journalctl -f -u UNIT follows it
    Logs(Logs),
}

/// How it is shown.
#[derive(Debug, Default, Args)]
struct Format {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Channels {
    /// Shows them.
    ///
    /// # Errors
    /// What the gateway does not do, and why.
    pub async fn execute(&self, gateway: &ContactsGateway<'_>) -> Result<(), Failure> {
        let (json, is_whole) = match &self.action {
            Some(Action::Add(account)) => return account.named()?.add(gateway).await,
            Some(Action::Login(account)) => return account.found(gateway.paths)?.login(gateway),
            Some(Action::Remove(account)) => return account.found(gateway.paths)?.remove(gateway),
            Some(Action::Test(account)) => {
                return trial::execute(&account.found(gateway.paths)?, gateway).await;
            }
            Some(Action::Logs(logs)) => return logs.execute(gateway).await,
            None => (self.list.json, false),
            Some(Action::List(format)) => (format.json, false),
            Some(Action::Status(format)) => (format.json, true),
        };
        let accounts = gateway.client.accounts().await;
        let accounts = accounts.map_err(|error| (gateway.failure)(&error))?;
        if json {
            return output::document(&accounts);
        }
        if accounts.is_empty() {
            return output::stdout_line(
                "no channel is configured; openclawctl channels add telegram connects one",
            );
        }
        let now = now_ms();
        let rows: Vec<Vec<String>> = accounts.iter().map(|it| row(it, now)).collect();
        table::print(&rows)?;
        if !is_whole {
            return Ok(());
        }
        for account in &accounts {
            for line in details(account, now) {
                output::stdout_line(&format!("{}: {line}", shown(&account.account)))?;
            }
        }
        Ok(())
    }
}

fn row(state: &AccountState, now_ms: i64) -> Vec<String> {
    let identity = state.health.as_ref().map(|health| health.identity.as_str());
    let since = match state.attended_since_ms {
        Some(since) => format!("attended since {}", words::ago(since, now_ms)),
        None => String::new(),
    };
    vec![
        shown(&state.account),
        word(state).to_owned(),
        output::line(identity.unwrap_or_default()),
        since,
    ]
}

/// How it does, in a word.
fn word(state: &AccountState) -> &'static str {
    match (&state.health, state.attended_since_ms) {
        _ if !state.is_enabled => "off",
        (Some(health), Some(_)) => health.state.as_str(),
        (_, Some(_)) => "attended",
        (_, None) if !state.missing_token.is_empty() => "no token",
        (_, None) => "no daemon attends it",
    }
}

/// What there is to say beside the row, and what to do.
fn details(state: &AccountState, now_ms: i64) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(health) = &state.health {
        lines = health::lines(health, now_ms);
        lines.extend(health.notes.iter().map(|note| output::line(note)));
    }
    lines.extend(health::lacking(state).filter(|_| state.is_enabled));
    lines.extend(health::Finding::of(state).fix);
    lines
}

#[cfg(test)]
mod tests {
    use openclaw_proto::channel::{Connection, Health};

    use super::*;

    #[test]
    fn account_is_shown_as_it_is() {
        let mut state = AccountState {
            account: openclaw_proto::channel::AccountName {
                channel: "telegram".to_owned(),
                account: "default".to_owned(),
            },
            is_default: true,
            is_enabled: true,
            attended_since_ms: None,
            health: None,
            missing_token: String::new(),
            unanswered_groups: Vec::new(),
        };
        assert_eq!(row(&state, 0)[..2], ["telegram", "no daemon attends it"]);
        state.missing_token = "there is no token".to_owned();
        assert_eq!(word(&state), "no token");
        let lines = details(&state, 0);
        assert_eq!(lines[0], "there is no token");
        assert!(lines[1].contains("channels add telegram"), "{lines:?}");
        state.missing_token.clear();
        state.attended_since_ms = Some(1);
        assert_eq!(word(&state), "attended");
        state.health = Some(Health {
            state: Connection::Conflict,
            last_error: "somebody else\npolls".to_owned(),
            backlog: 2,
            notes: vec!["privacy mode is on".to_owned()],
            ..Health::default()
        });
        assert_eq!(word(&state), "conflict");
        let lines = details(&state, 0);
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[0].starts_with("2 updates"), "{lines:?}");
        assert!(lines.iter().all(|line| !line.contains('\n')), "{lines:?}");
        state.health = Some(Health {
            state: Connection::Connected,
            ..Health::default()
        });
        state.unanswered_groups = vec!["-100".to_owned()];
        let lines = details(&state, 0);
        assert!(lines[0].contains("groups -100: groupPolicy"), "{lines:?}");
        assert!(lines[1].contains("groupAllowFrom"), "{lines:?}");
        state.is_enabled = false;
        assert_eq!(word(&state), "off");
    }
}
