//! What channel daemons are to the gateway: who speaks for which account, what
//! they hand in, and how they do.

mod attending;
mod declined;
mod files;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod hand_in;
mod ignored;
mod judged;
mod overheard;
mod owner;
mod pairing;
mod press;
mod removed;
mod sent_file;
mod speaker;
mod stop;
mod token;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_conversations::Refusal;
use openclaw_conversations::channels as ledger;
use openclaw_conversations::database;
use openclaw_daemon::failure;
use openclaw_proto::channel::{Abilities, AccountName, Attend, Health, Instruction};
use openclaw_proto::channel_admin::AccountState;
use openclaw_runs::Core;
use openclaw_sessions::now_ms;
use openclaw_settings::Settings;
use openclaw_settings::channels::{CHANNELS, ChannelSettings};
use openclaw_settings::keys::channels::Account;
use tokio_util::sync::CancellationToken;

use attending::Attending;
pub use files::FileFault;
pub(crate) use files::put_inbound;
use ignored::IgnoredGroups;
use overheard::Overheard;
pub use speaker::Speaker;

/// Characters of what a daemon says of its health.
const WORDS: usize = 1000;

/// Lines of it.
const NOTES: usize = 10;

/// How often entries that are over are removed.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(600);

/// Why a channel daemon is not heard.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// There is no such channel.
    #[error("{0:?} is no channel of this version; there are {list}", list = CHANNELS.join(", "))]
    Channel(String),
    /// The configuration has no such account.
    #[error("{}", no_account(.0))]
    Account(AccountName),
    /// It is another daemon's.
    #[error(
        "another process speaks for {}{}: the daemon that holds the account's folder, or attends it", .0.channel, of_account(.0)
    )]
    Foreign(AccountName),
    /// No account is told of the run.
    #[error("no account that you speak for is told of this run")]
    Unknown,
    /// It is off.
    #[error("channels.{0} is switched off (enabled: false); with true it is on")]
    Off(String),
    /// Somebody else speaks for it now.
    #[error("another daemon attends this account now")]
    Superseded,
    /// The gateway ends.
    #[error("the gateway is stopping; attend again")]
    Stopping,
    /// What it hands in cannot be.
    #[error("{0}")]
    Invalid(String),
    /// The provider does not take what was to be said there.
    #[error("the channel does not take it: {0}")]
    Undelivered(String),
    /// The message is refused.
    #[error(transparent)]
    Message(#[from] Refusal),
    /// A file cannot be kept.
    #[error(transparent)]
    File(#[from] FileFault),
    /// The ledger cannot be used.
    #[error("cannot keep what was handed in")]
    Ledger(#[from] database::Fault),
}

/// That an account is not there, and what makes it.
fn no_account(named: &AccountName) -> String {
    let AccountName { channel, account } = named;
    if account.is_empty() {
        return format!(
            "{channel} is not configured; `openclawctl channels add {channel}` connects it"
        );
    }
    format!(
        "channels.{channel} has no account {account:?}; \
         `openclawctl channels add {channel} --account {account}` makes one"
    )
}

/// Which account of its channel it is, unless it is the only one.
fn of_account(named: &AccountName) -> String {
    match named.account.as_str() {
        "" => String::new(),
        account => format!(" ({account})"),
    }
}

/// An account as the ledger names it.
fn ledger_account(configured: &ChannelSettings, channel: &str, name: &str) -> AccountName {
    AccountName {
        channel: channel.to_owned(),
        account: configured.ledger_name(channel, name).to_owned(),
    }
}

/// A daemon that speaks for an account.
#[derive(Debug, Clone)]
struct Attendant {
    speaker: Speaker,
    abilities: Abilities,
    since_ms: i64,
    health: Health,
    taken: CancellationToken,
}

/// The accounts, and who speaks for them.
pub struct Channels {
    core: Arc<Core>,
    attendants: Mutex<HashMap<AccountName, Attendant>>,
    overheard: Overheard,
    ignored: IgnoredGroups,
    closing: CancellationToken,
}

impl Channels {
    pub(crate) fn new(core: Arc<Core>) -> Arc<Self> {
        Arc::new(Self {
            core,
            attendants: Mutex::default(),
            overheard: Overheard::default(),
            ignored: IgnoredGroups::default(),
            closing: CancellationToken::new(),
        })
    }

    /// The account as the ledger names it: the default one has no name. Its
    /// settings, also when it is off.
    fn account<'a>(
        settings: &'a Settings,
        named: &AccountName,
    ) -> Result<(AccountName, &'a Account), Refused> {
        let channels = &settings.channels;
        if !CHANNELS.contains(&named.channel.as_str()) {
            return Err(Refused::Channel(named.channel.clone()));
        }
        let found = channels.account(&named.channel, &named.account);
        let (name, account) = found.ok_or_else(|| Refused::Account(named.clone()))?;
        Ok((ledger_account(channels, &named.channel, name), account))
    }

    /// The same, of an account that is on.
    fn account_that_is_on<'a>(
        settings: &'a Settings,
        named: &AccountName,
    ) -> Result<(AccountName, &'a Account), Refused> {
        let (canonical, account) = Self::account(settings, named)?;
        if account.enabled {
            return Ok((canonical, account));
        }
        let key = match named.account.as_str() {
            "" => named.channel.clone(),
            account => format!("{}.accounts.{account}", named.channel),
        };
        Err(Refused::Off(key))
    }

    /// The name that deliveries have of an account: none for the default one.
    pub(crate) fn canonical(&self, channel: &str, account: &str) -> String {
        let settings = self.core.configuration.settings();
        settings.channels.ledger_name(channel, account).to_owned()
    }

    /// What the daemon that `attend`s is told, as it comes. Whoever attended
    /// before does so no more.
    pub fn attend(
        self: &Arc<Self>,
        attend: Attend,
        speaker: Speaker,
    ) -> Result<
        impl futures_util::Stream<Item = Result<Instruction, Refused>> + Send + use<>,
        Refused,
    > {
        let settings = self.core.configuration.settings();
        let (canonical, _) = Self::account_that_is_on(&settings, &attend.account)?;
        self.must_speak(speaker, &canonical)?;
        let taken = self.closing.child_token();
        let attendant = Attendant {
            speaker,
            abilities: attend.abilities,
            since_ms: now_ms(),
            health: Health::default(),
            taken: taken.clone(),
        };
        if let Some(before) = self.lock().insert(canonical.clone(), attendant) {
            before.taken.cancel();
        }
        tracing::info!(
            openclaw_channel = canonical.channel,
            account = canonical.account,
            "a channel daemon attends"
        );
        let attending = Attending::new(Arc::clone(self), canonical, taken);
        Ok(futures_util::stream::unfold(attending, Attending::step))
    }

    /// Notes how an account's connection does.
    pub fn report_health(&self, named: &AccountName, health: Health) -> Result<(), Refused> {
        let settings = self.core.configuration.settings();
        let (canonical, _) = Self::account(&settings, named)?;
        let cut = |text: String| text.chars().take(WORDS).collect();
        let notes = health.notes.into_iter().take(NOTES).map(cut).collect();
        let health = Health {
            identity: cut(health.identity),
            last_error: cut(health.last_error),
            notes,
            ..health
        };
        if let Some(attendant) = self.lock().get_mut(&canonical) {
            if attendant.health.last_error != health.last_error && !health.last_error.is_empty() {
                tracing::warn!(
                    openclaw_channel = canonical.channel,
                    account = canonical.account,
                    state = health.state.as_str(),
                    "{}",
                    health.last_error
                );
            }
            attendant.health = health;
        }
        Ok(())
    }

    /// What was said of an account's connection is not said of the one that has its place
    /// now, of which its daemon tells when it has taken that over.
    fn forget_health(&self, account: &AccountName) {
        if let Some(attendant) = self.lock().get_mut(account) {
            attendant.health = Health::default();
            attendant.since_ms = now_ms();
        }
    }

    /// What the channel of an account can; None: nobody speaks for it.
    pub(crate) fn abilities(&self, account: &AccountName) -> Option<Abilities> {
        let attendants = self.lock();
        attendants.get(account).map(|it| it.abilities.clone())
    }

    /// All accounts of the configuration, and how they do.
    pub fn states(&self) -> Vec<AccountState> {
        let settings = self.core.configuration.settings();
        let attendants = self.lock();
        let mut states = Vec::new();
        for (channel, accounts) in &settings.channels.accounts {
            for (name, account) in accounts {
                let canonical = ledger_account(&settings.channels, channel, name);
                let is_default = canonical.account.is_empty();
                let attendant = attendants.get(&canonical);
                let ledger_name = canonical.clone();
                // Of one that is attended, its daemon says whether it has a token.
                let missing = settings.channels.missing_token(channel, name);
                let missing = missing.filter(|_| attendant.is_none());
                let unanswered = openclaw_inbound::unanswered_groups(account);
                states.push(AccountState {
                    account: AccountName {
                        account: name.clone(),
                        ..canonical
                    },
                    is_default,
                    is_enabled: account.enabled,
                    attended_since_ms: attendant.map(|it| it.since_ms),
                    health: attendant.map(|it| self.with_failure(&ledger_name, &it.health)),
                    missing_token: missing.unwrap_or_default(),
                    unanswered_groups: unanswered.into_iter().map(str::to_owned).collect(),
                });
            }
        }
        states
    }

    /// How an account does, also where what went wrong last is what the provider did not
    /// take: its daemon goes on, and says nothing of that.
    fn with_failure(&self, account: &AccountName, health: &Health) -> Health {
        let failed = self.core.outbox.failed(account);
        let failed = failed
            .filter(|failed| health.last_error.is_empty() || health.last_error_ms < failed.at_ms);
        match failed {
            None => health.clone(),
            Some(failed) => Health {
                last_error: format!(
                    "a delivery ({}) to {} failed for good: {}",
                    failed.kind, failed.to, failed.reason
                ),
                last_error_ms: failed.at_ms,
                ..health.clone()
            },
        }
    }

    /// Removes entries that are over, now and then.
    pub async fn tidy_now_and_then(self: Arc<Self>) {
        loop {
            let tidy = |connection: &rusqlite::Connection| ledger::tidy(connection, now_ms());
            let tidied = self.core.database.call("forget what was handed in", tidy);
            if let Err(fault) = tidied.await {
                failure::report("forget what was handed in, trying again later", &fault);
            }
            self.sweep_files().await;
            self.sweep_sent().await;
            tokio::time::sleep(UPKEEP_INTERVAL).await;
        }
    }

    /// Nobody is told anything any more.
    pub fn close(&self) {
        self.closing.cancel();
    }

    fn leave(&self, account: &AccountName, taken: &CancellationToken) {
        // Another one may have come meanwhile, whose token is not cancelled.
        taken.cancel();
        let mut attendants = self.lock();
        if attendants
            .get(account)
            .is_some_and(|it| it.taken.is_cancelled())
        {
            attendants.remove(account);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AccountName, Attendant>> {
        self.attendants
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
