//! Reload, restart, stop.

use anyhow::{Result, ensure};

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
