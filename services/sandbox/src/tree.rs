//! Ending every descendant of this process.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use crate::sys;

/// Passes over /proc until no new descendant shows up. Each stops what it finds, so only a process
/// forked during a pass can be missed by it; a deep chain of those ends when nothing runs.
const PASSES_MAX: usize = 64;
/// From the first SIGKILLs to the next look for what they missed; it doubles from look to look,
/// because each reads all of /proc and what was killed may take its time to be gone.
const FIRST_LOOK: Duration = Duration::from_millis(10);
/// The longest time between two such looks.
const LAST_LOOK: Duration = Duration::from_millis(160);
/// More than a line of /proc/PID/stat has: 52 numbers of at most 20 digits, and a name of 64.
const STAT_LIMIT: usize = 2048;
/// A process that SIGKILL has not ended by then waits in the kernel, on a dead disk for one.
const END_LIMIT: Duration = Duration::from_secs(5);

/// Added to a signal's number where a process ended by it, as shells do.
pub(crate) const SIGNAL_BASE: i32 = 128;

/// A process as /proc/PID/stat shows it. Number and start together name it for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Process {
    pid: i32,
    parent: i32,
    started: u64,
}

/// Kills and reaps everything below this process, which has to be a subreaper: what is orphaned on
/// the way becomes its child. `seen` gets every exit. SIGCHLD has to be blocked.
///
/// Returns whether nothing is left.
pub(crate) fn end_all(mut seen: impl FnMut(WaitStatus)) -> bool {
    let deadline = Instant::now() + END_LIMIT;
    let mut child_signal = SigSet::empty();
    child_signal.add(Signal::SIGCHLD);
    let mut interval = FIRST_LOOK;
    let mut next_look = Instant::now();
    loop {
        if reap(&mut seen) == Reaped::NoChildren {
            return true;
        }
        let now = Instant::now();
        if now > deadline {
            return false;
        }
        if now >= next_look {
            kill_descendants();
            next_look = Instant::now() + interval;
            interval = LAST_LOOK.min(interval * 2);
        }
        let wait = next_look.saturating_duration_since(Instant::now());
        let _ = sys::wait_signal(&child_signal, Some(wait));
    }
}

/// The exit status that `status` stands for; `None`: the process has not ended.
pub(crate) fn exit_code(status: WaitStatus) -> Option<i32> {
    match status {
        WaitStatus::Exited(_, code) => Some(code),
        WaitStatus::Signaled(_, signal, _) => Some(SIGNAL_BASE + signal as i32),
        _ => None,
    }
}

/// What is left after reaping.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reaped {
    NoChildren,
    SomeLeft,
}

/// Reaps every child that has exited, telling `seen`.
pub(crate) fn reap(seen: &mut impl FnMut(WaitStatus)) -> Reaped {
    loop {
        match waitpid(None::<Pid>, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => return Reaped::SomeLeft,
            Ok(status) => seen(status),
            Err(_) => return Reaped::NoChildren,
        }
    }
}

/// Stops first, kills then: killing one by one would race with processes that fork as fast.
fn kill_descendants() {
    let mut stopped = HashSet::new();
    for _ in 0..PASSES_MAX {
        let found = descendants();
        let before = stopped.len();
        for process in found {
            if stopped.insert(process) {
                signal(process, Signal::SIGSTOP);
            }
        }
        if stopped.len() == before {
            break;
        }
    }
    for process in stopped {
        signal(process, Signal::SIGKILL);
    }
}

/// Signals exactly this process: its number could have a new owner since /proc was read, and a
/// supervisor that is root may signal anyone.
fn signal(process: Process, signal: Signal) {
    let Ok(pidfd) = sys::pidfd_open(Pid::from_raw(process.pid)) else {
        return;
    };
    // Unchanged since before the descriptor was opened, so the descriptor means this process.
    if read(process.pid).is_some_and(|now| now.started == process.started) {
        let _ = sys::pidfd_send(&pidfd, signal);
    }
}

/// All processes below this one. Reads every /proc/PID/stat rather than the `children` files: those
/// are missing on some kernels and incomplete while children come and go.
fn descendants() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let numbers = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    below(getpid().as_raw(), numbers.filter_map(read).collect())
}

fn below(top: i32, all: Vec<Process>) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = children.remove(&top).unwrap_or_default();
    let mut at = 0;
    while let Some(process) = found.get(at) {
        found.extend(children.remove(&process.pid).unwrap_or_default());
        at += 1;
    }
    found
}

fn read(pid: i32) -> Option<Process> {
    let mut file = File::open(format!("/proc/{pid}/stat")).ok()?;
    // The kernel writes the whole line into one read.
    let mut line = [0; STAT_LIMIT];
    let length = file.read(&mut line).ok()?;
    parse(&line[..length])
}

/// proc_pid_stat(5): fields 1, 4 and 22. The second is the program's name in parentheses and may
/// hold anything, parentheses and other than UTF-8 included.
fn parse(stat: &[u8]) -> Option<Process> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let pid = stat.split(|byte| *byte == b' ').next()?;
    let mut fields = std::str::from_utf8(stat.get(end + 1..)?)
        .ok()?
        .split_whitespace();
    Some(Process {
        pid: std::str::from_utf8(pid).ok()?.parse().ok()?,
        parent: fields.nth(1)?.parse().ok()?,
        started: fields.nth(17)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_may_hold_anything() {
        let stat = b"7 (a) S 1 ) \xff) T 5 7 7 0 -1 4 8 9 10 11 12 13 14 15 16 17 18 19 777 23";
        let expected = Process {
            pid: 7,
            parent: 5,
            started: 777,
        };
        assert_eq!(parse(stat), Some(expected));
        assert_eq!(parse(b"7 (a"), None);
    }

    #[test]
    fn tree_only_what_is_below_is_found() {
        let process = |pid, parent| Process {
            pid,
            parent,
            started: 0,
        };
        let all = vec![
            process(9, 8),
            process(5, 1),
            process(8, 2),
            process(2, 1),
            process(3, 2),
        ];
        let mut found: Vec<i32> = below(2, all).iter().map(|p| p.pid).collect();
        found.sort_unstable();
        assert_eq!(found, [3, 8, 9]);
    }

    #[test]
    fn tree_this_process_reads_itself() {
        let own = read(getpid().as_raw()).unwrap();
        assert_eq!(own.parent, nix::unistd::getppid().as_raw());
        assert!(own.started > 0);
    }
}
