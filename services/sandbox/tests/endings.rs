//! Nothing of a turn outlives it.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod support;

use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use openclaw_sandbox::PLAN;
use support::{Running, Site, callers, exists};

/// Everything has to be gone by then.
const SOON: Duration = Duration::from_secs(1);
/// Long enough for a machine that is busy with hundreds of forking processes.
const STORM: Duration = Duration::from_secs(8);

/// A daemon: forked twice, in its own session, ignoring what can be ignored, holding the output.
/// The main process goes on when the daemon has said its number.
const DAEMON: &str = "use POSIX; $| = 1; pipe R, W; if (!fork) { POSIX::setsid(); \
    $SIG{$_} = 'IGNORE' for qw(TERM HUP INT); \
    if (!fork) { print qq($$\\n); syswrite W, q(x); sleep 1000 } exit } wait; sysread R, $_, 1;";

fn daemon_then(site: &Site, after: &str) -> Running {
    let script = format!("{DAEMON} {after}");
    Running::start(site.command("/usr/bin/perl", &["-e", &script]))
}

#[test]
fn signal_to_the_supervisor_ends_daemons_too() {
    for caller in callers() {
        for site in [Site::new(caller), Site::new(caller).off()] {
            let mut run = daemon_then(&site, "sleep 1000");
            let daemon = run.output.line();
            run.signal(Signal::SIGTERM);
            assert!(run.output.end_within(SOON).is_some(), "{caller:?}");
            assert_eq!(run.child.wait().unwrap().code(), Some(143));
            assert!(!exists(&daemon));
        }
    }
}

#[test]
fn end_of_the_main_process_ends_daemons_too() {
    for caller in callers() {
        let site = Site::new(caller);
        let mut run = daemon_then(&site, "exit 7");
        let daemon = run.output.line();
        assert!(run.output.end_within(SOON).is_some(), "{caller:?}");
        assert_eq!(run.child.wait().unwrap().code(), Some(7));
        assert!(!exists(&daemon));
    }
}

#[test]
fn death_of_the_parent_ends_the_turn() {
    for caller in callers() {
        let site = Site::new(caller);
        let run = r#"exec 3>&1; "$0" run --parent $$ -- /usr/bin/perl -e "$1" & wait"#;
        let script = format!("{DAEMON} sleep 1000");
        let mut parent = Command::new("/bin/sh");
        parent
            .arg("-c")
            .arg(run)
            .arg(site.helper())
            .arg(&script)
            .env(PLAN, site.json());
        let run = Running::start(site.called(parent));
        run.output.line();
        run.signal(Signal::SIGKILL);
        // The daemon holds the stream, so its end is the daemon's.
        assert!(run.output.end_within(SOON).is_some(), "{caller:?}");
    }
}

#[test]
fn parent_that_is_not_there_any_more_starts_nothing() {
    for caller in callers() {
        let site = Site::new(caller);
        let mut command = Command::new(site.helper());
        command.args(["run", "--parent", "1", "--", "/bin/echo", "ran"]);
        command.env(PLAN, site.json());
        let output = site.called(command).output().unwrap();
        assert_eq!(output.status.code(), Some(125));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn main_process_dies_with_a_killed_supervisor() {
    for caller in callers() {
        let site = Site::new(caller);
        let run = Running::start(site.command("/bin/sh", &["-c", "echo $$; exec sleep 1000"]));
        run.output.line();
        run.signal(Signal::SIGKILL);
        assert!(run.output.end_within(SOON).is_some(), "{caller:?}");
    }
}

#[test]
fn processes_that_keep_forking_are_ended() {
    for caller in callers() {
        let mut site = Site::new(caller);
        site.plan.limits.processes = Some(64);
        let storm = "$| = 1; $SIG{CHLD} = 'IGNORE'; print qq(ready\\n); \
                     while (1) { my $p = fork; next if !defined $p; exit if !$p && rand() < 0.6 }";
        let mut run = Running::start(site.command("/usr/bin/perl", &["-e", storm]));
        run.output.line();
        run.signal(Signal::SIGTERM);
        assert!(run.output.end_within(STORM).is_some(), "{caller:?}");
        assert_eq!(run.child.wait().unwrap().code(), Some(143));
    }
}

#[test]
fn stopped_processes_are_ended() {
    for caller in callers() {
        let site = Site::new(caller);
        let script = "sh -c 'echo $$; kill -STOP $$' & echo started; kill -STOP $$";
        let mut run = Running::start(site.command("/bin/sh", &["-c", script]));
        run.output.line();
        run.output.line();
        run.signal(Signal::SIGTERM);
        assert!(run.output.end_within(SOON).is_some(), "{caller:?}");
        assert_eq!(run.child.wait().unwrap().code(), Some(143));
    }
}

#[test]
fn supervisor_does_not_hold_the_output_open() {
    for caller in callers() {
        let site = Site::new(caller);
        let mut command = site.command("/bin/sh", &["-c", "exec >&- 2>&-; exec sleep 1000"]);
        command.stderr(Stdio::null());
        let mut run = Running::start(command);
        assert!(run.output.end_within(SOON * 5).is_some(), "{caller:?}");
        assert!(run.child.try_wait().unwrap().is_none());
        run.signal(Signal::SIGTERM);
        assert_eq!(run.child.wait().unwrap().code(), Some(143));
    }
}
