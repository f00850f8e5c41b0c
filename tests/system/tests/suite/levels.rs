//! The level of the sandbox where none is set, on machines that give less: the first answer always comes, and what the
//! machine lacks is said with what gives it.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use system_tests::{Account, Machine, Network, is_emulated};

use crate::stage::{PROGRAMS, SOURCE, bare_machine, bare_machine_with, eventually};

/// What the user's manager, and with it every unit of it, is kept from.
const NO_NAMESPACES: &str = "RestrictNamespaces=~user\\n";
const NO_LANDLOCK: &str = "SystemCallFilter=~landlock_create_ruleset landlock_add_rule landlock_restrict_self\\n\
    SystemCallErrorNumber=ENOSYS\\n";

/// Starts the user's manager anew, with these lines.
fn keep_from(machine: &Machine, lines: &str) -> Result<()> {
    let script = format!(
        "mkdir -p /etc/systemd/system/user@.service.d \
         && printf '[Service]\\n{lines}' >/etc/systemd/system/user@.service.d/less.conf \
         && systemctl daemon-reload && systemctl restart user@1000.service"
    );
    machine.run(Account::Root, &script)?.success().map(drop)
}

fn user(machine: &Machine, line: &str) -> Result<String> {
    machine.run(Account::Claw, line)?.text()
}

/// Installs the suite for the user, greets it and looks what it says of its level.
fn greeted(machine: &Machine, level: &str) -> Result<Value> {
    let installed = user(
        machine,
        &format!("{SOURCE}/packaging/install --from {PROGRAMS}"),
    )?;
    let words = format!("the strictest level here: {level}");
    ensure!(installed.contains(&words), "{words}: {installed}");
    user(machine, "systemctl --user restart openclaw.target")?;
    let said = user(machine, "openclawctl message --session new-$RANDOM hello")?;
    let status = user(machine, "openclawctl status --json")?;
    judged(&said, &status, level)
}

/// Whether the answer and the status are those of `level`; the runner's status.
fn judged(said: &str, status: &str, level: &str) -> Result<Value> {
    ensure!(said.contains("Hello!"), "{said}");
    ensure!(
        said.contains("level \"text\"") == (level == "text"),
        "{said}"
    );
    let status: Value = serde_json::from_str(status).context("a status")?;
    let runner = status["runner"].clone();
    ensure!(runner["sandboxLevel"] == level, "{level}: {runner}");
    ensure!(
        runner["sandboxStricter"].is_null() == (level == "strict"),
        "{runner}"
    );
    Ok(runner)
}

/// Does it as root without a service manager, as in a container: `shell` runs a line of shell there.
fn greeted_by_run(level: &str, shell: impl Fn(&str) -> Result<String>) -> Result<Value> {
    let script = format!(
        "export PATH={PROGRAMS}:$PATH HOME=$(mktemp -d); \
         openclawctl run >$HOME/log 2>&1 </dev/null & \
         openclawctl status --wait 60 >/dev/null || cat $HOME/log; \
         openclawctl message hello; echo; echo STATUS; openclawctl status --json; openclawctl run --stop >/dev/null"
    );
    let told = shell(&script)?;
    let (said, status) = told.split_once("STATUS").with_context(|| told.clone())?;
    judged(said, status, level)
}

#[test]
#[ignore = "boots a machine, needs root"]
fn the_users_suite_answers_at_the_level_that_is_left() -> Result<()> {
    // Where the kernel is another one, its switches are tried below.
    if is_emulated() {
        return Ok(());
    }
    let machine = bare_machine(Network::Own)?;
    greeted(&machine, "strict")?;
    keep_from(&machine, NO_LANDLOCK)?;
    greeted(&machine, "namespaces")?;
    keep_from(&machine, &format!("{NO_NAMESPACES}{NO_LANDLOCK}"))?;
    greeted(&machine, "text")?;
    keep_from(&machine, NO_NAMESPACES)?;
    greeted(&machine, "workspace")?;
    let ran = user(&machine, "openclawctl message '/run echo one command'")?;
    ensure!(ran.contains("one command"), "{ran}");
    let said = user(
        &machine,
        "openclawctl doctor | grep -A1 '^warn  sandbox level'",
    )?;
    ensure!(
        said.contains("no namespaces of a turn's own") && said.contains("fix: "),
        "{said}"
    );
    let log = user(
        &machine,
        "journalctl --user -u openclaw-agent-runner.service --no-pager",
    )?;
    ensure!(log.contains("the sandbox is at level workspace: "), "{log}");
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn a_level_that_is_set_is_refused_until_the_user_says_otherwise() -> Result<()> {
    let machine = bare_machine(Network::Own)?;
    keep_from(&machine, NO_NAMESPACES)?;
    user(
        &machine,
        &format!(
            "mkdir -m 700 ~/.openclaw && echo '{{ sandbox: {{ level: \"strict\" }} }}' >~/.openclaw/openclaw.json \
             && {SOURCE}/packaging/install --from {PROGRAMS} && systemctl --user start openclaw.target"
        ),
    )?;
    let refused = machine.run(Account::Claw, "openclawctl message hello")?;
    ensure!(refused.status == 1, "{}", refused.describe());
    for words in ["own_root", "sandbox.missing", "sandbox.level"] {
        let is_said = refused.stderr.contains(words);
        ensure!(is_said, "{words}: {}", refused.describe());
    }
    let status = user(&machine, "openclawctl status")?;
    ensure!(status.contains("strict, refused"), "{status}");
    user(&machine, "openclawctl config set sandbox.missing weaken")?;
    eventually("the daemons have read it", || {
        let hello = machine.run(Account::Claw, "openclawctl message hello")?;
        Ok(hello.status == 0)
    })?;
    let status = user(&machine, "openclawctl status")?;
    ensure!(
        status.contains("workspace") && status.contains("weakened"),
        "{status}"
    );
    Ok(())
}

/// As a container has it that was given nothing: some capabilities, and a filter.
#[test]
#[ignore = "boots a machine, needs root"]
fn root_without_systemd_answers_at_the_level_that_is_left() -> Result<()> {
    const SOME: &str = "CAP_CHOWN CAP_DAC_OVERRIDE CAP_FSETID CAP_FOWNER CAP_NET_RAW CAP_SETGID CAP_SETUID CAP_SETFCAP \
        CAP_SETPCAP CAP_NET_BIND_SERVICE CAP_SYS_CHROOT CAP_KILL CAP_AUDIT_WRITE";
    let machine = bare_machine(Network::Own)?;
    let contained = |properties: &[&str], line: &str| {
        let mut words = String::from("systemd-run --quiet --wait --pipe --collect");
        for property in properties {
            words.push_str(&format!(" -p '{property}'"));
        }
        // Not that of a unit: the runner is to find no service manager.
        let line = format!("unset SYSTEMD_EXEC_PID; {line}");
        let line = line.replace('\'', r"'\''");
        machine
            .run(Account::Root, &format!("{words} bash -c '{line}'"))?
            .text()
    };
    let some = format!("CapabilityBoundingSet={SOME}");
    let refused = "SystemCallFilter=~unshare setns mount umount2 pivot_root";
    let landlock =
        "SystemCallFilter=~landlock_create_ruleset landlock_add_rule landlock_restrict_self";
    greeted_by_run("strict", |line| contained(&[], line))?;
    greeted_by_run("namespaces", |line| {
        contained(&[landlock, "SystemCallErrorNumber=EPERM"], line)
    })?;
    let container = [some.as_str(), refused, "SystemCallErrorNumber=EPERM"];
    let runner = greeted_by_run("text", |line| contained(&container, line))?;
    let stricter = runner["sandboxStricter"].as_str().unwrap_or_default();
    ensure!(stricter.contains("--cap-add SYS_ADMIN"), "{runner}");
    let without = [
        some.as_str(),
        refused,
        landlock,
        "SystemCallErrorNumber=EPERM",
    ];
    greeted_by_run("text", |line| contained(&without, line))?;
    // It can become nobody else.
    let stuck = [
        "CapabilityBoundingSet=",
        refused,
        landlock,
        "SystemCallErrorNumber=EPERM",
    ];
    let runner = greeted_by_run("text", |line| contained(&stuck, line))?;
    ensure!(
        runner["sandboxWeaker"]
            .to_string()
            .contains("agents run as root"),
        "{runner}"
    );
    Ok(())
}

/// Debian's podman, used by the ordinary user, on a copy of what the suite needs of the machine.
#[test]
#[ignore = "boots a machine, needs root"]
fn a_rootless_container_answers_at_the_level_that_it_gives() -> Result<()> {
    const PACKAGES: [(&str, &str); 1] = [(
        "OPENCLAW_TESTBED_PACKAGES",
        "podman,crun,containernetworking-plugins",
    )];
    if is_emulated() {
        return Ok(());
    }
    let machine = bare_machine_with(Network::Own, &PACKAGES)?;
    user(
        &machine,
        "mkdir -p c/{etc,proc,sys,dev,tmp,root,run,home,var,opt/openclaw-programs,usr/lib/x86_64-linux-gnu} \
         && chmod 1777 c/tmp && cp -a /usr/bin /usr/lib64 c/usr && ln -s usr/bin usr/lib usr/lib64 c \
         && cp -a /usr/lib/x86_64-linux-gnu/*.so* c/usr/lib/x86_64-linux-gnu \
         && cp /etc/passwd /etc/group /etc/nsswitch.conf c/etc",
    )?;
    let contained = |options: &str, line: &str| {
        let line = line.replace('\'', r"'\''");
        user(
            &machine,
            &format!(
                "podman --storage-driver=vfs --cgroup-manager=cgroupfs run --rm --cgroups=disabled --network=host {options} \
                 -v {PROGRAMS}:{PROGRAMS}:ro --rootfs ~/c bash -c '{line}'"
            ),
        )
    };
    let runner = greeted_by_run("text", |line| contained("", line))?;
    ensure!(runner["agentUser"] == "nobody", "{runner}");
    // What it says gives more does.
    let given = "--cap-add SYS_ADMIN --cap-add NET_ADMIN";
    ensure!(
        runner["sandboxStricter"].to_string().contains(given),
        "{runner}"
    );
    greeted_by_run("strict", |line| contained(given, line))?;
    let runner = greeted_by_run("workspace", |line| contained("--cap-drop=all", line))?;
    ensure!(runner["agentUser"].is_null(), "{runner}");
    Ok(())
}

/// Debian's kernel, on whose command line `lsm=` takes Landlock away, and its own switches for user namespaces.
#[test]
#[ignore = "boots machines with a kernel of their own, needs root; OPENCLAW_TESTBED_MACHINE=qemu"]
fn kernels_without_a_feature_answer_at_the_level_that_is_left() -> Result<()> {
    const SWITCHES: [&str; 2] = [
        "kernel.unprivileged_userns_clone=0",
        "user.max_user_namespaces=0",
    ];
    if !is_emulated() {
        return Ok(());
    }
    for (words, with, without) in [
        ("", "strict", "workspace"),
        ("lsm=lockdown,yama,apparmor", "namespaces", "text"),
    ] {
        let machine = bare_machine_with(Network::Own, &[("OPENCLAW_TESTBED_KERNEL", words)])?;
        greeted(&machine, with)?;
        for switch in SWITCHES {
            machine
                .run(Account::Root, &format!("sysctl -q {switch}"))?
                .success()?;
            let runner = greeted(&machine, without)?;
            let (name, _) = switch.split_once('=').context("a switch")?;
            ensure!(
                runner["sandboxStricter"].to_string().contains(name),
                "{switch}: {runner}"
            );
            let back = if name.starts_with("user.") { 10000 } else { 1 };
            machine
                .run(Account::Root, &format!("sysctl -q {name}={back}"))?
                .success()?;
        }
        if without == "workspace" {
            no_cli(&machine)?;
        }
    }
    Ok(())
}

/// Landlock of Linux 6.1 has no rules for ports: a CLI with a login is passed over, and refused where it is configured.
fn no_cli(machine: &Machine) -> Result<()> {
    machine
        .run(Account::Root, "sysctl -q user.max_user_namespaces=0")?
        .success()?;
    user(
        machine,
        "mkdir -p .local/bin && printf '#!/bin/sh\\nexit 1\\n' >.local/bin/claude && chmod 755 .local/bin/claude \
         && mkdir -p .config/openclaw && echo CLAUDE_CODE_OAUTH_TOKEN=made-up >.config/openclaw/env",
    )?;
    let runner = greeted(machine, "workspace")?;
    ensure!(runner["backend"] == "offline", "{runner}");
    user(
        machine,
        "openclawctl config set agents.defaults.backend claude-cli",
    )?;
    eventually("the CLI is refused", || {
        let refused = machine.run(Account::Claw, "openclawctl message hello")?;
        Ok(refused.status == 1 && refused.stderr.contains("Landlock version 4"))
    })
}
