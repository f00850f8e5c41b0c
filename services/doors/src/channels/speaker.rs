//! For which account whoever calls may speak.
//!
//! At the socket of channel daemons all are the same user, so they are told apart by
//! their processes, as the kernel names them. The daemon of an account holds a lock in
//! that account's folder and has written its number there (`channel/src/account.rs`); in
//! its unit it sees that folder and no other. Where there is none, as of daemons that are
//! users of their own, an account is that process's which attends it, as long as it does.

use nix::sys::signal::kill;
use nix::unistd::Pid;
use openclaw_daemon::connections::Caller;
use openclaw_proto::channel::AccountName;
use openclaw_proto::outbox::Place;
use openclaw_settings::Settings;
use openclaw_settings::channels::{DEFAULT_ACCOUNT, state_folder};
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{Channels, Refused};

/// The lock's name (`channel/src/account.rs`).
const LOCK: &str = "lock";
/// Bytes of a process's number.
const NUMBER: u64 = 16;

/// Whoever calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The owner, who may speak for every account.
    Owner,
    /// The process of a channel daemon; None: the kernel does not name it here.
    Process(Option<i32>),
}

impl Speaker {
    /// Who made a request, whose extensions these are.
    pub fn of(extensions: &tonic::Extensions) -> Self {
        match extensions.get::<Caller>() {
            Some(caller) if caller.is_owner() => Self::Owner,
            Some(caller) => Self::Process(caller.pid.filter(|pid| *pid > 0)),
            None => Self::Process(None),
        }
    }
}

impl Channels {
    /// Whether `speaker` may speak for `account`, as the ledger names it.
    pub(crate) fn must_speak(
        &self,
        speaker: Speaker,
        account: &AccountName,
    ) -> Result<(), Refused> {
        let Speaker::Process(process) = speaker else {
            return Ok(());
        };
        let settings = self.core.configuration.settings();
        let may = match holder(&settings, account).zip(process) {
            Some((holder, process)) => holder == process,
            None => self.is_free_for(process, account),
        };
        if may {
            return Ok(());
        }
        tracing::warn!(
            openclaw_channel = account.channel,
            account = account.account,
            peer_pid = process,
            "refused a process that speaks for an account which is not its own"
        );
        Err(Refused::Foreign(self.named(account.clone())))
    }

    /// The same, of an account as the configuration names it.
    pub(crate) fn must_speak_for(
        &self,
        speaker: Speaker,
        named: &AccountName,
    ) -> Result<(), Refused> {
        let account = AccountName {
            channel: named.channel.clone(),
            account: self.canonical(&named.channel, &named.account),
        };
        self.must_speak(speaker, &account)
    }

    /// Whether `speaker` may follow the run `run_id`, which one of the accounts brought that
    /// it speaks for, or is told the answer of.
    pub(crate) async fn must_follow(&self, speaker: Speaker, run_id: &str) -> Result<(), Refused> {
        if speaker == Speaker::Owner {
            return Ok(());
        }
        let live = self.core.runs.find(run_id);
        let route = live
            .as_ref()
            .and_then(|run| Some((run, run.route.as_ref()?)));
        if let Some((run, route)) = route {
            let account = account_of(Place::of_route(&run.channel, route));
            return self.must_speak(speaker, &account);
        }
        let id = run_id.to_owned();
        let told = move |connection: &Connection| told_of(connection, &id);
        let told = self
            .core
            .database
            .read("look up who is told of a run", told);
        let told = told.await?;
        let may = told
            .iter()
            .any(|account| self.must_speak(speaker, account).is_ok());
        if may { Ok(()) } else { Err(Refused::Unknown) }
    }

    /// Whether `speaker` may say what became of the delivery `id`.
    pub(crate) async fn must_report(&self, speaker: Speaker, id: u64) -> Result<(), Refused> {
        if speaker == Speaker::Owner {
            return Ok(());
        }
        let Ok(id) = i64::try_from(id) else {
            return Ok(());
        };
        let of = move |connection: &Connection| whose(connection, id);
        let of = self.core.database.read("look up a delivery's account", of);
        // What there is not is said where it is reported.
        of.await?
            .map_or(Ok(()), |account| self.must_speak(speaker, &account))
    }

    /// Whether nobody else attends `account`, and `process` no other one.
    fn is_free_for(&self, process: Option<i32>, account: &AccountName) -> bool {
        let attendants = self.lock();
        attendants.iter().all(|(attended, attendant)| {
            let by = attendant.speaker;
            if attended == account {
                by == Speaker::Process(process) || !is_alive(by)
            } else {
                process.is_none() || by != Speaker::Process(process)
            }
        })
    }
}

fn account_of(place: Place) -> AccountName {
    AccountName {
        channel: place.channel,
        account: place.account,
    }
}

/// The accounts that are told something of a run.
fn told_of(connection: &Connection, run_id: &str) -> rusqlite::Result<Vec<AccountName>> {
    let sql = "SELECT DISTINCT channel, account FROM outbox WHERE run_id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map([run_id], named)?.collect()
}

/// The account that the delivery `id` is for.
fn whose(connection: &Connection, id: i64) -> rusqlite::Result<Option<AccountName>> {
    let sql = "SELECT channel, account FROM outbox WHERE delivery_id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row([id], named).optional()
}

fn named(row: &Row<'_>) -> rusqlite::Result<AccountName> {
    Ok(AccountName {
        channel: row.get("channel")?,
        account: row.get("account")?,
    })
}

/// The process that has taken the account's folder; None: none has.
fn holder(settings: &Settings, account: &AccountName) -> Option<i32> {
    let AccountName { channel, account } = account;
    let name: &str = match account.as_str() {
        "" => DEFAULT_ACCOUNT,
        name => name,
    };
    // A name that is no name of a folder is no account's.
    let place = settings.folder(state_folder(&settings.paths, channel, name));
    let text = place.open().ok()??.read(LOCK, NUMBER).ok()??;
    std::str::from_utf8(&text).ok()?.trim().parse().ok()
}

/// Whether the connection of `speaker` may still be its own: a process that is gone has left.
fn is_alive(speaker: Speaker) -> bool {
    match speaker {
        Speaker::Process(Some(pid)) => {
            kill(Pid::from_raw(pid), None) != Err(nix::errno::Errno::ESRCH)
        }
        Speaker::Owner | Speaker::Process(None) => false,
    }
}
