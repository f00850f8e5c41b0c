//! Level text: one program that thinks, and nothing else.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};

use support::{Site, assert_success, callers, text, told};

/// What each of these says is what the kernel answered.
const ATTEMPTS: [(&str, &str); 14] = [
    ("exec", "exec '/bin/echo', 'ran' or die \"$!\""),
    (
        "fork and exec",
        "exit 0 if (my $p = fork) && waitpid($p, 0) && $? == 0; exec '/bin/true' or die \"$!\"",
    ),
    (
        "exec by another descriptor",
        "open(my $f, '<', '/bin/true') or die \"open: $!\"; my ($e, $z) = (qq(\\0), pack('Q', 0)); \
         syscall(322, fileno($f), $e, $z, $z, 0x1000) == 0 or die \"$!\"",
    ),
    ("make", "open(my $f, '>', 'file') or die \"$!\""),
    ("append", "open(my $f, '>>', 'own') or die \"$!\""),
    ("read and write", "open(my $f, '+<', 'own') or die \"$!\""),
    ("remove", "unlink 'WORKSPACE/own' or die \"$!\""),
    (
        "rename",
        "rename 'WORKSPACE/own', 'WORKSPACE/other' or die \"$!\"",
    ),
    (
        "link",
        "link 'WORKSPACE/own', 'WORKSPACE/other' or die \"$!\"",
    ),
    ("mode", "chmod 0777, 'WORKSPACE/own' or die \"$!\""),
    ("folder", "mkdir 'WORKSPACE/folder' or die \"$!\""),
    ("empty", "truncate 'WORKSPACE/own', 0 or die \"$!\""),
    ("signal", "kill 0, getppid or die \"$!\""),
    (
        "socket",
        "use Socket; socket(my $s, PF_INET, SOCK_STREAM, 0) or die \"$!\"",
    ),
];

#[test]
fn text_executes_changes_signals_and_connects_nothing() {
    for caller in callers() {
        for (what, script) in ATTEMPTS {
            let site = Site::new(caller).text();
            let own = site.path("workspace/own");
            fs::write(&own, "own").unwrap();
            let owner = fs::metadata(site.path("workspace")).unwrap();
            chown(&own, Some(owner.uid()), Some(owner.gid())).unwrap();
            let workspace = site.path("workspace").display().to_string();
            let script = script.replace("WORKSPACE", &workspace);
            let output = site.perl(&format!("chdir '{workspace}'; {script}; print 'done'"));
            let told = told(&output);
            assert!(!output.status.success(), "{what}: {told}");
            assert!(told.contains("Operation not permitted"), "{what}: {told}");
            assert_eq!(fs::read_to_string(&own).unwrap(), "own", "{what}");
            let left = fs::read_dir(site.path("workspace")).unwrap().count();
            assert_eq!(left, 1, "{what}");
            // Without confinement it works, or the test would say nothing.
            let output = site
                .off()
                .perl(&format!("chdir '{workspace}'; {script}; print 'done'"));
            assert_success(&output);
        }
    }
}

#[test]
fn text_program_reads_and_answers() {
    for caller in callers() {
        let site = Site::new(caller).text();
        let output = site.perl("open(my $f, '<', '/etc/passwd') or die; print 'read ', -s $f > 0");
        assert_eq!(text(&output.stdout), "read 1", "{}", told(&output));
        let output = site.perl("exit 7");
        assert_eq!(output.status.code(), Some(7), "{}", told(&output));
    }
}

#[test]
fn text_leaves_no_number_for_the_descriptor_that_may_be_executed() {
    for caller in callers() {
        let site = Site::new(caller).text();
        // Every number is taken, from the lowest; none of them leads to another program.
        let output = site.perl(
            "my @held; while (open(my $f, '<', '/bin/echo')) { push @held, $f } \
             my ($e, $z) = (qq(\\0), pack('Q', 0)); \
             for my $n (0 .. 70000) { syscall(322, $n, $e, $z, $z, 0x1000) } \
             print scalar(@held) > 5 ? 'held' : 'none'",
        );
        assert_eq!(text(&output.stdout), "held", "{}", told(&output));
    }
}
