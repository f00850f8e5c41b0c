//! The suite's processes, by what they are.

use std::fs;

use nix::unistd::Pid;

use crate::running_suite::RunningSuite;

/// What a process of the suite is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Gateway,
    Runner,
    Memory,
    /// The daemon of the channel.
    Channel,
    /// The process of one turn, or a spare one.
    Turn,
    /// `openclawctl run` and its spawner, which are never killed.
    Keeper,
    /// An agent, what supervises it, or a tool.
    Agent,
}

#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) parent: Pid,
    pub(crate) role: Role,
    pub(crate) command: String,
}

/// The processes of the suite on `suite`.
pub(crate) fn all(suite: &RunningSuite) -> Vec<Process> {
    let found = suite.pids().into_iter();
    found.filter_map(read).collect()
}

/// What `pid` is now.
pub(crate) fn read(pid: Pid) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    // One that only waits to be reaped runs nothing any more.
    if fields.next()? == "Z" {
        return None;
    }
    let parent = Pid::from_raw(fields.next()?.parse().ok()?);
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&line);
    let words: Vec<&str> = line.split('\0').collect();
    let program = words[0].rsplit('/').next().unwrap_or_default();
    let role = match (program, words.get(1).copied().unwrap_or_default()) {
        ("openclaw-gateway", _) => Role::Gateway,
        ("openclaw-agent-runner", "turn") => Role::Turn,
        ("openclaw-agent-runner", _) => Role::Runner,
        ("openclaw-memory", _) => Role::Memory,
        ("openclaw-telegram", _) => Role::Channel,
        ("openclawctl", _) | ("openclaw-sandbox", "spawner") => Role::Keeper,
        _ => Role::Agent,
    };
    Some(Process {
        pid,
        parent,
        role,
        command: words.join(" ").trim_end().to_owned(),
    })
}
