//! Resource limits, setrlimit(2).

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

use crate::failure::{StepError, io, system};
use crate::plan::Limits;

/// Between the warning (SIGXCPU) and the end (SIGKILL) of a process out of processor time.
const CPU_GRACE_SECONDS: u64 = 1;

/// Processes of a turn that are not the agent's: the supervisor, and the first of the namespace.
const OWN_PROCESSES: u64 = 2;

/// Signals that wait, and timers, of a turn: the kernel counts them for each user.
const PENDING_SIGNALS: u64 = 1024;

/// Sets the limits of this process and of everything it starts. `alone`: only this turn's processes
/// are counted.
pub(crate) fn apply(limits: &Limits, alone: bool) -> Result<(), StepError> {
    set(Resource::RLIMIT_CORE, 0, 0)?;
    each(Resource::RLIMIT_SIGPENDING, Some(PENDING_SIGNALS))?;
    each(Resource::RLIMIT_AS, limits.address_space)?;
    each(Resource::RLIMIT_NOFILE, limits.open_files)?;
    each(Resource::RLIMIT_FSIZE, limits.file_size)?;
    if let Some(more) = limits.processes {
        let others = if alone { OWN_PROCESSES } else { tasks_now()? };
        each(Resource::RLIMIT_NPROC, Some(others.saturating_add(more)))?;
    }
    if let Some(seconds) = limits.cpu_seconds {
        let hard = seconds.saturating_add(CPU_GRACE_SECONDS);
        set(Resource::RLIMIT_CPU, seconds, hard)?;
    }
    Ok(())
}

fn each(resource: Resource, value: Option<u64>) -> Result<(), StepError> {
    match value {
        Some(value) => set(resource, value, value),
        None => Ok(()),
    }
}

/// Lowers only: raising a hard limit would need a privilege, and whoever set a lower one meant it.
fn set(resource: Resource, soft: rlim_t, hard: rlim_t) -> Result<(), StepError> {
    let name = format!("{resource:?}");
    let (_, held) = getrlimit(resource).map_err(system("read limit", &name))?;
    let hard = hard.min(held);
    setrlimit(resource, soft.min(hard), hard).map_err(system("set limit", &name))
}

/// Processes and threads on the whole machine: the number after the slash of /proc/loadavg.
///
/// The kernel compares RLIMIT_NPROC with *all* tasks of the user id, the desktop and the other
/// turns included, so a fixed number fails on a busy machine and is no limit on an idle one. The
/// machine's total is an upper bound of the user's and is read at no cost; counting the user's own
/// tasks would mean reading every directory in /proc.
fn tasks_now() -> Result<u64, StepError> {
    const LOADAVG: &str = "/proc/loadavg";
    let text = std::fs::read_to_string(LOADAVG).map_err(io("read", LOADAVG))?;
    let malformed = || io("parse", LOADAVG)(std::io::ErrorKind::InvalidData.into());
    parse_tasks(&text).ok_or_else(malformed)
}

fn parse_tasks(loadavg: &str) -> Option<u64> {
    let (_, total) = loadavg.split_whitespace().nth(3)?.split_once('/')?;
    total.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_is_after_the_slash() {
        assert_eq!(parse_tasks("0.01 0.33 0.26 1/89 8961\n"), Some(89));
        assert_eq!(parse_tasks("0.01 0.33 0.26 189 8961\n"), None);
        assert_eq!(parse_tasks(""), None);
    }
}
