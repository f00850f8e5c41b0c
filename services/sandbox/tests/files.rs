//! Which files a confined program reaches.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use openclaw_sandbox::{identity, ownership};
use support::{Caller, Site, assert_refused, assert_success, callers, text, told};

#[test]
fn workspace_is_readable_writable_and_executable() {
    for caller in callers() {
        let site = Site::new(caller);
        let output = site.sh(
            "printf '#!/bin/sh\\necho ran' > tool && chmod +x tool && ./tool && mkdir -p a/b \
             && mv tool a/b/tool && cat a/b/tool > /dev/null && ln -s a link && pwd",
        );
        assert_success(&output);
        let workspace = site.path("workspace");
        assert_eq!(
            text(&output.stdout),
            format!("ran\n{}\n", workspace.display())
        );
        assert!(workspace.join("a/b/tool").exists());
    }
}

#[test]
fn files_nothing_outside_can_be_read_written_emptied_or_removed() {
    for caller in callers() {
        let site = Site::new(caller);
        let denied = "ermission denied";
        assert_refused(&site.sh("cat ../outside/file"), denied);
        assert_refused(&site.sh("ls ../outside"), denied);
        assert_refused(&site.sh("echo x >> ../outside/file"), denied);
        assert_refused(&site.sh("echo x > ../outside/new"), denied);
        assert_refused(&site.sh("rm ../outside/file"), denied);
        assert_refused(
            &site.perl("truncate('../outside/file', 0) or die $!"),
            denied,
        );
        assert_refused(&site.sh("echo x > /tmp/openclaw-sandbox-test"), denied);
        assert_refused(&site.sh("mv ../outside/file ."), "");
        assert_eq!(
            fs::read_to_string(site.path("outside/file")).unwrap(),
            "outside\n"
        );
    }
}

#[test]
fn same_attempts_work_with_the_level_off() {
    for caller in callers() {
        let site = Site::new(caller).off();
        assert_success(&site.sh("cat ../outside/file && ls ../outside"));
        assert_success(&site.sh("echo x >> ../outside/file && echo x > ../outside/new"));
        assert_success(&site.perl("truncate('../outside/file', 0) or die $!"));
        assert_success(&site.sh("rm ../outside/file"));
    }
}

#[test]
fn link_out_of_the_workspace_leads_nowhere() {
    for caller in callers() {
        let site = Site::new(caller);
        let output = site.sh("ln -s ../outside/file link && cat link");
        assert_refused(&output, "ermission denied");
    }
}

#[test]
fn read_only_grants_are_read_only() {
    for caller in callers() {
        let mut site = Site::new(caller);
        site.plan.read_only.push(site.path("outside"));
        assert_success(&site.sh("cat ../outside/file"));
        assert_refused(&site.sh("echo x >> ../outside/file"), "ermission denied");
        assert_refused(
            &site.sh("echo x >> /etc/openclaw-sandbox-test"),
            "ermission denied",
        );
    }
}

#[test]
fn devices_are_the_listed_ones() {
    for caller in callers() {
        let site = Site::new(caller);
        assert_success(&site.sh("echo x > /dev/null && head -c 4 /dev/urandom > random"));
        assert_refused(&site.sh("ls /dev"), "ermission denied");
    }
}

#[test]
fn files_what_other_processes_hold_stays_closed() {
    for caller in callers() {
        let site = Site::new(caller);
        let own = std::process::id();
        assert_refused(
            &site.sh(&format!("cat /proc/{own}/environ")),
            "ermission denied",
        );
        assert_success(&site.sh("cat /proc/self/environ"));
    }
}

#[test]
fn files_as_root_a_closed_home_is_empty_but_for_the_grants() {
    if !test_skip::is_root("a closed home") {
        return;
    }
    let mut site = Site::new(Caller::Root);
    let home = site.path("home");
    let workspace = home.join("state/workspace");
    let reference = home.join("reference");
    fs::create_dir_all(&workspace).unwrap();
    fs::create_dir_all(&reference).unwrap();
    fs::write(home.join("secret"), "secret").unwrap();
    fs::write(reference.join("page"), "page\n").unwrap();
    fs::write(home.join("note"), "note\n").unwrap();
    fs::set_permissions(&home, Permissions::from_mode(0o700)).unwrap();
    ownership::adopt(&workspace, &identity::agent("openclaw-agent").unwrap()).unwrap();
    site.plan.cwd = workspace.clone();
    site.plan.read_write = vec![workspace.clone()];
    site.plan
        .read_only
        .extend([reference.clone(), home.join("note")]);
    site.plan.hide = vec![home.clone(), "/tmp".into()];
    let script = "pwd; cat ../../note ../../reference/page; echo x > file; ls -a ../..; \
                  cat ../../secret; touch ../../reference/page; touch ../../new";
    let output = site.sh(script);
    let told = told(&output);
    let listing = format!("{}\nnote\npage\n", workspace.display());
    assert!(text(&output.stdout).starts_with(&listing), "{told}");
    assert!(told.contains("secret: No such file"), "{told}");
    assert!(
        !told.contains("touch: ok") && !output.status.success(),
        "{told}"
    );
    assert_eq!(fs::read_to_string(workspace.join("file")).unwrap(), "x\n");
    assert!(!home.join("new").exists());
    // Nothing of the view is seen outside.
    assert_eq!(fs::read_to_string(home.join("secret")).unwrap(), "secret");
}

/// A workspace in a home that is closed to the agent's user.
fn in_a_closed_home() -> Site {
    let mut site = Site::new(Caller::Root);
    let home = site.path("home");
    fs::create_dir_all(home.join("workspace")).unwrap();
    fs::set_permissions(&home, Permissions::from_mode(0o700)).unwrap();
    site.plan.cwd = home.join("workspace");
    site.plan.read_write = vec![home.join("workspace")];
    site
}

/// The helper started as containers start it: root, without CAP_SYS_ADMIN.
fn sh_without_mounts(site: &Site, script: &str) -> Output {
    let helper = site.command("/bin/sh", &["-c", script]);
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set", "-sys_admin", "--"]);
    command.arg(helper.get_program()).args(helper.get_args());
    let variables = helper.get_envs();
    command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    site.called(command).output().unwrap()
}

#[test]
fn files_as_root_without_a_view_a_closed_home_is_a_clear_error() {
    if !test_skip::is_root("a closed home without a view") {
        return;
    }
    let output = in_a_closed_home().sh("true");
    assert_eq!(output.status.code(), Some(125), "{}", told(&output));
    assert!(
        told(&output).contains("\"step\":\"chdir\""),
        "{}",
        told(&output)
    );
}

#[test]
fn files_as_root_without_mounts_the_view_is_missed_only_where_it_is_needed() {
    if !test_skip::is_root("a closed home without mounts") {
        return;
    }
    let mut closed = in_a_closed_home();
    closed.plan.hide = vec![closed.path("home")];
    let output = sh_without_mounts(&closed, "true");
    assert_eq!(output.status.code(), Some(125), "{}", told(&output));
    assert!(
        told(&output).contains("OPENCLAW_STATE_DIR"),
        "{}",
        told(&output)
    );

    let mut open = Site::new(Caller::Root);
    open.plan.hide = vec![open.path("outside")];
    assert_success(&sh_without_mounts(&open, "echo x > file"));
    let output = sh_without_mounts(&open, "cat ../outside/file");
    assert_refused(&output, "ermission denied");
}

/// Outside of the turn such a file would be its user to whoever runs it.
#[test]
fn files_that_run_as_their_user_or_group_cannot_be_made() {
    use nix::libc;
    let ways = [
        "chmod 04755, 'file'".to_owned(),
        "chmod 02755, 'file'".to_owned(),
        "chmod 02775, '.'".to_owned(),
        "open(F, 'file') && chmod 06755, *F".to_owned(),
        format!(
            "!syscall({}, -100, my $f = 'file', 04755)",
            libc::SYS_fchmodat
        ),
        "sysopen(F, 'new', 0101, 04755)".to_owned(),
        // O_TMPFILE, for linkat(2).
        "sysopen(F, '.', 020200002, 04755)".to_owned(),
        format!(
            "!syscall({}, -100, my $f = 'node', 0104755, 0)",
            libc::SYS_mknodat
        ),
    ];
    for caller in callers() {
        for site in [Site::new(caller), Site::new(caller).strict()] {
            let attempt = |way: &str| {
                let script = format!("umask 0; open(N, '>', 'file') or die; {way} or die $!");
                site.perl(&script)
            };
            for way in &ways {
                assert_refused(&attempt(way), "not permitted");
            }
            assert_success(&attempt("chmod 01777, 'file'"));
            assert_success(&attempt("sysopen(F, 'plain', 0101, 0755)"));
            // Without a file to make, what lies in the place of its mode means nothing.
            let unused = format!(
                "syscall({}, -100, my $f = 'file', 0, 04755) >= 0",
                libc::SYS_openat
            );
            assert_success(&attempt(&unused));
        }
        let off = Site::new(caller).off();
        assert_success(&off.perl("open(N, '>', 'file') or die; chmod 04755, 'file' or die $!"));
    }
}

/// With one, whoever opens the file outside of the turn would wait for it.
#[test]
fn files_cannot_be_leased_nor_watched() {
    for caller in callers() {
        for site in [Site::new(caller), Site::new(caller).strict()] {
            for (file, command) in [("F", nix::libc::F_SETLEASE), (".", nix::libc::F_NOTIFY)] {
                let hold = |argument: i32| {
                    site.perl(&format!(
                        "open(N, '>', 'F') or die; close N; sysopen(H, '{file}', 0) or die $!; \
                         fcntl(H, {command}, {argument}) or die $!"
                    ))
                };
                assert_refused(&hold(1), "not permitted");
            }
            // Asking for it changes nothing.
            let ask = format!("fcntl(STDIN, {}, 0) // 1", nix::libc::F_GETLEASE);
            assert_success(&site.perl(&ask));
        }
        let off = Site::new(caller).off();
        let lease = format!(
            "open(N, '>', 'F') or die; close N; sysopen(H, 'F', 0) or die $!; \
             fcntl(H, {}, 1) or die $!",
            nix::libc::F_SETLEASE
        );
        assert_success(&off.perl(&lease));
    }
}
