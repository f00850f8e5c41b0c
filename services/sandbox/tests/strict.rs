//! Level strict: a root, processes and a network of the turn's own.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod support;

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;
use openclaw_sandbox::{Launcher, Network, doors};
use support::{Running, Site, assert_refused, assert_success, callers, text, told};

/// Everything has to be gone by then.
const SOON: Duration = Duration::from_secs(1);
/// A port of the turn's own loopback.
const PORT: u16 = 7001;

#[test]
fn strict_what_is_not_granted_does_not_exist() {
    for caller in callers() {
        let site = Site::new(caller);
        let outside = site.path("outside/file");
        let look = format!("cat {}", outside.display());
        assert_refused(&site.sh(&look), "Permission denied");
        let site = site.strict();
        assert_refused(&site.sh(&look), "No such file");
        for absent in ["/run/user", "/sys/fs/cgroup", "/home", "/dev/kmsg", "/var"] {
            let seen = site.sh(&format!("test ! -e {absent}"));
            assert!(seen.status.success(), "{absent}: {}", told(&seen));
        }
    }
}

#[test]
fn strict_without_path_rules_the_root_alone_confines() {
    for caller in callers() {
        let mut site = Site::new(caller).namespaces();
        let beside = site.path("beside");
        std::fs::create_dir(&beside).unwrap();
        std::fs::write(beside.join("file"), "kept").unwrap();
        std::fs::set_permissions(&beside, Permissions::from_mode(0o777)).unwrap();
        std::fs::set_permissions(beside.join("file"), Permissions::from_mode(0o666)).unwrap();
        site.plan.read_only.push(beside.clone());
        let outside = site.path("outside/file");
        assert_refused(
            &site.sh(&format!("cat {}", outside.display())),
            "No such file",
        );
        for attempt in [
            "echo x >>file",
            "echo x >new",
            "rm file",
            "chmod 777 file",
            ": >file",
        ] {
            let output = site.sh(&format!("cd {} && {attempt}", beside.display()));
            assert_refused(&output, "Read-only file system");
        }
        for place in ["/new", "/etc/new", "/usr/new", "/dev/new", "/proc/new"] {
            assert_refused(&site.sh(&format!("echo x >{place}")), "");
        }
        assert_success(&site.sh("echo x >file && mkdir folder && ln file folder/linked"));
        assert_eq!(
            std::fs::read_to_string(beside.join("file")).unwrap(),
            "kept"
        );
        let rules = site.sh("grep -E 'NoNewPrivs|Seccomp:|CapEff' /proc/self/status");
        assert_eq!(
            text(&rules.stdout).split_whitespace().collect::<Vec<_>>(),
            [
                "CapEff:",
                "0000000000000000",
                "NoNewPrivs:",
                "1",
                "Seccomp:",
                "2"
            ],
            "{}",
            told(&rules)
        );
    }
}

#[test]
fn workspace_a_private_tmp_and_terminals_work() {
    for caller in callers() {
        let site = Site::new(caller).strict();
        let output = site.sh(
            "echo x >file && echo y >/tmp/y && cat /tmp/y && echo z >/dev/shm/z && \
             id -u >/dev/null && test -r /etc/passwd && echo done >/dev/null",
        );
        assert_success(&output);
        assert!(site.path("workspace/file").exists());
        assert!(!Path::new("/tmp/y").exists());
        let terminal = site.perl(
            "open(my $m, '+<', '/dev/ptmx') or die qq(ptmx: $!); my $n = pack('L', 0); \
             ioctl($m, 0x80045430, $n) or die qq(number: $!); \
             print -e '/dev/pts/' . unpack('L', $n) ? 'there' : 'absent'",
        );
        assert_eq!(text(&terminal.stdout), "there", "{}", told(&terminal));
    }
}

#[test]
fn named_directory_is_tmp() {
    for caller in callers() {
        let mut site = Site::new(caller).strict();
        site.plan.tmp = Some(site.path("workspace"));
        assert_success(&site.sh("echo x >/tmp/file && rm /tmp/file && ! test -e file"));
    }
}

#[test]
fn grant_keeps_the_name_it_was_given() {
    for caller in callers() {
        let mut site = Site::new(caller).strict();
        symlink(site.path("outside"), site.path("alias")).unwrap();
        site.plan.read_only.push(site.path("alias"));
        let file = site.path("alias/file");
        assert_success(&site.sh(&format!("cat {}", file.display())));
        let write = format!("echo x >>{}", file.display());
        assert_refused(&site.sh(&write), "");
    }
}

#[test]
fn strict_only_the_turns_own_processes_exist() {
    for caller in callers() {
        let site = Site::new(caller).strict();
        let output = site.sh("for p in /proc/[0-9]*; do echo ${p#/proc/}; done");
        assert_success(&output);
        let pids: Vec<u32> = text(&output.stdout)
            .lines()
            .map(|line| line.parse().unwrap())
            .collect();
        assert!(pids.iter().all(|pid| *pid < 10), "{pids:?}");
        // The runner is not there to be signalled.
        let own = std::process::id();
        assert_refused(&site.sh(&format!("kill -0 {own}")), "No such process");
    }
}

#[test]
fn first_process_reaps_and_takes_daemons_along() {
    for caller in callers() {
        let site = Site::new(caller).strict();
        let script = "setsid sleep 1000 & (sleep 0.01 & exit) ; sleep 0.1; \
                      grep -l '^State:.Z' /proc/[0-9]*/status; exit 7";
        let mut run = Running::start(site.command("/bin/sh", &["-c", script]));
        assert!(run.output.end_within(SOON).is_some(), "{caller:?}");
        assert_eq!(run.child.wait().unwrap().code(), Some(7));
        let mut run = Running::start(site.command("/bin/sh", &["-c", "echo up; exec sleep 1000"]));
        run.output.line();
        run.signal(Signal::SIGTERM);
        assert!(run.output.end_within(SOON).is_some(), "{caller:?}");
        assert_eq!(run.child.wait().unwrap().code(), Some(143));
    }
}

#[test]
fn killed_supervisor_takes_everything_along() {
    for caller in callers() {
        let site = Site::new(caller).strict();
        let run = Running::start(site.command(
            "/bin/sh",
            &["-c", "setsid sleep 1000 & echo up; exec sleep 1000"],
        ));
        run.output.line();
        run.signal(Signal::SIGKILL);
        assert!(run.output.end_within(SOON).is_some(), "{caller:?}");
    }
}

#[test]
fn statuses_and_signals_come_through() {
    for caller in callers() {
        let site = Site::new(caller).strict();
        assert_eq!(site.sh("exit 3").status.code(), Some(3));
        assert_eq!(site.sh("kill -KILL $$").status.code(), Some(137));
        let absent = site.path("workspace/absent");
        let script = format!("#!{}\n", absent.display());
        let program = site.path("workspace/program");
        std::fs::write(&program, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).unwrap();
        let output = site.run(program.to_str().unwrap(), &[]);
        assert_eq!(output.status.code(), Some(127), "{}", told(&output));
    }
}

#[test]
fn fork_bomb_ends_at_the_limit() {
    for caller in callers() {
        let mut site = Site::new(caller).strict();
        site.plan.limits.processes = Some(20);
        let bomb = "for (1 .. 4000) { my $p = fork; die qq($!) if !defined $p; sleep 1000 if !$p }";
        assert_refused(&site.perl(bomb), "temporarily unavailable");
    }
}

#[test]
fn strict_only_network_is_a_loopback_of_its_own() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = |port: u16, address: &str| {
        format!(
            "use Socket; socket(S, PF_INET, SOCK_STREAM, 0) or die qq(socket: $!); \
             connect(S, pack_sockaddr_in({port}, inet_aton('{address}'))) or die qq(connect: $!)"
        )
    };
    for caller in callers() {
        let mut site = Site::new(caller).strict();
        assert_refused(&site.perl(&connect(port, "127.0.0.1")), "not permitted");
        site.plan.network = Network::Loopback(Vec::new());
        assert_refused(&site.perl(&connect(port, "127.0.0.1")), "refused");
        assert_refused(&site.perl(&connect(80, "169.254.169.254")), "unreachable");
        site.plan.network = Network::Full;
        assert_success(&site.perl(&connect(port, "127.0.0.1")));
    }
}

#[test]
fn door_leads_to_the_caller_and_nowhere_else() {
    for caller in callers() {
        let mut site = Site::new(caller).strict();
        site.plan.network = Network::Loopback(vec![PORT]);
        let (ours, theirs) = doors::pair().unwrap();
        let launcher = Launcher {
            helper: site.helper().to_owned(),
        };
        let ask = format!(
            "use Socket; socket(S, PF_INET, SOCK_STREAM, 0) or die qq(socket: $!); \
             connect(S, pack_sockaddr_in({PORT}, inet_aton('127.0.0.1'))) or die qq(connect: $!); \
             print scalar <S>"
        );
        let command = launcher.command_with_doors(
            &site.plan,
            Path::new("/usr/bin/perl"),
            &["-e".into(), ask.into()],
            &[],
            &theirs,
        );
        let mut child = site.called(command.unwrap()).spawn().unwrap();
        drop(theirs);
        let mut listeners = doors::receive(ours.as_fd()).unwrap();
        assert_eq!(listeners.len(), 1);
        let (mut stream, peer) = listeners.remove(0).accept().unwrap();
        assert!(peer.ip().is_loopback());
        stream.write_all(b"from outside\n").unwrap();
        drop(stream);
        let mut said = String::new();
        let stdout = child.stdout.take();
        stdout.unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "from outside\n");
        assert!(child.wait().unwrap().success());
        // Nothing listens there outside.
        assert!(std::net::TcpStream::connect(("127.0.0.1", PORT)).is_err());
    }
}

#[test]
fn strict_without_namespaces_only_the_port_that_is_named() {
    let open = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let connect = |port: u16| {
        format!(
            "use Socket; socket(S, PF_INET, SOCK_STREAM, 0) or die qq(socket: $!); \
             connect(S, pack_sockaddr_in({port}, inet_aton('127.0.0.1'))) or die qq(connect: $!)"
        )
    };
    for caller in callers() {
        let mut site = Site::new(caller);
        site.plan.network = Network::Loopback(vec![port(&open)]);
        assert_success(&site.perl(&connect(port(&open))));
        let datagrams = "use Socket; socket(S, PF_INET, SOCK_DGRAM, 0) or die $!";
        assert_refused(&site.perl(datagrams), "not permitted");
        let multipath = "use Socket; socket(S, PF_INET, SOCK_STREAM, 262) or die $!";
        assert_refused(&site.perl(multipath), "not permitted");
        if site.landlock_abi() >= 4 {
            assert_refused(&site.perl(&connect(port(&closed))), "denied");
        }
    }
}
