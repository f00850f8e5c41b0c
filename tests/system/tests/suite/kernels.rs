//! Kernels of other machines, which QEMU boots: the level that each gives, and what gives more.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use system_tests::{Account, Machine, Network, is_emulated};

use crate::levels::{greeted, user};
use crate::stage::{bare_machine_with, eventually};

/// Debian's kernel, on whose command line `lsm=` takes Landlock away, and its own switches for user namespaces.
#[test]
#[ignore = "boots machines with a kernel of their own, needs root; OPENCLAW_TESTBED_MACHINE=qemu"]
fn kernels_without_a_feature_answer_at_the_level_that_is_left() -> Result<()> {
    const SWITCHES: [&str; 2] = [
        "kernel.unprivileged_userns_clone=0",
        "user.max_user_namespaces=0",
    ];
    if !has_kernel(
        "Debian's kernel without Landlock, user namespaces, and both",
        &[],
    )? {
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
        if without == "workspace" && !has_ports(&machine)? {
            no_cli(&machine)?;
        }
    }
    Ok(())
}

/// Whether Landlock rules over TCP ports here, which it does since Linux 6.7.
fn has_ports(machine: &Machine) -> Result<bool> {
    let release = machine.run(Account::Root, "uname -r")?.text()?;
    let mut numbers = release
        .split('.')
        .map_while(|number| number.parse::<u32>().ok());
    let version = (numbers.next(), numbers.next());
    Ok(version >= (Some(6), Some(7)))
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

/// Ubuntu 24.04 with its own kernel, whose AppArmor takes from whoever has no profile what a user namespace gives: the
/// reason is said, and the command that is said, word for word, gives the strict level.
#[test]
#[ignore = "boots a machine with a kernel of its own, needs root; OPENCLAW_TESTBED_MACHINE=qemu"]
fn ubuntu_answers_and_its_apparmor_permits_more_after_one_command() -> Result<()> {
    const UBUNTU: [(&str, &str); 2] = [
        ("OPENCLAW_TESTBED_SUITE", "noble"),
        ("OPENCLAW_TESTBED_PACKAGES", "apparmor,sudo"),
    ];
    if !has_kernel("Ubuntu 24.04 with AppArmor's restriction", &UBUNTU)? {
        return Ok(());
    }
    let machine = bare_machine_with(Network::Own, &UBUNTU)?;
    let root = |line: &str| machine.run(Account::Root, line)?.text();
    root("echo 'claw ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/claw")?;
    ensure!(root("sysctl -n kernel.apparmor_restrict_unprivileged_userns")? == "1");
    ensure!(root("cat /sys/kernel/security/lsm")?.contains("apparmor"));

    let runner = greeted(&machine, "workspace")?;
    let command = runner["sandboxStricter"].as_str().context("a command")?;
    ensure!(command.contains("sudo apparmor_parser -r"), "{command}");
    for said in ["openclawctl status", "openclawctl doctor; true"] {
        let said = user(&machine, said)?;
        for words in [
            "no namespaces of a turn's own",
            "is not permitted here",
            command,
        ] {
            ensure!(said.contains(words), "{words}: {said}");
        }
    }
    let ran = user(&machine, "openclawctl message '/run echo one command'")?;
    ensure!(ran.contains("one command"), "{ran}");

    user(&machine, command)?;
    eventually("the runner has found the strict level", || {
        let status = user(&machine, "openclawctl status --json")?;
        let status: Value = serde_json::from_str(&status).context("a status")?;
        Ok(status["runner"]["sandboxLevel"] == "strict")
    })?;
    let ran = user(
        &machine,
        "openclawctl message '/run ls -d /home/claw/.profile'",
    )?;
    ensure!(
        ran.contains("No such file or directory"),
        "the root of its own: {ran}"
    );
    greeted(&machine, "strict").map(drop)
}

/// Whether the machines of these tests can be made here; it is said when they cannot.
fn has_kernel(what: &str, variables: &[(&str, &str)]) -> Result<bool> {
    if !is_emulated() {
        test_skip::skipped(&format!(
            "{what}: OPENCLAW_TESTBED_MACHINE=qemu boots other kernels"
        ));
        return Ok(false);
    }
    let is_there = Machine::is_available(variables)?;
    if !is_there {
        let words: Vec<String> = variables
            .iter()
            .map(|(name, value)| format!("{name}={value} "))
            .collect();
        test_skip::skipped(&format!(
            "{what}: its kernel cannot be had; where there is a network, OPENCLAW_TESTBED_MACHINE=qemu {}\
             tests/system/testbed image fetches it",
            words.concat()
        ));
    }
    Ok(is_there)
}
