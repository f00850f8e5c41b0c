//! The channel daemons: one for each account that is on and has a token, none
//! where no channel is configured.

use std::collections::BTreeMap;

use openclaw_settings::LogLevel;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::account::Account;
use crate::channel_task::{self, Place};
use crate::daemon_task::{Order, Suite};

/// Keeps them running.
pub(crate) struct Channels<'a> {
    suite: Suite<'a>,
    orders: mpsc::Receiver<Order>,
    stop: watch::Sender<bool>,
    running: BTreeMap<Account, JoinHandle<()>>,
}

impl<'a> Channels<'a> {
    /// None runs before [`Channels::keep`].
    pub(crate) fn new(suite: Suite<'a>, orders: mpsc::Receiver<Order>) -> Self {
        Self {
            suite,
            orders,
            stop: watch::Sender::new(false),
            running: BTreeMap::new(),
        }
    }

    /// Starts them, and those that the configuration has later, until they are told
    /// to end; returns when they have.
    pub(crate) async fn keep(mut self) {
        self.start();
        while let Some(order) = self.orders.recv().await {
            match order {
                // What an account's own settings say it hears from the gateway.
                Order::Reload => self.start(),
                Order::Stop | Order::Kill => break,
            }
        }
        self.stop.send_replace(true);
        for task in self.running.into_values() {
            // A panic was told where it happened.
            let _ = task.await;
        }
    }

    /// Starts those that do not run.
    fn start(&mut self) {
        let environment = self.suite.environment;
        let settings = match openclaw_settings::load_usable(environment) {
            Ok(settings) => settings,
            Err(error) => {
                let text = format!("channels stay as they are: {error}");
                self.suite.log.own(LogLevel::Warn, &text);
                return;
            }
        };
        for account in Account::all(&settings.channels, environment) {
            let is_running = self.running.get(&account);
            if is_running.is_some_and(|task| !task.is_finished()) {
                continue;
            }
            let place = Place {
                paths: self.suite.paths.clone(),
                environment: environment.clone(),
                log: self.suite.log.clone(),
            };
            let task = channel_task::keep(account.clone(), place, self.stop.subscribe());
            self.running.insert(account, tokio::spawn(task));
        }
    }
}
