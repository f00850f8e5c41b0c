//! `activate`: the process that `run` starts becomes a daemon with its
//! sockets, as the service manager would pass them (sd_listen_fds(3)).
//!
//! LISTEN_PID must be the daemon's own process id, which only the process
//! itself knows before exec, and setting it after fork in the parent's image
//! would need unsafe code. Standard input carries the control socket this far,
//! standard output the others.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::os::fd::{IntoRawFd as _, RawFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{close, getppid};
use openclaw_terminal::Failure;

use crate::handover;

/// SD_LISTEN_FDS_START: where the passed sockets begin.
const LISTEN_FDS_START: RawFd = 3;

/// The daemon that a process becomes.
#[derive(Debug)]
pub struct Activation {
    /// The process that must still be the parent.
    pub parent: i32,
    /// The name of the socket in standard input; empty: it has none.
    pub name: String,
    /// The daemon.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Whether standard output brings more sockets.
    pub more: bool,
}

/// Becomes the daemon; returns only when that failed.
pub fn activate(arguments: &Activation) -> Failure {
    match become_daemon(arguments) {
        Ok(never) => match never {},
        Err(failure) => failure,
    }
}

fn become_daemon(arguments: &Activation) -> Result<Infallible, Failure> {
    // A supervisor that was killed cannot end its daemons; the kernel does.
    prctl::set_pdeathsig(Signal::SIGTERM).context("cannot ask for the parent-death signal")?;
    // It may have died before that; then nobody sends the signal any more.
    if getppid().as_raw() != arguments.parent {
        return Err(Failure::new("openclawctl run has ended"));
    }
    close_inherited()?;
    let names = pass(arguments)?;
    let error = command(arguments, &names).exec();
    let program = arguments.program.display();
    Err(anyhow::Error::new(error)
        .context(format!("cannot start {program}"))
        .into())
}

/// Puts the sockets where the daemon looks for them; their names in order. A
/// new descriptor is the lowest that is free.
fn pass(arguments: &Activation) -> Result<Vec<String>, Failure> {
    if arguments.name.is_empty() {
        return Ok(Vec::new());
    }
    let control = fcntl(io::stdin(), FcntlArg::F_DUPFD(LISTEN_FDS_START))
        .context("cannot pass the socket on")?;
    let more = if arguments.more {
        handover::receive(io::stdout()).context("cannot take over the sockets")?
    } else {
        Vec::new()
    };
    let (mut names, mut descriptors) = (vec![arguments.name.clone()], vec![control]);
    for (name, socket) in more {
        names.push(name);
        // Left open for the daemon.
        descriptors.push(socket.into_raw_fd());
    }
    for (wanted, descriptor) in (LISTEN_FDS_START..).zip(descriptors) {
        if descriptor != wanted {
            return Err(Failure::new(format!(
                "a socket became descriptor {descriptor} instead of {wanted}"
            )));
        }
    }
    Ok(names)
}

#[expect(
    clippy::disallowed_methods,
    reason = "starts a daemon of the suite, never an agent"
)]
fn command(arguments: &Activation, names: &[String]) -> Command {
    let mut command = Command::new(&arguments.program);
    command
        .args(&arguments.arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    if !names.is_empty() {
        command
            .env("LISTEN_PID", std::process::id().to_string())
            .env("LISTEN_FDS", names.len().to_string())
            .env("LISTEN_FDNAMES", names.join(":"));
    }
    command
}

/// Closes what the caller of `openclawctl run` left open: it is not the
/// daemons', and descriptor 3 must be free.
fn close_inherited() -> Result<(), Failure> {
    let open: Vec<RawFd> = fs::read_dir("/proc/self/fd")
        .context("cannot list the open descriptors")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor >= LISTEN_FDS_START)
        .collect();
    for descriptor in open {
        // The one that listed them is among them and closed already.
        let _ = close(descriptor);
    }
    Ok(())
}
