//! `run`: the daemons in the foreground, with the sockets that systemd would
//! pass them. For containers and tests.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};

use crate::cli;
use crate::connection;
use crate::failure::Failure;
use crate::obstacle;

mod backoff;
mod child;
mod daemon;
mod daemon_task;
mod directory;
mod doors;
pub(crate) mod environment_file;
mod lock;
mod log;
mod notify;
mod record;
mod running;
mod sockets;
mod spawner;
mod stop;
mod supervisor;

pub(crate) use running::environment;

/// Runs the daemons until a signal ends them, or ends those that run.
pub(crate) fn execute(
    arguments: &cli::Run,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    if arguments.stop {
        // A configuration that was broken meanwhile must not prevent it.
        return stop::stop(&Paths::resolve(environment)?);
    }
    // A broken file does not end the daemons: they go on without it.
    let paths = Paths::resolve(environment)?;
    let environment = &environment
        .clone()
        .overridden(arguments.set.iter().cloned());
    openclaw_config::document::check_overrides(&paths, environment)?;
    let settings = openclaw_config::load_usable(environment)?;
    if let Some(obstacle) = obstacle::find(&paths) {
        return Err(obstacle);
    }
    directory::prepare(&paths.runtime)?;
    let lock = lock::Lock::take(&paths.runtime)?;
    let log = log::Log::open().with_level(settings.log_level);
    let runtime = connection::runtime()?;
    // On this thread, which lives as long as the process: the daemons'
    // parent-death signal is bound to the thread that starts them (prctl(2)).
    let result = runtime.block_on(async {
        let sockets = sockets::Sockets::bind(&paths, lock.was_stale(), &log).await?;
        if lock.was_stale() {
            sockets::left(&paths, &log).await;
        }
        let doors = doors::Doors::bind(settings, environment, &log)?;
        let sockets = sockets.with_doors(doors);
        let spawner = spawner::Spawner::bind(&paths, environment, &log)?;
        let suite = supervisor::supervise(&paths, environment, &sockets, &log);
        spawner.keep(suite).await?
    });
    runtime.shutdown_background();
    drop(lock);
    result
}
