//! A suite that nobody talks to: its daemons end, and the next message starts them.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::stage::{DAEMONS, Stage, eventually, stage};

/// Messages that come about when a daemon leaves.
const MESSAGES: usize = 16;
/// What remains of a daemon: its processes, by whoever started them.
const PROCESSES: &str = "pgrep -u \"$(id -u)\" -a openclaw || true";

/// Daemons that have nothing to do for a second end.
fn hasty(configuration: &mut Value) {
    configuration["gateway"] = json!({ "idleExitSeconds": 1 });
}

fn at_rest(stage: &Stage) -> Result<()> {
    eventually("no process of the suite is there", || {
        Ok(stage.user(PROCESSES)?.is_empty())
    })
}

#[test]
#[ignore = "boots a machine, needs root"]
fn daemons_that_have_nothing_to_do_end_well_and_are_started_by_a_message() -> Result<()> {
    let stage = stage()?;
    stage.configured(hasty, || {
        stage.ask("scripted", "[[scenario:text before]]")?;
        at_rest(&stage)?;
        for daemon in DAEMONS {
            let of = |name: &str| stage.property(&format!("{daemon}.service"), name);
            assert_eq!(of("ActiveState")?, "inactive", "{daemon}");
            assert_eq!(of("Result")?, "success", "{daemon}");
            assert_eq!(of("ExecMainStatus")?, "0", "{daemon}");
            assert_eq!(of("NRestarts")?, "0", "{daemon}");
            assert_eq!(of("StatusText")?, "idle, starts on demand", "{daemon}");
            let socket = stage.property(&format!("{daemon}.socket"), "SubState")?;
            assert_eq!(socket, "listening", "{daemon}");
        }
        let failed = stage.user("systemctl --user list-units --failed --no-legend")?;
        ensure!(failed.is_empty(), "{failed}");
        let answer = stage.ask("scripted", "[[scenario:text after]]")?;
        ensure!(answer.contains("after"), "{answer}");
        Ok(())
    })
}

#[test]
#[ignore = "boots a machine, needs root"]
fn turn_and_a_client_keep_the_daemons() -> Result<()> {
    let stage = stage()?;
    stage.configured(hasty, || {
        let asking = stage.start_asking("scripted", "[[scenario:held turn]]")?;
        stage.wait_for_turns(1)?;
        // Longer than the daemons would stay, in which they would be looked for in vain.
        let pids = "sleep 4; systemctl --user show -P MainPID openclaw-gateway.service openclaw-agent-runner.service";
        let during = stage.user(&format!("({pids}); sleep 4; ({pids})"))?;
        let pids: Vec<&str> = during.split_whitespace().collect();
        ensure!(pids.len() == 4 && pids[..2] == pids[2..], "{during}");
        ensure!(!pids.contains(&"0"), "{during}");
        stage.model.release("turn");
        let output = asking.wait_with_output()?;
        ensure!(output.status.success(), "{output:?}");
        at_rest(&stage)
    })
}

/// Each message is taken once and answered once, wherever the moment falls in which
/// a daemon closes its gate: the gateway's, and later those of the two others.
#[test]
#[ignore = "boots a machine, needs root"]
fn messages_at_the_moment_of_leaving_are_neither_lost_nor_doubled() -> Result<()> {
    let stage = stage()?;
    stage.configured(hasty, || {
        let before = times_left(&stage)?;
        for (at, distance) in ["1.0 + rand() * 0.8", "2.0 + rand() * 1.2"].iter().enumerate() {
            stage.user(&format!(
                "for ((i = 0; i < {MESSAGES}; i++)); do \
                 sleep $(awk -v seed=$RANDOM 'BEGIN {{ srand(seed); print {distance} }}'); \
                 openclawctl message --session hammer \"number {at}.$i!\" >/dev/null || exit 1; done"
            ))?;
        }
        let left = times_left(&stage)? - before;
        ensure!(left >= MESSAGES, "the gateway left {left} times only");
        let sessions = "~/.openclaw/agents/main/sessions/*.jsonl";
        let shown = stage.user(&format!("cat $(grep -lF 'number 0.0!' {sessions})"))?;
        for number in (0..2 * MESSAGES).map(|it| (it / MESSAGES, it % MESSAGES)) {
            let text = format!("number {}.{}!", number.0, number.1);
            let mut entries = shown.lines().filter(|line| line.contains(&text));
            let said = entries.clone().filter(|line| line.contains(r#""role":"user""#));
            ensure!(said.count() == 1, "{text}: {:#?}", entries.collect::<Vec<_>>());
            ensure!(entries.next().is_some());
        }
        let answers = shown.matches(r#""role":"assistant""#).count();
        ensure!(answers == 2 * MESSAGES, "{answers} answers");
        Ok(())
    })
}

fn times_left(stage: &Stage) -> Result<usize> {
    let journal = "journalctl --user --no-pager -o cat -u openclaw-gateway.service";
    let lines = format!("{journal} | grep -c 'leaving until somebody connects' || true");
    Ok(stage.user(&lines)?.parse()?)
}

#[test]
#[ignore = "boots a machine, needs root"]
fn job_starts_the_daemons_that_have_left() -> Result<()> {
    let stage = stage()?;
    stage.configured(hasty, || {
        // Later than a gateway that has nothing else to do waits for a job.
        stage.user("openclawctl cron add 'are you there?' --name rest --at 'in 40 seconds'")?;
        at_rest(&stage)?;
        let history = "openclawctl cron history --json --limit 1000";
        let next =
            "systemctl --user list-timers --all --no-pager --no-legend openclaw-schedule.timer";
        ensure!(!stage.user(next)?.is_empty(), "no timer");
        let started =
            "until systemctl --user -q is-active openclaw-gateway.service; do sleep 0.1; done";
        stage.user(started)?;
        let mut runs = Value::Null;
        eventually("the end of its run", || {
            runs = serde_json::from_str(&stage.user(history)?)?;
            Ok(!runs[0]["endedMs"].is_null())
        })?;
        let (started, planned) = (runs[0]["startedMs"].as_i64(), runs[0]["plannedMs"].as_i64());
        let late = started
            .zip(planned)
            .map(|(started, planned)| started - planned);
        ensure!(
            late.is_some_and(|late| (0..1500).contains(&late)),
            "{runs:#}"
        );
        at_rest(&stage)
    })
}

#[test]
#[ignore = "boots a machine, needs root"]
fn status_says_that_daemons_are_idle_and_starts_none() -> Result<()> {
    let stage = stage()?;
    stage.configured(hasty, || {
        stage.ask("main", "hello")?;
        at_rest(&stage)?;
        let status = stage.user("openclawctl status")?;
        let idle = status.matches("idle, starts on demand").count();
        ensure!(
            idle == 3 && status.starts_with("● openclaw: all is well"),
            "{status}"
        );
        let said: Value = serde_json::from_str(&stage.user("openclawctl status --json")?)?;
        ensure!(said["gateway"]["idle"] == true, "{said:#}");
        let processes = stage.user(PROCESSES)?;
        ensure!(processes.is_empty(), "{processes}");
        // Who wants to know more starts them.
        let status = stage.user("openclawctl status --verbose")?;
        ensure!(
            !status.contains("idle") && status.contains("sandbox"),
            "{status}"
        );
        at_rest(&stage)
    })
}
