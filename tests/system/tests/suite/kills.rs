//! Daemons that are killed.

use anyhow::{Result, ensure};

use crate::stage::{DAEMONS, stage};

/// More than systemd's defaults allow for a service (5 in 10 s), and as many as they allow for a socket (20 in 2 s).
const QUICK_KILLS: usize = 20;

#[test]
#[ignore = "boots a machine, needs root"]
fn message_after_a_kill_is_answered() -> Result<()> {
    let stage = stage()?;
    stage.ask("main", "hello")?;
    for daemon in DAEMONS {
        stage.user(&format!(
            "systemctl --user kill --signal=KILL --kill-who=main {daemon}.service"
        ))?;
        let answer = stage.ask("scripted", &format!("[[scenario:text without {daemon}]]"))?;
        ensure!(answer.contains(&format!("without {daemon}")), "{answer}");
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn quick_kills_leave_no_failed_socket() -> Result<()> {
    let stage = stage()?;
    stage.ask("main", "hello")?;
    for daemon in DAEMONS {
        // kill fails while there is no main process, between a kill and the restart.
        stage.user(&format!(
            "for ((kills = 0; kills < {QUICK_KILLS};)); do \
             systemctl --user kill --signal=KILL --kill-who=main {daemon}.service 2>/dev/null && ((++kills)); done; true"
        ))?;
        stage.ask("main", "hello")?;
        let state = stage.property(&format!("{daemon}.socket"), "ActiveState")?;
        assert_eq!(state, "active", "{daemon}.socket");
    }
    assert_eq!(
        stage.user("systemctl --user list-units --failed --no-legend 'openclaw*'")?,
        ""
    );
    Ok(())
}
