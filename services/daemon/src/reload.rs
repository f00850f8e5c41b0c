//! Reading the configuration again: when a signal asks for it, and when its
//! files have changed.

use std::future::pending;
use std::io;

use openclaw_config::Environment;
use openclaw_settings::{Origin, Settings};
use tokio_util::sync::CancellationToken;

use crate::configuration::{Behind, Configuration, Load, Owner};
use crate::failure;
use crate::notifier::Notifier;
use crate::signals::{SignalAction, Signals};
use crate::telemetry::Telemetry;
use openclaw_watch::Watch;

/// What a reload touches.
pub(crate) struct Reload<S> {
    pub(crate) owner: Owner<S>,
    pub(crate) configuration: Configuration<S>,
    pub(crate) load: Load<S>,
    pub(crate) environment: Environment,
    pub(crate) notifier: Notifier,
    pub(crate) telemetry: Telemetry,
}

impl<S: AsRef<Settings> + Send + Sync + 'static> Reload<S> {
    /// Serves signals, news of files and requests that are `behind` until a signal
    /// ends the daemon, then cancels `shutdown`.
    pub(crate) async fn run(
        self,
        mut signals: Signals,
        mut behind: Behind,
        shutdown: CancellationToken,
    ) {
        let mut watch = match Watch::new(&self.environment) {
            Ok(watch) => Some(watch),
            Err(error) => {
                // The number of watches is limited per user.
                let operation = "watch the configuration's files, waiting for SIGHUP instead";
                failure::report(operation, &error);
                None
            }
        };
        loop {
            let asked = tokio::select! {
                asked = signals.next() => asked,
                Some(waiting) = behind.recv() => {
                    // Another request may have had it read meanwhile.
                    if self.configuration.is_behind() {
                        // Before it is read: what changes after that is news.
                        if let Some(watch) = &mut watch {
                            watch.look();
                        }
                        self.reload().await;
                    }
                    // One that has ended waits no longer.
                    let _ = waiting.send(());
                    continue;
                }
                news = news(&mut watch) => match news {
                    Ok(()) => SignalAction::Reload,
                    Err(error) => {
                        failure::report("go on watching the configuration's files", &error);
                        watch = None;
                        continue;
                    }
                },
            };
            match asked {
                SignalAction::Reload => self.reload().await,
                SignalAction::End => break,
            }
        }
        shutdown.cancel();
    }

    async fn reload(&self) {
        self.notifier.reloading();
        let (load, environment) = (self.load, self.environment.clone());
        let moment = self.configuration.begin_reading();
        // A login shell may take seconds.
        let read = move || load(&environment, Origin::File);
        let loaded = tokio::task::spawn_blocking(read).await;
        match loaded {
            Ok(loaded) => self.owner.take(loaded, moment),
            Err(error) => failure::report("reload the configuration", &error),
        }
        let level = (*self.configuration.settings()).as_ref().log_level;
        self.telemetry.set_level(level);
        self.notifier.note(&self.configuration.problem());
        self.notifier.ready();
    }
}

async fn news(watch: &mut Option<Watch>) -> io::Result<()> {
    match watch {
        Some(watch) => watch.changed().await,
        None => pending().await,
    }
}
