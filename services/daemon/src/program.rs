//! From `main` to `run` and back to an exit code.

use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::sys::stat::{Mode, umask};
use openclaw_config::state_lock::StateLock;
use openclaw_config::{Environment, Paths, descriptors};
use openclaw_permissions as permissions;
use openclaw_settings::{LogLevel, Settings};
use tokio::runtime;
use tokio_util::sync::CancellationToken;

use crate::activity::Activity;
use crate::configuration::{self, Configuration, Current, Load, Owner};
use crate::exit;
use crate::failure;
use crate::listeners::Listeners;
use crate::notifier::Notifier;
use crate::panics;
use crate::reload::Reload;
use crate::signals::Signals;
use crate::state;
use crate::telemetry::Telemetry;

/// What a daemon's `run` is given.
#[derive(Debug)]
pub struct Daemon<S = Settings> {
    /// The settings, and news of them.
    pub configuration: Configuration<S>,
    /// The environment it was started with.
    pub environment: Environment,
    /// The sockets it was started with.
    pub listeners: Listeners,
    /// The way to the service manager.
    pub notifier: Notifier,
    /// Cancelled when the daemon is to end.
    pub shutdown: CancellationToken,
    /// What is under way; the connections to the control socket are.
    pub activity: Activity,
    /// Where it says why it cannot start.
    pub last_word: LastWord,
}

/// How long a daemon that starting again does not help is there before it ends.
const BEFORE_THE_NEXT: Duration = Duration::from_millis(400);

/// Where a daemon says why starting it again changes nothing: with its lock on the state.
/// The default has none, and says it to nobody.
#[derive(Debug, Default)]
pub struct LastWord(Option<Arc<StateLock>>);

impl LastWord {
    /// Takes back what the last one said that could not start.
    pub(crate) fn take_back(&self) {
        if let Self(Some(lock)) = self {
            lock.forget_end();
        }
    }
}

impl<S> Daemon<S> {
    /// The failure to end with, where starting this daemon again does not mend `error`:
    /// whoever waits for it is let go, and finds the reason with the lock on the state.
    pub fn cannot_start(&self, error: anyhow::Error) -> anyhow::Error {
        if let LastWord(Some(lock)) = &self.last_word {
            lock.say_end(failure::chain(error.as_ref()));
        }
        self.listeners.turn_away();
        exit::Lasting(error).into()
    }
}

/// Runs a daemon: settings, log, signals and sockets, then `run`; its error is
/// logged here and decides the exit code ([`exit`]).
///
/// A configuration file that cannot be used does not end it: it goes on with
/// the last good one or the defaults, and says so. A panic ends it
/// ([`panics::install`]).
pub fn main<S, F, R>(name: &'static str, load: Load<S>, run: F) -> ExitCode
where
    S: AsRef<Settings> + Send + Sync + 'static,
    F: FnOnce(Daemon<S>) -> R,
    R: Future<Output = anyhow::Result<()>>,
{
    let environment = Environment::inherit();
    if environment.is_of_machine() {
        openclaw_modes::share_with_group();
    }
    descriptors::raise_limit();
    // As UMask= in the units: what a daemon writes is for nobody else.
    umask(Mode::from_bits_truncate(openclaw_modes::current().foreign));
    let first = configuration::first(load, &environment);
    let level = first.as_ref().map_or(LogLevel::Info, |current| {
        (*current.settings).as_ref().log_level
    });
    let telemetry = Telemetry::install(name, level);
    panics::install();
    let result = first
        .map_err(anyhow::Error::from)
        .and_then(|current| execute(name, current, environment, load, telemetry, run));
    match result {
        Ok(()) => ExitCode::from(exit::SUCCESS),
        Err(error) => {
            failure::report("run the daemon", error.as_ref());
            let code = exit::number(&error);
            if code != exit::FAILURE {
                pause();
            }
            ExitCode::from(code)
        }
    }
}

fn execute<S, F, R>(
    name: &'static str,
    current: Current<S>,
    environment: Environment,
    load: Load<S>,
    telemetry: Telemetry,
    run: F,
) -> anyhow::Result<()>
where
    S: AsRef<Settings> + Send + Sync + 'static,
    F: FnOnce(Daemon<S>) -> R,
    R: Future<Output = anyhow::Result<()>>,
{
    let listeners = Listeners::inherit()?;
    // Until the end: from here on this process owns its part of the state.
    let lock = match own(&environment, name) {
        Ok(lock) => Arc::new(lock),
        Err(error) => {
            listeners.turn_away();
            return Err(error);
        }
    };
    let notifier = Notifier::default();
    if let Some(problem) = &current.problem {
        failure::report_text("use the configuration", problem);
        notifier.note(problem);
    }
    configuration::tell_unused((*current.settings).as_ref());
    // One thread: a daemon waits nearly all the time, and threads cost memory
    // and make the parent-death signal of agents ambiguous (prctl(2)).
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let result = runtime.block_on(async {
        let (owner, configuration) = Owner::starting(current);
        let (configuration, behind) = configuration.with_reader();
        let daemon = Daemon {
            configuration: configuration.clone(),
            environment: environment.clone(),
            listeners,
            notifier: notifier.clone(),
            shutdown: CancellationToken::new(),
            activity: Activity::default(),
            last_word: LastWord(Some(Arc::clone(&lock))),
        };
        let reload = Reload {
            owner,
            configuration,
            load,
            environment,
            notifier,
            telemetry,
        };
        let signals = Signals::install()?;
        tokio::spawn(reload.run(signals, behind, daemon.shutdown.clone()));
        run(daemon).await
    });
    // Blocking work that outlived its deadline must not hold the exit.
    runtime.shutdown_background();
    if !matches!(&result, Err(error) if error.is::<exit::Lasting>()) {
        lock.forget_end();
    }
    result
}

/// Keeps a socket open whose daemon cannot start: each connection starts it, and a service manager
/// that starts it more often than `StartLimitBurst=` in `StartLimitIntervalSec=` (120 in 30 s, in
/// the units) has the socket fail, also for later when what was wrong is mended.
#[expect(
    clippy::disallowed_methods,
    reason = "the event loop has ended, and nothing is waited for but time"
)]
fn pause() {
    thread::sleep(BEFORE_THE_NEXT);
}

/// Makes the state directory this user's alone and this process its owner.
fn own(environment: &Environment, name: &str) -> anyhow::Result<StateLock> {
    let lock = state::take(environment, name)?;
    secure(environment)?;
    Ok(lock)
}

/// State is its owner's alone.
fn secure(environment: &Environment) -> Result<(), openclaw_config::Error> {
    for repair in permissions::secure(&Paths::resolve(environment)?)? {
        let path = repair.path.display();
        let (from, to) = (repair.from, repair.to);
        tracing::warn!("{path} had mode {from:03o} and let others in; it has {to:03o} now");
    }
    Ok(())
}
