//! Reload, restart, stop.

use anyhow::{Result, ensure};

use crate::stage::{DAEMONS, Stage, eventually, stage};

#[test]
#[ignore = "boots a machine, needs root"]
fn reload_keeps_the_process() -> Result<()> {
    let stage = stage()?;
    stage.ask("main", "hello")?;
    for daemon in DAEMONS {
        let unit = format!("{daemon}.service");
        let before = stage.property(&unit, "MainPID")?;
        stage.user(&format!("systemctl --user reload {unit}"))?;
        eventually("active after the reload", || {
            Ok(stage.property(&unit, "ActiveState")? == "active")
        })?;
        assert_eq!(stage.property(&unit, "MainPID")?, before, "{daemon}");
    }
    ensure!(!stage.ask("main", "hello")?.is_empty());
    Ok(())
}

/// What OpenClaw leaves may be open to others. The memory daemon starts first here, and sees the agents' folders
/// read-only: the one that may write them mends them.
#[test]
#[ignore = "boots a machine, needs root"]
fn folders_that_are_open_to_others_are_mended_whoever_starts_first() -> Result<()> {
    let stage = stage()?;
    let folders = "~/.openclaw ~/.openclaw/agents ~/.openclaw/agents/main ~/.openclaw/memory";
    stage.ask("main", "hello")?;
    stage.user(&format!(
        "systemctl --user stop openclaw.target 'openclaw-*'; chmod 755 {folders} \
         && systemctl --user start openclaw.target && systemctl --user start openclaw-memory.service"
    ))?;
    stage.ask("main", "hello")?;
    let modes = stage.user(&format!("stat -c %a {folders}"))?;
    assert_eq!(modes.split_whitespace().collect::<Vec<_>>(), ["700"; 4]);
    Ok(())
}

/// In a shell of su(1), too, which does not say where the manager is.
#[test]
#[ignore = "boots a machine, needs root"]
fn doctor_mends_units_that_failed_and_files_that_changed() -> Result<()> {
    let stage = stage()?;
    stage.user(
        "touch -d '+1 hour' ~/.config/systemd/user/openclaw-memory.service \
         && ! systemd-run --user --wait --unit=openclaw-gone.service false",
    )?;
    let doctor = |options: &str| {
        let line = format!("env -u XDG_RUNTIME_DIR openclawctl doctor {options}; true");
        stage.user(&line)
    };
    let found = doctor("")?;
    for wrong in ["openclaw-gone.service has failed", "were changed since"] {
        ensure!(found.contains(wrong), "{found}");
    }
    let mended = doctor("--fix")?;
    for right in ["may start again", "has read the units again"] {
        ensure!(mended.contains(right), "{mended}");
    }
    let again = doctor("--fix")?;
    ensure!(
        again.contains("there is nothing that could be mended"),
        "{again}"
    );
    ensure!(!stage.ask("main", "hello")?.is_empty());
    Ok(())
}

/// Who asks again and again is answered, and the sockets stay open for the version that is installed then.
#[test]
#[ignore = "boots a machine, needs root"]
fn state_of_a_newer_version_is_told_to_everyone_who_asks() -> Result<()> {
    let stage = stage()?;
    stage.ask("main", "hello")?;
    // The version of a database's tables is the number at its byte 60, big-endian.
    let version = |byte: &str| {
        format!(
            "systemctl --user stop openclaw.target && systemctl --user stop openclaw-gateway.service \
             && printf '\\{byte}' | dd of=$HOME/.openclaw/state/ledger.sqlite bs=1 seek=63 conv=notrunc status=none \
             && systemctl --user start openclaw.target"
        )
    };
    let before = stage.user("od -An -j63 -N1 -to1 ~/.openclaw/state/ledger.sqlite")?;
    stage.user(&version("143"))?;
    let told = newer_state_is_told(&stage);
    // Whatever was told: the other tests have the same machine.
    stage.user(&version(before.trim()))?;
    told?;
    ensure!(!stage.ask("main", "hello")?.is_empty());
    Ok(())
}

/// Many times, one right after the other: daemons are started meanwhile that cannot work either.
fn newer_state_is_told(stage: &Stage) -> Result<()> {
    for _ in 0..6 {
        for _ in 0..2 {
            let said = stage.user("timeout 5 openclawctl message hello 2>&1; echo \"exit $?\"")?;
            for words in ["cannot start", "newer than", "exit 78"] {
                ensure!(said.contains(words), "{said}");
            }
        }
        for asked in ["status", "doctor"] {
            let said = stage.user(&format!("openclawctl {asked}; true"))?;
            ensure!(said.contains("newer than"), "{asked}: {said}");
        }
    }
    let state = stage.property("openclaw-control.socket", "ActiveState")?;
    ensure!(state == "active", "{state}");
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn stopping_the_target_ends_everything() -> Result<()> {
    let stage = stage()?;
    stage.ask("main", "hello")?;
    ends_everything(&stage)?;
    for daemon in DAEMONS {
        let result = stage.property(&format!("{daemon}.service"), "Result")?;
        assert_eq!(result, "success", "{daemon} ended by itself on SIGTERM");
    }
    assert_eq!(stage.user("ls $XDG_RUNTIME_DIR/openclaw")?, "");
    assert_eq!(stage.attempt("pgrep -f '/[o]penclaw-'")?.status, 1);
    let refused = stage.attempt("openclawctl message hello")?;
    ensure!(refused.status != 0, "{}", refused.describe());
    Ok(())
}

/// Stops the target and waits until neither a socket nor a daemon of it is active.
fn ends_everything(stage: &Stage) -> Result<()> {
    stage.user("systemctl --user stop openclaw.target")?;
    eventually("no unit is active", || {
        let active = "systemctl --user list-units --no-legend --state=active,activating,deactivating \
             'openclaw*.socket' 'openclaw*.service'";
        Ok(stage.user(active)?.is_empty())
    })
}

/// Who starts it right after its stop has it, with its sockets, whichever of the two
/// systemd comes to first.
#[test]
#[ignore = "boots a machine, needs root"]
fn start_right_after_a_stop_leaves_the_sockets_open() -> Result<()> {
    let stage = stage()?;
    for pause in [
        "",
        "sleep 0.01;",
        "sleep 0.02;",
        "sleep 0.03;",
        "sleep 0.05;",
    ] {
        stage.user(&format!(
            "systemctl --user stop openclaw.target; {pause} systemctl --user start openclaw.target"
        ))?;
        stage.ask("main", "hello")?;
    }
    Ok(())
}

/// More often than systemd's own limit lets a unit start (five times in 10 s): none of them may
/// fail for that, or the next stop leaves what it should end.
#[test]
#[ignore = "boots a machine, needs root"]
fn target_stopped_and_started_often_still_starts_and_ends_everything() -> Result<()> {
    let stage = stage()?;
    let both = "systemctl --user stop openclaw.target; systemctl --user start openclaw.target";
    stage.user(&format!("for n in $(seq 12); do {both}; done"))?;
    stage.ask("main", "hello")?;
    let failed = "systemctl --user list-units --no-legend --state=failed 'openclaw*'";
    assert_eq!(stage.user(failed)?, "");
    ends_everything(&stage)
}
