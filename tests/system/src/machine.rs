//! One booted machine.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use nix::sched::{CloneFlags, setns};

use crate::outcome::Outcome;

/// A command that takes longer hangs; the slowest, an installation, takes some seconds.
const COMMAND_TIMEOUT_SECONDS: u32 = 120;
/// How much longer everything may take where the machine's processor is a program.
const EMULATED: u32 = 10;

/// A variable of the script's with which what users write survives a reboot.
pub const KEEP_HOME: (&str, &str) = ("OPENCLAW_TESTBED_KEEP", "home");

/// The same for everything that is written in it. It has no kernel of its own then.
pub const KEEP_MACHINE: (&str, &str) = ("OPENCLAW_TESTBED_KEEP", "machine");

/// Whether the machine has a kernel of its own.
pub fn is_emulated() -> bool {
    std::env::var("OPENCLAW_TESTBED_MACHINE").is_ok_and(|machine| machine == "qemu")
}

/// By how much a time that is enough natively is multiplied.
pub fn patience() -> u32 {
    if is_emulated() { EMULATED } else { 1 }
}

/// Who runs a command in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Account {
    /// The ordinary user, with a user manager that lingers.
    Claw,
    /// Another ordinary user, whom a test makes.
    Guest,
    /// The machine's administrator.
    Root,
}

impl Account {
    fn name(self) -> &'static str {
        match self {
            Self::Claw => "claw",
            Self::Guest => "guest",
            Self::Root => "root",
        }
    }
}

/// What the machine's network is: never that of this machine or of another one, whose ports may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// A loopback where the test can be, by [`Machine::inside`], and which survives a reboot.
    Kept,
    /// A loopback that begins anew with the machine.
    Own,
}

/// A booted machine. It ends with this value, and with this process however that ends: the script that holds it
/// watches the pipe.
#[derive(Debug)]
pub struct Machine {
    script: Child,
    pipe: Option<ChildStdin>,
    said: BufReader<ChildStdout>,
    leader: String,
}

impl Machine {
    /// Boots a fresh machine, with each of `folders` of this machine read-only at the path beside it.
    ///
    /// # Errors
    /// Not root, or the machine did not come up; the script says why on standard error.
    pub fn boot(network: Network, folders: &[(PathBuf, &str)]) -> Result<Self> {
        Self::boot_with(network, folders, &[])
    }

    /// The same, with variables of the script's: the words that its kernel is started with, packages beside the usual.
    ///
    /// # Errors
    /// As above.
    pub fn boot_with(
        network: Network,
        folders: &[(PathBuf, &str)],
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        let mut script = testbed()
            .envs(variables.iter().copied())
            .arg("boot")
            .args((network == Network::Own).then_some("--private-network"))
            .args(folders.iter().map(bind))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start tests/system/testbed")?;
        let pipe = script.stdin.take();
        let stdout = script.stdout.take().context("the script has no stdout")?;
        let mut said = BufReader::new(stdout);
        let Some(leader) = leader(&mut said)? else {
            let status = script.wait().context("cannot wait for the testbed")?;
            bail!("no machine: tests/system/testbed {status}; what it said is above");
        };
        Ok(Self {
            script,
            pipe,
            said,
            leader,
        })
    }

    /// Boots the machine again; it was booted with [`KEEP_HOME`], or forgets everything.
    ///
    /// # Errors
    /// It did not come up again.
    pub fn reboot(&mut self) -> Result<()> {
        self.run(Account::Root, "systemctl reboot --no-block")?;
        self.leader = leader(&mut self.said)?.context("the machine did not come up again")?;
        Ok(())
    }

    /// Runs a line of the administrator's at whose end the machine has no power any more, and boots it again; it
    /// has a kernel of its own and was booted with [`KEEP_HOME`].
    ///
    /// # Errors
    /// It did not come up again.
    pub fn lose_power(&mut self, line: &str) -> Result<()> {
        self.run(Account::Root, line)?;
        self.leader = leader(&mut self.said)?.context("the machine did not come up again")?;
        Ok(())
    }

    /// Whether what such a machine is made of is here, or can be fetched.
    ///
    /// # Errors
    /// The script could not be started.
    pub fn is_available(variables: &[(&str, &str)]) -> Result<bool> {
        let status = testbed()
            .envs(variables.iter().copied())
            .arg("image")
            .stdout(Stdio::null())
            .status()
            .context("cannot start tests/system/testbed")?;
        Ok(status.success())
    }

    /// Does something on a thread that is in the machine's network: what listens there is reached in the machine, and
    /// the machine's ports are reached there. QEMU's has none that can be entered, and it is done here.
    ///
    /// # Errors
    /// The network cannot be entered, or what was done failed.
    pub fn inside<T: Send>(&self, something: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        if is_emulated() {
            return something();
        }
        let path = format!("/proc/{}/ns/net", self.leader);
        let network = File::open(&path).with_context(|| format!("cannot open {path}"))?;
        let enter = || {
            setns(network, CloneFlags::CLONE_NEWNET).context("cannot enter the network")?;
            something()
        };
        std::thread::scope(|scope| scope.spawn(enter).join())
            .map_err(|_| anyhow!("panicked in the machine's network"))?
    }

    /// Runs a line of shell in the machine, in the account's home and with its session's variables.
    ///
    /// # Errors
    /// It could not be started. What the line itself does is in the outcome.
    pub fn run(&self, account: Account, line: &str) -> Result<Outcome> {
        let output = self
            .command(account, line)
            .output()
            .with_context(|| format!("cannot run {line:?}"))?;
        Ok(Outcome::new(line, &output))
    }

    /// Starts a line of shell in the machine and does not wait for it.
    ///
    /// # Errors
    /// It could not be started.
    pub fn start(&self, account: Account, line: &str) -> Result<Child> {
        self.command(account, line)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {line:?}"))
    }

    fn command(&self, account: Account, line: &str) -> Command {
        let mut command = testbed();
        command
            .args(["exec", &self.leader, account.name(), "timeout"])
            .arg((COMMAND_TIMEOUT_SECONDS * patience()).to_string())
            .args(["bash", "-c", line])
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        drop(self.pipe.take());
        // Nobody is left to tell when it fails.
        let _ = self.script.wait();
    }
}

/// The first process of the machine that is up now; none when there will be none.
fn leader(said: &mut impl BufRead) -> Result<Option<String>> {
    let mut line = String::new();
    said.read_line(&mut line)
        .context("cannot read from the testbed")?;
    Ok(line.trim().strip_prefix("ready ").map(str::to_owned))
}

fn bind((folder, at): &(PathBuf, &str)) -> String {
    format!("--bind-ro={}:{at}", folder.display())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the testbed's script is the test's own, no agent"
)]
fn testbed() -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("testbed"))
}
