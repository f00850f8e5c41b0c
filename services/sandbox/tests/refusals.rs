//! What is found before anything runs, and the probes.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod support;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use openclaw_sandbox::probe::{Report, State};
use openclaw_sandbox::{Closed, Failure, Launcher, Level, Network, PLAN, PlanError};
use support::{Caller, Site, assert_refused, assert_success, callers, text, told};

fn failure(output: &Output) -> Failure {
    assert_eq!(output.status.code(), Some(125), "{}", told(output));
    assert!(output.stdout.is_empty());
    Failure::parse(&text(&output.stderr)).unwrap()
}

#[test]
fn wrong_usage_is_64() {
    for args in [
        &["run"][..],
        &[],
        &["probe", "x"],
        &["run", "--", "/bin/true"],
    ] {
        let status = Command::new(env!("CARGO_BIN_EXE_openclaw-sandbox"))
            .args(args)
            .env(PLAN, "{}")
            .output()
            .unwrap()
            .status;
        assert_eq!(status.code(), Some(64), "{args:?}");
    }
}

#[test]
fn plan_that_cannot_hold_starts_nothing() {
    let run = |change: fn(&mut Site)| {
        let mut site = Site::new(callers()[0]);
        change(&mut site);
        failure(&site.sh("echo ran"))
    };
    let missing = run(|site| site.plan.read_write.push("/no/such/place".into()));
    assert_eq!(missing.step, "plan");
    assert!(
        missing.message.contains("\"/no/such/place\""),
        "{missing:?}"
    );
    let outside = run(|site| site.plan.cwd = "/var".into());
    assert!(
        outside.message.contains("beneath no granted path"),
        "{outside:?}"
    );
    let loader = run(|site| site.plan.environment.push("LD_PRELOAD".into()));
    assert!(loader.message.contains("LD_PRELOAD"), "{loader:?}");
    let small = run(|site| site.plan.limits.address_space = Some(1));
    assert!(small.message.contains("address_space"), "{small:?}");
    let relative = run(|site| site.plan.read_only.push("usr/../etc".into()));
    assert!(
        relative.message.contains("not a plain absolute path"),
        "{relative:?}"
    );
}

/// The second turn is the one that would follow it.
#[test]
fn link_where_agents_write_leads_no_grant_anywhere() {
    for write in [true, false] {
        let mut site = Site::new(callers()[0]);
        let own = site.path("workspace/own");
        let granted = own.join("file");
        if write {
            site.plan.read_write.push(granted.clone());
        } else {
            // Another agent's, of whose grants this plan knows nothing else.
            site.plan.contested.push(site.path("workspace"));
            site.plan.read_write = vec![site.path("outside")];
            site.plan.cwd = site.path("outside");
            site.plan.read_only.push(granted.clone());
        }
        let shell = Path::new("/bin/sh");
        std::fs::create_dir(&own).unwrap();
        std::fs::write(&granted, "").unwrap();
        site.plan.clone().validate(shell).unwrap();
        std::fs::remove_dir_all(&own).unwrap();
        symlink(site.path("outside"), &own).unwrap();
        if openclaw_sandbox::identity::is_root() {
            std::os::unix::fs::lchown(&own, Some(65534), Some(65534)).unwrap();
        }
        let error = site.plan.clone().validate(shell).unwrap_err();
        let PlanError::Contested { path, link, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!((path, link.file_name()), (&granted, own.file_name()));
        assert_eq!(failure(&site.sh("echo ran")).step, "plan");
    }
}

#[test]
fn program_that_is_not_granted_starts_nothing() {
    let site = Site::new(callers()[0]);
    let helper = site.helper().to_owned();
    let error = site.plan.clone().validate(&helper).unwrap_err();
    assert!(matches!(error, PlanError::NotGranted { .. }), "{error}");
    let mut granted = site.plan.clone();
    let closed = Closed::new(None, Path::new("/nonexistent"));
    granted.grant_program(&helper, &closed);
    granted.validate(&helper).unwrap();
}

#[test]
fn hiding_what_is_granted_is_a_contradiction() {
    if !test_skip::is_root("what root hides and grants") {
        return;
    }
    let mut site = Site::new(Caller::Root);
    site.plan.hide = vec![site.path("workspace")];
    let error = site
        .plan
        .clone()
        .validate(Path::new("/bin/sh"))
        .unwrap_err();
    assert!(
        matches!(error, PlanError::HiddenAndGranted { .. }),
        "{error}"
    );
}

#[test]
fn refusals_every_promise_is_proved() {
    for caller in callers() {
        let site = Site::new(caller);
        let launcher = Launcher {
            helper: site.helper().to_owned(),
        };
        let output = site.called(launcher.probe_command()).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        let report: Report = serde_json::from_slice(&output.stdout).unwrap();
        assert!(report.holds());
        assert_eq!(report.agent_user.is_some(), caller == Caller::Root);
        let always = [
            "tree_ended",
            "rlimits",
            "capabilities_empty",
            "parent_death",
            "no_new_privs",
            "landlock",
            "landlock_outside_write",
            "landlock_outside_read",
            "outside_truncate",
            "seccomp",
            "af_unix",
            "datagram_pair",
            "network",
            "io_uring",
            "namespaces",
            "kill_all",
        ];
        for name in always {
            assert_eq!(report.get(name).unwrap().state, State::Enforced, "{report}");
        }
        let newer = report.get("signal_scope").unwrap().state == State::Enforced;
        assert_eq!(newer, report.landlock_abi >= 6, "{report}");
        let dropped = report.get("privilege_drop").unwrap().state == State::Enforced;
        assert_eq!(dropped, caller == Caller::Root, "{report}");
        // An ordinary user has nothing to give up: that is no loss.
        for name in ["privilege_drop", "home_hidden"] {
            let state = report.get(name).unwrap().state;
            let is_lost = state == State::Unavailable;
            assert!(caller == Caller::Root || !is_lost, "{report}");
        }
    }
}

/// `command`, begun by a shell that leaves descriptors to it: where bash puts them, and the highest.
fn with_descriptors(command: &Command) -> Command {
    const LEAVE: &str = "ulimit -S -n 4096; exec 3</dev/null 63</dev/null 4095</dev/null; \
                         exec \"$0\" \"$@\"";
    let mut shell = Command::new("bash");
    shell.args(["-c", LEAVE]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.env_clear();
    for (name, value) in command.get_envs() {
        shell.env(name, value.unwrap());
    }
    shell.env("PATH", "/usr/bin:/bin");
    shell
}

#[test]
fn refusals_what_a_shell_leaves_open_is_in_nobodys_way() {
    for caller in callers() {
        let site = Site::new(caller);
        let launcher = Launcher {
            helper: site.helper().to_owned(),
        };
        let probe = site.called(with_descriptors(&launcher.probe_command()));
        let report = { probe }.output().unwrap();
        let report: Report = serde_json::from_slice(&report.stdout).unwrap();
        for check in &report.checks {
            assert_ne!(check.state, State::Failed, "{report}");
        }
        for site in [Site::new(caller).text(), Site::new(caller).strict(), site] {
            let command = site.command("/bin/ls", &["/proc/self/fd"]);
            let output = site.called(with_descriptors(&command)).output().unwrap();
            assert!(output.status.success(), "{}", told(&output));
            assert_eq!(text(&output.stdout), "0\n1\n2\n3\n", "{caller:?}");
        }
    }
}

#[test]
fn root_of_a_container_is_proved_with_what_it_was_given() {
    if !test_skip::is_root("root of a container") {
        return;
    }
    let site = Site::new(Caller::Root);
    let launcher = Launcher {
        helper: site.helper().to_owned(),
    };
    let report = |bounding: &str| -> Report {
        let probe = launcher.probe_command();
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set", bounding, "--"]);
        command.arg(probe.get_program()).args(probe.get_args());
        command.env("PATH", "/usr/bin:/bin");
        let output = site.called(command).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(&output)))
    };
    // Its folders stay closed to its agents.
    let mounts = report("-sys_admin");
    assert_eq!(mounts.strictest(), Some(Level::Text), "{mounts}");
    assert!(mounts.stricter.is_some(), "{mounts}");
    // It can become nobody else, and counts as an ordinary user.
    let stuck = report("-all");
    assert_eq!(stuck.agent_user, None, "{stuck}");
    assert!(stuck.holds_at(Level::Workspace), "{stuck}");
}

#[test]
fn ordinary_programs_run() {
    for caller in callers() {
        for network in [Network::ModelOnly, Network::Full] {
            let mut site = Site::new(caller);
            site.plan.network = network;
            for program in [
                "perl -v",
                "tar --version",
                "printf 'b\\na\\n' | sort",
                "yes | head -n 1",
                "date && id && nproc && mktemp -p .",
                "! command -v git || git init repository",
                "! command -v node || node -e 'new (require(\"worker_threads\").Worker)(\"\", {eval: true})'",
                "test -r /etc/resolv.conf || ! test -e /etc/resolv.conf",
            ] {
                let output = site.sh(program);
                support::assert_success(&output);
            }
        }
    }
}

/// What the kernel counts for each user, or for the machine.
#[test]
fn counts_of_others_are_left_to_them() {
    let call = |number: nix::libc::c_long, arguments: &str| {
        format!("my $p = \"\\0\" x 8; syscall({number}, {arguments}) >= 0 or die $!")
    };
    let aio = call(nix::libc::SYS_io_setup, "1, $p");
    let pipe = format!(
        "pipe(R, W) or die; fcntl(W, {}, 1048576) or die $!",
        nix::libc::F_SETPIPE_SZ
    );
    // Each has a signal that may wait.
    let timers = format!(
        "my $n = 0; my $i = \"\\0\" x 8; \
         while ($n < 1500 && syscall({}, 0, 0, $i) >= 0) {{ $n++ }} die $! if $n < 1500",
        nix::libc::SYS_timer_create
    );
    for caller in callers() {
        for site in [Site::new(caller), Site::new(caller).strict()] {
            assert_refused(&site.perl(&aio), "not implemented");
            assert_refused(&site.perl(&pipe), "not permitted");
            assert_refused(&site.perl(&timers), "temporarily unavailable");
        }
        let off = Site::new(caller).off();
        assert_success(&off.perl(&aio));
        assert_success(&off.perl(&pipe));
    }
}

/// An ordinary user's turn has a user namespace of its own, which has a limit of its own.
#[test]
fn watchers_of_files_are_left_to_others() {
    let watchers = format!(
        "my $n = 0; while ($n < 60 && syscall({}, 0) >= 0) {{ $n++ }} die $! if $n < 60",
        nix::libc::SYS_inotify_init1
    );
    let strict = Site::new(Caller::Ordinary).strict();
    assert_refused(&strict.perl(&watchers), "Too many open files");
}
