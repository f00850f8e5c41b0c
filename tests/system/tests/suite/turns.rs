//! Turns as transient units: what they look like, and what they survive.

use anyhow::{Context as _, Result, ensure};
use system_tests::is_emulated;

use crate::stage::{PROGRAMS, SOURCE, Stage, eventually, stage};

/// The unit of the turn that runs; a process that stands ready for the next one has said nothing yet.
fn unit_of_turn(stage: &Stage) -> Result<String> {
    let runs = stage.journal("--output-fields=OPENCLAW_RUN SYSLOG_IDENTIFIER=openclaw-turn")?;
    let last = runs.last().context("no turn is in the journal")?;
    let run = last["OPENCLAW_RUN"]
        .as_str()
        .context("a turn without a run")?;
    Ok(format!("openclaw-turn-{run}.service"))
}

/// The whole answer to a message, while `meanwhile` happens in the middle of it.
fn answer_through(gate: &str, meanwhile: impl FnOnce(&Stage) -> Result<()>) -> Result<String> {
    let stage = stage()?;
    let asking = stage.start_asking("scripted", &format!("[[scenario:held {gate}]]"))?;
    stage.wait_for_turns(1)?;
    meanwhile(&stage)?;
    stage.model.release(gate);
    let answer = asking.wait_with_output().context("the client is gone")?;
    let said = String::from_utf8_lossy(&answer.stdout).into_owned();
    ensure!(answer.status.success(), "{}: {said}", answer.status);
    ensure!(said.contains("sixteen."), "the end is missing: {said}");
    ensure!(said.matches("sixteen.").count() == 1, "said twice: {said}");
    Ok(said)
}

#[test]
#[ignore = "boots a machine, needs root"]
fn turn_is_a_unit_with_limits() -> Result<()> {
    answer_through("unit", |stage| {
        let unit = unit_of_turn(stage)?;
        let listed =
            stage.user("systemctl --user list-units --plain --no-legend 'openclaw-turn-*'")?;
        ensure!(listed.contains(&unit), "{unit} is not among {listed}");
        for (property, value) in [
            ("Slice", "openclaw-turns.slice"),
            ("MemoryMax", "2147483648"),
            ("MemorySwapMax", "0"),
            ("TasksMax", "512"),
            ("KillMode", "control-group"),
            ("OOMPolicy", "kill"),
            ("PrivateUsers", "yes"),
            ("ProtectSystem", "strict"),
            ("TemporaryFileSystem", "/run/user:ro"),
        ] {
            ensure!(
                stage.property(&unit, property)? == value,
                "{property} of {unit}"
            );
        }
        ensure!(stage.property(&unit, "RuntimeMaxUSec")? != "infinity");
        ensure!(stage.property(&unit, "CPUQuotaPerSecUSec")? != "infinity");
        Ok(())
    })
    .map(drop)
}

#[test]
#[ignore = "boots a machine, needs root"]
fn turns_what_a_turn_used_is_kept() -> Result<()> {
    let stage = stage()?;
    stage.ask("scripted", "hello")?;
    let turns = stage.attempt("openclawctl turns --limit 1 --json")?.stdout;
    let turns: serde_json::Value = serde_json::from_str(&turns)?;
    let used = &turns[0]["resources"];
    ensure!(used["cpuMs"].as_u64() > Some(0), "{turns}");
    // Peaks are kept by cgroup v2 alone; where there are none, none are told.
    for figure in ["memoryPeakBytes", "tasksPeak"] {
        let is_told = used[figure].as_u64() > Some(0);
        ensure!(is_told == is_emulated(), "{figure}: {turns}");
    }
    ensure!(
        used["unit"]
            .as_str()
            .is_some_and(|unit| unit.starts_with("openclaw-turn-")),
        "{turns}"
    );
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn turn_sees_no_bus_and_writes_in_its_own_places_only() -> Result<()> {
    answer_through("view", |stage| {
        let root = format!(
            "/proc/{}/root",
            stage.property(&unit_of_turn(stage)?, "MainPID")?
        );
        // Not by type: a socket that is bound in has the type of its mount point there.
        let seen = stage.user(&format!("cd {root}/run/user && find . ! -type d | sort"))?;
        // Those that host tools ask; the agent in it sees neither.
        let sockets = ["gateway.sock", "memory.sock"].map(|it| format!("./1000/openclaw/{it}"));
        assert_eq!(seen.lines().collect::<Vec<_>>(), sockets);
        for place in [
            "home/claw",
            "home/claw/.openclaw",
            "run/user/1000",
            "var/tmp",
        ] {
            let touched = stage.attempt(&format!("touch {root}/{place}/outside"))?;
            ensure!(touched.status != 0, "{place} is written");
            ensure!(
                touched.stderr.contains("Read-only file system"),
                "{place}: {}",
                touched.stderr
            );
        }
        stage
            .user(&format!(
                "touch {root}/home/claw/.openclaw/workspace-scripted/inside"
            ))
            .map(drop)
    })
    .map(drop)
}

#[test]
#[ignore = "boots a machine, needs root"]
fn turns_what_stands_ready_for_a_workspace_is_not_used_for_another_one() -> Result<()> {
    let stage = stage()?;
    for name in ["first", "second"] {
        stage.ask("main", "hello")?;
        stage.user("mv ~/.openclaw/workspace ~/former && mkdir ~/.openclaw/workspace")?;
        stage.ask("main", &format!("/run echo {name} >here"))?;
        assert_eq!(stage.user("cat ~/.openclaw/workspace/here")?.trim(), name);
        stage.user("rm -r ~/former")?;
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn turn_goes_on_while_daemons_are_restarted() -> Result<()> {
    for daemon in ["gateway", "agent-runner", "memory"] {
        answer_through(&format!("restart-{daemon}"), |stage| {
            let unit = format!("openclaw-{daemon}.service");
            let before = stage.property(&unit, "MainPID")?;
            stage.user(&format!("systemctl --user restart {unit}"))?;
            ensure!(stage.property(&unit, "MainPID")? != before);
            Ok(())
        })
        .with_context(|| daemon.to_owned())?;
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn turn_goes_on_while_the_suite_is_restarted() -> Result<()> {
    answer_through("restart-all", |stage| {
        let turn = stage.property(&unit_of_turn(stage)?, "MainPID")?;
        stage.user("systemctl --user restart openclaw.target")?;
        assert_eq!(stage.property(&unit_of_turn(stage)?, "MainPID")?, turn);
        Ok(())
    })
    .map(drop)
}

#[test]
#[ignore = "boots a machine, needs root"]
fn turn_goes_on_while_the_suite_is_upgraded() -> Result<()> {
    answer_through("upgrade", |stage| {
        let turn = stage.property(&unit_of_turn(stage)?, "MainPID")?;
        let runner = stage.property("openclaw-agent-runner.service", "MainPID")?;
        stage.user(&format!(
            "mkdir ~/newer && ln -s {PROGRAMS}/openclaw* ~/newer/ && cd ~/newer && rm openclaw-agent-runner \
             && cp {PROGRAMS}/openclaw-agent-runner . && echo newer >>openclaw-agent-runner \
             && {SOURCE}/packaging/install --from ~/newer && rm -r ~/newer"
        ))?;
        assert_ne!(stage.property("openclaw-agent-runner.service", "MainPID")?, runner);
        assert_eq!(stage.property(&unit_of_turn(stage)?, "MainPID")?, turn);
        Ok(())
    })
    .map(drop)
}

#[test]
#[ignore = "boots a machine, needs root"]
fn turn_goes_on_while_daemons_are_killed() -> Result<()> {
    for daemon in ["gateway", "agent-runner", "memory"] {
        answer_through(&format!("kill-{daemon}"), |stage| {
            stage
                .user(&format!(
                    "systemctl --user kill --kill-who=main --signal=KILL openclaw-{daemon}.service"
                ))
                .map(drop)
        })
        .with_context(|| daemon.to_owned())?;
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn stopping_its_unit_ends_a_turn_for_everyone() -> Result<()> {
    let stage = stage()?;
    let mut asking = stage.start_asking("scripted", "[[scenario:held stopped]]")?;
    stage.wait_for_turns(1)?;
    Stage::hear(&mut asking)?;
    let unit = unit_of_turn(&stage)?;
    let agents = format!(
        "for pid in $(pgrep -f '[o]penclaw-agent turn'); do grep -q {unit} /proc/$pid/cgroup && exit; done; exit 1"
    );
    ensure!(stage.attempt(&agents)?.status == 0, "no agent in {unit}");
    stage.user(&format!("systemctl --user stop {unit}"))?;
    let answer = asking.wait_with_output().context("the client is gone")?;
    ensure!(answer.status.code() == Some(1), "{}", answer.status);
    let complaint = String::from_utf8_lossy(&answer.stderr).into_owned();
    ensure!(
        complaint.contains("stopped by the service manager"),
        "{complaint}"
    );
    eventually("the agent is gone", || {
        Ok(stage.attempt(&agents)?.status == 1)
    })?;
    ensure!(stage.property(&unit, "ActiveState")? != "failed");
    ensure!(!stage.ask("main", "hello")?.is_empty());
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn killed_unit_ends_its_turn_with_what_was_said() -> Result<()> {
    let stage = stage()?;
    let mut asking = stage.start_asking("scripted", "[[scenario:held killed]]")?;
    stage.wait_for_turns(1)?;
    Stage::hear(&mut asking)?;
    let unit = unit_of_turn(&stage)?;
    stage.user(&format!("systemctl --user kill --signal=KILL {unit}"))?;
    let answer = asking.wait_with_output().context("the client is gone")?;
    ensure!(answer.status.code() == Some(1), "{}", answer.status);
    let complaint = String::from_utf8_lossy(&answer.stderr).into_owned();
    ensure!(
        complaint.contains("the turn's process died (signal)"),
        "{complaint}"
    );
    no_failed_unit(&stage)
}

#[test]
#[ignore = "boots a machine, needs root"]
fn units_that_are_killed_with_their_runner_are_forgotten() -> Result<()> {
    let stage = stage()?;
    let mut asking = stage.start_asking("scripted", "[[scenario:held forgotten]]")?;
    stage.wait_for_turns(1)?;
    Stage::hear(&mut asking)?;
    // The turn and what stands ready for the next one. A unit that ends by itself between being listed and being killed
    // is no failure; whether the turn was killed is seen below.
    stage.user(
        "systemctl --user kill --kill-who=main --signal=KILL openclaw-agent-runner.service 'openclaw-turn-*' || true",
    )?;
    let answer = asking.wait_with_output().context("the client is gone")?;
    ensure!(answer.status.code() == Some(1), "{}", answer.status);
    no_failed_unit(&stage)?;
    stage.user("systemctl --user stop openclaw-agent-runner.service")?;
    eventually("no unit of a turn is left", || {
        let left = stage
            .user("systemctl --user list-units --all --plain --no-legend 'openclaw-turn-*'")?;
        Ok(left.is_empty())
    })?;
    stage.ask("scripted", "hello").map(drop)
}

fn no_failed_unit(stage: &Stage) -> Result<()> {
    eventually("no failed unit is left", || {
        let left = stage
            .user("systemctl --user list-units --failed --plain --no-legend 'openclaw-turn-*'")?;
        Ok(left.is_empty())
    })
}
