//! What a turn's processes used: from their control group where they have one
//! of their own, else from /proc.

use std::fs;
use std::path::{Path, PathBuf};

use openclaw_proto::event::Resources;

/// Clock ticks a second in /proc (sysconf(_SC_CLK_TCK), 100 on Linux).
const TICKS_PER_SECOND: u64 = 100;
/// Processes that are looked at; more are not counted.
const PROCESS_LIMIT: usize = 4096;

/// Reads the figures of one turn.
#[derive(Debug)]
pub(crate) struct Meter {
    unit: String,
    pid: u32,
    group: Option<PathBuf>,
}

impl Meter {
    /// For the unit this process runs in; empty when it has none.
    pub(crate) fn new(unit: &str) -> Self {
        Self::of(unit, std::process::id())
    }

    /// For the unit that the process `pid` runs in.
    pub(crate) fn of(unit: &str, pid: u32) -> Self {
        Self {
            unit: unit.to_owned(),
            pid,
            group: (!unit.is_empty()).then(|| group_of(pid)).flatten(),
        }
    }

    /// The figures now.
    pub(crate) fn read(&self) -> Resources {
        let counted = self.group.as_deref().map(of_group);
        let mut resources = match counted {
            Some(all) if all.memory_peak_bytes > 0 && all.tasks_peak > 0 => all,
            // A group may lack controllers: in a hybrid hierarchy, or where the
            // user's manager was given none.
            Some(some) => or(some, of_processes(self.pid)),
            None => of_processes(self.pid),
        };
        resources.unit.clone_from(&self.unit);
        resources
    }
}

/// Where a process is in the unified hierarchy (cgroups(7)).
fn group_of(pid: u32) -> Option<PathBuf> {
    let own = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
        .iter()
        .map(|root| Path::new(root).join(path))
        .find(|group| group.join("cpu.stat").is_file())
}

fn of_group(group: &Path) -> Resources {
    let number = |name: &str| {
        let text = fs::read_to_string(group.join(name)).ok()?;
        text.trim().parse::<u64>().ok()
    };
    let cpu = fs::read_to_string(group.join("cpu.stat")).unwrap_or_default();
    let microseconds = cpu
        .lines()
        .find_map(|line| line.strip_prefix("usage_usec ")?.trim().parse::<u64>().ok());
    Resources {
        cpu_ms: microseconds.unwrap_or_default() / 1000,
        // Kernels before 5.19 have no memory.peak, those before 6.1 no pids.peak.
        memory_peak_bytes: number("memory.peak")
            .or_else(|| number("memory.current"))
            .unwrap_or_default(),
        tasks_peak: number("pids.peak")
            .or_else(|| number("pids.current"))
            .unwrap_or_default(),
        unit: String::new(),
        cost_usd: None,
    }
}

/// What `group` does not know, from the processes that are there.
fn or(group: Resources, processes: Resources) -> Resources {
    let known = |group, processes| if group > 0 { group } else { processes };
    Resources {
        memory_peak_bytes: known(group.memory_peak_bytes, processes.memory_peak_bytes),
        tasks_peak: known(group.tasks_peak, processes.tasks_peak),
        ..group
    }
}

/// Adds up a process and everything below it that is still there; what ended
/// is counted with its parent.
fn of_processes(top: u32) -> Resources {
    let mut resources = Resources::default();
    let mut ticks = 0;
    let mut next = vec![top];
    while let Some(pid) = next.pop() {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        ticks += used_ticks(&folder).unwrap_or_default();
        resources.memory_peak_bytes += peak(&folder).unwrap_or_default();
        resources.tasks_peak += 1;
        let children = fs::read_to_string(folder.join(format!("task/{pid}/children")));
        let children = children.unwrap_or_default();
        next.extend(
            children
                .split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
        if resources.tasks_peak as usize > PROCESS_LIMIT {
            break;
        }
    }
    resources.cpu_ms = ticks * 1000 / TICKS_PER_SECOND;
    resources
}

/// Fields 14 to 17 of proc_pid_stat(5): user and system time, its own and its
/// children's.
fn used_ticks(folder: &Path) -> Option<u64> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let numbers = fields.split_whitespace().skip(11).take(4);
    Some(
        numbers
            .filter_map(|number| number.parse::<u64>().ok())
            .sum(),
    )
}

fn peak(folder: &Path) -> Option<u64> {
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_group_does_not_know_is_asked_of_the_processes() {
        let of = |cpu_ms, memory_peak_bytes, tasks_peak| Resources {
            cpu_ms,
            memory_peak_bytes,
            tasks_peak,
            ..Resources::default()
        };
        assert_eq!(or(of(5, 0, 0), of(3, 4096, 2)), of(5, 4096, 2));
        assert_eq!(or(of(5, 8192, 0), of(3, 4096, 2)), of(5, 8192, 2));
    }

    #[test]
    fn this_process_uses_something() {
        let used = Meter::new("").read();
        assert!(
            used.memory_peak_bytes > 0 && used.tasks_peak > 0,
            "{used:?}"
        );
    }
}
