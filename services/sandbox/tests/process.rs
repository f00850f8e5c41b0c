//! What a confined program is born with.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod support;

use std::fs::File;
use std::os::fd::AsFd;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use openclaw_sandbox::{Failure, identity};
use support::{Caller, Site, assert_refused, assert_success, callers, text, told};

#[test]
fn process_no_privileges_are_held_or_gained() {
    for caller in callers() {
        let output = Site::new(caller).sh("cat /proc/self/status");
        assert_success(&output);
        let status = text(&output.stdout);
        for line in [
            "NoNewPrivs:\t1",
            "Seccomp:\t2",
            "CapInh:\t0000000000000000",
            "CapPrm:\t0000000000000000",
            "CapEff:\t0000000000000000",
            "CapAmb:\t0000000000000000",
            "SigBlk:\t0000000000000000",
            "SigIgn:\t0000000000000000",
        ] {
            assert!(status.contains(line), "{caller:?} {line} {status}");
        }
        if caller == Caller::Root {
            assert!(status.contains("CapBnd:\t0000000000000000"), "{status}");
            let uid = identity::agent("openclaw-agent").unwrap().uid;
            assert!(
                status.contains(&format!("Uid:\t{uid}\t{uid}\t{uid}\t{uid}")),
                "{status}"
            );
            assert!(status.contains("Groups:\t \n"), "{status}");
        }
    }
}

#[test]
fn environment_is_the_allow_list() {
    for caller in callers() {
        let mut site = Site::new(caller);
        site.plan.environment = vec!["ONE".into(), "ABSENT".into()];
        let mut command = site.command_with("/usr/bin/env", &[], &[("ONE", "1"), ("TWO", "2")]);
        // As a service manager would add it, past the launcher.
        command.env("INVOCATION_ID", "x");
        let output = command.output().unwrap();
        assert_success(&output);
        assert_eq!(text(&output.stdout), "ONE=1\n");
    }
}

#[test]
fn limits_are_the_plans() {
    for caller in callers() {
        let mut site = Site::new(caller);
        site.plan.limits.open_files = Some(77);
        site.plan.limits.cpu_seconds = Some(88);
        site.plan.limits.file_size = Some(1 << 20);
        let output = site.sh("cat /proc/self/limits");
        let limits = text(&output.stdout);
        let words = |name: &str| {
            let line = limits.lines().find_map(|line| line.strip_prefix(name));
            let mut words = line.unwrap().split_whitespace();
            (
                words.next().unwrap().to_owned(),
                words.next().unwrap().to_owned(),
            )
        };
        let pair = |soft: &str, hard: &str| (soft.to_owned(), hard.to_owned());
        assert_eq!(words("Max core file size"), pair("0", "0"));
        assert_eq!(words("Max open files"), pair("77", "77"));
        assert_eq!(words("Max cpu time"), pair("88", "89"));
        assert_eq!(words("Max file size"), pair("1048576", "1048576"));
        assert_eq!(words("Max address space"), pair("8589934592", "8589934592"));
        let processes: u64 = words("Max processes").0.parse().unwrap();
        assert!((257..100_000).contains(&processes), "{processes}");
        assert_refused(&site.sh("head -c 2000000 /dev/zero > big"), "");
    }
}

#[test]
fn too_many_processes_are_refused() {
    for caller in callers() {
        let mut site = Site::new(caller);
        site.plan.limits.processes = Some(8);
        let script = "for (1 .. 5000) { defined(my $p = fork) or die $!; $p or sleep }";
        assert_refused(&site.perl(script), "temporarily unavailable");
    }
}

#[test]
fn process_only_the_standard_streams_are_open() {
    for caller in callers() {
        let leaked = File::open("/etc/passwd").unwrap();
        fcntl(leaked.as_fd(), FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
        let output = Site::new(caller).sh("for d in /proc/$$/fd/*; do echo ${d##*/}; done");
        // 3 may be the shell's own reading of the directory.
        let open = text(&output.stdout).replace("3\n", "");
        assert_eq!(open, "0\n1\n2\n", "{}", told(&output));
    }
}

#[test]
fn process_leads_its_own_session() {
    for caller in callers() {
        let script = "read -r pid name state parent group session rest < /proc/$$/stat; \
                      test $pid = $group && test $pid = $session";
        assert_success(&Site::new(caller).sh(script));
    }
}

#[test]
fn signals_reach_the_turn_only() {
    // The supervisor of an ordinary user's turn has the user's id, so only the scope protects it.
    let supervisor = "kill 0, getppid or die $!";
    let all = "kill 0, -1 or die $!";
    for caller in callers() {
        let site = Site::new(caller);
        assert_refused(&site.perl(all), "not permitted");
        if site.landlock_abi() >= 6 {
            assert_refused(&site.perl(supervisor), "not permitted");
        }
        assert_success(&site.sh("sleep 100 & kill $! && ! wait $!"));
        let off = site.off();
        assert_success(&off.perl(supervisor));
        assert_success(&off.perl(all));
    }
}

#[test]
fn process_what_an_agent_does_not_need_is_refused() {
    for caller in callers() {
        let site = Site::new(caller);
        assert_refused(&site.sh("unshare --user true"), "not permitted");
        assert_refused(&site.sh("mount -t tmpfs none ."), "");
        assert_refused(&site.sh("setarch -R true"), "not permitted");
        if cfg!(target_arch = "x86_64") {
            let ring = "syscall(425, 1, 0) >= 0 or die $!";
            assert_refused(&site.perl(ring), "not implemented");
            let x32 = "syscall(0x40000000 + 39) >= 0 or die $!";
            assert_refused(&site.perl(x32), "not permitted");
        }
    }
}

#[test]
fn exit_status_is_the_programs() {
    for caller in callers() {
        let site = Site::new(caller);
        assert_eq!(site.sh("exit 42").status.code(), Some(42));
        assert_eq!(site.sh("kill -9 $$").status.code(), Some(137));
        let broken = site.path("workspace/broken");
        assert_success(&site.sh("echo '#!/no/such/interpreter' > broken; chmod +x broken"));
        let output = site.run(broken.to_str().unwrap(), &[]);
        assert_eq!(output.status.code(), Some(127), "{}", told(&output));
        assert_eq!(Failure::parse(&text(&output.stderr)).unwrap().step, "exec");
    }
}
