//! One run, followed across all daemons with one match.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};

use crate::stage::{DAEMONS, Stage, eventually, stage};

#[test]
#[ignore = "boots a machine, needs root"]
fn a_run_is_found_in_every_daemon() -> Result<()> {
    let stage = stage()?;
    let lines = stage
        .attempt("openclawctl message --json --agent scripted 'hello'")?
        .json_lines()?;
    let run = lines
        .iter()
        .find_map(|line| line["runId"].as_str())
        .with_context(|| format!("no runId in {lines:?}"))?
        .to_owned();
    let expected: BTreeSet<String> = DAEMONS.map(str::to_owned).into();
    // journald writes what it received a moment later.
    eventually("the run in the journal of all three daemons", || {
        Ok(identifiers(&stage, &run)?.is_superset(&expected))
    })
    .with_context(|| format!("found in {:?}", identifiers(&stage, &run)))
}

fn identifiers(stage: &Stage, run: &str) -> Result<BTreeSet<String>> {
    let records = stage.journal(&format!("OPENCLAW_RUN={run}"))?;
    Ok(records
        .iter()
        .filter_map(|record| record["SYSLOG_IDENTIFIER"].as_str())
        .map(str::to_owned)
        .collect())
}
