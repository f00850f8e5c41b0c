//! The daemons in the foreground, with the sockets that systemd would pass them.
//! For containers and tests.

use std::process::ExitCode;

use openclaw_config::state_lock::StateLock;
use openclaw_config::{Environment, Paths};
use openclaw_terminal::Failure;
use tokio::runtime::Runtime;

mod account;
mod activate;
pub mod background;
mod backoff;
mod channel_task;
mod channels;
mod child;
mod daemon;
mod daemon_task;
mod directory;
mod doors;
pub mod environment_file;
mod handover;
mod lock;
mod log;
mod log_file;
mod notify;
pub mod obstacle;
pub mod port;
mod record;
mod running;
mod sockets;
mod spawner;
mod stop;
mod supervisor;

pub use activate::{Activation, activate};
pub use log_file::{earlier as earlier_log, path as log_file};
pub use running::{environment, is_running, pid, reload};
pub use stop::stop;

/// What holds the state directory for all of its daemons.
const SUITE: &str = "openclawctl-run";

/// Runs the daemons until a signal ends them. `overrides` are before the
/// environment and the file.
///
/// # Errors
/// When the suite cannot run as it is set up, or runs already.
pub fn run(
    environment: &Environment,
    overrides: &[(String, String)],
    runtime: Runtime,
) -> Result<ExitCode, Failure> {
    // The daemons are handed their sockets, whatever a turn of before has under way.
    openclaw_config::descriptors::raise_limit();
    // A broken file does not end the daemons: they go on without it.
    let paths = Paths::resolve(environment)?;
    let environment = &environment.clone().overridden(overrides.iter().cloned());
    openclaw_settings::document::check_overrides(&paths, environment)?;
    let settings = openclaw_settings::load_usable(environment)?;
    if let Some(obstacle) = obstacle::find(&paths) {
        return Err(obstacle);
    }
    directory::prepare(&paths.runtime)?;
    let lock = lock::Lock::take(&paths.runtime)?;
    // Daemons of a killed run may still be ending; others are those of units.
    if !lock.was_stale()
        && let Some(obstacle) = obstacle::any_suite(&paths)
    {
        return Err(obstacle);
    }
    // One of two that are started at once is refused before it has started anything.
    let stop = format!(
        "OPENCLAW_RUNTIME_DIR={} openclawctl run --stop",
        paths.runtime.display()
    );
    let _state = StateLock::take(&paths, SUITE, stop).map_err(Failure::in_use)?;
    let log = log::Log::open().with_level(settings.log_level).kept(&paths);
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
