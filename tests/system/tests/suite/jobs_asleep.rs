//! Jobs that become due while the machine is suspended to memory, and one that wakes it.

use std::process::Child;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use system_tests::{Account, Machine, Network, is_emulated};

use crate::jobs_month::{covers, install};
use crate::stage::{bare_machine_with, eventually};

/// How long after its wake a machine may need, with a gateway that is there.
const AT_ONCE_MS: i64 = 5_000;

/// The same where systemd has to start the gateway first, on a processor that is a program.
const STARTED_MS: i64 = 60_000;

/// What a machine that is to wake by itself may take until it answers.
const PATIENCE: Duration = Duration::from_secs(300);

/// When the machine was asleep, in Unix milliseconds, and how long by the clock that goes on then.
struct Slept {
    woke_ms: i64,
    for_ms: i64,
}

struct Scene {
    machine: Machine,
}

impl Scene {
    fn set() -> Result<Self> {
        // What the newest that QEMU knows has set is not there again after a sleep, and it ends.
        let processor = ("OPENCLAW_TESTBED_PROCESSOR", "Westmere");
        let machine = bare_machine_with(Network::Own, &[processor])?;
        let scene = Self { machine };
        // Before the user's manager has anything to do: what wakes a machine is a right of its own.
        let drop_in = "mkdir -p /etc/systemd/system/user@.service.d && printf '[Service]\\nAmbientCapabilities=CAP_WAKE_ALARM\\n' \
                       >/etc/systemd/system/user@.service.d/wake.conf && systemctl daemon-reload && \
                       systemctl restart user@$(id -u claw).service";
        scene.root(drop_in)?;
        let configuration = json!({"agents": {"defaults": {"backend": "offline"}}});
        install(&scene.machine, &configuration)?;
        Ok(scene)
    }

    fn user(&self, line: &str) -> Result<String> {
        self.machine.run(Account::Claw, line)?.text()
    }

    fn root(&self, line: &str) -> Result<String> {
        self.machine.run(Account::Root, line)?.text()
    }

    fn rows(&self, name: &str) -> Result<Vec<Value>> {
        let said = self.user(&format!("openclawctl cron history {name} --json"))?;
        Ok(serde_json::from_str(&said)?)
    }

    /// When the job is due, in Unix milliseconds.
    fn due(&self, name: &str) -> Result<i64> {
        let shown: Value =
            serde_json::from_str(&self.user(&format!("openclawctl cron show {name} --json"))?)?;
        shown["nextRunAtMs"]
            .as_i64()
            .with_context(|| shown.to_string())
    }

    /// Suspends the machine to memory by a line of the administrator's that returns when it is awake again.
    fn sleep(&self, line: &str) -> Result<Slept> {
        slept(&self.root(&format!("{ASLEEP}; {line}; {ASLEEP}; date +%s%3N"))?)
    }

    /// The runs of `name` when they are over and there are as many.
    fn over(&self, name: &str, count: usize) -> Result<Vec<Value>> {
        eventually(&format!("{name} runs"), || {
            let rows = self.rows(name)?;
            Ok(rows.len() >= count && rows.iter().all(|row| !row["endedMs"].is_null()))
        })?;
        self.rows(name)
    }
}

impl Slept {
    /// It slept when the time came.
    fn is_past(&self, planned_ms: i64) -> Result<()> {
        let Self { woke_ms, for_ms } = self;
        let fell_asleep = woke_ms - for_ms;
        ensure!(
            fell_asleep < planned_ms && planned_ms < *woke_ms,
            "due at {planned_ms}, asleep from {fell_asleep} to {woke_ms}"
        );
        Ok(())
    }
}

/// Prints for how many milliseconds the machine has been asleep since its start.
const ASLEEP: &str = "python3 -c 'import time; print(int(1000 * (time.clock_gettime(time.CLOCK_BOOTTIME) - \
                      time.clock_gettime(time.CLOCK_MONOTONIC))))'";

fn slept(said: &str) -> Result<Slept> {
    let numbers: Vec<i64> = said
        .lines()
        .filter_map(|line| line.trim().parse().ok())
        .collect();
    let [before, after, woke_ms] = numbers[..] else {
        bail!("no times: {said}");
    };
    Ok(Slept {
        woke_ms,
        for_ms: after - before,
    })
}

/// The one row is that of the planned time, and was begun after the machine woke, soon.
fn ran_once(rows: &[Value], planned_ms: i64, slept: &Slept, soon_ms: i64) -> Result<()> {
    let own: Vec<&Value> = rows
        .iter()
        .filter(|row| row["plannedMs"] == planned_ms)
        .collect();
    ensure!(own.len() == 1, "{planned_ms} has not one row: {rows:?}");
    let started = own[0]["startedMs"].as_i64().context("it was not begun")?;
    // Programs go on a moment before the line that says when.
    let late = started - slept.woke_ms;
    ensure!(
        (-AT_ONCE_MS..soon_ms).contains(&late),
        "{late} ms after the wake: {rows:?}"
    );
    ensure!(started > planned_ms, "{rows:?}");
    Ok(())
}

#[test]
#[ignore = "boots a machine with a kernel of its own, takes some minutes"]
fn job_that_is_due_while_the_machine_sleeps_runs_once_when_it_wakes() -> Result<()> {
    // Where the kernel is shared, the machine that would sleep is this one.
    if !is_emulated() {
        return Ok(());
    }
    let scene = Scene::set()?;
    scene.user("openclawctl cron add tea --remind --name there --at 'in 45 seconds'")?;
    let often =
        "openclawctl cron add --name often --command 'echo x >>ran' --every 20s --catch-up all";
    scene.user(often)?;
    let (planned_ms, first_ms) = (scene.due("there")?, scene.due("often")?);
    let slept = scene.sleep("rtcwake -u -m mem -s 90 >&2")?;
    slept.is_past(planned_ms)?;
    ran_once(&scene.over("there", 1)?, planned_ms, &slept, AT_ONCE_MS)?;
    // Each time that passed meanwhile has one row, and was run, because the job wants all of them.
    let rows = scene.over("often", 4)?;
    for at in (first_ms..slept.woke_ms).step_by(20_000) {
        let own: Vec<&Value> = rows.iter().filter(|row| covers(row, at / 1000)).collect();
        ensure!(
            own.len() == 1 && !own[0]["startedMs"].is_null(),
            "{at}: {rows:?}"
        );
    }
    scene.user("openclawctl cron remove often")?;

    // Where the gateway is not there, and nobody connects, it is systemd that keeps the time.
    scene.user("openclawctl cron add tea --remind --name gone --at 'in 90 seconds'")?;
    let planned_ms = scene.due("gone")?;
    eventually("the timer", || {
        Ok(scene
            .user("systemctl --user list-timers --all --no-pager")?
            .contains("openclaw-schedule.timer"))
    })?;
    scene.user("systemctl --user stop openclaw-gateway.service openclaw-agent-runner.service openclaw-memory.service")?;
    let state = "systemctl --user show -P ActiveState openclaw-gateway.service";
    ensure!(scene.user(state)?.trim() == "inactive");
    let slept = scene.sleep("rtcwake -u -m mem -s 120 >&2")?;
    slept.is_past(planned_ms)?;
    eventually("systemd starts the gateway", || {
        Ok(scene.user(state)?.trim() == "active")
    })?;
    ran_once(&scene.over("gone", 1)?, planned_ms, &slept, STARTED_MS)?;
    // A moment later there is still one.
    for name in ["there", "gone"] {
        ensure!(
            scene.rows(name)?.len() == 1,
            "{name}: {:?}",
            scene.rows(name)?
        );
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine with a kernel of its own, takes some minutes"]
fn job_that_may_wakes_the_machine_at_its_time() -> Result<()> {
    if !is_emulated() {
        return Ok(());
    }
    let scene = Scene::set()?;
    scene.user(
        "openclawctl cron add 'tea' --remind --name wake --wake-machine --at 'in 60 seconds'",
    )?;
    // One that does not is due before, and another one of its own timer.
    scene.user("openclawctl cron add 'water' --remind --name before --at 'in 30 seconds'")?;
    let planned_ms = scene.due("wake")?;
    eventually("a timer that wakes the machine", || {
        let wakes =
            scene.user("systemctl --user show -P WakeSystem openclaw-schedule-wake.timer")?;
        Ok(wakes.trim() == "yes")
    })?;
    let line = format!(
        "echo 0 >/sys/class/rtc/rtc0/wakealarm; {ASLEEP}; echo mem >/sys/power/state; {ASLEEP}; date +%s%3N"
    );
    let said = awake(scene.machine.start(Account::Root, &line)?)?;
    let slept = slept(&said)?;
    ensure!(slept.for_ms > 10_000, "{} ms asleep: {said}", slept.for_ms);
    let early = planned_ms - slept.woke_ms;
    ensure!(early < 5_000, "awake {early} ms before the job");
    ran_once(&scene.over("wake", 1)?, planned_ms, &slept, AT_ONCE_MS)
}

/// What the line said, when the machine is awake again.
fn awake(line: Child) -> Result<String> {
    let (told, heard) = mpsc::channel();
    // Where it never is, this thread ends with the machine.
    std::thread::spawn(move || told.send(line.wait_with_output()));
    let output = heard
        .recv_timeout(PATIENCE)
        .context("the machine did not wake by itself")??;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
