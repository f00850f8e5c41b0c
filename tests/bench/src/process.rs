//! What the kernel says about a process (proc_pid_stat(5), smaps_rollup in proc_pid_smaps(5)).

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;

/// Clock ticks a second in /proc: USER_HZ, 100 on every Linux architecture in use.
const TICKS: u32 = 100;
/// Fields of /proc/PID/stat counted from the state, which follows the name in brackets.
const PARENT: usize = 1;
const OWN_TIMES: usize = 11;
const REAPED_TIMES: usize = 13;

/// A process by its id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process(pub(crate) u32);

/// Processor time in user and system mode together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cpu {
    /// Of the process itself.
    pub(crate) own: Duration,
    /// Of its descendants that have ended and were waited for.
    pub(crate) reaped: Duration,
}

/// Proportional set size, in MiB.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Memory {
    pub(crate) total: f64,
    /// The part that is the process's own data.
    pub(crate) anonymous: f64,
}

impl Process {
    pub(crate) fn cpu(self) -> anyhow::Result<Cpu> {
        let stat = self.read("stat")?;
        cpu(&stat).with_context(|| format!("cannot make sense of /proc/{}/stat", self.0))
    }

    pub(crate) fn memory(self) -> anyhow::Result<Memory> {
        let rollup = self.read("smaps_rollup")?;
        memory(&rollup)
            .with_context(|| format!("cannot make sense of /proc/{}/smaps_rollup", self.0))
    }

    /// Bytes that it made the kernel write to disks (`write_bytes`, proc_pid_io(5)).
    pub(crate) fn written(self) -> anyhow::Result<u64> {
        let io = self.read("io")?;
        let line = io
            .lines()
            .find_map(|line| line.strip_prefix("write_bytes:"));
        line.and_then(|number| number.trim().parse().ok())
            .with_context(|| format!("cannot make sense of /proc/{}/io", self.0))
    }

    /// The program it runs.
    pub(crate) fn program(self) -> anyhow::Result<PathBuf> {
        let link = format!("/proc/{}/exe", self.0);
        fs::read_link(&link).with_context(|| format!("cannot read {link}"))
    }

    /// Its children. Not from /proc/PID/task/TID/children, which many kernels are built without.
    pub(crate) fn children(self) -> anyhow::Result<Vec<Self>> {
        let entries = fs::read_dir("/proc").context("cannot list /proc")?;
        let processes = entries.flatten().filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            Some(Self(id))
        });
        let is_child = |process: &Self| {
            // One that has ended meanwhile is no child any more.
            let stat = process.read("stat").unwrap_or_default();
            fields(&stat).nth(PARENT) == Some(self.0.into())
        };
        Ok(processes.filter(is_child).collect())
    }

    /// Its children and all that come from them.
    pub(crate) fn descendants(self) -> anyhow::Result<Vec<Self>> {
        let mut all = self.children()?;
        let mut next = 0;
        while let Some(process) = all.get(next).copied() {
            all.extend(process.children()?);
            next += 1;
        }
        Ok(all)
    }

    fn read(self, file: &str) -> anyhow::Result<String> {
        let path = format!("/proc/{}/{file}", self.0);
        fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
    }
}

impl Cpu {
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            own: self.own.saturating_sub(before.own),
            reaped: self.reaped.saturating_sub(before.reaped),
        }
    }
}

/// The numbers behind the name, which may itself hold brackets and spaces; the state counts as 0.
fn fields(stat: &str) -> impl Iterator<Item = u64> {
    let behind = stat.rsplit_once(") ").map_or("", |(_, behind)| behind);
    let words = behind.split_whitespace();
    words.map(|word| word.parse().unwrap_or_default())
}

fn cpu(stat: &str) -> Option<Cpu> {
    let ticks: Vec<u64> = fields(stat).take(REAPED_TIMES + 2).collect();
    let both = |first: usize| {
        let ticks = ticks.get(first)? + ticks.get(first + 1)?;
        Some(Duration::from_secs(ticks) / TICKS)
    };
    Some(Cpu {
        own: both(OWN_TIMES)?,
        reaped: both(REAPED_TIMES)?,
    })
}

fn memory(rollup: &str) -> Option<Memory> {
    let mebibytes = |name: &str| {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: f64 = line.strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes / 1024.0)
    };
    Some(Memory {
        total: mebibytes("Pss:")?,
        anonymous: mebibytes("Pss_Anon:").unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 9 9 0 0 150 50 30 20 20 0 1 0 99";
        let cpu = cpu(stat).unwrap();
        assert_eq!(cpu.own, Duration::from_secs(2));
        assert_eq!(cpu.reaped, Duration::from_millis(500));
        assert_eq!(fields(stat).nth(PARENT), Some(1));
    }

    #[test]
    fn own_part_of_memory_is_told_apart() {
        let rollup = "00-ff ---p 00:00 0 [rollup]\nRss: 9 kB\nPss:    2048 kB\nPss_Anon:  512 kB\n";
        let memory = memory(rollup).unwrap();
        assert_eq!((memory.total, memory.anonymous), (2.0, 0.5));
    }

    #[test]
    fn process_this_process_has_times_memory_and_a_parent() {
        let own = Process(std::process::id());
        own.cpu().unwrap();
        assert!(own.memory().unwrap().total > 0.0);
        let parent = Process(std::os::unix::process::parent_id());
        assert!(
            parent
                .children()
                .unwrap()
                .iter()
                .any(|child| child.0 == own.0)
        );
    }
}
