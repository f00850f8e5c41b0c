//! Jobs of an ordinary user on a machine that nobody talks to: systemd starts the gateway for them.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use scripted_model::Server;
use serde_json::{Value, json};
use system_tests::{Account, KEEP_HOME, Machine, Network, is_emulated};
use tokio::runtime::{Builder, Runtime};

use crate::stage::{PROGRAMS, SOURCE, bare_machine_with, eventually};

/// What a start of the machine takes at most.
const PATIENCE: Duration = Duration::from_secs(90);

struct Scene {
    machine: Machine,
    model: Server,
    runtime: Runtime,
}

impl Scene {
    fn set() -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let machine = bare_machine_with(Network::Kept, &[KEEP_HOME])?;
        let model = machine.inside(|| Ok(runtime.block_on(Server::start())?))?;
        let configuration = json!({
            "agents": {"defaults": {"backend": "native", "model": "anthropic/claude-scripted"}},
            "models": {"providers": {"anthropic": {"baseUrl": model.url()}}},
        });
        let scene = Self {
            machine,
            model,
            runtime,
        };
        scene.user(&format!(
            "umask 077 && mkdir -p ~/.openclaw ~/.config/openclaw \
             && cat >~/.openclaw/openclaw.json <<'END'\n{configuration}\nEND\n\
             echo ANTHROPIC_API_KEY=sk-of-a-test >~/.config/openclaw/env"
        ))?;
        scene.user(&format!("{SOURCE}/packaging/install --from {PROGRAMS}"))?;
        scene.user("systemctl --user enable --now openclaw.target")?;
        Ok(scene)
    }

    fn user(&self, line: &str) -> Result<String> {
        self.machine.run(Account::Claw, line)?.text()
    }

    /// Waits until the model was asked so often.
    fn asked(&self, times: usize) -> Result<()> {
        let is_so = async {
            while self.model.turns().len() < times {
                tokio::task::yield_now().await
            }
        };
        let waited = self
            .runtime
            .block_on(async { tokio::time::timeout(PATIENCE, is_so).await });
        waited.with_context(|| {
            let said = self.user(
                "systemctl --user list-timers --all --no-pager; \
                 systemctl --user status --no-pager 'openclaw-*'; \
                 journalctl --user --no-pager -n 60",
            );
            let said = said.unwrap_or_else(|error| format!("{error:#}"));
            format!("the model was not asked {times} times:\n{said}")
        })
    }

    fn history(&self) -> Result<Vec<Value>> {
        let said = self.user("openclawctl cron history --json --limit 1000")?;
        Ok(serde_json::from_str(&said)?)
    }

    fn timers(&self) -> Result<String> {
        self.user("systemctl --user list-timers --all --no-pager --no-legend 'openclaw-*'")
    }
}

#[test]
#[ignore = "boots a machine, needs root"]
fn jobs_run_when_nobody_is_there() -> Result<()> {
    if is_emulated() {
        return Ok(());
    }
    let mut scene = Scene::set()?;
    let state = "systemctl --user show -P ActiveState openclaw-gateway.service";
    ensure!(scene.timers()?.trim().is_empty(), "no job, no timer");
    scene.user("openclawctl cron add 'are you there?' --name watch --at 'in 20 seconds'")?;
    eventually("the timer", || {
        Ok(scene.timers()?.contains("openclaw-schedule.timer"))
    })?;
    // Each firing of the timer is a start: none is one too many.
    scene.user(
        "for start in $(seq 40); do systemctl --user start openclaw-schedule.service \
         || { journalctl --user --no-pager -n 30; exit 1; }; done",
    )?;
    // Nothing of the suite runs but its sockets and the timer.
    scene.user(
        "systemctl --user stop openclaw-gateway.service openclaw-agent-runner.service \
         openclaw-memory.service",
    )?;
    ensure!(scene.user(state)?.trim() == "inactive");
    scene.asked(1)?;
    eventually("its end", || Ok(!scene.history()?[0]["endedMs"].is_null()))?;
    let runs = scene.history()?;
    ensure!(runs.len() == 1 && runs[0]["state"] == "ran", "{runs:?}");
    let late = runs[0]["startedMs"].as_i64().context("a time")?
        - runs[0]["plannedMs"].as_i64().context("a time")?;
    ensure!((0..1500).contains(&late), "{late} ms late: {runs:?}");

    // What was missed while the machine was off, and nobody connects after.
    scene.user("openclawctl cron add 'still there?' --name later --at 'in 5 seconds'")?;
    scene.user("openclawctl cron add 'every day' --name daily --cron '0 9 * * *' --tz UTC")?;
    scene.machine.reboot()?;
    scene.asked(2)?;
    eventually("the timer after the start", || {
        Ok(scene.timers()?.contains("openclaw-schedule.timer"))
    })?;

    // Off is off, and a stop is one.
    scene.user("openclawctl config set cron.enabled false")?;
    eventually("no timer", || Ok(scene.timers()?.trim().is_empty()))?;
    scene.user("openclawctl config set cron.enabled true")?;
    eventually("a timer", || Ok(!scene.timers()?.trim().is_empty()))?;
    scene.user("systemctl --user stop openclaw.target")?;
    eventually("no timer of what was stopped", || {
        Ok(scene.timers()?.trim().is_empty())
    })
}
