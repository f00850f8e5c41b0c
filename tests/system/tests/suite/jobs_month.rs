//! A month of jobs on a machine whose clock is moved, whose power is cut and whose disk is full, against what the
//! calendar says.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use system_tests::{Account, KEEP_HOME, Machine, Network, is_emulated};

use crate::stage::{PROGRAMS, SOURCE, bare_machine_with, eventually};

const DAY: i64 = 86_400;
const DAYS: i64 = 30;

/// On every so manieth day the power is cut while jobs run.
const CUT: i64 = 6;

/// A job and the seconds at which the calendar has it.
struct Planned {
    name: &'static str,
    times: Vec<i64>,
    /// Whether each of them has a run of its own.
    is_each: bool,
}

struct Month {
    machine: Machine,
    jobs: Vec<Planned>,
}

impl Month {
    /// A machine where it is the tenth of the next year's October, in which clocks go back an hour.
    fn begin() -> Result<(Self, i64)> {
        let machine = bare_machine_with(Network::Own, &[KEEP_HOME])?;
        let begin = "date -d \"$(($(date +%Y) + 1))-10-10 00:10\" -u +%s";
        let begin: i64 = machine.run(Account::Claw, begin)?.text()?.trim().parse()?;
        let mut month = Self {
            machine,
            jobs: Vec::new(),
        };
        month.set_clock(begin)?;
        let configuration = json!({"agents": {"defaults": {"backend": "offline"}}});
        install(&month.machine, &configuration)?;
        month.jobs = month.add(begin)?;
        Ok((month, begin))
    }

    fn user(&self, line: &str) -> Result<String> {
        self.machine.run(Account::Claw, line)?.text()
    }

    /// Moves the clock, and has the next start of the machine go on from there.
    fn set_clock(&self, at: i64) -> Result<()> {
        let set = format!("touch -d @{at} /usr/lib/clock-epoch && sync && date -s @{at}");
        self.machine.run(Account::Root, &set)?.text().map(drop)
    }

    fn add(&self, begin: i64) -> Result<Vec<Planned>> {
        for line in [
            "--name night 'good night' --cron '30 2 * * *' --tz Europe/Berlin --catch-up all",
            "--name often --command 'echo x >>ran && sync ran' --every 8h --catch-up all",
            "--name hourly --event 'an hour has passed' --every 1h",
            "--name once --remind 'ten days' --at 'in 240 hours'",
        ] {
            self.user(&format!("openclawctl cron add {line}"))?;
        }
        let end = begin + DAYS * DAY;
        // Of an hour that is there twice, the first.
        let nights = format!(
            "for day in $(seq 0 {DAYS}); do for zone in CEST CET; do \
             at=$(date +%s -d \"$(date -u -d \"@$(({begin} + day * {DAY}))\" +%F) 02:30 $zone\"); \
             [ $(TZ=Europe/Berlin date -d @$at +%H:%M) = 02:30 ] && echo $at && break; done; done"
        );
        let nights = self.user(&nights)?;
        let nights: Vec<i64> = nights.lines().map(str::parse).collect::<Result<_, _>>()?;
        let made = |name: &str| -> Result<i64> {
            let shown = self.user(&format!("openclawctl cron show {name} --json"))?;
            let shown: Value = serde_json::from_str(&shown)?;
            let first = &shown["nextRunAtMs"];
            Ok(first.as_i64().with_context(|| shown.to_string())? / 1000)
        };
        let every = |first: i64, seconds: usize| (first..=end).step_by(seconds).collect();
        let job = |name, times, is_each| Planned {
            name,
            times,
            is_each,
        };
        Ok(vec![
            job(
                "night",
                nights
                    .into_iter()
                    .filter(|at| (begin..=end).contains(at))
                    .collect(),
                true,
            ),
            job("often", every(made("often")?, 8 * 3600), true),
            job("hourly", every(made("hourly")?, 3600), false),
            job("once", vec![made("once")?], true),
        ])
    }

    fn rows(&self, name: &str) -> Result<Vec<Value>> {
        let history = format!("openclawctl cron history {name} --json --limit 1000");
        let said = self.user(&history).or_else(|error| {
            let log = self.user("journalctl --user -u 'openclaw-*' -n 40 --no-pager")?;
            Err(error.context(log))
        })?;
        Ok(serde_json::from_str(&said)?)
    }

    /// Waits until what is due by now was done.
    fn settle(&self, now: i64) -> Result<()> {
        for job in &self.jobs {
            let due = job.times.iter().filter(|at| **at <= now).count();
            eventually(&format!("{} by {now}", job.name), || {
                let rows = self.rows(job.name)?;
                let is_covered = |at: &i64| rows.iter().any(|row| covers(row, *at));
                let is_over = rows.iter().all(|row| !row["endedMs"].is_null());
                Ok(is_over && job.times.iter().take(due).all(is_covered))
            })?;
        }
        Ok(())
    }

    /// Every time has one row, every row has times, and one that is to be is run.
    fn compare(&self, now: i64) -> Result<()> {
        for job in &self.jobs {
            let rows = self.rows(job.name)?;
            let due = job.times.iter().filter(|at| **at <= now);
            let mut wrong = String::new();
            for at in due.clone() {
                let own: Vec<&Value> = rows.iter().filter(|row| covers(row, *at)).collect();
                let is_run = own.iter().all(|row| !row["startedMs"].is_null());
                if own.len() != 1 || (job.is_each && !is_run) {
                    write!(wrong, "\n{at}: {own:?}")?;
                }
            }
            for row in &rows {
                if !due.clone().any(|at| covers(row, *at)) {
                    write!(wrong, "\nnot planned: {row}")?;
                }
            }
            ensure!(wrong.is_empty(), "{}:{wrong}", job.name);
        }
        Ok(())
    }
}

/// Whether the row stands for the second.
pub(crate) fn covers(row: &Value, at: i64) -> bool {
    let field = |name: &str| row[name].as_i64().map(|ms| ms / 1000);
    let (from, to) = (field("plannedMs"), field("untilMs"));
    from.is_some_and(|from| from <= at) && to.or(from).is_some_and(|to| to >= at)
}

pub(crate) fn install(machine: &Machine, configuration: &Value) -> Result<()> {
    for line in [
        format!(
            "umask 077 && mkdir -p ~/.openclaw && cat >~/.openclaw/openclaw.json <<'END'\n{configuration}\nEND"
        ),
        format!("{SOURCE}/packaging/install --from {PROGRAMS}"),
        "systemctl --user enable --now openclaw.target".to_owned(),
    ] {
        machine.run(Account::Claw, &line)?.text()?;
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine with a kernel of its own, takes some ten minutes"]
fn month_of_jobs_is_as_the_calendar_says() -> Result<()> {
    // The clock of a machine that shares this one's kernel is this one's.
    if !is_emulated() {
        return Ok(());
    }
    let (mut month, begin) = Month::begin()?;
    for day in 1..=DAYS {
        let now = begin + day * DAY;
        if day % CUT == 0 {
            // At another moment of what begins then each time.
            let cut = format!("{:.1}", 0.4 * (day / CUT) as f64);
            let line = format!(
                "touch -d @{now} /usr/lib/clock-epoch && sync && date -s @{now} && sleep {cut} \
                 && echo b >/proc/sysrq-trigger"
            );
            month.machine.lose_power(&line)?;
        } else {
            month.set_clock(now)?;
        }
        month.settle(now)?;
        // What was done is not done again.
        for back in [3600, DAY].iter().filter(|_| day % 10 == 5) {
            month.set_clock(now - back)?;
            month.compare(now)?;
            month.set_clock(now)?;
        }
    }
    month.settle(begin + DAYS * DAY)?;
    month.compare(begin + DAYS * DAY)?;
    let rows = month.rows("often")?;
    let ran = rows.iter().filter(|row| row["state"] == "ran").count();
    let lines = month.user("wc -l <~/.openclaw/workspace/ran")?;
    let lines: usize = lines.trim().parse()?;
    ensure!(
        (ran..=rows.len()).contains(&lines),
        "{lines} lines, {ran} ran: {rows:?}"
    );
    Ok(())
}
