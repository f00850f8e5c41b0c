//! What a message takes where every turn is a transient unit.

use std::io::Write as _;

use anyhow::{Result, ensure};

use crate::stage::{MEASURED, PROGRAMS, stage};

/// The figures mean something with a release build only (`OPENCLAW_TESTBED_PROGRAMS`); that all messages are answered,
/// always.
#[test]
#[ignore = "boots a machine, needs root"]
fn messages_are_answered_one_after_the_other() -> Result<()> {
    let stage = stage()?;
    // A release build too, where the programs are one: its work is part of what is measured.
    let model = format!("{PROGRAMS}/scripted-model --listen {MEASURED}");
    stage.user(&format!(
        "systemd-run --user --quiet --unit=measured-model {model}"
    ))?;
    let bench = stage.attempt(&format!("{PROGRAMS}/suite-bench --units measured"))?;
    stage.user("systemctl --user stop measured-model.service")?;
    ensure!(bench.status == 0, "{}", bench.describe());
    writeln!(std::io::stderr(), "{}", bench.stdout)?;
    Ok(())
}
