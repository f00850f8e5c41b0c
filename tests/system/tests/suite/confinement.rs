//! What the daemons and the agents cannot reach, tried as an ordinary user.

use anyhow::{Result, ensure};

use crate::stage::{DAEMONS, KEY, Stage, eventually, stage};

#[test]
#[ignore = "boots a machine, needs root"]
fn confinement_every_daemon_has_a_filter_and_no_new_privileges() -> Result<()> {
    let stage = stage()?;
    stage.ask("main", "hello")?;
    for daemon in DAEMONS {
        let status = in_proc(&stage, daemon, "cat /proc/$pid/status")?;
        ensure!(status.contains("NoNewPrivs:\t1"), "{daemon}: {status}");
        ensure!(status.contains("Seccomp:\t2"), "{daemon}: {status}");
    }
    Ok(())
}

/// What `systemd-analyze security` makes of each daemon, in tenths: 0 is nothing exposed.
#[test]
#[ignore = "boots a machine, needs root"]
fn exposure_of_each_daemon_and_of_a_turn_is_bounded() -> Result<()> {
    let stage = stage()?;
    stage.ask("main", "hello")?;
    // The one that stands ready for the next message is a unit like every other.
    let turn = stage.user(
        "systemctl --user list-units --plain --no-legend 'openclaw-turn-*.service' | cut -d' ' -f1 | tail -n 1",
    )?;
    for (unit, most) in [
        ("openclaw-gateway.service", 20),
        ("openclaw-memory.service", 12),
        ("openclaw-agent-runner.service", 35),
        (turn.trim(), 40),
    ] {
        let line = format!("systemd-analyze --user security --no-pager {unit}");
        let said = stage.user(&line)?;
        let overall = said.lines().last().unwrap_or_default();
        let figure = overall
            .split(": ")
            .nth(1)
            .and_then(|it| it.split(' ').next());
        let tenths: u32 = figure.unwrap_or_default().replace('.', "").parse()?;
        eprintln!("{overall}");
        ensure!(tenths <= most, "{said}");
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn gateway_and_memory_do_not_see_the_user_bus() -> Result<()> {
    let stage = stage()?;
    stage.ask("main", "hello")?;
    for daemon in ["openclaw-gateway", "openclaw-memory"] {
        let seen = in_proc(
            &stage,
            daemon,
            // Not by type: a socket that is bound in has the type of its mount point there.
            "cd /proc/$pid/root/run/user && find . ! -type d",
        )?;
        ensure!(seen.contains("systemd/notify"), "{daemon}: {seen}");
        ensure!(!seen.contains("bus"), "{daemon}: {seen}");
        ensure!(!seen.contains("systemd/private"), "{daemon}: {seen}");
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn gateway_sees_of_the_home_its_state_and_its_program() -> Result<()> {
    let stage = stage()?;
    stage.user("echo secret >~/outside")?;
    stage.ask("main", "hello")?;
    let seen = in_proc(&stage, "openclaw-gateway", "ls -A /proc/$pid/root$HOME")?;
    assert_eq!(
        seen.split_whitespace().collect::<Vec<_>>(),
        [".local", ".openclaw"]
    );
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn memory_daemon_has_no_network() -> Result<()> {
    let stage = stage()?;
    stage.ask("main", "hello")?;
    let interfaces = in_proc(&stage, "openclaw-memory", "tail -n +3 /proc/$pid/net/dev")?;
    assert_eq!(interfaces.lines().count(), 1, "{interfaces}");
    ensure!(interfaces.trim().starts_with("lo:"), "{interfaces}");
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn confinement_only_the_runner_has_the_key() -> Result<()> {
    let stage = stage()?;
    stage.ask("scripted", "hello")?;
    for (daemon, holds) in [
        ("openclaw-gateway", false),
        ("openclaw-memory", false),
        ("openclaw-agent-runner", true),
    ] {
        let environment = in_proc(&stage, daemon, "tr '\\0' '\\n' </proc/$pid/environ")?;
        assert_eq!(environment.contains(KEY), holds, "{daemon}");
    }
    let seen = stage.ask(
        "main",
        "/run env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'",
    )?;
    ensure!(!seen.contains(KEY), "{seen}");
    ensure!(seen.contains("PATH="), "the command did not run: {seen}");
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn agent_writes_in_its_workspace_only() -> Result<()> {
    let stage = stage()?;
    stage.ask("main", "/run echo inside >inside.txt")?;
    assert_eq!(
        stage.user("cat ~/.openclaw/workspace/inside.txt")?,
        "inside"
    );
    for outside in [
        "/home/claw/outside.txt",
        "/var/tmp/outside.txt",
        "/home/claw/.openclaw/outside.txt",
    ] {
        let answer = stage.ask("main", &format!("/run touch {outside}"))?;
        let refused = [
            "No such file or directory",
            "Permission denied",
            "Read-only file system",
        ];
        ensure!(
            refused.iter().any(|words| answer.contains(words)),
            "{outside}: {answer}"
        );
    }
    assert_eq!(
        stage
            .attempt("ls ~/outside.txt ~/.openclaw/outside.txt /var/tmp/outside.txt")?
            .stdout,
        ""
    );
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn agent_reads_nothing_of_the_home() -> Result<()> {
    let stage = stage()?;
    stage.user("echo TOP-SECRET >~/private-key && chmod 600 ~/private-key")?;
    for path in [
        "/home/claw/private-key",
        "/home/claw/.openclaw/openclaw.json",
        "/home/claw/.config/openclaw/env",
    ] {
        let answer = stage.ask("main", &format!("/run cat {path}"))?;
        ensure!(
            answer.contains("No such file or directory"),
            "{path}: {answer}"
        );
        ensure!(
            !answer.contains("TOP-SECRET") && !answer.contains(KEY),
            "{answer}"
        );
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn agent_cannot_reach_the_service_manager() -> Result<()> {
    let stage = stage()?;
    let runtime = stage.user("echo $XDG_RUNTIME_DIR")?;
    for socket in [
        "bus",
        "systemd/private",
        "openclaw/gateway.sock",
        "openclaw/runner.sock",
    ] {
        let connect = format!(
            "/run perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) and connect(S,sockaddr_un(\"{runtime}/{socket}\")) \
             and print \"REACHED\"; print \"[$!]\"'"
        );
        let answer = stage.ask("main", &connect)?;
        ensure!(!answer.contains("REACHED"), "{socket}: {answer}");
        ensure!(answer.contains('['), "the probe did not run: {answer}");
    }
    let started = stage.ask(
        "main",
        "/run systemd-run --user --wait touch /home/claw/escaped",
    )?;
    assert_eq!(stage.attempt("ls ~/escaped")?.stdout, "", "{started}");
    Ok(())
}

/// A line of shell with `$pid` being the daemon's, which may still be on its way: an answer
/// does not wait long for memory.
fn in_proc(stage: &Stage, daemon: &str, line: &str) -> Result<String> {
    let number = format!("systemctl --user show -P MainPID {daemon}.service");
    eventually(&format!("{daemon} runs"), || {
        Ok(stage.user(&number)?.trim() != "0")
    })?;
    stage.user(&format!("pid=$({number}) && {line}"))
}
