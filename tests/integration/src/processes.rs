//! Processes, as /proc shows them.

use std::fs;
use std::path::Path;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use crate::deadline::until;

/// Makes this process the one that orphans fall to, so that whatever a test
/// leaves behind can be waited for.
pub fn adopt_orphans() {
    prctl::set_child_subreaper(true).expect("become a subreaper");
}

/// Processes with `text` in an argument.
pub fn with_argument(text: &str) -> Vec<Pid> {
    having("cmdline", text)
}

/// Waits until no process has `text` in an argument. The kernel tells nobody
/// but a parent of it.
pub async fn gone(text: &str) {
    until("the end of processes", || with_argument(text).is_empty()).await;
}

/// Processes that were started for what is in `folder`: every program of the
/// suite, agents too, has a variable that names a place in it.
pub fn of_folder(folder: &Path) -> Vec<Pid> {
    let mut found = having("environ", &folder.display().to_string());
    found.retain(|pid| *pid != Pid::this());
    found
}

/// Sends `signal`; a process that has ended needs none.
pub fn send(pid: Pid, signal: Signal) {
    match kill(pid, signal) {
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(errno) => panic!("send {signal} to {pid}: {errno}"),
    }
}

/// Kills every process of `folder` and waits until none is left. None of them
/// sees another one die: it would be told to end for that, and end well.
pub fn end_all(folder: &Path) {
    loop {
        let found = stopped(folder);
        if found.is_empty() {
            return;
        }
        for pid in &found {
            let _ = kill(*pid, Signal::SIGKILL);
        }
        for pid in found {
            // Children of others are waited for by those, and fall to this
            // process when those are gone: then the next round has them.
            let _ = waitpid(pid, None);
        }
    }
}

/// The processes of `folder`, all of them stopped.
fn stopped(folder: &Path) -> Vec<Pid> {
    let mut found = of_folder(folder);
    loop {
        for pid in &found {
            let _ = kill(*pid, Signal::SIGSTOP);
        }
        let again = of_folder(folder);
        if again.iter().all(|pid| found.contains(pid)) {
            return found;
        }
        found = again;
    }
}

/// The memory that a process has to itself, and its part of what it shares, in KiB:
/// all of it (`Pss`), or what is in no file (`Pss_Anon`).
pub fn memory(pid: Pid, kind: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(kind)?.strip_prefix(':'))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Whether it is the process of a turn.
pub fn is_turn(pid: Pid) -> bool {
    is_part(pid, "turn")
}

/// Whether it is the process of a session's servers of tools.
pub fn is_servers(pid: Pid) -> bool {
    is_part(pid, "servers")
}

/// Whether it is the agent-runner's program, started as that part of it.
fn is_part(pid: Pid, part: &str) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = line.split(|byte| *byte == 0);
    words
        .next()
        .is_some_and(|program| program.ends_with(b"openclaw-agent-runner"))
        && words.next() == Some(part.as_bytes())
}

/// The file name of the program that a process runs.
pub fn program(pid: Pid) -> Option<String> {
    let target = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    Some(target.file_name()?.to_string_lossy().into_owned())
}

fn having(file: &str, text: &str) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").expect("list /proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &i32| {
        let content = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&content).contains(text)
    })
    .map(Pid::from_raw)
    .collect()
}
