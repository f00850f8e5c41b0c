//! Sockets first; the daemons when they are needed.

use anyhow::{Result, ensure};

use crate::stage::{DAEMONS, stage};

#[test]
#[ignore = "boots a machine, needs root"]
fn first_message_starts_the_daemons() -> Result<()> {
    let stage = stage()?;
    for daemon in DAEMONS {
        assert_eq!(
            stage.property(&format!("{daemon}.socket"), "ActiveState")?,
            "active"
        );
        assert_eq!(
            stage.property(&format!("{daemon}.service"), "ActiveState")?,
            "inactive"
        );
    }
    let answer = stage.ask("main", "hello")?;
    ensure!(!answer.is_empty(), "an empty answer");
    for daemon in DAEMONS {
        let state = stage.property(&format!("{daemon}.service"), "ActiveState")?;
        assert_eq!(state, "active", "{daemon} after a message");
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn model_answers_through_the_sandboxed_agent() -> Result<()> {
    let stage = stage()?;
    let answer = stage.ask("scripted", "[[scenario:text It works on Debian.]]")?;
    ensure!(answer.contains("It works on Debian."), "{answer}");
    let asked = stage.model.turns();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        asked[0].header("x-api-key"),
        Some(crate::stage::KEY),
        "the runner adds the key"
    );
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn sockets_are_for_the_user_alone() -> Result<()> {
    let stage = stage()?;
    let modes = stage.user("stat -c '%a %n' $XDG_RUNTIME_DIR/openclaw/*.sock")?;
    // The control socket, that of channels, and those of the two others.
    assert_eq!(modes.lines().count(), 4, "{modes}");
    for line in modes.lines() {
        ensure!(line.starts_with("600 "), "{line}");
    }
    assert_eq!(stage.user("stat -c %a $XDG_RUNTIME_DIR/openclaw")?, "700");
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn status_line_has_live_figures() -> Result<()> {
    let stage = stage()?;
    stage.ask("main", "hello")?;
    for daemon in DAEMONS {
        let status = stage.property(&format!("{daemon}.service"), "StatusText")?;
        ensure!(
            status.contains(|character: char| character.is_ascii_digit()),
            "{daemon}: {status:?}"
        );
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn systemd_finds_nothing_wrong_with_the_units() -> Result<()> {
    let stage = stage()?;
    let checked =
        stage.attempt("systemd-analyze --user verify ~/.config/systemd/user/openclaw*.{service,socket,slice,target}")?;
    assert_eq!(checked.status, 0, "{}", checked.describe());
    assert_eq!(checked.stderr, "", "{}", checked.describe());
    Ok(())
}
