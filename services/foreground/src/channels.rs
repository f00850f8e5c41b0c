//! The channel daemons: one for each account that is on and has a token, none
//! where no channel is configured.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use openclaw_settings::LogLevel;
use openclaw_watch::Watch;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::account::Account;
use crate::channel_task::{self, Ended, Place};
use crate::daemon_task::{Order, Suite};

/// From the end of a daemon that the configuration has to its next start; it doubles from
/// one end to the next.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// How often that is done without news of the configuration: a minute in all.
const STARTS: u32 = 6;

/// Keeps them running.
pub(crate) struct Channels<'a> {
    suite: Suite<'a>,
    orders: mpsc::Receiver<Order>,
    running: BTreeMap<Slot, Running>,
    /// One of them has ended.
    ended: Arc<Notify>,
    /// How often somebody did something with the configuration.
    touches: u64,
    again: Again,
}

/// When those are started again that ended although the configuration has them: the
/// gateway lets a daemon go that it does not know of yet, because it reads later what was
/// written.
#[derive(Debug, Default)]
struct Again {
    at: Option<Instant>,
    starts: u32,
}

impl Again {
    /// Something has ended without news.
    fn plan(&mut self, now: Instant) {
        if self.at.is_none() && self.starts < STARTS {
            self.at = Some(now + FIRST_PAUSE * 2_u32.pow(self.starts));
            self.starts += 1;
        }
    }

    /// There is news, with which all is looked at anyway.
    fn forget(&mut self) {
        *self = Self::default();
    }

    async fn due(at: Option<Instant>) {
        match at {
            Some(at) => sleep_until(at).await,
            None => std::future::pending().await,
        }
    }
}

/// A channel's daemon by what it is started with: the default account's stays when another
/// account becomes the default one, and is given that one's token by the gateway.
type Slot = (String, Option<String>);

struct Running {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    /// How it came to its end, once it has.
    ended: Arc<OnceLock<Ended>>,
    /// How often that was when it was started.
    touches: u64,
}

impl Running {
    fn is_over(&self) -> bool {
        self.ended.get().is_some()
    }

    fn was_let_go(&self) -> bool {
        self.ended.get() == Some(&Ended::LetGo)
    }

    /// Ends all of them, in good order and at once.
    async fn end(all: Vec<Self>) {
        for running in &all {
            running.stop.send_replace(true);
        }
        for running in all {
            // A panic was told where it happened.
            let _ = running.task.await;
        }
    }
}

impl<'a> Channels<'a> {
    /// None runs before [`Channels::keep`].
    pub(crate) fn new(suite: Suite<'a>, orders: mpsc::Receiver<Order>) -> Self {
        Self {
            suite,
            orders,
            running: BTreeMap::new(),
            ended: Arc::default(),
            touches: 0,
            again: Again::default(),
        }
    }

    /// Starts them, and ends and starts those that the configuration has later, until they
    /// are told to end; returns when they have.
    pub(crate) async fn keep(mut self) {
        // What is changed while they are started is news.
        let mut watch = self.watch();
        self.follow().await;
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(Order::Reload) => self.news(),
                    Some(Order::Stop | Order::Kill) | None => break,
                },
                () = touched(&mut watch) => self.news(),
                // The gateway may have let it go for what the configuration said meanwhile.
                // Otherwise it may be let go again.
                () = self.ended.notified() => {
                    let is_outdated = |it: &Running| it.is_over() && it.touches < self.touches;
                    if !self.running.values().any(is_outdated) {
                        if self.running.values().any(Running::was_let_go) {
                            self.again.plan(Instant::now());
                        }
                        continue;
                    }
                }
                () = Again::due(self.again.at) => self.again.at = None,
            }
            self.follow().await;
        }
        Running::end(self.running.into_values().collect()).await;
    }

    fn news(&mut self) {
        self.touches += 1;
        self.again.forget();
    }

    /// News of the configuration; without them it is read again when that is asked for.
    fn watch(&self) -> Option<Watch> {
        let watch = Watch::new(self.suite.environment);
        let failed = |error| {
            let text = format!(
                "channels: changes of the configuration are not seen ({error}), only a reload"
            );
            self.suite.log.own(LogLevel::Warn, &text);
        };
        watch.map_err(failed).ok()
    }

    /// Ends those that the configuration has no more, and starts those that do not run.
    async fn follow(&mut self) {
        let environment = self.suite.environment;
        let settings = match openclaw_settings::load_usable(environment) {
            Ok(settings) => settings,
            Err(error) => {
                let text = format!("channels stay as they are: {error}");
                self.suite.log.own(LogLevel::Warn, &text);
                return;
            }
        };
        let accounts = Account::all(&settings.channels, environment);
        let wanted: BTreeMap<Slot, Account> = accounts
            .into_iter()
            .map(|account| (slot(&account), account))
            .collect();
        let mut over = Vec::new();
        for (slot, running) in std::mem::take(&mut self.running) {
            if wanted.contains_key(&slot) && !running.is_over() {
                self.running.insert(slot, running);
            } else {
                over.push(running);
            }
        }
        Running::end(over).await;
        for (slot, account) in wanted {
            self.running
                .entry(slot)
                .or_insert_with(|| start(account, &self.suite, &self.ended, self.touches));
        }
    }
}

fn slot(account: &Account) -> Slot {
    let argument = account.argument().map(str::to_owned);
    (account.channel.clone(), argument)
}

fn start(account: Account, suite: &Suite<'_>, ended: &Arc<Notify>, touches: u64) -> Running {
    let place = Place {
        paths: suite.paths.clone(),
        environment: suite.environment.clone(),
        log: suite.log.clone(),
    };
    let (stop, stopped) = watch::channel(false);
    let end = Arc::<OnceLock<Ended>>::default();
    let (told, ended) = (Arc::clone(&end), Arc::clone(ended));
    let task = tokio::spawn(async move {
        let how = channel_task::keep(account, place, stopped).await;
        // Nobody else says so.
        let _ = told.set(how);
        ended.notify_one();
    });
    Running {
        stop,
        task,
        ended: end,
        touches,
    }
}

/// Waits until somebody did something with the files of the configuration: a daemon may have
/// ended for what they said in between.
async fn touched(watch: &mut Option<Watch>) {
    if let Some(news) = watch {
        if news.touched().await.is_ok() {
            return;
        }
        *watch = None;
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use std::fs;

    use openclaw_config::{Environment, Paths};
    use tokio::time::timeout;

    use super::*;
    use crate::log::Log;
    use crate::sockets::Sockets;

    const PATIENCE: Duration = Duration::from_secs(20);

    #[test]
    fn daemon_that_was_let_go_is_started_again_ever_later_and_not_for_ever() {
        let now = Instant::now();
        let mut again = Again::default();
        let mut pauses = Vec::new();
        for _ in 0..9 {
            again.plan(now);
            // Two that end at once are started at once.
            again.plan(now);
            pauses.extend(again.at.take().map(|at| (at - now).as_secs()));
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32]);
        again.forget();
        again.plan(now);
        assert_eq!(again.at, Some(now + FIRST_PAUSE));
    }

    #[tokio::test]
    async fn channels_run_as_the_configuration_that_was_changed_says() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        let file = folder.path().join("openclaw.json");
        let write = |telegram: &str| {
            fs::write(&file, format!("{{channels: {{{telegram}}}}}")).unwrap();
        };
        write("");
        let own = [
            ("OPENCLAW_STATE_DIR", text),
            ("OPENCLAW_RUNTIME_DIR", text),
            ("HOME", text),
        ];
        let environment: Environment = own.into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let log = Log::open();
        let sockets = Sockets::bind(&paths, false, &log).await.unwrap();
        let suite = Suite {
            paths: &paths,
            environment: &environment,
            sockets: &sockets,
            log: &log,
        };
        let (_orders, taken) = mpsc::channel(1);
        let mut channels = Channels::new(suite, taken);
        let mut watch = channels.watch();
        channels.follow().await;
        assert!(channels.running.is_empty());
        let slot = |name: Option<&str>| ("telegram".to_owned(), name.map(str::to_owned));
        for (telegram, expected) in [
            ("telegram: {botToken: '1:a'}", vec![slot(None)]),
            (
                "telegram: {accounts: {one: {botToken: '1:a'}, two: {botToken: '2:b'}}}",
                vec![slot(None), slot(Some("two"))],
            ),
            ("telegram: {enabled: false, botToken: '1:a'}", vec![]),
        ] {
            write(telegram);
            let followed = async {
                // A file that is half written is news, too.
                while !channels.running.keys().eq(&expected) {
                    touched(&mut watch).await;
                    channels.follow().await;
                }
            };
            let followed = timeout(PATIENCE, followed).await;
            assert!(
                followed.is_ok(),
                "{telegram}: {:?}",
                channels.running.keys()
            );
        }
    }
}
