//! Daemons and units of turns that are killed at random, as in tests/torture.

use anyhow::{Result, ensure};

use crate::stage::{PROGRAMS, eventually, stage};

/// As many as fit into the time that one command in the machine may take.
const KILLS: usize = 120;

#[test]
#[ignore = "boots a machine, needs root"]
fn kills_of_daemons_and_units_lose_nothing() -> Result<()> {
    let stage = stage()?;
    let torture = stage.attempt(&format!(
        "{PROGRAMS}/torture --units scripted --kills {KILLS}"
    ))?;
    ensure!(torture.status == 0, "{}", torture.describe());
    // A process that was killed at its start is no reason to go on with less.
    stage.ask("scripted", "hello")?;
    eventually("a process stands ready, with namespaces", || {
        let listed =
            stage.user("systemctl --user list-units --plain --no-legend 'openclaw-turn-*'")?;
        let Some(unit) = listed.split_whitespace().next() else {
            return Ok(false);
        };
        Ok(stage.property(unit, "PrivateUsers")? == "yes")
    })
}
