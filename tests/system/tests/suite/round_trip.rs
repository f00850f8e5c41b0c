//! What a message takes where every turn is a transient unit.

use std::io::Write as _;

use anyhow::{Result, ensure};

use crate::stage::{PROGRAMS, stage};

/// The figures mean something with a release build only (`OPENCLAW_TESTBED_PROGRAMS`); that all messages are answered,
/// always.
#[test]
#[ignore = "boots a machine, needs root"]
fn messages_are_answered_one_after_the_other() -> Result<()> {
    let stage = stage()?;
    let bench = stage.attempt(&format!("{PROGRAMS}/suite-bench --units scripted"))?;
    ensure!(bench.status == 0, "{}", bench.describe());
    writeln!(std::io::stderr(), "{}", bench.stdout)?;
    Ok(())
}
