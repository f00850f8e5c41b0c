//! Reload, restart, stop.

use anyhow::{Context as _, Result, ensure};

use crate::stage::{DAEMONS, eventually, stage};

#[test]
#[ignore = "boots a machine, needs root"]
fn a_reload_keeps_the_process() -> Result<()> {
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

#[test]
#[ignore = "boots a machine, needs root"]
fn stopping_the_target_ends_everything() -> Result<()> {
    let stage = stage()?;
    stage.ask("main", "hello")?;
    stage.user("systemctl --user stop openclaw.target")?;
    eventually("no unit is active", || {
        let active = "systemctl --user list-units --no-legend --state=active,activating,deactivating \
             'openclaw*.socket' 'openclaw*.service'";
        Ok(stage.user(active)?.is_empty())
    })?;
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

#[test]
#[ignore = "boots a machine, needs root"]
fn a_restart_of_the_runner_lets_the_turn_finish() -> Result<()> {
    let stage = stage()?;
    let asking = stage.start_asking("scripted", "[[scenario:held drain]]")?;
    stage.wait_for_turns(1)?;
    let before = stage.property("openclaw-agent-runner.service", "MainPID")?;
    stage.user("systemctl --user restart --no-block openclaw-agent-runner.service")?;
    eventually("the runner is stopping", || {
        Ok(stage.property("openclaw-agent-runner.service", "ActiveState")? == "deactivating")
    })?;
    stage.model.release("drain");
    let answer = asking.wait_with_output().context("the client is gone")?;
    let said = String::from_utf8_lossy(&answer.stdout);
    ensure!(answer.status.success(), "{}: {said}", answer.status);
    ensure!(said.contains("sixteen."), "the end is missing: {said}");
    eventually("another process serves", || {
        let pid = stage.property("openclaw-agent-runner.service", "MainPID")?;
        Ok(pid != before && pid != "0")
    })
}
