//! What a turn's processes used: from their control group where they have one
//! of their own; else their processor time alone, from /proc.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use openclaw_proto::event::Resources;

/// Clock ticks a second in /proc (sysconf(_SC_CLK_TCK), 100 on Linux).
const TICKS_PER_SECOND: u64 = 100;
/// Bytes that are read at once, as many as the kernel makes of most of these files,
const PAGE: usize = 4096;
/// and at most.
const LONGEST: u64 = 1 << 20;
/// Processes that are looked at; more are not counted.
const PROCESS_LIMIT: usize = 4096;

/// Reads the figures of one turn.
#[derive(Debug)]
pub struct Meter {
    unit: String,
    pid: u32,
    group: Option<PathBuf>,
}

impl Meter {
    /// For the unit this process runs in; empty when it has none.
    pub fn new(unit: &str) -> Self {
        Self::of(unit, std::process::id())
    }

    /// For the unit that the process `pid` runs in.
    pub fn of(unit: &str, pid: u32) -> Self {
        Self {
            unit: unit.to_owned(),
            pid,
            group: (!unit.is_empty()).then(|| group_of(pid)).flatten(),
        }
    }

    /// The figures now; 0 where one is not known. What is there at one moment
    /// is no peak, and the peaks of processes, some of them gone, add up to
    /// none: without a control group that counts it there is no such figure.
    pub fn read(&self) -> Resources {
        let mut resources = match self.group.as_deref() {
            Some(group) => of_group(group),
            None => Resources {
                cpu_ms: of_processes(self.pid),
                ..Resources::default()
            },
        };
        resources.unit.clone_from(&self.unit);
        resources
    }
}

/// The path of a process in the unified hierarchy (cgroups(7)).
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
        memory_peak_bytes: number("memory.peak").unwrap_or_default(),
        tasks_peak: number("pids.peak").unwrap_or_default(),
        unit: String::new(),
        cost_usd: None,
        server_tool_tokens: None,
    }
}

/// Milliseconds of processor time of a process and everything below it that is
/// still there; what ended is counted with its parent.
fn of_processes(top: u32) -> u64 {
    let mut ticks = 0;
    let mut seen = 0;
    let mut next = vec![top];
    while let Some(pid) = next.pop() {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        ticks += used_ticks(&folder).unwrap_or_default();
        seen += 1;
        let children = read(&folder.join(format!("task/{pid}/children")));
        let children = children.unwrap_or_default();
        next.extend(
            children
                .split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
        if seen > PROCESS_LIMIT {
            break;
        }
    }
    ticks * 1000 / TICKS_PER_SECOND
}

/// A file of the kernel's, which tells no size: as a rule in one piece.
fn read(path: &Path) -> io::Result<String> {
    let mut text = Vec::with_capacity(PAGE);
    File::open(path)?.take(LONGEST).read_to_end(&mut text)?;
    // Names of processes are any bytes.
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Fields 14 to 17 of proc_pid_stat(5): user and system time, its own and its children's.
fn used_ticks(folder: &Path) -> Option<u64> {
    let stat = read(&folder.join("stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let numbers = fields.split_whitespace().skip(11).take(4);
    Some(
        numbers
            .filter_map(|number| number.parse::<u64>().ok())
            .sum(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meter_says_no_peak_that_nobody_counted() {
        let group = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(group.path().join(name), text).unwrap();
        write("cpu.stat", "usage_usec 7000\nuser_usec 1\n");
        write("memory.current", "4096\n");
        write("pids.current", "3\n");
        let meter = Meter {
            unit: String::new(),
            pid: std::process::id(),
            group: Some(group.path().to_owned()),
        };
        let used = meter.read();
        assert_eq!(
            (used.cpu_ms, used.memory_peak_bytes, used.tasks_peak),
            (7, 0, 0)
        );
        write("memory.peak", "8192\n");
        write("pids.peak", "5\n");
        let used = meter.read();
        assert_eq!((used.memory_peak_bytes, used.tasks_peak), (8192, 5));
        let without = Meter::new("").read();
        assert_eq!((without.memory_peak_bytes, without.tasks_peak), (0, 0));
    }
}
