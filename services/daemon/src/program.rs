//! From `main` to `run` and back to an exit code.

use std::future::Future;
use std::process::ExitCode;

use openclaw_config::Environment;
use tokio::runtime;
use tokio_util::sync::CancellationToken;

use crate::configuration::{Configuration, Load, Owner};
use crate::exit;
use crate::failure;
use crate::listeners::Listeners;
use crate::notifier::Notifier;
use crate::signals::Signals;
use crate::telemetry::Telemetry;

/// What a daemon's `run` is given.
#[derive(Debug)]
pub struct Daemon {
    /// The settings, and news of them.
    pub configuration: Configuration,
    /// The environment it was started with.
    pub environment: Environment,
    /// The sockets it was started with.
    pub listeners: Listeners,
    /// The way to the service manager.
    pub notifier: Notifier,
    /// Cancelled when the daemon is to end.
    pub shutdown: CancellationToken,
}

/// Runs a daemon: settings, log, signals and sockets, then `run`; its error is
/// logged here and decides the exit code ([`exit`]).
pub fn main<F, R>(name: &'static str, load: Load, run: F) -> ExitCode
where
    F: FnOnce(Daemon) -> R,
    R: Future<Output = anyhow::Result<()>>,
{
    let environment = Environment::inherit();
    let loaded = load(&environment);
    let level = loaded
        .as_ref()
        .map_or(openclaw_config::settings::LogLevel::Info, |settings| {
            settings.log_level
        });
    let telemetry = Telemetry::install(name, level);
    let result = loaded
        .map_err(anyhow::Error::from)
        .and_then(|settings| execute(settings, environment, load, telemetry, run));
    match result {
        Ok(()) => ExitCode::from(exit::SUCCESS),
        Err(error) => {
            failure::report("run the daemon", error.as_ref());
            exit::code(&error)
        }
    }
}

fn execute<F, R>(
    settings: openclaw_config::Settings,
    environment: Environment,
    load: Load,
    telemetry: Telemetry,
    run: F,
) -> anyhow::Result<()>
where
    F: FnOnce(Daemon) -> R,
    R: Future<Output = anyhow::Result<()>>,
{
    let listeners = Listeners::inherit()?;
    // One thread: a daemon waits nearly all the time, and threads cost memory
    // and make the parent-death signal of agents ambiguous (prctl(2)).
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let result = runtime.block_on(async {
        let (owner, configuration) = Owner::new(settings);
        let daemon = Daemon {
            configuration: configuration.clone(),
            environment: environment.clone(),
            listeners,
            notifier: Notifier::default(),
            shutdown: CancellationToken::new(),
        };
        let notifier = daemon.notifier.clone();
        let reload = move || {
            notifier.reloading();
            owner.reload(load, &environment);
            telemetry.set_level(configuration.settings().log_level);
            notifier.ready();
        };
        tokio::spawn(Signals::install()?.watch(daemon.shutdown.clone(), reload));
        run(daemon).await
    });
    // Blocking work that outlived its deadline must not hold the exit.
    runtime.shutdown_background();
    result
}
