//! From `main` to `run` and back to an exit code, for a daemon that is only a
//! client of another one: it serves no control socket, reads no configuration and
//! owns no part of the state but its own folder.

use std::future::Future;
use std::process::ExitCode;

use nix::sys::stat::{Mode, umask};
use openclaw_config::Environment;
use openclaw_settings::LogLevel;
use serde_json::Value;
use tokio::runtime;
use tokio_util::sync::CancellationToken;

use crate::exit;
use crate::failure;
use crate::listeners::{self, Listeners};
use crate::notifier::Notifier;
use crate::panics;
use crate::signals::{SignalAction, Signals};
use crate::telemetry::Telemetry;

/// The variable that says which records are wanted, as for every daemon.
const LEVEL: &str = "OPENCLAW_LOG";

/// What the `run` of such a daemon is given.
#[derive(Debug)]
pub struct Client {
    /// The environment it was started with.
    pub environment: Environment,
    /// The sockets it was started with; it needs none.
    pub listeners: Listeners,
    /// The way to the service manager.
    pub notifier: Notifier,
    /// Cancelled when the daemon is to end.
    pub shutdown: CancellationToken,
}

/// Runs such a daemon: log, signals and sockets, then `run`; its error is logged
/// here and decides the exit code ([`exit`]). A panic ends it
/// ([`panics::install`]). SIGHUP does nothing: its settings come from the other
/// daemon.
pub fn main<F, R>(name: &'static str, run: F) -> ExitCode
where
    F: FnOnce(Client) -> R,
    R: Future<Output = anyhow::Result<()>>,
{
    // As UMask= in the units: what a daemon writes is for nobody else.
    umask(Mode::from_bits_truncate(openclaw_modes::current().foreign));
    let environment = Environment::inherit();
    let _telemetry = Telemetry::install(name, level(&environment));
    panics::install();
    match execute(environment, run) {
        Ok(()) => ExitCode::from(exit::SUCCESS),
        Err(error) => {
            failure::report("run the daemon", error.as_ref());
            exit::code(&error)
        }
    }
}

fn execute<F, R>(environment: Environment, run: F) -> anyhow::Result<()>
where
    F: FnOnce(Client) -> R,
    R: Future<Output = anyhow::Result<()>>,
{
    let listeners = match Listeners::inherit() {
        Err(listeners::Error::None) => Listeners::default(),
        inherited => inherited?,
    };
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let result = runtime.block_on(async {
        let shutdown = CancellationToken::new();
        let client = Client {
            environment,
            listeners,
            notifier: Notifier::default(),
            shutdown: shutdown.clone(),
        };
        tokio::spawn(until_asked(Signals::install()?, shutdown));
        run(client).await
    });
    // Blocking work that outlived its deadline must not hold the exit.
    runtime.shutdown_background();
    result
}

async fn until_asked(mut signals: Signals, shutdown: CancellationToken) {
    while signals.next().await != SignalAction::End {}
    shutdown.cancel();
}

/// A word that is not known counts as none: the daemons that read the
/// configuration refuse it by name.
fn level(environment: &Environment) -> LogLevel {
    let word = environment.get(LEVEL).map(Value::from);
    word.and_then(|word| serde_json::from_value(word).ok())
        .unwrap_or(LogLevel::Info)
}

/// Tells the service manager that the daemon is alive, as often as it wants to
/// hear it (WatchdogSec=) and as long as `is_alive` says so. Never returns when
/// the manager wants to hear from us.
pub async fn feed_watchdog(notifier: Notifier, is_alive: impl Fn() -> bool) {
    let Some(interval) = notifier.watchdog_interval() else {
        return;
    };
    // sd_watchdog_enabled(3): notify at half the interval.
    let mut ticks = tokio::time::interval(interval / 2);
    loop {
        ticks.tick().await;
        if is_alive() {
            notifier.alive();
        }
    }
}

/// Gives back memory that only the start, or some work since, needed. Never
/// returns.
pub async fn rest() {
    crate::rest::rest().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_logs_what_the_variable_says() {
        let of = |word: &str| level(&[(LEVEL, word)].into_iter().collect());
        assert_eq!(of("warn"), LogLevel::Warn);
        assert_eq!(of("trace"), LogLevel::Debug);
        assert_eq!(of("loud"), LogLevel::Info);
        assert_eq!(level(&Environment::default()), LogLevel::Info);
    }
}
