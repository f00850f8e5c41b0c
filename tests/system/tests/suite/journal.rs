//! One run, followed across all daemons with one match.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};

use crate::stage::{DAEMONS, SOURCE, Stage, eventually, quoted, stage};

#[test]
#[ignore = "boots a machine, needs root"]
fn run_is_found_in_every_daemon() -> Result<()> {
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

/// Lines of a turn at level info, whatever it does.
const LINES: usize = 12;

#[test]
#[ignore = "boots a machine, needs root"]
fn run_is_told_by_openclawctl_and_explained_by_journalctl() -> Result<()> {
    let stage = stage()?;
    stage.root(&format!(
        "install -D -m 644 {SOURCE}/packaging/openclaw.catalog \
         /usr/local/lib/systemd/catalog/openclaw.catalog && journalctl --update-catalog"
    ))?;
    let call = r#"{"name": "list_directory", "arguments": {"path": "."}}"#;
    let message = format!("[[scenario:tools [{}]]]", [call; 20].join(", "));
    let line = format!(
        "openclawctl message --json --agent scripted {}",
        quoted(&message)
    );
    let lines = stage.attempt(&line)?.json_lines()?;
    let run = lines.iter().find_map(|line| line["runId"].as_str());
    let run = run.with_context(|| format!("no runId in {lines:?}"))?;
    // journald writes what it received a moment later.
    let told = || stage.attempt(&format!("openclawctl logs --run {run}"));
    eventually("the whole story of a run", || {
        Ok(told()?.stdout.contains("run ended"))
    })?;
    let story = told()?.text()?;
    for part in [
        "run accepted",
        "run started",
        "the turn starts",
        "list_directory",
        "the turn ended",
    ] {
        ensure!(story.contains(part), "no {part:?} in:\n{story}");
    }
    let records = stage.journal(&format!("OPENCLAW_RUN={run} PRIORITY=6"))?;
    ensure!(records.len() <= LINES, "{} lines:\n{story}", records.len());
    ensure!(!story.contains("\"path\""), "words of a message:\n{story}");

    let begun = &run[..13];
    let all = stage.attempt(&format!("openclawctl logs --run {begun} --json"))?;
    ensure!(all.json_lines()?.len() >= records.len(), "{begun}: {story}");
    for (options, expected) in [
        ("--unit memory", "searched memory"),
        ("--unit turn", "the turn starts"),
        ("--tool list_directory", "list_directory"),
        ("--session agent:scripted:main", "run accepted"),
        ("--channel cli", "run accepted"),
    ] {
        let shown = stage.user(&format!("openclawctl logs {options} -n 50"))?;
        ensure!(shown.contains(expected), "{options}:\n{shown}");
    }
    let explained = stage.user(&format!(
        "journalctl --user -x --no-pager OPENCLAW_RUN={run}"
    ))?;
    for part in [
        "Subject: A message has a run",
        "Subject: A tool answered or failed",
    ] {
        ensure!(explained.contains(part), "no {part:?} in:\n{explained}");
    }
    ensure!(
        explained.contains(&format!("openclawctl logs --run {run}")),
        "{explained}"
    );
    Ok(())
}

fn identifiers(stage: &Stage, run: &str) -> Result<BTreeSet<String>> {
    let records = stage.journal(&format!("OPENCLAW_RUN={run}"))?;
    Ok(records
        .iter()
        .filter_map(|record| record["SYSLOG_IDENTIFIER"].as_str())
        .map(str::to_owned)
        .collect())
}
