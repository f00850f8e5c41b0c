//! Telegram for an ordinary user: added, paired, answered, also after a reboot, and a second account beside it.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};
use system_tests::{Account, KEEP_HOME, Machine, Network, is_emulated};
use telegram_double::Double;
use tokio::runtime::{Builder, Runtime};

use crate::stage::{PROGRAMS, SOURCE, bare_machine_with, eventually};

/// Who writes to the bot.
const PERSON: i64 = 8;
/// The bot of a second account.
const OTHER_BOT: i64 = 4300;
/// What a message takes at most, a start of the machine before it included.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most that `systemd-analyze security` may say of a unit.
const EXPOSURE: f64 = 2.0;

struct Scene {
    machine: Machine,
    model: Server,
    double: Double,
    runtime: Runtime,
}

impl Scene {
    fn set(telegram: Value) -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let machine = bare_machine_with(Network::Kept, &[KEEP_HOME])?;
        let model = machine.inside(|| Ok(runtime.block_on(Server::start())?))?;
        let double = machine.inside(|| Ok(runtime.block_on(Double::start())?))?;
        let scene = Self {
            machine,
            model,
            double,
            runtime,
        };
        let mut configuration = json!({
            "agents": {"defaults": {"backend": "native", "model": "anthropic/claude-scripted"}},
            "models": {"providers": {"anthropic": {"baseUrl": scene.model.url()}}},
            "channels": {"telegram": telegram},
        });
        configuration["channels"]["telegram"]["apiRoot"] = scene.double.url().into();
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

    fn wait(&self, double: &Double, what: &str, is_so: impl Fn(&Double) -> bool) -> Result<()> {
        let waited = async { tokio::time::timeout(PATIENCE, double.wait(is_so)).await };
        let waited = self.runtime.block_on(waited);
        waited.with_context(|| {
            let logs = self.user("openclawctl channels status; openclawctl channels logs telegram");
            let logs = logs.unwrap_or_else(|error| format!("they cannot be read: {error:#}"));
            format!("not within {PATIENCE:?}: {what}; the channel's logs:\n{logs}")
        })
    }

    /// Somebody whom nobody knows writes, and is let in with the code that is answered.
    fn pair(&self, double: &Double) -> Result<()> {
        double.say(PERSON, "let me in");
        self.wait(double, "a pairing code", |it| {
            !it.sent_to(PERSON).is_empty()
        })?;
        let said = double.sent_to(PERSON)[0].text.clone();
        let code = said.split("Pairing code: ").nth(1);
        let code = code.and_then(|it| it.split_whitespace().next());
        let code = code.with_context(|| format!("no code: {said}"))?;
        self.user(&format!("openclawctl pairing approve {code}"))?;
        let approved = |it: &Double| {
            it.sent_to(PERSON)
                .iter()
                .any(|it| it.text.contains("approved"))
        };
        self.wait(double, "the approval", approved)
    }

    /// A message comes in, and its answer goes out, once.
    fn converse(&self, double: &Double, text: &str) -> Result<()> {
        let answer = format!("This answers {text}.");
        self.model.push(Scenario::text(&answer));
        double.say(PERSON, text);
        let is_answered = |it: &Double| it.sent_to(PERSON).iter().any(|it| it.text == answer);
        self.wait(double, &answer, is_answered)
    }

    fn is_running(&self, unit: &str) -> Result<()> {
        let line = format!(
            "systemctl --user show -P ActiveState {unit}; systemctl --user is-enabled {unit}"
        );
        eventually(unit, || {
            Ok(self.machine.run(Account::Claw, &line)?.stdout.trim() == "active\nenabled")
        })
    }

    fn exposure(&self, unit: &str) -> Result<f64> {
        let said = self.user(&format!(
            "systemd-analyze --user security --no-pager {unit}"
        ))?;
        let last = said.lines().last().unwrap_or_default();
        let figure = last
            .rsplit_once(": ")
            .and_then(|(_, it)| it.split_whitespace().next());
        let figure = figure.with_context(|| format!("no figure: {said}"))?;
        figure.parse().with_context(|| format!("no figure: {last}"))
    }
}

fn add(account: &str, double: &Double) -> String {
    format!(
        "printf '%s\\n' '{}' | openclawctl channels add telegram {account}",
        double.token()
    )
}

#[test]
#[ignore = "boots a machine, needs root"]
fn telegram_answers_before_and_after_a_reboot() -> Result<()> {
    // Such a machine has no network, and is not booted again.
    if is_emulated() {
        return Ok(());
    }
    let mut scene = Scene::set(json!({}))?;
    let unit = "openclaw-telegram.service";
    let idle = scene.user(&format!("systemctl --user show -P ActiveState {unit}"))?;
    ensure!(idle.trim() == "inactive", "nothing is configured: {idle}");

    let added = scene.user(&add("", &scene.double))?;
    ensure!(added.contains("telegram is @double_bot"), "{added}");
    ensure!(added.contains("pairing approve CODE"), "{added}");
    scene.is_running(unit)?;
    let exposure = scene.exposure(unit)?;
    ensure!(exposure <= EXPOSURE, "{unit}: {exposure}");
    scene.pair(&scene.double)?;
    scene.converse(&scene.double, "before")?;

    scene.machine.reboot()?;
    scene.is_running(unit)?;
    scene.converse(&scene.double, "after")?;
    let texts: Vec<String> = scene
        .double
        .sent_to(PERSON)
        .into_iter()
        .map(|it| it.text)
        .collect();
    ensure!(texts.len() == 4, "each once: {texts:?}");

    // Another account beside it, of another bot.
    let start = || Ok(scene.runtime.block_on(Double::start_as(OTHER_BOT))?);
    let other = scene.machine.inside(start)?;
    scene.user(&format!(
        "openclawctl config set channels.telegram.accounts.work.apiRoot {}",
        other.url()
    ))?;
    scene.user(&add("--account work", &other))?;
    let instance = "openclaw-telegram@work.service";
    scene.is_running(instance)?;
    scene.is_running(unit)?;
    let exposure = scene.exposure(instance)?;
    ensure!(exposure <= EXPOSURE, "{instance}: {exposure}");
    scene.pair(&other)?;
    scene.converse(&other, "work")?;
    scene.converse(&scene.double, "home")?;
    ensure!(other.sent_to(PERSON).len() == 3, "nothing of the other one");

    scene.machine.reboot()?;
    scene.converse(&other, "work again")?;
    scene.converse(&scene.double, "home again")?;
    scene.user("openclawctl channels remove telegram --account work")?;
    eventually("it has ended", || {
        let state = scene.user(&format!("systemctl --user show -P ActiveState {instance}"))?;
        Ok(state.trim() == "inactive")
    })?;
    scene.converse(&scene.double, "home alone")
}

/// Nothing but the installation, and the target's start.
#[test]
#[ignore = "boots a machine, needs root"]
fn telegram_of_an_openclaw_user_is_there_after_the_installation() -> Result<()> {
    if is_emulated() {
        return Ok(());
    }
    let scene = Scene::set(json!({"enabled": true, "botToken": telegram_double::TOKEN}))?;
    scene.is_running("openclaw-telegram.service")?;
    scene.pair(&scene.double)?;
    scene.converse(&scene.double, "moved in")?;
    let (_, secret) = telegram_double::TOKEN.split_once(':').context("a token")?;
    let found = scene.machine.run(
        Account::Claw,
        &format!("journalctl --user --no-pager | grep -c {secret}; true"),
    )?;
    ensure!(
        found.stdout.trim() == "0",
        "the journal has it: {}",
        found.stdout
    );
    let unit = "openclaw-telegram.service";
    let line = format!("tr '\\0' ' ' </proc/$(systemctl --user show -P MainPID {unit})/cmdline");
    let started = scene.user(&line)?;
    ensure!(!started.contains(secret), "{started}");
    Ok(())
}
