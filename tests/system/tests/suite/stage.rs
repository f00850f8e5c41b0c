//! The machine the tests share, and the model they script.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::clis::CLIS;
use anyhow::{Context as _, Result, anyhow, bail};
use scripted_model::Server;
use serde_json::Value;
use system_tests::{Account, Machine, Network, Outcome, patience};

/// Where the machine sees this repository.
pub(crate) const SOURCE: &str = "/opt/openclaw";
/// Where the machine sees the programs that were built.
pub(crate) const PROGRAMS: &str = "/opt/openclaw-programs";
/// The key the runner is given; it must turn up at the model and nowhere else.
pub(crate) const KEY: &str = "sk-system-test";
/// Where the model of agent `measured` listens when a test has started it.
pub(crate) const MEASURED: &str = "127.0.0.1:18799";
/// Daemons, as units are named after them.
pub(crate) const DAEMONS: [&str; 3] = [
    "openclaw-gateway",
    "openclaw-agent-runner",
    "openclaw-memory",
];
/// A machine with what many have beside the usual: podman, docker, and polkit, which lets users linger.
pub(crate) const EQUIPPED: [(&str, &str); 1] = [(
    "OPENCLAW_TESTBED_PACKAGES",
    "podman,crun,containernetworking-plugins,docker.io,polkitd",
)];
/// What systemd needs to settle; anything beyond it is a hang.
const SETTLE: Duration = Duration::from_secs(20);

/// The shared machine with the suite installed and `openclaw.target` started.
pub(crate) struct Stage {
    machine: Machine,
    pub(crate) model: Server,
    runtime: tokio::runtime::Handle,
}

/// The stage, for one test at a time. Every test finds the target started and every daemon stopped.
pub(crate) fn stage() -> Result<MutexGuard<'static, Stage>> {
    static STAGE: OnceLock<Result<Mutex<Stage>, String>> = OnceLock::new();
    let stage = STAGE
        .get_or_init(|| {
            Stage::set()
                .map(Mutex::new)
                .map_err(|error| format!("{error:#}"))
        })
        .as_ref()
        .map_err(|error| anyhow!("the stage is not set: {error}"))?;
    // A test that failed has left nothing that the reset does not mend.
    let stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
    stage.reset()?;
    Ok(stage)
}

/// A fresh machine that sees the repository and the programs, with nothing installed.
pub(crate) fn bare_machine(network: Network) -> Result<Machine> {
    Machine::boot(network, &folders()?)
}

/// The same with variables of the testbed's.
pub(crate) fn bare_machine_with(network: Network, variables: &[(&str, &str)]) -> Result<Machine> {
    Machine::boot_with(network, &folders()?, variables)
}

fn folders() -> Result<Vec<(PathBuf, &'static str)>> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Ok(vec![
        (repository.canonicalize()?, SOURCE),
        (programs()?, PROGRAMS),
    ])
}

/// The folder of the built programs: that of this test's profile, unless another one is named.
fn programs() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("OPENCLAW_TESTBED_PROGRAMS") {
        return Ok(named.into());
    }
    let this = std::env::current_exe().context("where is this program?")?;
    this.ancestors()
        .nth(2)
        .map(Path::to_owned)
        .ok_or_else(|| anyhow!("{} is not in a target folder", this.display()))
}

impl Stage {
    fn set() -> Result<Self> {
        let mut folders = folders()?;
        let clis = CLIS.iter().filter_map(|cli| Some((cli.folder()?, cli.at)));
        folders.extend(clis);
        let machine = Machine::boot(Network::Kept, &folders)?;
        let (model, runtime) = machine.inside(start_model)?;
        let stage = Self {
            machine,
            model,
            runtime,
        };
        stage.write(&stage.configuration())?;
        stage.user(&format!("{SOURCE}/packaging/install --from {PROGRAMS}"))?;
        Ok(stage)
    }

    /// Agent `main` answers offline, agent `scripted` asks the model, and agent `measured` one in the machine.
    fn configuration(&self) -> Value {
        serde_json::json!({
            "agents": {
                "defaults": { "backend": "offline" },
                "list": [
                    { "id": "scripted", "backend": "native", "model": "anthropic/claude-scripted" },
                    { "id": "measured", "backend": "native", "model": "measured/claude-scripted" },
                    { "id": "main", "default": true },
                ],
            },
            "models": { "providers": {
                "anthropic": { "baseUrl": self.model.url() },
                "measured": { "api": "anthropic-messages", "baseUrl": format!("http://{MEASURED}"), "apiKey": "sk-measured" },
            } },
        })
    }

    /// Does something with another configuration, to be told before the daemons read it. The units are brought in
    /// line with it, and with the usual one afterwards.
    pub(crate) fn configured(
        &self,
        change: impl FnOnce(&mut Value),
        something: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut configuration = self.configuration();
        change(&mut configuration);
        self.write(&configuration)?;
        let done = self.align_units().and_then(|()| something());
        self.write(&self.configuration())?;
        self.align_units()?;
        done
    }

    fn align_units(&self) -> Result<()> {
        self.user("openclawctl sockets && systemctl --user daemon-reload")
            .map(drop)
    }

    fn write(&self, configuration: &Value) -> Result<()> {
        let line = format!(
            "umask 077 && mkdir -p ~/.openclaw ~/.config/openclaw \
             && cat >~/.openclaw/openclaw.json <<'END'\n{configuration}\nEND\n\
             echo ANTHROPIC_API_KEY={KEY} >~/.config/openclaw/env"
        );
        self.user(&line).map(drop)
    }

    fn reset(&self) -> Result<()> {
        self.user(
            "systemctl --user stop openclaw.target 'openclaw-*'; systemctl --user reset-failed",
        )?;
        self.user("systemctl --user start openclaw.target")?;
        self.model.forget();
        Ok(())
    }

    /// What a line of shell does as the ordinary user.
    pub(crate) fn attempt(&self, line: &str) -> Result<Outcome> {
        self.machine.run(Account::Claw, line)
    }

    /// Standard output of a line of root's that has to succeed.
    pub(crate) fn root(&self, line: &str) -> Result<String> {
        self.machine.run(Account::Root, line)?.text()
    }

    /// Standard output of a line that has to succeed.
    pub(crate) fn user(&self, line: &str) -> Result<String> {
        self.attempt(line)?.text()
    }

    /// The answer to a message.
    pub(crate) fn ask(&self, agent: &str, text: &str) -> Result<String> {
        self.user(&format!(
            "openclawctl message --agent {agent} {}",
            quoted(text)
        ))
    }

    /// Starts a message and leaves it running.
    pub(crate) fn start_asking(&self, agent: &str, text: &str) -> Result<Child> {
        let line = format!("openclawctl message --agent {agent} {}", quoted(text));
        self.machine.start(Account::Claw, &line)
    }

    /// Reads the answer until it says something. A turn that ends before that leaves no answer, and the
    /// model is asked with the message once more, before the next one.
    pub(crate) fn hear(asking: &mut Child) -> Result<()> {
        let answer = asking.stdout.as_mut().context("nobody listens")?;
        let read = answer.read_exact(&mut [0]);
        read.context("the answer ended before it said anything")
    }

    /// Does something in the machine's network.
    pub(crate) fn inside<T: Send>(
        &self,
        something: impl FnOnce() -> Result<T> + Send,
    ) -> Result<T> {
        self.machine.inside(something)
    }

    /// A property of a unit.
    pub(crate) fn property(&self, unit: &str, name: &str) -> Result<String> {
        self.user(&format!("systemctl --user show -P {name} {unit}"))
    }

    /// Records of the user's journal that match.
    pub(crate) fn journal(&self, matches: &str) -> Result<Vec<Value>> {
        self.attempt(&format!("journalctl --user -o json --no-pager {matches}"))?
            .json_lines()
    }

    /// Returns once the model was asked `count` times since the test began.
    pub(crate) fn wait_for_turns(&self, count: usize) -> Result<()> {
        let asked = async { tokio::time::timeout(SETTLE, self.model.wait_for_turns(count)).await };
        self.runtime.block_on(asked).map(drop).with_context(|| {
            let said = self.user("journalctl --user --no-pager -n 40 2>&1");
            let said = said.unwrap_or_else(|error| format!("it cannot be read: {error:#}"));
            format!("the model was not asked {count} times; the journal ends:\n{said}")
        })
    }
}

/// A word of shell that stands for `text`.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Asks again until it is so. For states that systemd reaches by itself and tells nobody about.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + SETTLE * patience();
    while !is_so()? {
        if Instant::now() > deadline {
            bail!("not within {SETTLE:?}: {what}");
        }
    }
    Ok(())
}

/// The model runs on a thread of its own, for as long as this process.
fn start_model() -> Result<(Server, tokio::runtime::Handle)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("no runtime for the model")?;
    let model = runtime
        .block_on(Server::start())
        .context("the scripted model did not start")?;
    let handle = runtime.handle().clone();
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    Ok((model, handle))
}
