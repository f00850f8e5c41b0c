//! The suite in containers: what their engines keep from them, and what gives more.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use system_tests::{Account, Network, is_emulated};

use crate::levels::{greeted_by_run, user};
use crate::stage::{EQUIPPED, PROGRAMS, SOURCE, bare_machine_with};

/// The options of a container that are said to give a stricter level.
fn options(runner: &Value) -> Result<String> {
    let said = runner["sandboxStricter"].as_str();
    let said = said.with_context(|| format!("nothing stricter: {runner}"))?;
    let mut words = said.split_whitespace();
    let mut options = Vec::new();
    while let Some(word) = words.next() {
        if word == "--cap-add" || word == "--security-opt" {
            options.extend([word, words.next().unwrap_or_default()]);
        }
    }
    ensure!(!options.is_empty(), "no options: {said}");
    Ok(options.join(" "))
}

/// Debian's podman, used by the ordinary user, on a copy of what the suite needs of the machine.
#[test]
#[ignore = "boots a machine, needs root"]
fn rootless_container_answers_at_the_level_that_it_gives() -> Result<()> {
    if is_emulated() {
        test_skip::skipped("a rootless container: tried without QEMU");
        return Ok(());
    }
    let machine = bare_machine_with(Network::Own, &EQUIPPED)?;
    user(
        &machine,
        "mkdir -p c/{etc,proc,sys,dev,tmp,root,run,home,var,opt/openclaw-programs,usr/lib/x86_64-linux-gnu} \
         && chmod 1777 c/tmp && cp -a /usr/bin /usr/lib64 c/usr && ln -s usr/bin usr/lib usr/lib64 c \
         && cp -a /usr/sbin c/usr && ln -s usr/sbin c && cp -a /usr/lib/x86_64-linux-gnu/*.so* c/usr/lib/x86_64-linux-gnu \
         && (cp -a /etc/. c/etc 2>/dev/null; touch c/etc/shadow c/etc/gshadow)",
    )?;
    let contained = |options: &str, line: &str| {
        let line = line.replace('\'', r"'\''");
        user(
            &machine,
            &format!(
                "podman --storage-driver=vfs --cgroup-manager=cgroupfs run --rm --cgroups=disabled --network=host {options} \
                 -v {PROGRAMS}:{PROGRAMS}:ro -v {SOURCE}:{SOURCE}:ro --rootfs ~/c bash -c '{line}'"
            ),
        )
    };
    // Where no user can be made for the agents.
    let runner = greeted_by_run("workspace", |line| contained("--cap-drop=all", line))?;
    ensure!(runner["agentUser"].is_null(), "{runner}");
    let runner = greeted_by_run("text", |line| contained("", line))?;
    ensure!(runner["agentUser"] == "openclaw-agent", "{runner}");
    let more = options(&runner)?;
    greeted_by_run("strict", |line| contained(&more, line)).map(drop)
}

/// Debian's docker, with an image of the machine itself.
#[test]
#[ignore = "boots a machine, needs root"]
fn container_of_docker_answers_at_the_level_that_it_gives() -> Result<()> {
    /// Not the control groups of the machine that this one runs on, which it only reads. The network is that of the
    /// machine, which has none to share.
    const ENGINE: &str = "systemctl stop docker.service docker.socket containerd.service; \
        systemd-run --quiet --unit=engine -p Type=notify -p NotifyAccess=all -p PrivateMounts=yes bash -c \
        'mount -t cgroup2 none /sys/fs/cgroup && exec dockerd --storage-driver vfs --iptables=false --bridge=none \
        --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent /system.slice'";
    const IMAGE: &str = "tar -C / --one-file-system --exclude='./tmp/*' --exclude='./run/*' --exclude=./var/lib/docker \
        --exclude=./opt -c . | docker import - debian >/dev/null";
    if is_emulated() {
        test_skip::skipped("a container of docker: tried without QEMU");
        return Ok(());
    }
    let machine = bare_machine_with(Network::Own, &EQUIPPED)?;
    let root = |line: &str| machine.run(Account::Root, line)?.text();
    root(ENGINE)?;
    root(IMAGE)?;
    let contained = |options: &str, line: &str| {
        let line = line.replace('\'', r"'\''");
        root(&format!(
            "docker run --rm --network host {options} -v {PROGRAMS}:{PROGRAMS}:ro -v {SOURCE}:{SOURCE}:ro debian bash -c '{line}'"
        ))
    };
    let runner = greeted_by_run("text", |line| contained("", line))?;
    ensure!(runner["agentUser"] == "openclaw-agent", "{runner}");
    let more = options(&runner)?;
    greeted_by_run("strict", |line| contained(&more, line))?;
    let runner = greeted_by_run("workspace", |line| contained("--user claw", line))?;
    ensure!(runner["agentUser"].is_null(), "{runner}");
    let more = format!("--user claw {}", options(&runner)?);
    greeted_by_run("strict", |line| contained(&more, line)).map(drop)
}
