//! What the machine gives: the user's service manager and its bus, a manager that
//! stays when the user goes, programs that the shell finds, and units that run.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use openclaw_config::{Environment, programs};
use openclaw_service_manager::{self as service_manager, Error, LINGERING};

use crate::{Person, Step};

/// There while systemd is the machine's manager (sd_booted(3)).
const BOOTED: &str = "run/systemd/system";
/// What systemd starts for the suite.
const TARGET: &str = "openclaw.target";
/// The program that everything is done with.
const CTL: &str = "openclawctl";
/// Without a manager there are no units.
const NO_MANAGER: &str = "no systemd user manager here";

/// The machine, as one user has it.
#[derive(Debug)]
pub struct Machine<'a> {
    environment: &'a Environment,
    home: Option<&'a Path>,
    root: PathBuf,
}

impl<'a> Machine<'a> {
    /// This machine.
    pub fn new(environment: &'a Environment, home: Option<&'a Path>) -> Self {
        Self {
            environment,
            home,
            root: PathBuf::from("/"),
        }
    }

    /// Whether the shell finds `openclawctl`, which runs as `program`; else has
    /// the shell's profile say where.
    pub fn path(&self, program: &Path, person: &mut dyn Person) -> Step {
        const NAME: &str = "PATH";
        if let Some(found) = programs::on_path(CTL, self.environment) {
            return Step::ok(NAME, format!("{CTL} is {}", found.display()));
        }
        let (Some(folder), Some(home)) = (program.parent(), self.home) else {
            return Step::failed(NAME, "nobody knows where the programs are", "set HOME");
        };
        let shown = folder.display();
        let now = format!("export PATH='{shown}':\"$PATH\"");
        if shown.to_string().contains(['\'', '\n']) {
            let why = format!("{shown} is not on it, and has a name that no shell is told");
            return Step::failed(NAME, why, "install with another --prefix");
        }
        let profile = home.join(".profile");
        let text = fs::read_to_string(&profile).unwrap_or_default();
        let is_own = folder == home.join(".local/bin") && text.contains(".local/bin");
        if is_own || text.contains(&now) {
            let said = format!(
                "{shown} is on it from your next login on ({})",
                profile.display()
            );
            return Step::ok(NAME, said).with(format!("in this shell: {now}"));
        }
        let question = format!(
            "{shown} is not on your PATH: add it in {}?",
            profile.display()
        );
        if !person.agrees(&question) {
            return Step::skipped(NAME, format!("{shown} is not on it")).with(now);
        }
        match append(&profile, &format!("\n# The programs of OpenClaw.\n{now}\n")) {
            Ok(()) => Step::done(
                NAME,
                format!("{} adds {shown} from your next login on", profile.display()),
            )
            .with(format!("in this shell: {now}")),
            Err(error) => Step::failed(
                NAME,
                format!("cannot write {}: {error}", profile.display()),
                now,
            ),
        }
    }

    /// Whether the user's manager stays when the user goes; else has it stay.
    pub fn linger(&self, person: &mut dyn Person) -> Step {
        const NAME: &str = "linger";
        const COMMAND: &str = "loginctl enable-linger";
        if !self.root.join(BOOTED).is_dir() {
            return Step::skipped(NAME, "systemd is not this machine's manager");
        }
        let Some(user) = service_manager::user() else {
            return Step::failed(NAME, "this user has no name", COMMAND);
        };
        let note = self.root.join(LINGERING).join(&user);
        if note.exists() {
            return Step::ok(NAME, "the assistant runs while you are logged out");
        }
        if !person.agrees("have the assistant run while you are logged out, too?") {
            return Step::skipped(NAME, "it ends when you log out").with(COMMAND);
        }
        let linger = ["enable-linger", &user];
        match service_manager::tell("loginctl", &linger, self.environment) {
            Ok(()) => Step::done(NAME, "the assistant runs while you are logged out"),
            Err(error) => Step::failed(NAME, said(error), format!("sudo {COMMAND} {}", user)),
        }
    }

    /// Whether the user's manager and its bus can be reached.
    pub fn bus(&self) -> Step {
        const NAME: &str = "bus";
        let Some(runtime) = service_manager::runtime(self.environment) else {
            return Step::skipped(
                NAME,
                format!("{NO_MANAGER}: openclawctl run takes its place"),
            );
        };
        let bus = runtime.join("bus");
        if !bus.exists() {
            let why = format!(
                "{} is not there, through which turns get units of their own",
                bus.display()
            );
            return Step::failed(
                NAME,
                why,
                "sudo apt-get install dbus-user-session, then log in again",
            );
        }
        let step = Step::ok(NAME, format!("{}", bus.display()));
        match self.environment.get("XDG_RUNTIME_DIR") {
            Some(_) => step,
            None => step.with(format!(
                "systemctl --user needs in this shell: export XDG_RUNTIME_DIR={}",
                runtime.display()
            )),
        }
    }

    /// Starts the units where they are installed and do not run. `answers`: the
    /// suite does, whoever runs it.
    pub fn units(&self, answers: bool) -> Step {
        const NAME: &str = "suite";
        let is = |word: &str| self.systemctl(&[word, "--quiet", TARGET]).is_ok();
        let has_units = service_manager::runtime(self.environment).is_some()
            && self.systemctl(&["cat", TARGET]).is_ok();
        let is_active = has_units && is("is-active");
        if is_active && is("is-enabled") {
            return Step::ok(NAME, format!("{TARGET} is started, and with every login"));
        }
        if answers && !is_active {
            return Step::ok(NAME, "it answers, run by openclawctl run");
        }
        if !has_units {
            let why = if service_manager::runtime(self.environment).is_some() {
                "no units are installed, and nothing answers"
            } else {
                "nothing answers, and there is no systemd user manager to start it"
            };
            return Step::failed(
                NAME,
                why,
                "packaging/install, or openclawctl run in another terminal",
            );
        }
        match self.systemctl(&["enable", "--quiet", "--now", TARGET]) {
            Ok(()) => Step::done(
                NAME,
                format!("{TARGET} was started, and will be with every login"),
            ),
            Err(error) => {
                let fix = format!("systemctl --user status {TARGET}");
                Step::failed(NAME, said(error), fix)
            }
        }
    }

    /// Makes the agent-runner's unit read credentials again, if it runs.
    pub fn reload_runner(&self) {
        // One that does not run reads them when it is started.
        if service_manager::runtime(self.environment).is_some() {
            let _ = self.systemctl(&["reload", "openclaw-agent-runner.service"]);
        }
    }

    fn systemctl(&self, arguments: &[&str]) -> Result<(), Error> {
        service_manager::tell(
            "systemctl",
            &[&["--user"], arguments].concat(),
            self.environment,
        )
    }
}

/// An error with what is behind it.
fn said(error: Error) -> String {
    format!("{:#}", anyhow::Error::from(error))
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests;
