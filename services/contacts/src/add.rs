//! `channels add` and `remove`: an account's token and configuration.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use openclaw_config::{Environment, KeyPath, Paths, programs, write};
use openclaw_settings::channels::{CHANNELS, DEFAULT_ACCOUNT};
use openclaw_settings::file::File;
use openclaw_terminal::{Failure, output};
use serde_json::{Value, json};

use crate::Gateway;

/// Bytes of a token; Telegram's have 46.
const TOKEN_LIMIT: usize = 512;

/// Arguments of `channels add` and `channels remove`.
#[derive(Debug, Args)]
pub(crate) struct Account {
    /// The channel, such as telegram
    channel: String,
    /// The account's name
    #[arg(long, value_name = "NAME", default_value = DEFAULT_ACCOUNT)]
    account: String,
}

impl Account {
    /// Takes the token from standard input, has it checked, and writes it and the
    /// configuration.
    pub(crate) fn add(&self, gateway: &Gateway<'_>) -> Result<(), Failure> {
        self.take_token(gateway)?;
        output::stdout_line(
            "next: write to it, and let yourself in with the code it answers: openclawctl pairing \
             approve CODE. Whoever is approved first is the owner",
        )
    }

    /// Takes another token for an account that is there.
    pub(crate) fn login(&self, gateway: &Gateway<'_>) -> Result<(), Failure> {
        self.check()?;
        self.existing(&mut File::open(gateway.paths)?)?;
        self.take_token(gateway)
    }

    fn take_token(&self, gateway: &Gateway<'_>) -> Result<(), Failure> {
        let (paths, environment) = (gateway.paths, gateway.environment);
        self.check()?;
        let token = token(&self.channel)?;
        let place = self.token_file(paths);
        let folder = place.parent().unwrap_or(Path::new("/"));
        private_folder(folder)?;
        // What was there stays until the new one is known to be right.
        let trial = place.with_extension("new");
        let written = write::atomic(&trial, token.as_bytes());
        written.map_err(|error| cannot("write", &trial, &error))?;
        let added = self
            .checked(&trial, paths, environment)
            .and_then(|identity| {
                let renamed = fs::rename(&trial, &place);
                renamed.map_err(|error| cannot("write", &place, &error))?;
                self.configure(&place, paths, environment)?;
                Ok(identity)
            });
        if added.is_err() {
            // The failure is told; a token that is not used is not to lie around.
            let _ = fs::remove_file(&trial);
        }
        let identity = output::line(&added?);
        output::stdout_line(&format!("{} is {identity}", self.key()))?;
        output::stdout_line(&format!("the token is in {}", place.display()))?;
        self.begin(gateway)
    }

    /// Takes the account out of the configuration, and removes its token.
    pub(crate) fn remove(&self, gateway: &Gateway<'_>) -> Result<(), Failure> {
        let (paths, environment) = (gateway.paths, gateway.environment);
        self.check()?;
        let mut file = File::open(paths)?;
        let key = self.existing(&mut file)?;
        file.unset(&key)?;
        save(&mut file, environment)?;
        let place = self.token_file(paths);
        match fs::remove_file(&place) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot("remove", &place, &error)),
        }
        if !(gateway.reload)() {
            // A manager that is not there has nothing to end.
            let _ = systemctl("stop", &self.unit(), environment);
            let _ = systemctl("disable", &self.unit(), environment);
        }
        output::stdout_line(&format!("took {} away", self.key()))
    }

    /// Where the account is in the configuration.
    fn existing(&self, file: &mut File) -> Result<KeyPath, Failure> {
        let key = self.path();
        if key.get(&file.document()?).is_some() {
            return Ok(key);
        }
        Err(Failure::new(format!(
            "there is no {} in {}",
            self.key(),
            file.path().display()
        )))
    }

    fn check(&self) -> Result<(), Failure> {
        if !CHANNELS.contains(&self.channel.as_str()) {
            return Err(Failure::usage(format!(
                "{:?} is no channel of this version; there are {}",
                self.channel,
                CHANNELS.join(", ")
            )));
        }
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if self.account.is_empty() || !self.account.chars().all(is_plain) {
            return Err(Failure::usage(
                "an account's name has lower-case letters, digits, - and _",
            ));
        }
        Ok(())
    }

    fn is_default(&self) -> bool {
        self.account == DEFAULT_ACCOUNT
    }

    fn key(&self) -> String {
        if self.is_default() {
            format!("channels.{}", self.channel)
        } else {
            format!("channels.{}.accounts.{}", self.channel, self.account)
        }
    }

    fn path(&self) -> KeyPath {
        let channel = KeyPath::default().child("channels").child(&self.channel);
        if self.is_default() {
            channel
        } else {
            channel.child("accounts").child(&self.account)
        }
    }

    fn token_file(&self, paths: &Paths) -> PathBuf {
        let name = format!("{}-{}.token", self.channel, self.account);
        paths.state.join("credentials").join(name)
    }

    /// What the account's daemon must not forget.
    fn state_folder(&self, paths: &Paths) -> PathBuf {
        let channels = paths.state.join("state/channels");
        channels.join(&self.channel).join(&self.account)
    }

    fn program(&self) -> String {
        format!("openclaw-{}", self.channel)
    }

    fn unit(&self) -> String {
        if self.is_default() {
            format!("openclaw-{}.service", self.channel)
        } else {
            format!("openclaw-{}@{}.service", self.channel, self.account)
        }
    }

    /// What the provider calls the account with that token.
    fn checked(
        &self,
        token: &Path,
        paths: &Paths,
        environment: &Environment,
    ) -> Result<String, Failure> {
        let name = self.program();
        let program = programs::sibling(&name, environment)
            .map_err(|error| Failure::new(format!("cannot check the token: {error}")))?;
        #[expect(clippy::disallowed_methods, reason = "a program of the suite's own")]
        let checked = Command::new(&program)
            .arg("check")
            .arg("--token-file")
            .arg(token)
            .args(self.way(paths)?)
            .stdin(Stdio::null())
            .output();
        let checked = checked.map_err(|error| cannot("start", &program, &error))?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if checked.status.success() {
            return Ok(said(&checked.stdout));
        }
        let why = output::prose(&said(&checked.stderr));
        Err(Failure::new(format!("the token was not taken: {why}")))
    }

    /// How the provider is reached where that is configured, as arguments of the
    /// program that checks.
    fn way(&self, paths: &Paths) -> Result<Vec<String>, Failure> {
        let document = File::open(paths)?.document()?;
        let channel = KeyPath::default().child("channels").child(&self.channel);
        let mut arguments = Vec::new();
        for (key, argument) in [("apiRoot", "--api-root"), ("proxy", "--proxy")] {
            let own = self.path().child(key).get(&document);
            let value = own.or_else(|| channel.child(key).get(&document));
            if let Some(value) = value.and_then(Value::as_str) {
                arguments.extend([argument.to_owned(), value.to_owned()]);
            }
        }
        Ok(arguments)
    }

    fn configure(
        &self,
        token: &Path,
        paths: &Paths,
        environment: &Environment,
    ) -> Result<(), Failure> {
        let mut file = File::open(paths)?;
        let key = self.path();
        file.set(&key.child("enabled"), json!(true))?;
        file.set(&key.child("tokenFile"), json!(token))?;
        save(&mut file, environment)
    }

    /// Has the daemon started, now and with the suite.
    fn begin(&self, gateway: &Gateway<'_>) -> Result<(), Failure> {
        // Its unit sees this folder alone of the state, and is not started without it.
        let folder = self.state_folder(gateway.paths);
        private_folder(&folder)?;
        if (gateway.reload)() {
            output::stderr_line("openclawctl run starts its daemon now");
            return Ok(());
        }
        let unit = self.unit();
        let began = systemctl("enable", &unit, gateway.environment)
            .and_then(|()| systemctl("restart", &unit, gateway.environment));
        match began {
            Ok(()) => output::stderr_line(&format!("{unit} is started, now and with the suite")),
            Err(why) => output::stderr_line(&format!(
                "hint: {unit} could not be started ({}); `openclawctl run` starts it without systemd",
                output::line(&why)
            )),
        }
        Ok(())
    }
}

fn save(file: &mut File, environment: &Environment) -> Result<(), Failure> {
    let problems = file.problems(environment)?;
    if let Some(problem) = problems.new.first() {
        let path = file.path().display();
        return Err(Failure::new(format!("{problem}; {path} was not changed")));
    }
    if file.is_changed() {
        file.save()?;
    }
    Ok(())
}

fn systemctl(verb: &str, unit: &str, environment: &Environment) -> Result<(), String> {
    let Some(program) = programs::on_path("systemctl", environment) else {
        return Err("there is no systemctl".to_owned());
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "it is the user's manager that does it"
    )]
    let done = Command::new(program)
        .args(["--user", verb, unit])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if done.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&done.stderr).trim().to_owned())
    }
}

/// The token, from standard input; at a terminal it is not shown.
fn token(channel: &str) -> Result<String, Failure> {
    let stdin = io::stdin();
    let mut line = String::new();
    let read = if stdin.is_terminal() {
        output::stderr_prompt(&format!("token of the {channel} bot: "));
        let before = tcgetattr(&stdin).map_err(|error| terminal(&error))?;
        let mut hidden = before.clone();
        hidden.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(&stdin, SetArg::TCSADRAIN, &hidden).map_err(|error| terminal(&error))?;
        let read = stdin.read_line(&mut line);
        let restored = tcsetattr(&stdin, SetArg::TCSADRAIN, &before);
        output::stderr_line("");
        restored.map_err(|error| terminal(&error))?;
        read
    } else {
        stdin.read_line(&mut line)
    };
    read.map_err(|error| Failure::new(format!("cannot read the token: {error}")))?;
    let token = line.trim();
    if token.is_empty() {
        return Err(Failure::usage(
            "there is no token; give it on standard input, never as an argument",
        ));
    }
    if token.len() > TOKEN_LIMIT || token.contains(char::is_whitespace) {
        return Err(Failure::usage("that is no token"));
    }
    Ok(token.to_owned())
}

fn private_folder(folder: &Path) -> Result<(), Failure> {
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder);
    made.map_err(|error| cannot("make", folder, &error))
}

fn terminal(error: &nix::Error) -> Failure {
    Failure::new(format!("cannot ask at the terminal: {error}"))
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot {what} {}: {error}", path.display()))
}
