//! What the suite says of itself.

use std::future::Future;
use std::time::Duration;

use openclaw_proto::call::{CallError, within};
use openclaw_proto::wire::gateway::{Listener, StatusResponse};

use crate::doors::Doors;

/// How long another daemon may take to say how it is. Somebody waits for the
/// answer, and "does not answer" is one.
const DEADLINE: Duration = Duration::from_secs(2);

/// With what the two others say, unless it is `alone`.
pub(super) async fn of(doors: &Doors, alone: bool) -> StatusResponse {
    let (runner, memory) = tokio::join!(
        ask("openclaw-agent-runner", alone, doors.core.runner.status()),
        ask("openclaw-memory", alone, doors.core.memory.status()),
    );
    let (running, waiting) = doors.core.lanes.counts();
    let settings = doors.core.configuration.settings();
    StatusResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_ms: u64::try_from(doors.core.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        sessions: doors.core.storage.session_count(),
        turns_running: running as u64,
        turns_waiting: waiting as u64,
        state_dir: settings.paths.state.display().to_string(),
        configuration_problem: doors.core.configuration.problem(),
        runner_problem: runner.as_ref().err().cloned().unwrap_or_default(),
        runner: runner.ok(),
        listeners: listeners(doors),
        maintenance: doors.core.storage.findings(),
        jobs_are_off: !settings.cron_enabled,
        memory_problem: memory.as_ref().err().cloned().unwrap_or_default(),
        memory: memory.ok(),
    }
}

fn listeners(doors: &Doors) -> Vec<Listener> {
    let addresses = doors.front.addresses().into_iter();
    addresses
        .map(|(door, address)| Listener {
            name: door.name().to_owned(),
            address: address.to_string(),
        })
        .collect()
}

async fn ask<T>(
    unit: &'static str,
    alone: bool,
    call: impl Future<Output = Result<T, CallError>>,
) -> Result<T, String> {
    if alone {
        return Err("it was not asked".to_owned());
    }
    let told = within(DEADLINE, call).await;
    told.map_err(|error| {
        format!("{error}; look at it with: systemctl --user status {unit}.service")
    })
}
